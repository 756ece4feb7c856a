//! Tables on the emulated device, and kernels written by hand that run there.

mod kernels;

use std::panic::{AssertUnwindSafe, catch_unwind};

use kernels::KERNELS;
use pointful_runtime::cuda::{Argument, Emulation, Kernel, Panic, Panicked, Unit, launch};
use pointful_runtime::private::Buf;
use pointful_runtime::{
    Device, Dyn, Element, Error, Extent, Fin, IndexSet, Table, ToDevice, kernel::OutBuf,
};

const BINS: usize = 5;

/// Devices with different orders of threads, and grids.
fn ways() -> impl Iterator<Item = (Device, u32)> {
    [1, 2, 3].into_iter().flat_map(|seed| {
        let device = Device::emulate(Emulation {
            seed,
            ..Emulation::default()
        });
        [1, 3, 17].map(|blocks| (device.clone(), blocks))
    })
}

/// Numbers whose sums depend on the order.
fn numbers(n: usize) -> Vec<f64> {
    let mut state = 1_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 40) as f64 / 1000.0 - 8000.0
    };
    (0..n).map(|_| next()).collect()
}

fn there_and_back<I: IndexSet, T: Element>(table: Table<I, T>) {
    let device = Device::emulated();
    let there = table.to_device(&device).expect("it is moved");
    assert_eq!(there.device(), Some(&device));
    assert_eq!((there.len(), there.extent()), (table.len(), table.extent()));
    let back = there.clone().to_host().expect("it is moved back");
    assert!(back.device().is_none());
    assert!(back == table);
    let again = there.to_device(&device).expect("where it is already");
    assert!(again.to_host().expect("moved back") == table);
}

#[test]
fn tables_of_all_elements_go_and_come_back() {
    there_and_back(Table::from(vec![1.5_f32, -0.0, f32::INFINITY]));
    there_and_back(Table::from(vec![1.5_f64, 1e300]));
    there_and_back(Table::from(vec![-1_i8, 127]));
    there_and_back(Table::from(vec![1_i16, -2]));
    there_and_back(Table::from(vec![1_i32; 1000]));
    there_and_back(Table::from(vec![i64::MIN, i64::MAX]));
    there_and_back(Table::from(vec![1_u8, 2, 3]));
    there_and_back(Table::from(vec![1_u16]));
    there_and_back(Table::from(vec![1_u32, 2]));
    there_and_back(Table::from(vec![u64::MAX]));
    there_and_back(Table::from(vec![1_usize, 2]));
    there_and_back(Table::from(vec![1_isize, -2]));
    there_and_back(Table::from(vec![true, false, true]));
    let grid = Extent::<(Dyn, Fin<3>)>::new((2, ()));
    there_and_back(Table::from_fn(grid, |(Dyn(i), j)| {
        (10 * i + j.get()) as f64
    }));
    there_and_back(Table::from_fn(grid, |(_, j)| j));
    let targets = Extent::<(Dyn, Dyn)>::new((3, 4));
    there_and_back(Table::from_fn_into(grid, targets, |(i, j)| {
        (i, Dyn(j.get()))
    }));
}

#[test]
fn tables_of_no_and_of_one_element_go_and_come_back() {
    there_and_back(Table::<Dyn, f64>::zeros(0));
    there_and_back(Table::<Dyn, bool>::full(0, true));
    there_and_back(Table::<(Dyn, Dyn), f32>::zeros((3, 0)));
    there_and_back(Table::<(Dyn, Dyn), f32>::zeros((1, 1)));
    there_and_back(Table::<(Dyn, Fin<1>), u8>::zeros((7, ())));
    there_and_back(Table::scalar(3.0_f64));
    there_and_back(Table::full(Extent::<Dyn>::new(2), ()));
}

#[test]
fn tuples_and_numbers_are_moved_as_one() {
    let device = Device::emulated();
    let model = (
        Table::from(vec![1.0, 2.0]),
        (3.0_f32, Table::from(vec![4_usize])),
        true,
    );
    let there = model.to_device(&device).expect("moved");
    assert_eq!(there.0.device(), Some(&device));
    assert_eq!(there.1.1.device(), Some(&device));
    assert_eq!(there.to_host().expect("moved back"), model);
}

