//! Positions that are as far from an index as another number says; `tests/windows.rs` says in plain
//! Rust what they compute.

pub fn lagged<T: IndexSet, L: IndexSet>(x: &Table<T, f64>, w: &Table<L, f64>) -> Table<L, f64> {
    for l in L { w[l] + sum(for t in T { x[t] * x.get(t + l.ordinal()).unwrap_or(0.5) }) }
}

pub fn filtered<T: IndexSet, K: IndexSet>(x: &Table<T, f64>, w: &Table<K, f64>) -> Table<T, f64> {
    for t in T { sum(for k in K { w[k] * x.get(t - k.ordinal()).unwrap_or(0.0) }) }
}

pub fn filtered_loss<T: IndexSet, K: IndexSet>(x: &Table<T, f64>, w: &Table<K, f64>, c: &Table<T, f64>) -> f64 {
    let y = filtered(x, w);
    sum(for t in T { c[t] * y[t] })
}

pub fn filtered_back<T: IndexSet, K: IndexSet>(x: &Table<T, f64>, w: &Table<K, f64>, c: &Table<T, f64>) -> (Table<T, f64>, Table<K, f64>) {
    grad!(filtered_loss, wrt = (x, w))(x, w, c)
}

pub fn at_the_ends<T: IndexSet, K: IndexSet>(x: &Table<T, f32>, w: &Table<K, f32>, by: i64) -> (Table<T, f32>, Table<T, f32>, Table<T, f32>) {
    let wrapped = for t in T { sum(for k in K { w[k] * x[(t + k.ordinal() + by).wrap()] }) };
    let clamped = for t in T { sum(for k in K { w[k] * x[(t - k.ordinal() + by).clamp()] }) };
    let mirrored = for t in T { sum(for k in K { w[k] * x[(t + k.ordinal() - by).mirror()] }) };
    (wrapped, clamped, mirrored)
}

pub fn moved_rows<R: IndexSet, C: IndexSet>(x: &Table<(R, C), f64>, by: i64) -> Table<R, f64> {
    for r in R {
        let first = if x.get(r).is_some() { x[r][0] } else { 0.0 };
        first + sum(for c in C { if c.ordinal() + 1 < size(C) { x[r][c + 1] * x[(r + by).clamp()][c] } else { 1.0 } })
    }
}

pub fn inside<H: IndexSet, W: IndexSet, A: IndexSet, B: IndexSet, P: IndexSet, Q: IndexSet>(
    x: &Table<(H, W), f64>,
    k: &Table<(A, B), f64>,
    c: &Table<(P, Q), f64>,
) -> f64 {
    sum(for (p, q) in (P, Q) { c[p][q] * sum(for (a, b) in (A, B) { k[a][b] * x[p.ordinal() + a.ordinal()][q.ordinal() + b.ordinal()] }) })
}

pub fn inside_back<H: IndexSet, W: IndexSet, A: IndexSet, B: IndexSet, P: IndexSet, Q: IndexSet>(
    x: &Table<(H, W), f64>,
    k: &Table<(A, B), f64>,
    c: &Table<(P, Q), f64>,
) -> (f64, (Table<(H, W), f64>, Table<(A, B), f64>)) {
    value_and_grad!(inside, wrt = (x, k))(x, k, c)
}

pub fn channels<O: IndexSet, C: IndexSet, H: IndexSet, W: IndexSet, P: IndexSet, Q: IndexSet>(
    x: &Table<(C, H, W), f32>,
    w: &Table<(O, C, Fin<3>, Fin<2>), f32>,
    y: &Table<(O, P, Q), f32>,
) -> f32 {
    let found = for (o, p, q) in (O, P, Q) {
        sum(for (c, a, b) in _ { w[o][c][a][b] * x[c][p.ordinal() + a.ordinal()][q.ordinal() + b.ordinal()] })
    };
    sum(for (o, p, q) in (O, P, Q) { (found[o][p][q] - y[o][p][q]).powi(2) })
}

pub fn channels_back<O: IndexSet, C: IndexSet, H: IndexSet, W: IndexSet, P: IndexSet, Q: IndexSet>(
    x: &Table<(C, H, W), f32>,
    w: &Table<(O, C, Fin<3>, Fin<2>), f32>,
    y: &Table<(O, P, Q), f32>,
) -> (f32, (Table<(C, H, W), f32>, Table<(O, C, Fin<3>, Fin<2>), f32>)) {
    value_and_grad!(channels, wrt = (x, w))(x, w, y)
}
