//! NumPy's files: those it writes, those this crate writes, and those that are broken.

use pointful_runtime::{Dyn, Extent, Fin, IndexSet, NpyElement, NpyError, Table};
use proptest::prelude::*;

type Matrix<T> = Table<(Dyn, Dyn), T>;

/// A file of this version, dictionary and data.
fn file(version: u8, dictionary: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    match version {
        1 => bytes.extend((dictionary.len() as u16).to_le_bytes()),
        _ => bytes.extend((dictionary.len() as u32).to_le_bytes()),
    }
    bytes.extend(dictionary.bytes());
    bytes.extend(data);
    bytes
}

fn survives<I: IndexSet, T: NpyElement>(table: &Table<I, T>) {
    let mut bytes = Vec::new();
    table.write_npy(&mut bytes).expect("a Vec takes everything");
    assert_eq!(
        (bytes.len() - T::BYTES * table.len()) % 64,
        0,
        "the elements are aligned"
    );
    assert_eq!(
        &Table::<I, T>::read_npy(&bytes[..]).expect("what was written"),
        table
    );
}

#[test]
fn the_bytes_are_those_numpy_writes() {
    let mut bytes = Vec::new();
    Matrix::from([[1_i32, 2, 3], [4, 5, -6]])
        .write_npy(&mut bytes)
        .expect("a Vec takes everything");
    let mut header =
        b"\x93NUMPY\x01\x00v\x00{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }"
            .to_vec();
    header.resize(127, b' ');
    header.push(b'\n');
    assert_eq!(&bytes[..128], header);
    assert_eq!(bytes[128..132], [1, 0, 0, 0]);
    assert_eq!(bytes[148..], [250, 255, 255, 255]);
    let text = |table: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = Vec::new();
        table(&mut bytes);
        String::from_utf8_lossy(&bytes[10..70])
            .trim_end()
            .to_owned()
    };
    let row = text(&|bytes| {
        Table::<Dyn, bool>::from([true])
            .write_npy(bytes)
            .expect("written")
    });
    assert!(
        row.starts_with("{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }"),
        "{row}"
    );
    let scalar = text(&|bytes| Table::scalar(1.5_f32).write_npy(bytes).expect("written"));
    assert!(
        scalar.starts_with("{'descr': '<f4', 'fortran_order': False, 'shape': (), }"),
        "{scalar}"
    );
}

#[test]
fn every_type_and_rank_survives() {
    for n in [0, 1, 2, 7, 1000, 10_000] {
        survives(&Table::<Dyn, f64>::from_fn(Extent::new(n), |i| {
            i.0 as f64 / 3.0
        }));
        survives(&Table::<(Dyn, Fin<3>), f32>::from_fn(
            Extent::new((n, ())),
            |(i, j)| (i.0 * j.get()) as f32 - 0.5,
        ));
        survives(&Table::<(Fin<2>, Dyn), i64>::from_fn(
            Extent::new(((), n)),
            |(i, j)| -((i.get() + j.0) as i64) << 40,
        ));
        survives(&Table::<Dyn, i32>::from_fn(Extent::new(n), |i| {
            -(i.0 as i32)
        }));
        survives(&Table::<Dyn, u32>::from_fn(Extent::new(n), |i| {
            u32::MAX - i.0 as u32
        }));
        survives(&Table::<Dyn, u8>::from_fn(Extent::new(n), |i| i.0 as u8));
        survives(&Table::<Dyn, usize>::from_fn(Extent::new(n), |i| i.0 << 40));
        survives(&Table::<Dyn, isize>::from_fn(Extent::new(n), |i| {
            -(i.0 as isize) << 40
        }));
        survives(&Table::<Dyn, i8>::from_fn(Extent::new(n), |i| i.0 as i8));
        survives(&Table::<Dyn, i16>::from_fn(Extent::new(n), |i| {
            (i.0 as i16).wrapping_mul(-300)
        }));
        survives(&Table::<Dyn, u16>::from_fn(Extent::new(n), |i| {
            (i.0 as u16).wrapping_mul(300)
        }));
        survives(&Table::<Dyn, u64>::from_fn(Extent::new(n), |i| {
            u64::MAX - i.0 as u64
        }));
        survives(&Table::<Dyn, bool>::from_fn(Extent::new(n), |i| {
            i.0 % 3 == 0
        }));
    }
    survives(&Table::scalar(f64::NEG_INFINITY));
}

