//! Gradients of loops whose iterations change a table as long as the data say: what they keep grows with what is done, not
//! with the table for each iteration.

use pointful::prelude::*;

/// Isotonic regression: adjacent violators are pooled on a stack.
#[pointful]
fn pooled<N: IndexSet>(y: &Table<N, f64>, w: &Table<N, f64>) -> f64 {
    let mut value = for _i in N {
        0.0
    };
    let mut weight = for _i in N {
        0.0
    };
    let mut top = 0;
    for i in N {
        value[N::from_ordinal(top)] = y[i];
        weight[N::from_ordinal(top)] = w[i];
        top += 1;
        while top > 1 && value[N::from_ordinal(top - 2)] > value[N::from_ordinal(top - 1)] {
            let a = N::from_ordinal(top - 2);
            let b = N::from_ordinal(top - 1);
            let both = weight[a] + weight[b];
            value[a] = (weight[a] * value[a] + weight[b] * value[b]) / both;
            weight[a] = both;
            top -= 1;
        }
    }
    sum(for i in N {
        if i.ordinal() < top {
            weight[i] * value[i].sin()
        } else {
            0.0
        }
    })
}

#[pointful]
fn pooled_rows<B: IndexSet, N: IndexSet>(y: &Table<(B, N), f64>, w: &Table<N, f64>) -> f64 {
    sum(for b in B {
        pooled(y[b], w)
    })
}

fn plain(y: &[f64], w: &[f64]) -> f64 {
    let mut stack: Vec<[f64; 2]> = Vec::new();
    for (&y, &w) in y.iter().zip(w) {
        let mut last = [y, w];
        while let Some(&before) = stack.last()
            && before[0] > last[0]
        {
            stack.pop();
            let both = before[1] + last[1];
            last = [(before[1] * before[0] + last[1] * last[0]) / both, both];
        }
        stack.push(last);
    }
    stack.iter().map(|[y, w]| w * y.sin()).sum()
}

/// A heap is made from the leaves up; what sinks loses a tenth.
#[pointful]
fn sunk<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let mut t = x.clone();
    let mut total = 0.0;
    for s in N.rev() {
        let mut place = s.ordinal();
        let mut sinks = true;
        while sinks {
            let child = 2 * place + 1;
            sinks = false;
            if child < size(N) {
                let right = child + 1 < size(N)
                    && t[N::from_ordinal(child + 1)] > t[N::from_ordinal(child)];
                let child = if right { child + 1 } else { child };
                let (a, b) = (N::from_ordinal(place), N::from_ordinal(child));
                if t[b] > t[a] {
                    let up = t[b];
                    t[b] = 0.9 * t[a];
                    t[a] = up;
                    place = child;
                    sinks = true;
                }
            }
        }
        total += t[s] * t[s];
    }
    total
}

fn plain_sunk(x: &[f64]) -> f64 {
    let mut t = x.to_vec();
    let mut total = 0.0;
    for s in (0..t.len()).rev() {
        let mut place = s;
        loop {
            let children = 2 * place + 1..t.len().min(2 * place + 3);
            let Some(child) = children.reduce(|a, b| if t[b] > t[a] { b } else { a }) else {
                break;
            };
            if t[child] <= t[place] {
                break;
            }
            (t[place], t[child]) = (t[child], 0.9 * t[place]);
            place = child;
        }
        total += t[s] * t[s];
    }
    total
}

fn numbers(count: usize) -> Vec<f64> {
    let number = |i: usize| (i as f64 * 0.37).sin() + (i as f64 * 1.3).cos();
    (0..count).map(number).collect()
}

fn weights(count: usize) -> Vec<f64> {
    (0..count).map(|i| 1.5 + (i as f64 * 0.77).sin()).collect()
}

/// Compares a gradient with differences, at some places.
fn check(gradient: &[f64], x: &[f64], f: impl Fn(&[f64]) -> f64) {
    assert_eq!(gradient.len(), x.len());
    for place in [0, x.len() / 3, x.len() / 2, x.len() - 1] {
        let at = |step: f64| {
            let mut x = x.to_vec();
            x[place] += step;
            f(&x)
        };
        let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
        let wrong = (gradient[place] - difference).abs();
        assert!(
            wrong < 1e-6 * (1.0 + difference.abs()),
            "{place} of {}: {wrong}",
            x.len()
        );
    }
}

#[test]
fn a_stack_goes_back_through_what_was_pooled() {
    for count in [1, 2, 3, 10, 200] {
        let (y, w) = (numbers(count), weights(count));
        let (ty, tw) = (Table::from(y.clone()), Table::from(w.clone()));
        let value = pooled(&ty, &tw);
        assert!((value - plain(&y, &w)).abs() < 1e-9);
        let (by_y, by_w) = grad!(pooled)(&ty, &tw);
        check(by_y.as_slice(), &y, |y| plain(y, &w));
        check(by_w.as_slice(), &w, |w| plain(&y, w));
    }
}

#[test]
fn each_row_has_a_tape_of_its_own() {
    let sizes = [(1, 1), (3, 20), (20, 3), (2, 300)];
    for (rows, count) in sizes {
        let (y, w) = (numbers(rows * count), weights(count));
        let ty: Table<(Dyn, Dyn), f64> = Table::from_vec((rows, count), y.clone()).unwrap();
        let all = |y: &[f64]| y.chunks(count).map(|y| plain(y, &w)).sum();
        let gradient = grad!(pooled_rows, wrt = y)(&ty, &Table::from(w.clone()));
        check(gradient.as_slice(), &y, all);
    }
}

#[test]
fn a_heap_goes_back_through_what_has_sunk() {
    for count in [1, 2, 3, 10, 200] {
        let x = numbers(count);
        let table = Table::from(x.clone());
        assert!((sunk(&table) - plain_sunk(&x)).abs() < 1e-9);
        check(grad!(sunk)(&table).as_slice(), &x, plain_sunk);
    }
}

/// A table for each iteration would be 80 GB. Differences of so large sums are rounded off: the gradient is compared with
/// the slope along a line.
#[test]
fn long_tables_are_not_kept_of_each_iteration() {
    let count = 100_000;
    let (x, w) = (Table::from(numbers(count)), Table::from(weights(count)));
    let line = Table::from(weights(count));
    let along = |gradient: &Table<Dyn, f64>| -> f64 {
        let both = gradient.as_slice().iter().zip(line.as_slice());
        both.map(|(g, l)| g * l).sum()
    };
    let agree = |slope: f64, expected: f64| {
        let wrong = (slope - expected).abs();
        assert!(wrong < 1e-10 * expected.abs(), "{slope}, {expected}");
    };
    let (_, slope) = jvp!(sunk)(&x, &line);
    agree(along(&grad!(sunk)(&x)), slope);
    let (_, slope) = jvp!(pooled, wrt = y)(&x, &w, &line);
    agree(along(&grad!(pooled, wrt = y)(&x, &w)), slope);
}
