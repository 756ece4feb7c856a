//! Ranges that are the same set: what one loop makes over one, another one reads.

use pointful::prelude::*;

const SIZES: [usize; 9] = [0, 1, 2, 3, 7, 8, 9, 33, 66];

fn vector(n: usize) -> Table<Dyn, f64> {
    Table::from(
        (0..n)
            .map(|k| 0.3 + (k as f64 * 0.7).sin())
            .collect::<Vec<_>>(),
    )
}

fn assert_close(what: &str, found: f64, expected: f64) {
    let near = (found - expected).abs() <= 1e-9 * (1.0 + expected.abs());
    assert!(near, "{what}: {found}, not {expected}");
}

/// Compares a gradient with central differences.
fn assert_slopes(
    f: &dyn Fn(&Table<Dyn, f64>) -> f64,
    at: &Table<Dyn, f64>,
    slopes: &Table<Dyn, f64>,
) {
    for i in 0..at.len().min(12) {
        let moved = |by: f64| {
            let mut x = at.as_slice().to_vec();
            x[i] += by;
            f(&Table::from(x))
        };
        let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
        let near = (slopes[i] - difference).abs() <= 1e-5 * (1.0 + difference.abs());
        assert!(near, "{i} of {}: {}, not {difference}", at.len(), slopes[i]);
    }
}

#[pointful]
fn of_integers(m: usize, x: f64) -> f64 {
    let a = for k in 0..m {
        x * k as f64
    };
    let b = for k in 0..m {
        x + k as f64
    };
    sum(a * b)
        + sum(for k in 0..m {
            a[k] - b[k]
        })
}

#[test]
fn tables_over_the_same_integers_fit() {
    for m in SIZES {
        let term = |k: f64| 0.7 * k * (0.7 + k) + 0.7 * k - (0.7 + k);
        assert_close(
            "sum",
            of_integers(m, 0.7),
            (0..m).map(|k| term(k as f64)).sum(),
        );
    }
}

#[pointful]
fn of_members<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(for i in N {
        let a = for k in ..i {
            x[k]
        };
        let b = for k in ..i {
            x[k] * x[i]
        };
        sum(for k in _ {
            a[k] * b[k] * x[k]
        }) + sum(for k in ..i {
            a[k] + b[k] * x[k]
        })
    })
}

#[test]
fn members_of_a_range_are_members_of_its_set() {
    for n in SIZES {
        let x = vector(n);
        let mut expected = 0.0;
        for i in 0..n {
            for k in 0..i {
                expected += x[k] * x[k] * x[i] * x[k] + x[k] + x[k] * x[i] * x[k];
            }
        }
        assert_close("value", of_members(&x), expected);
        assert_slopes(&of_members, &x, &grad!(of_members)(&x));
    }
}

#[pointful]
fn from_a_member<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    for i in N {
        let mut w = for j in i.. {
            x[j] * 2.0
        };
        for j in i.. {
            if j != i {
                w[j] += x[i];
            }
        }
        let d = for j in i.. {
            w[j]
        };
        let last = d.get(i + 2).unwrap_or(0.5);
        last + sum(for j in i.. {
            d[j] * x[j]
        }) + w[i]
            + sum(for j in _ {
                d[j] + w[j] * x[j]
            })
    }
}

#[pointful]
fn from_a_member_in_all<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(from_a_member(x).sin())
}

#[test]
fn ranges_that_begin_later() {
    for n in SIZES {
        let x = vector(n);
        let found = from_a_member(&x);
        for i in 0..n {
            let w: Vec<f64> = (i..n)
                .map(|j| 2.0 * x[j] + if j == i { 0.0 } else { x[i] })
                .collect();
            let mut expected = w[0] + w.get(2).copied().unwrap_or(0.5);
            for j in i..n {
                expected += 2.0 * w[j - i] * x[j] + w[j - i];
            }
            assert_close("row", found[i], expected);
        }
        assert_slopes(&from_a_member_in_all, &x, &grad!(from_a_member_in_all)(&x));
    }
}

#[pointful]
fn rows(m: usize, rounds: usize, x: f64) -> f64 {
    let mut row = for _k in 0..m + 1 {
        x
    };
    for _round in 0..rounds {
        row = for k in 0..m + 1 {
            if k == 0 { 1.0 } else { row[k] + row[k - 1] * x }
        };
    }
    sum(row)
}

#[test]
fn a_state_over_a_range() {
    for m in SIZES {
        let mut row = vec![0.7; m + 1];
        for _ in 0..4 {
            row = (0..=m)
                .map(|k| {
                    if k == 0 {
                        1.0
                    } else {
                        row[k] + row[k - 1] * 0.7
                    }
                })
                .collect();
        }
        assert_close("row", rows(m, 4, 0.7), row.iter().sum());
    }
}

/// The same range in both branches, in what may not be asked, and at other values of its bounds.
#[pointful]
fn in_branches(m: usize, c: bool, x: f64) -> f64 {
    let t = if c {
        for k in 1..m {
            x * k as f64
        }
    } else {
        for k in 1..m {
            x - k as f64
        }
    };
    let asked = c
        && any(for k in 2..m {
            k as f64 > x
        });
    let more = if asked {
        sum(for k in 2..m {
            k as f64
        })
    } else {
        0.0
    };
    let f = |n: usize| {
        let a = for k in 1..n {
            x * k as f64
        };
        let b = for k in 1..n {
            1.0 + k as f64
        };
        sum(a * b)
    };
    sum(t) + more + f(m) + f(m + 1)
}

#[test]
fn ranges_in_branches_and_closures() {
    for m in SIZES {
        for c in [false, true] {
            let t: f64 = (1..m)
                .map(|k| if c { 0.7 * k as f64 } else { 0.7 - k as f64 })
                .sum();
            let more: f64 = if c {
                (2..m).map(|k| k as f64).sum()
            } else {
                0.0
            };
            let f = |n: usize| -> f64 { (1..n).map(|k| 0.7 * k as f64 * (1.0 + k as f64)).sum() };
            assert_close("value", in_branches(m, c, 0.7), t + more + f(m) + f(m + 1));
        }
    }
}

#[pointful]
fn without_the_first<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let d = for i in N.skip(1) {
        x[i] - x[i - 1]
    };
    let e = for i in N.skip(1) {
        x[i] + x[i - 1]
    };
    sum(d * e)
        + sum(for i in N.skip(1).rev() {
            d[i] * x[i]
        })
}

#[test]
fn ranges_without_the_first() {
    for n in SIZES {
        let x = vector(n);
        let term = |i: usize| (x[i] - x[i - 1]) * (x[i] + x[i - 1] + x[i]);
        assert_close("value", without_the_first(&x), (1..n).map(term).sum());
        assert_slopes(&without_the_first, &x, &grad!(without_the_first)(&x));
    }
}

/// A bound that changes makes another range.
#[pointful]
fn of_what_changes(n: usize) -> usize {
    let mut m = n;
    let a = sum(for _k in 0..m {
        1
    });
    m += 3;
    a * 100
        + sum(for _k in 0..m {
            1
        })
}

#[pointful]
fn beyond<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(for i in N {
        let a = for k in ..i {
            x[k]
        };
        a[i]
    })
}

#[test]
fn bounds_are_what_they_are_at_the_loop() {
    assert_eq!(of_what_changes(2), 205);
    let panic = std::panic::catch_unwind(|| beyond(&vector(2))).unwrap_err();
    let text = panic.downcast_ref::<String>().unwrap();
    assert!(text.contains("out of range"), "{text}");
}