#[test]
fn devices_are_handles() {
    let device = Device::emulated();
    assert_eq!(device, Device::emulated());
    assert_eq!(device, device.clone());
    let other = Device::emulate(Emulation::default());
    assert_ne!(device, other);
    assert!(format!("{device:?}").starts_with("emulated:"));
    assert_ne!(format!("{device:?}"), format!("{other:?}"));
    device.wait().expect("nothing is asked of it");

    let x = Table::from(vec![1.0, 2.0]);
    let there = x
        .to_device(&device)
        .expect("moved")
        .to_device(&other)
        .expect("moved on");
    assert_eq!(there.device(), Some(&other));
    assert_eq!(there.to_host().expect("moved back"), x);
}

/// What a panic says.
fn words<R>(f: impl FnOnce() -> R) -> String {
    let panic = catch_unwind(AssertUnwindSafe(|| drop(f()))).expect_err("it panics");
    *panic.downcast::<String>().expect("words")
}

#[test]
fn whoever_asks_for_elements_is_told_where_they_are() {
    let device = Device::emulated();
    let mut t = Table::from([[1.0, 2.0], [3.0, 4.0]])
        .to_device(&device)
        .expect("moved");
    let _: &Table<(Dyn, Dyn), f64> = &t;
    let mut c = Table::<Dyn, bool>::full(2, true)
        .to_device(&device)
        .expect("moved");
    let expected = format!(
        "the elements were asked for of a table that lives on {device}: `to_host()` brings it here"
    );
    for said in [
        words(|| t[(0, 1)]),
        words(|| t[0][1]),
        words(|| t[(0, 1)] = 5.0),
        words(|| t.as_slice().len()),
        words(|| t.as_mut_slice()[0] = 1.0),
        words(|| t.view().len()),
        words(|| t.row(0).len()),
        words(|| t.row_mut(0)[0] = 1.0),
        words(|| t.rows().len()),
        words(|| t.iter().count()),
        words(|| t.iter_mut().count()),
        words(|| t.values().len()),
        words(|| t.at((0, 0))),
        words(|| t.get((0, 0))),
        words(|| t.map(|x| x + 1.0)),
        words(|| t.clone().into_vec()),
        words(|| t.clone().into_buf()[0]),
        words(|| c.set(0, true)),
        words(|| c.ordinals().len()),
        words(|| t == t.to_host().expect("moved back")),
        words(|| t.to_host().expect("moved back") == t),
        words(|| {
            Table::<Dyn, f64>::zeros(0)
                .to_device(&device)
                .expect("moved")
                .view()
                .len()
        }),
        words(|| t.clone().into_buf().out().len()),
    ] {
        assert_eq!(said, expected);
    }
    assert_eq!(format!("{t:?}"), format!("[on {device}], extent=(2, 2)"));
    assert_eq!(format!("{t}"), format!("[on {device}], extent=(2, 2)"));
    assert_eq!(format!("{t:e}"), format!("[on {device}], extent=(2, 2)"));
    assert_eq!(
        format!("{:?}", t.clone().into_buf()),
        format!("[4 elements on {device}]")
    );
    // What asks for no element works.
    let flat: Table<Dyn, f64> = t.cast(4).expect("as many members");
    assert_eq!(
        flat.to_host().expect("moved back").as_slice(),
        [1.0, 2.0, 3.0, 4.0]
    );
}

#[test]
fn a_device_has_so_much_memory_and_no_more() {
    let device = Device::emulate(Emulation {
        memory: 1000,
        ..Emulation::default()
    });
    let refused = |bytes| Error::OutOfDeviceMemory {
        device: device.to_string(),
        bytes,
    };
    let x = Table::<Dyn, f64>::zeros(100);
    let there = x.to_device(&device).expect("800 bytes");
    let error = there.to_device(&device).expect_err("1600 bytes");
    assert_eq!(error, refused(800));
    assert_eq!(
        error.to_string(),
        format!("800 bytes of memory were asked for, and {device} has not as many")
    );
    assert!(words(|| there.clone()).starts_with("800 bytes of memory were asked for"));
    let y = Table::<Dyn, f64>::zeros(50);
    assert_eq!(
        (&y, &y).0.to_device(&device).expect_err("400 more"),
        refused(400)
    );
    drop(there);
    y.to_device(&device)
        .expect("what was given back is there again");
    let most = OutBuf::<f64>::on(&device, usize::MAX);
    assert_eq!(
        most.expect_err("no machine has as much"),
        refused(usize::MAX)
    );
}