#[test]
fn other_orders_and_versions_are_read() {
    let data: Vec<u8> = [1_i32, 2, 3, 4, 5, 6]
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    let big: Vec<u8> = [1_i32, 2, 3, 4, 5, 6]
        .iter()
        .flat_map(|x| x.to_be_bytes())
        .collect();
    let rows = Matrix::from([[1, 2, 3], [4, 5, 6]]);
    let columns = Matrix::from([[1, 3, 5], [2, 4, 6]]);
    for version in [1, 2, 3] {
        for (dictionary, data, expected) in [
            (
                "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }\n",
                &data,
                &rows,
            ),
            (
                "{\"shape\":(2,3),\"descr\":\"<i4\",\"fortran_order\":True}",
                &data,
                &columns,
            ),
            (
                "{'descr': '>i4', 'fortran_order': False, 'shape': (2, 3)}   \n",
                &big,
                &rows,
            ),
        ] {
            let read = Matrix::<i32>::read_npy(&file(version, dictionary, data)[..]);
            assert_eq!(&read.expect(dictionary), expected, "{dictionary}");
        }
    }
}

#[test]
fn what_is_no_table_is_refused() {
    let error = |bytes: &[u8]| {
        Matrix::<f64>::read_npy(bytes)
            .expect_err("no matrix")
            .to_string()
    };
    let header = |descr: &str, shape: &str| {
        file(
            1,
            &format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"),
            &[0; 48],
        )
    };
    assert!(Matrix::<f64>::read_npy(&header("<f8", "(2, 3)")[..]).is_ok());
    assert_eq!(
        error(b"PK\x03\x04 and so on"),
        "not an array file: it does not begin as one"
    );
    assert_eq!(
        error(&file(9, "{}", &[])),
        "not an array file: its version is 9"
    );
    assert_eq!(
        error(&header("<f4", "(2, 3)")),
        "the file's elements are `<f4`, but the table's are `<f8`"
    );
    assert_eq!(
        error(&header("|f8", "(2, 3)")),
        "the file's elements are `|f8`, but the table's are `<f8`"
    );
    assert_eq!(
        error(&header("", "(2, 3)")),
        "the file's elements are ``, but the table's are `<f8`"
    );
    assert_eq!(
        error(&header("é8", "(2, 3)")),
        "the file's elements are `é8`, but the table's are `<f8`"
    );
    assert_eq!(
        error(&header("<f8", "(6,)")),
        "`(Dyn, Dyn)` has 2 axes, but the array has 1"
    );
    assert_eq!(
        error(&header("<f8", "(4294967296, 4294967296)")),
        "not an array file: the array is larger than memory"
    );
    assert_eq!(
        error(&header("<f8", "(0, 4294967296, 4294967296)")),
        "not an array file: the array is larger than memory"
    );
    for shape in [
        "(2, -3)",
        "(2 3)",
        "[2, 3]",
        "(2, 3",
        "()()",
        "(2, 3), 'more': 1",
    ] {
        assert!(
            error(&header("<f8", shape)).starts_with("not an array file: its header is `{"),
            "{shape}"
        );
    }
    assert!(
        error(&file(1, "{'descr': '<f8', 'shape': (2, 3)}", &[0; 48])).contains("its header is")
    );
    // A shape that lies about how much there is fails without memory for it.
    assert!(error(&header("<f8", "(1000000, 1000000)")).starts_with("cannot read the array: "));
    let whole = header("<f8", "(2, 3)");
    for end in 0..whole.len() {
        assert!(
            matches!(Matrix::<f64>::read_npy(&whole[..end]), Err(NpyError::Io(_))),
            "cut at {end}"
        );
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(version in 0_u8..5, dictionary in "[{}(),:'\"a-z_<>|0-9 ]{0,60}", data: Vec<u8>) {
        let _ = Matrix::<f64>::read_npy(&file(version, &dictionary, &data)[..]);
        let _ = Matrix::<bool>::read_npy(&data[..]);
        let dictionary = format!("{{'descr': '<i8', 'fortran_order': True, 'shape': ({dictionary}), }}");
        let _ = Matrix::<i64>::read_npy(&file(1, &dictionary, &data)[..]);
    }
}
