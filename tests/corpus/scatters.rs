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