#[test]
fn saxpy_has_the_bits_of_a_plain_loop() {
    for n in [0, 1, 255, 256, 5000] {
        let x: Table<Dyn, f32> = numbers(n).iter().map(|&x| x as f32).collect();
        let y: Table<Dyn, f32> = numbers(2 * n)[n..].iter().map(|&y| y as f32).collect();
        let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 0.3 * x + y).collect();
        for (device, blocks) in ways() {
            let (x, y) = (&x, &y);
            let (x, y) = (
                x.to_device(&device).expect("moved"),
                y.to_device(&device).expect("moved"),
            );
            let mut out = OutBuf::<f32>::on(&device, n).expect("there is memory");
            let arguments = [
                n.into(),
                0.3_f32.into(),
                x.argument("x"),
                y.argument("y"),
                out.argument("out"),
            ];
            // SAFETY: as the kernel declares, which writes all of `out`.
            let out = unsafe {
                launch(&KERNELS, "saxpy", [blocks, 1, 1], &arguments).expect("it runs");
                out.assume_init()
            };
            let out = Table::<Dyn, f32>::from_buf(Extent::new(n), out);
            assert_eq!(out.to_host().expect("moved back").as_slice(), expected);
        }
    }
}

/// The sum of a warp's values, or of a block's: as the prelude adds.
fn block_sum(mut values: Vec<f64>) -> f64 {
    let mut lanes = 16;
    while lanes != 0 {
        values = (0..values.len())
            .map(|k| values[k] + values[k ^ lanes])
            .collect();
        lanes /= 2;
    }
    values
        .into_iter()
        .step_by(32)
        .reduce(|sum, warp| sum + warp)
        .expect("a warp")
}

/// What `total` computes.
fn host_total(x: &[f64], pieces: usize) -> f64 {
    let by_threads = |part: &[f64]| {
        let of_thread = |thread| {
            part.iter()
                .skip(thread)
                .step_by(256)
                .fold(0.0, |sum, x| sum + x)
        };
        block_sum((0..256).map(of_thread).collect())
    };
    let length = x.len().div_ceil(pieces).max(1);
    let mut partial: Vec<f64> = x.chunks(length).map(by_threads).collect();
    partial.resize(pieces, 0.0);
    by_threads(&partial)
}

#[test]
fn a_sum_in_pieces_has_the_same_bits_in_every_grid_and_order() {
    for (n, pieces) in [(10_000, 20), (100, 3), (0, 1), (4097, 300)] {
        let x = Table::from(numbers(n));
        let expected = host_total(x.as_slice(), pieces);
        for (device, blocks) in ways() {
            let x = x.to_device(&device).expect("moved");
            let count = Table::from(vec![0_u32]).to_device(&device).expect("moved");
            let mut partial = OutBuf::<f64>::on(&device, pieces).expect("there is memory");
            let mut out = OutBuf::<f64>::on(&device, 1).expect("there is memory");
            // Twice: the count is what it was at first.
            for _ in 0..2 {
                let arguments = [
                    n.into(),
                    pieces.into(),
                    x.argument("x"),
                    partial.argument("partial"),
                    count.argument("count"),
                    out.argument("out"),
                ];
                // SAFETY: as the kernel declares.
                unsafe { launch(&KERNELS, "total", [blocks, 1, 1], &arguments) }.expect("it runs");
            }
            // SAFETY: the kernel has written it.
            let out = Table::<(), f64>::from_buf(Extent::default(), unsafe { out.assume_init() });
            let out = out.to_host().expect("moved back").into_scalar();
            assert_eq!(
                out.to_bits(),
                expected.to_bits(),
                "{n} numbers, {blocks} blocks"
            );
        }
    }
}

