//! Kernels and products over the same rows that follow each other, a tile of rows at a time;
//! `tests/sequences.rs` says in plain Rust what they compute.

pub fn bent_product<N: IndexSet, K: IndexSet, F: IndexSet>(x: &Table<(N, K), f32>, w: &Table<(K, F), f32>) -> Table<(N, F), f32> {
    for (n, f) in _ { sum(for k in K { x[n][k] * w[k][f] }).tanh() }
}

pub fn layers<N: IndexSet, K: IndexSet, F: IndexSet, C: IndexSet>(
    x: &Table<(N, K), f64>, w: &Table<(F, K), f64>, b: &Table<F, f64>, v: &Table<(C, F), f64>, y: &Table<(N, C), f64>,
) -> f64 {
    let first = for (n, f) in (N, F) { (sum(for k in K { w[f][k] * x[n][k] }) + b[f]).max(0.0) };
    let second = for (n, c) in (N, C) { sum(for f in F { v[c][f] * first[n][f] }) };
    sum(for (n, c) in (N, C) { (second[n][c] - y[n][c]).powi(2) })
}

pub fn layers_back<N: IndexSet, K: IndexSet, F: IndexSet, C: IndexSet>(
    x: &Table<(N, K), f64>, w: &Table<(F, K), f64>, b: &Table<F, f64>, v: &Table<(C, F), f64>, y: &Table<(N, C), f64>,
) -> (Table<(F, K), f64>, Table<F, f64>, Table<(C, F), f64>, Table<(N, K), f64>) {
    let slope = grad!(layers, wrt = (w, b, v, x));
    slope(x, w, b, v, y)
}

pub fn attention<N: IndexSet, M: IndexSet, K: IndexSet, F: IndexSet>(
    q: &Table<(N, K), f64>, k: &Table<(M, K), f64>, v: &Table<(M, F), f64>,
) -> (Table<(N, F), f64>, f64) {
    let scores = for (n, m) in (N, M) { sum(for i in K { q[n][i] * k[m][i] }) };
    let raised = for n in N { let top = max(for m in M { scores[n][m] }); for m in M { (scores[n][m] - top).exp() } };
    let all = for n in N { sum(for m in M { raised[n][m] }) };
    let mixed = for (n, f) in (N, F) { sum(for m in M { raised[n][m] * v[m][f] }) };
    (for (n, f) in (N, F) { mixed[n][f] / all[n] }, sum(for n in N { all[n].ln() }))
}

// `sums` and `views` are names of emitted code too.
pub fn blurred_product<N: IndexSet, K: IndexSet, F: IndexSet>(x: &Table<(N, K), f64>, w: &Table<(K, F), f64>) -> (Table<(N, F), f64>, Table<F, f64>) {
    let y = for (n, f) in (N, F) { sum(for k in K { x[n][k] * w[k][f] }) };
    let sums = for f in F { sum(for n in N { y[n][f] }) };
    let views = for (n, f) in (N, F) { (y[(n + 1).clamp()][f] - y[(n - 2).clamp()][f]).exp() };
    (for (n, f) in (N, F) { views[(n + 1).clamp()][f] + y[n][f] * views[n][f] }, sums)
}

pub fn centred_product<N: IndexSet, K: IndexSet, F: IndexSet>(x: &Table<(N, K), f64>, w: &Table<(K, F), f64>) -> Table<(N, F), f64> {
    let y = for (n, f) in (N, F) { sum(for k in K { x[n][k] * w[k][f] }).tanh() };
    let mean = for f in F { mean(for n in N { y[n][f] }) };
    for (n, f) in (N, F) { y[n][f] - mean[f] }
}
