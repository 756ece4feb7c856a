//! Constants of whatever integers: what is only cast, or moves members, needs no type beside the
//! constant's own.

use pointful::prelude::*;

const DOWN: [i64; 3] = [-1, 0, 1];
const RIGHT: [[i8; 3]; 2] = [[-1, 0, 1], [2, 0, -2]];
const FAR: usize = 2;
const SHARE: [u16; 3] = [1, 2, 65535];
const LEAST: i32 = -7;

#[pointful]
fn moved<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    for i in N {
        sum(for q in Fin::<3> {
            DOWN[q] as f64 * x[(i - DOWN[q]).wrap()]
        })
    }
}

#[pointful]
fn moved_twice<N: IndexSet>(x: &Table<N, f64>) -> Table<(Fin<2>, N), f64> {
    for (s, i) in _ {
        sum(for q in Fin::<3> {
            x[(i + RIGHT[s][q] + FAR).wrap()] * SHARE[q] as f64
        })
    }
}

#[pointful]
fn cast() -> (f64, f64, i64) {
    (
        LEAST as f64,
        sum(for q in Fin::<3> {
            SHARE[q] as f64
        }),
        FAR as i64,
    )
}

/// Constants that others reach through the function only.
mod hidden {
    use pointful::prelude::*;

    const BY: [i32; 2] = [3, -3];
    const TIMES: u8 = 4;

    #[pointful]
    pub(super) fn far<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
        for i in N {
            sum(for q in Fin::<2> {
                BY[q] as f64 * x[(i + BY[q]).clamp()]
            }) * TIMES as f64
        }
    }
}

#[pointful]
fn total<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let y = hidden::far(x);
    sum(for i in N {
        y[i] * x[i]
    })
}

fn table(n: usize) -> Table<Dyn, f64> {
    Table::from((0..n).map(|k| (k * k) as f64 + 1.0).collect::<Vec<_>>())
}

#[test]
fn members_are_moved_by_signed_constants() {
    for n in [1, 2, 7] {
        let x = table(n);
        let at = |k: i64| x.as_slice()[k.rem_euclid(n as i64) as usize];
        let expected: Vec<f64> = (0..n as i64)
            .map(|i| (0..3).map(|q| DOWN[q] as f64 * at(i - DOWN[q])).sum())
            .collect();
        assert_eq!(moved(&x).as_slice(), expected);
        let twice = moved_twice(&x);
        for (s, right) in RIGHT.iter().enumerate() {
            for i in 0..n {
                let each = (0..3)
                    .map(|q| at(i as i64 + i64::from(right[q]) + FAR as i64) * f64::from(SHARE[q]));
                assert_eq!(twice.as_slice()[s * n + i], each.sum::<f64>());
            }
        }
    }
    assert!(moved(&table(0)).is_empty());
}

#[test]
fn what_is_cast_is_what_it_was() {
    assert_eq!(cast(), (-7.0, 65538.0, 2));
}

#[test]
fn constants_of_others_are_whatever_integers() {
    let x = table(7);
    let value = total(&x);
    let y = hidden::far(&x);
    let expected: f64 = y
        .as_slice()
        .iter()
        .zip(x.as_slice())
        .map(|(y, x)| y * x)
        .sum();
    assert_eq!(value, expected);
    let slope = grad!(total)(&x);
    let mut moved = x.clone();
    moved.as_mut_slice()[2] += 1.0;
    let mut other = x.clone();
    other.as_mut_slice()[2] -= 1.0;
    // It is quadratic.
    assert_eq!(slope.as_slice()[2], (total(&moved) - total(&other)) / 2.0);
}