#[test]
fn a_warp_adds_squares_by_shifts() {
    let x: Vec<f32> = numbers(1000).iter().map(|&x| x as f32).collect();
    let mut lanes: Vec<f32> = (0..32)
        .map(|lane| {
            x.iter()
                .skip(lane)
                .step_by(32)
                .fold(0.0, |sum, x| x.mul_add(*x, sum))
        })
        .collect();
    for shift in [16, 8, 4, 2, 1] {
        lanes = (0..32)
            .map(|k| lanes[k] + lanes.get(k + shift).unwrap_or(&lanes[k]))
            .collect();
    }
    for (device, _) in ways() {
        let x = Table::from(x.clone()).to_device(&device).expect("moved");
        let mut out = OutBuf::<f32>::on(&device, 1).expect("there is memory");
        let arguments = [1000_usize.into(), x.argument("x"), out.argument("out")];
        // SAFETY: as the kernel declares, which writes `out`.
        let out = unsafe {
            launch(&KERNELS, "warp_total", [1, 1, 1], &arguments).expect("it runs");
            out.assume_init()
        };
        let out = Table::<Dyn, f32>::from_buf(Extent::new(1), out);
        assert_eq!(
            out.to_host().expect("moved back")[0].to_bits(),
            lanes[0].to_bits()
        );
    }
}

/// What `histogram` computes: in each piece, the copies of four warps.
fn host_histogram(classes: &[i64], weights: &[f32], pieces: usize) -> Vec<f32> {
    let length = classes.len().div_ceil(pieces).max(1);
    let mut out = vec![0.0_f32; BINS];
    for (classes, weights) in classes.chunks(length).zip(weights.chunks(length)) {
        let mut copies = vec![vec![0.0_f32; BINS]; 4];
        for (i, (&class, weight)) in classes.iter().zip(weights).enumerate() {
            copies[i / 32 % 4][class as usize] += weight;
        }
        for bin in 0..BINS {
            out[bin] += copies.iter().fold(0.0, |sum, copy| sum + copy[bin]);
        }
    }
    out
}

/// Runs `histogram`: the bins, and the check that failed.
fn device_histogram(
    device: &Device,
    blocks: u32,
    classes: &[i64],
    weights: &[f32],
    pieces: usize,
) -> (Vec<f32>, Option<Panicked>) {
    let moved = "it is moved";
    let n = classes.len();
    let classes = Table::from(classes).to_device(device).expect(moved);
    let weights = Table::from(weights).to_device(device).expect(moved);
    let count = Table::from(vec![0_u32]).to_device(device).expect(moved);
    let mut partial = OutBuf::<f32>::on(device, pieces * BINS).expect("there is memory");
    let mut out = OutBuf::<f32>::on(device, BINS).expect("there is memory");
    let panic = Panic::new(device, 2).expect(moved);
    let arguments = [
        n.into(),
        pieces.into(),
        classes.argument("classes"),
        weights.argument("weights"),
        partial.argument("partial"),
        count.argument("count"),
        out.argument("out"),
        panic.argument(),
    ];
    // SAFETY: as the kernel declares, which writes all of `out`.
    let out = unsafe {
        launch(&KERNELS, "histogram", [blocks, 1, 1], &arguments).expect("it runs");
        out.assume_init()
    };
    let out = Table::<Dyn, f32>::from_buf(Extent::new(BINS), out);
    (
        out.to_host().expect(moved).into_vec(),
        panic.read().expect(moved),
    )
}

#[test]
fn a_histogram_with_a_copy_for_each_warp_has_the_bits_of_plain_loops() {
    let n = 3000;
    // Some bins have many of a warp's lanes, one none at all.
    let classes: Vec<i64> = numbers(n)
        .iter()
        .map(|x| [0, 0, 0, 1, 2, 4][x.abs() as usize % 6])
        .collect();
    let weights: Vec<f32> = numbers(n).iter().map(|&x| x as f32).collect();
    for (device, blocks) in ways() {
        for n in [n, 33, 0] {
            let (classes, weights) = (&classes[..n], &weights[..n]);
            let (out, panic) = device_histogram(&device, blocks, classes, weights, 7);
            let expected = host_histogram(classes, weights, 7);
            assert_eq!(
                out.iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
                expected.iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
                "{n} points, {blocks} blocks"
            );
            assert_eq!(panic, None);
        }
    }
}

