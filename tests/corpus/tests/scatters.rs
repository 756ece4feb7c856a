//! Tables that are too large for each piece of the work to have a copy: what is combined is noted,
//! and the same bits on any number of threads come of it.

mod common;

use common::{Source, floats, matrix, on_threads, vector};
use pointful_corpus::scatters as corpus;
use pointful_runtime::{Dyn, Extent, Table, stats};

/// Places all over a table.
fn places(seed: u64, count: usize, of: usize) -> Vec<i64> {
    let mut source = Source::new(seed);
    (0..count)
        .map(|_| (source.next() << 16) + (source.next() << 8) + source.next())
        .map(|place| place.rem_euclid(of as i64))
        .collect()
}

/// A sum of sines and a maximum in each class, with an angle that is far in some pieces of the
/// work.
#[test]
fn elements_are_combined_in_order() {
    for (points, classes, pieces) in [(0, 4, 0), (1000, 1, 1), (300_000, (1 << 21) + 5, 10)] {
        let class = places(1, points, classes);
        let mut w: Vec<f64> = floats(2, points);
        for far in w.iter_mut().skip(points / 2).step_by(70_000) {
            *far = 1e9;
        }
        let expected: Vec<f64> = floats(3, classes);
        let (mut total, mut most) = (vec![0.0; classes], vec![f64::NEG_INFINITY; classes]);
        for (class, &w) in class.iter().zip(&w) {
            let k = *class as usize;
            total[k] += pointful_runtime::kernel::math::sin(w);
            most[k] = f64::max(most[k], w);
        }
        for (total, expected) in total.iter_mut().zip(&expected) {
            *total -= expected;
        }
        let (class, weights) = (vector(&class), vector(&w));
        let call = || corpus::totals(&class, &weights, &vector(&expected));
        let (found, largest, _) = on_threads(call);
        assert_eq!(
            (found.as_slice(), largest.as_slice()),
            (&total[..], &most[..])
        );
        let (_, stats) = stats::measure(call);
        assert!(stats.pieces >= pieces, "{stats:?}");
    }
}

/// Rows that are looked up, which are copied whatever their number, and a small sum on the way.
#[test]
fn rows_are_combined_in_order() {
    let width = 5;
    for (points, words) in [(0, 3), (300, 1), (1000, 70)] {
        let word = places(4, points, words);
        let w: Vec<f32> = floats(5, points * width);
        let expected: Vec<f32> = floats(6, words * width);
        let mut total = vec![0.0; words * width];
        for (word, row) in word.iter().zip(w.chunks(width)) {
            let k = *word as usize;
            for (total, w) in total[k * width..].iter_mut().zip(row) {
                *total += w;
            }
        }
        for (total, expected) in total.iter_mut().zip(&expected) {
            *total += expected;
        }
        let (word, w, expected) = (
            vector(&word),
            matrix(points, width, &w),
            matrix(words, width, &expected),
        );
        let (found, _) = on_threads(|| corpus::rows(&word, &w, &expected));
        assert_eq!(found.as_slice(), &total[..]);
    }
}

/// By operators of the author's, one of which does not commute: long rows, short ones, and one.
#[test]
fn operators_of_their_own_are_applied_in_order() {
    for (rows, columns, classes, pieces) in [
        (0, 3, 2, 0),
        (3, 0, 2, 0),
        (5, 7, 3, 1),
        (1, 100_000, 10, 8),
        (100_000, 1, 10, 8),
        (20_011, 7, 300, 8),
        // A piece does sixteen times as much as its tables have elements.
        (3, 50_021, 4000, 1),
        (3, 50_021, 1500, 2),
        (3, 200_021, 4000, 2),
    ] {
        let class: Vec<usize> = places(7, rows * columns, classes)
            .iter()
            .map(|&place| place as usize)
            .collect();
        let w: Vec<f64> = floats(8, rows * columns);
        let (mut most, mut place) = (vec![f64::NEG_INFINITY; classes], vec![0; classes]);
        let mut last = vec![0.0; classes];
        for (at, (&k, &w)) in class.iter().zip(&w).enumerate() {
            if w > most[k] {
                (most[k], place[k]) = (w, at);
            }
            if w > 0.0 {
                last[k] = w;
            }
        }
        let both = Extent::<(Dyn, Dyn)>::new((rows, columns));
        let class = Table::from_indices(both, Extent::<Dyn>::new(classes), class).unwrap();
        let w = matrix(rows, columns, &w);
        let call = || corpus::best(&class, &w);
        let found = on_threads(call);
        assert_eq!(
            (found.0.as_slice(), found.1.as_slice(), found.2.as_slice()),
            (&most[..], &place[..], &last[..])
        );
        let (_, stats) = stats::measure(call);
        assert!(stats.pieces >= pieces, "{stats:?}");
    }
}
