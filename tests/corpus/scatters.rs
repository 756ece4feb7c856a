//! What points combine into large tables at places that are computed; `tests/scatters.rs` says in
//! plain Rust what they compute.

pub fn totals<N: IndexSet, K: IndexSet>(class: &Table<N, i64>, w: &Table<N, f64>, expected: &Table<K, f64>) -> (Table<K, f64>, Table<K, f64>, f64) {
    let mut total = Accum::zero();
    let mut most = Accum::max();
    for n in N {
        total[class[n]] += w[n].sin();
        most[class[n]].put(w[n]);
    }
    let total = total.get();
    (for k in K { total[k] - expected[k] }, most.get(), sum(w))
}

pub fn rows<N: IndexSet, K: IndexSet, D: IndexSet>(word: &Table<N, i64>, w: &Table<(N, D), f32>, expected: &Table<(K, D), f32>) -> (Table<(K, D), f32>, Table<D, f32>) {
    let mut total = Accum::zero();
    let mut all = Accum::zero();
    for n in N {
        for d in D {
            total[word[n]][d] += w[n][d];
            all[d] += w[n][d];
        }
    }
    let total = total.get();
    (for (k, d) in (K, D) { total[k][d] + expected[k][d] }, all.get())
}

/// The largest of each class and the first place of it, and the last of those of each class that are known.
pub fn best<N: IndexSet, M: IndexSet, K: IndexSet>(class: &Table<(N, M), K>, w: &Table<(N, M), f64>) -> (Table<K, f64>, Table<K, usize>, Table<K, f64>) {
    let mut best = Accum::monoid((f64::NEG_INFINITY, 0), |a, b| if b.0 > a.0 { b } else { a });
    let mut last = Accum::monoid((false, 0.0), |a, b| if b.0 { b } else { a });
    for (n, m) in (N, M) {
        let k = class[n][m];
        best[k].put((w[n][m], n.ordinal() * size(M) + m.ordinal()));
        if w[n][m] > 0.0 { last[k].put((true, w[n][m])); }
    }
    let ((most, place), (_, last)) = (best.get(), last.get());
    (most, place, last)
}