#[test]
fn the_first_point_that_fails_a_check_is_recorded() {
    let n = 3000;
    let mut classes = vec![1_i64; n];
    classes[2500] = 9;
    classes[1234] = -3;
    classes[1300] = 5;
    let weights = vec![1.0; n];
    for (device, blocks) in ways() {
        let (_, panic) = device_histogram(&device, blocks, &classes, &weights, 7);
        let first = Panicked {
            site: 0,
            launch: 0,
            point: 1234,
            values: vec![-3_i64 as u64, 5],
        };
        assert_eq!(panic, Some(first));
    }
}

#[test]
fn life_goes_on() {
    let (rows, columns) = (6, 70);
    let alive = |r: usize, c: usize| (3 * r + c * c + c * r) % 5 < 2;
    let cells = Table::from_fn(
        Extent::<(Dyn, Dyn)>::new((rows, columns)),
        |(Dyn(r), Dyn(c))| alive(r, c),
    );
    for (device, _) in ways().step_by(3) {
        let there = cells.to_device(&device).expect("moved");
        let mut out = OutBuf::<bool>::on(&device, rows * columns).expect("there is memory");
        let arguments = [
            rows.into(),
            columns.into(),
            there.argument("alive"),
            out.argument("out"),
        ];
        // SAFETY: as the kernel declares, which writes all of `out`.
        let out = unsafe {
            launch(&KERNELS, "life", [2, rows as u32, 1], &arguments).expect("it runs");
            out.assume_init()
        };
        let out = Table::from_buf(cells.extent(), out)
            .to_host()
            .expect("moved back");
        for (r, c) in (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))) {
            let near = (0..9).filter(|&k| k != 4);
            let near = near
                .filter(|k| {
                    alive(
                        (r + rows + k / 3 - 1) % rows,
                        (c + columns + k % 3 - 1) % columns,
                    )
                })
                .count();
            assert_eq!(
                out[(r, c)],
                near == 3 || near == 2 && alive(r, c),
                "cell {r}, {c}"
            );
        }
    }
}

#[test]
fn buffers_in_two_places_are_refused() {
    let (one, two) = (Device::emulated(), Device::emulate(Emulation::default()));
    let x = Table::from(vec![1.0_f32]);
    let (x1, x2) = (
        x.to_device(&one).expect("moved"),
        x.to_device(&two).expect("moved"),
    );
    let run = |x: &Table<Dyn, f32>, y: &Table<Dyn, f32>| {
        let arguments = [
            Argument::from(0_usize),
            1_f32.into(),
            x.argument("x"),
            y.argument("y"),
        ];
        // SAFETY: no kernel runs.
        unsafe { launch(&KERNELS, "saxpy", [1, 1, 1], &arguments) }.expect_err("it is refused")
    };
    assert_eq!(
        run(&x1, &x2).to_string(),
        format!("`saxpy`: `x` lives on {one}, and `y` on {two}")
    );
    assert_eq!(
        run(&x1, &x).to_string(),
        format!("`saxpy`: `x` lives on {one}, and `y` on the host")
    );
}

#[test]
fn a_text_that_is_none_is_an_error_with_the_words_of_the_compiler() {
    static BROKEN: Unit = Unit {
        name: "broken.cu",
        text: "KERNEL(32, 1) broken(f32* x) {\n  ST(x, 0, nowhere);\n}",
        kernels: &[Kernel {
            name: "broken",
            block: 32,
        }],
        definitions: &[],
    };
    let x = Buf::from_vec(vec![1.0_f32])
        .to_device(&Device::emulated())
        .expect("moved");
    // SAFETY: no kernel runs.
    let error = unsafe { launch(&BROKEN, "broken", [1, 1, 1], &[Argument::buffer("x", &x)]) };
    let error = error.expect_err("it does not compile").to_string();
    assert!(
        error.starts_with("the kernels of `broken.cu` do not compile: "),
        "{error}"
    );
    assert!(
        error.contains("nowhere") && error.contains("broken.cu:2"),
        "{error}"
    );
}

#[test]
fn a_buffer_that_nobody_has_written_is_not_moved() {
    let out = OutBuf::<f32>::on(&Device::emulated(), 3).expect("there is memory");
    // SAFETY: nobody reads it: that is refused.
    let error = unsafe { out.assume_init() }
        .to_host()
        .expect_err("nobody has written it");
    assert_eq!(
        error.to_string(),
        "kernel `to_host`: byte 0 of 12 is read, which nobody has written"
    );
}
