//! Derivatives in the language, each of one pattern; `tests/derivatives.rs` compares them with
//! differences and with each other. Only public functions are compiled: the others are what is
//! differentiated.

// ---- Maps ----

fn chained<N: IndexSet>(x: &Table<N, f64>, a: f64) -> f64 {
    sum(for i in N { (a * x[i]).sin() * x[i].exp() + (x[i] + 2.0).ln() / (a + 3.0) })
}
pub fn chained_grad<N: IndexSet>(x: &Table<N, f64>, a: f64) -> (f64, (Table<N, f64>, f64)) { value_and_grad!(chained)(x, a) }

fn chained_single<N: IndexSet>(x: &Table<N, f32>, a: f32) -> f32 {
    sum(for i in N { (a * x[i]).tanh() * (x[i] + 2.0).sqrt() })
}
pub fn chained_single_grad<N: IndexSet>(x: &Table<N, f32>, a: f32) -> (f32, (Table<N, f32>, f32)) { value_and_grad!(chained_single)(x, a) }

fn branched<N: IndexSet>(x: &Table<N, f64>, a: f64) -> f64 {
    sum(for i in N { if x[i] > 0.0 { (x[i] * a).exp() } else if a > x[i] { a * x[i] * x[i] } else { -a } })
}
pub fn branched_grad<N: IndexSet>(x: &Table<N, f64>, a: f64) -> (f64, (Table<N, f64>, f64)) { value_and_grad!(branched)(x, a) }

fn kinked<N: IndexSet>(x: &Table<N, f64>, a: f64) -> f64 {
    sum(for i in N { x[i].max(a).min(0.4) * x[i].abs() + (x[i] * a).clamp(-0.2, 0.2) })
}
pub fn kinked_grad<N: IndexSet>(x: &Table<N, f64>, a: f64) -> (f64, (Table<N, f64>, f64)) { value_and_grad!(kinked)(x, a) }

fn two_floats<N: IndexSet>(x: &Table<N, f64>, a: f64) -> f64 {
    sum(for i in N { let y = x[i] * a; y * x[i] }) + sum(for i in N { x[i] }) * mean(for k in Fin::<3> { a * k.ordinal() as f64 })
}
pub fn two_floats_grad<N: IndexSet>(x: &Table<N, f64>, a: f64) -> (f64, (Table<N, f64>, f64)) { value_and_grad!(two_floats)(x, a) }

fn lifted(x: f64, y: f64) -> f64 { (x * y).sin() + y * y }
fn lifted_rows<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>) -> Table<N, f64> {
    for n in N { sum(lifted(x[n], w)) }
}
pub fn lifted_rows_vjp<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>, ct: &Table<N, f64>) -> (Table<N, f64>, (Table<(N, M), f64>, Table<M, f64>)) { vjp!(lifted_rows)(x, w, ct) }

// ---- Gathers, scatters, stencils ----

fn gathered<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, w: &Table<N, f64>, at: &Table<N, K>) -> f64 {
    sum(for n in N { x[at[n]] * x[at[n]] * w[n] })
}
pub fn gathered_grad<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, w: &Table<N, f64>, at: &Table<N, K>) -> (f64, (Table<K, f64>, Table<N, f64>)) { value_and_grad!(gathered)(x, w, at) }

fn scattered<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, w: &Table<N, f64>, at: &Table<N, K>) -> f64 {
    let mut acc = Accum::zero();
    for n in N { acc[at[n]] += w[n] * w[n]; }
    let bins = acc.get();
    sum(for k in K { bins[k] * x[k].sin() })
}
pub fn scattered_grad<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, w: &Table<N, f64>, at: &Table<N, K>) -> (f64, (Table<K, f64>, Table<N, f64>)) { value_and_grad!(scattered)(x, w, at) }

fn largest_of_bins<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, w: &Table<N, f64>, at: &Table<N, K>) -> f64 {
    let mut acc = Accum::max();
    for n in N { acc[at[n]].put(w[n] * x[at[n]]); }
    let bins = acc.get();
    sum(for k in K { if bins[k].is_finite() { bins[k] * bins[k] } else { x[k] } })
}
pub fn largest_of_bins_grad<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, w: &Table<N, f64>, at: &Table<N, K>) -> (f64, (Table<K, f64>, Table<N, f64>)) { value_and_grad!(largest_of_bins)(x, w, at) }

fn products_of_bins<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, w: &Table<N, f64>, at: &Table<N, K>) -> f64 {
    let mut acc = Accum::prod();
    for n in N { acc[at[n]].put(1.0 + 0.1 * w[n]); }
    let bins = acc.get();
    sum(for k in K { bins[k].ln() * x[k] })
}
pub fn products_of_bins_grad<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, w: &Table<N, f64>, at: &Table<N, K>) -> (f64, (Table<K, f64>, Table<N, f64>)) { value_and_grad!(products_of_bins)(x, w, at) }

fn written<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, w: &Table<N, f64>, at: &Table<N, K>) -> f64 {
    let mut u = x;
    for n in N { u[at[n]] = u[at[n]] * 0.5 + w[n]; }
    sum(for k in K { u[k] * u[k] })
}
pub fn written_grad<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, w: &Table<N, f64>, at: &Table<N, K>) -> (f64, (Table<K, f64>, Table<N, f64>)) { value_and_grad!(written)(x, w, at) }

fn stencil<N: IndexSet>(x: &Table<N, f64>, a: f64) -> Table<N, f64> {
    for i in N { a * x[(i - 1).wrap()] * x[i] + x[(i + 1).clamp()] - x[(i + 2).mirror()] * x.get(i - 1).unwrap_or(a) }
}
pub fn stencil_vjp<N: IndexSet>(x: &Table<N, f64>, a: f64, ct: &Table<N, f64>) -> (Table<N, f64>, (Table<N, f64>, f64)) { vjp!(stencil)(x, a, ct) }
pub fn stencil_jvp<N: IndexSet>(x: &Table<N, f64>, a: f64, dx: &Table<N, f64>, da: f64) -> (Table<N, f64>, Table<N, f64>) { jvp!(stencil)(x, a, dx, da) }

fn at_largest<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>) -> Table<N, f64> {
    for n in N {
        if size(M) > 0 { let k = argmax(for m in M { x[n][m] * w[m] }); x[n][k] * w[k] + x[n][k] } else { 0.0 }
    }
}
pub fn at_largest_vjp<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>, ct: &Table<N, f64>) -> (Table<N, f64>, (Table<(N, M), f64>, Table<M, f64>)) { vjp!(at_largest)(x, w, ct) }

// ---- Reductions ----

fn sums<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>) -> Table<N, f64> {
    for n in N { sum(for m in M { x[n][m] * w[m] * w[m] }) }
}
pub fn sums_vjp<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>, ct: &Table<N, f64>) -> (Table<N, f64>, (Table<(N, M), f64>, Table<M, f64>)) { vjp!(sums)(x, w, ct) }
pub fn sums_jvp<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>, dx: &Table<(N, M), f64>, dw: &Table<M, f64>) -> (Table<N, f64>, Table<N, f64>) { jvp!(sums)(x, w, dx, dw) }

fn products<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>) -> Table<N, f64> {
    for n in N { prod(for m in M { 1.0 + 0.1 * x[n][m] * w[m] }) }
}
pub fn products_vjp<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>, ct: &Table<N, f64>) -> (Table<N, f64>, (Table<(N, M), f64>, Table<M, f64>)) { vjp!(products)(x, w, ct) }
pub fn products_jvp<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>, dx: &Table<(N, M), f64>, dw: &Table<M, f64>) -> (Table<N, f64>, Table<N, f64>) { jvp!(products)(x, w, dx, dw) }

fn extremes<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>) -> Table<N, f64> {
    for n in N {
        let hi = max(for m in M { x[n][m] * w[m] });
        let lo = min(for m in M { x[n][m] - w[m] });
        if hi.is_finite() { hi * lo } else { 0.0 }
    }
}
pub fn extremes_vjp<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>, ct: &Table<N, f64>) -> (Table<N, f64>, (Table<(N, M), f64>, Table<M, f64>)) { vjp!(extremes)(x, w, ct) }
pub fn extremes_jvp<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>, dx: &Table<(N, M), f64>, dw: &Table<M, f64>) -> (Table<N, f64>, Table<N, f64>) { jvp!(extremes)(x, w, dx, dw) }

fn folded<N: IndexSet>(x: &Table<N, f64>, a: f64) -> f64 {
    reduce(a, |p, q| p + q + 0.01 * p * q, x)
}
pub fn folded_grad<N: IndexSet>(x: &Table<N, f64>, a: f64) -> (f64, (Table<N, f64>, f64)) { value_and_grad!(folded)(x, a) }

fn affine<N: IndexSet>(x: &Table<N, f64>, a: f64) -> f64 {
    let (p, q) = reduce((1.0, 0.0), |p, q| (p.0 * q.0, p.1 * q.0 + q.1), for i in N { (0.9 + 0.01 * x[i], a * x[i]) });
    p * a + q
}
pub fn affine_grad<N: IndexSet>(x: &Table<N, f64>, a: f64) -> (f64, (Table<N, f64>, f64)) { value_and_grad!(affine)(x, a) }

fn log_sum_exp<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>) -> Table<N, f64> {
    for n in N {
        let top = max(for m in M { x[n][m] });
        let s = sum(for m in M { w[m].exp() * (x[n][m] - top).exp() });
        if s > 0.0 { s.ln() + top } else { 0.0 }
    }
}
pub fn log_sum_exp_vjp<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>, ct: &Table<N, f64>) -> (Table<N, f64>, (Table<(N, M), f64>, Table<M, f64>)) { vjp!(log_sum_exp)(x, w, ct) }

fn variance<N: IndexSet>(x: &Table<N, f64>, a: f64) -> f64 {
    if size(N) > 0 { let m = mean(x); a * mean(for i in N { (x[i] - m).powi(2) }) } else { a }
}
pub fn variance_grad<N: IndexSet>(x: &Table<N, f64>, a: f64) -> (f64, (Table<N, f64>, f64)) { value_and_grad!(variance)(x, a) }

fn product<I: IndexSet, K: IndexSet, J: IndexSet>(a: &Table<(I, K), f64>, b: &Table<(K, J), f64>) -> Table<(I, J), f64> {
    for (i, j) in _ { sum(for k in _ { a[i][k] * b[k][j] }) }
}
pub fn product_vjp<I: IndexSet, K: IndexSet, J: IndexSet>(a: &Table<(I, K), f64>, b: &Table<(K, J), f64>, ct: &Table<(I, J), f64>) -> (Table<(I, J), f64>, (Table<(I, K), f64>, Table<(K, J), f64>)) { vjp!(product)(a, b, ct) }

fn product_single<I: IndexSet, K: IndexSet, J: IndexSet>(a: &Table<(I, K), f32>, b: &Table<(K, J), f32>) -> Table<(I, J), f32> {
    for (i, j) in _ { sum(for k in _ { a[i][k] * b[k][j] }) }
}
pub fn product_single_vjp<I: IndexSet, K: IndexSet, J: IndexSet>(a: &Table<(I, K), f32>, b: &Table<(K, J), f32>, ct: &Table<(I, J), f32>) -> (Table<(I, J), f32>, (Table<(I, K), f32>, Table<(K, J), f32>)) { vjp!(product_single)(a, b, ct) }

fn clusters<N: IndexSet, K: IndexSet, D: IndexSet>(points: &Table<(N, D), f64>, centres: &Table<(K, D), f64>) -> f64 {
    sum(for n in N { let m = min(for k in K { sum(for d in D { (points[n][d] - centres[k][d]).powi(2) }) }); if m.is_finite() { m } else { 0.0 } })
}
pub fn clusters_grad<N: IndexSet, K: IndexSet, D: IndexSet>(points: &Table<(N, D), f64>, centres: &Table<(K, D), f64>) -> (f64, (Table<(N, D), f64>, Table<(K, D), f64>)) { value_and_grad!(clusters)(points, centres) }

// ---- Scans ----

fn summed<N: IndexSet>(x: &Table<N, f64>, a: f64) -> Table<N, f64> {
    cumsum(for i in N { a * x[i] * x[i] })
}
pub fn summed_vjp<N: IndexSet>(x: &Table<N, f64>, a: f64, ct: &Table<N, f64>) -> (Table<N, f64>, (Table<N, f64>, f64)) { vjp!(summed)(x, a, ct) }
pub fn summed_jvp<N: IndexSet>(x: &Table<N, f64>, a: f64, dx: &Table<N, f64>, da: f64) -> (Table<N, f64>, Table<N, f64>) { jvp!(summed)(x, a, dx, da) }

fn multiplied<N: IndexSet>(x: &Table<N, f64>, a: f64) -> Table<N, f64> {
    cumprod(for i in N { 1.0 + 0.01 * a * x[i] })
}
pub fn multiplied_vjp<N: IndexSet>(x: &Table<N, f64>, a: f64, ct: &Table<N, f64>) -> (Table<N, f64>, (Table<N, f64>, f64)) { vjp!(multiplied)(x, a, ct) }
pub fn multiplied_jvp<N: IndexSet>(x: &Table<N, f64>, a: f64, dx: &Table<N, f64>, da: f64) -> (Table<N, f64>, Table<N, f64>) { jvp!(multiplied)(x, a, dx, da) }

fn highest<N: IndexSet>(x: &Table<N, f64>, a: f64) -> Table<N, f64> {
    scan(-0.3, |p, q| p.max(q), for i in N { a * x[i] })
}
pub fn highest_vjp<N: IndexSet>(x: &Table<N, f64>, a: f64, ct: &Table<N, f64>) -> (Table<N, f64>, (Table<N, f64>, f64)) { vjp!(highest)(x, a, ct) }

fn recurrence<N: IndexSet>(x: &Table<N, f64>, a: f64) -> Table<N, f64> {
    let (p, q) = scan((1.0, a), |p, q| (p.0 * q.0, p.1 * q.0 + q.1), for i in N { (0.5 + 0.1 * x[i], x[i]) });
    for i in N { q[i] + p[i] * x[i] }
}
pub fn recurrence_vjp<N: IndexSet>(x: &Table<N, f64>, a: f64, ct: &Table<N, f64>) -> (Table<N, f64>, (Table<N, f64>, f64)) { vjp!(recurrence)(x, a, ct) }

fn scanned_rows<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>) -> Table<N, f64> {
    for n in N { let s = cumsum(for m in M { x[n][m] * w[m] }); sum(for m in M { s[m].sin() * w[m] }) }
}
pub fn scanned_rows_vjp<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>, ct: &Table<N, f64>) -> (Table<N, f64>, (Table<(N, M), f64>, Table<M, f64>)) { vjp!(scanned_rows)(x, w, ct) }

// ---- Loops ----

fn scalar_state<N: IndexSet>(x: &Table<N, f64>, a: f64) -> f64 {
    let mut s = a;
    for i in N { s = (s * x[i]).sin() + 0.5 * a; }
    s
}
pub fn scalar_state_grad<N: IndexSet>(x: &Table<N, f64>, a: f64) -> (f64, (Table<N, f64>, f64)) { value_and_grad!(scalar_state)(x, a) }
pub fn scalar_state_jvp<N: IndexSet>(x: &Table<N, f64>, a: f64, dx: &Table<N, f64>, da: f64) -> (f64, f64) { jvp!(scalar_state)(x, a, dx, da) }

fn tuple_state<N: IndexSet>(x: &Table<N, f64>, a: f64) -> f64 {
    let mut p = a;
    let mut v = 0.0;
    for i in N { let f = x[i] - p.sin(); v = 0.9 * v + 0.1 * f; p = p + 0.1 * v; }
    p * p + v
}
pub fn tuple_state_grad<N: IndexSet>(x: &Table<N, f64>, a: f64) -> (f64, (Table<N, f64>, f64)) { value_and_grad!(tuple_state)(x, a) }

fn checkpointed<N: IndexSet>(x: &Table<N, f64>, a: f64) -> f64 {
    let mut s = a;
    #[checkpoint(every = 4)]
    for i in N { s = (s * x[i]).cos() + 0.1 * a; }
    let mut t = s;
    #[checkpoint]
    for _k in 0..30 { t = (t + 0.3 * s).sin(); }
    t
}
pub fn checkpointed_grad<N: IndexSet>(x: &Table<N, f64>, a: f64) -> (f64, (Table<N, f64>, f64)) { value_and_grad!(checkpointed)(x, a) }

fn table_state<N: IndexSet>(x: &Table<N, f64>, a: f64) -> Table<N, f64> {
    let mut u = x;
    for _t in 0..5 { u = for i in N { u[i] + 0.1 * a * (u[(i - 1).wrap()] - 2.0 * u[i] + u[(i + 1).wrap()]) + 0.01 * u[i] * u[i] }; }
    u
}
pub fn table_state_vjp<N: IndexSet>(x: &Table<N, f64>, a: f64, ct: &Table<N, f64>) -> (Table<N, f64>, (Table<N, f64>, f64)) { vjp!(table_state)(x, a, ct) }
pub fn table_state_jvp<N: IndexSet>(x: &Table<N, f64>, a: f64, dx: &Table<N, f64>, da: f64) -> (Table<N, f64>, Table<N, f64>) { jvp!(table_state)(x, a, dx, da) }

fn in_place<N: IndexSet>(x: &Table<N, f64>, a: f64) -> Table<N, f64> {
    let mut u = x;
    for i in N { u[i] = 0.5 * u[i] * u[(i - 1).wrap()] + a * u[(i + 1).wrap()]; }
    u
}
pub fn in_place_vjp<N: IndexSet>(x: &Table<N, f64>, a: f64, ct: &Table<N, f64>) -> (Table<N, f64>, (Table<N, f64>, f64)) { vjp!(in_place)(x, a, ct) }

fn loops_in_maps<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>) -> Table<N, f64> {
    for n in N { let mut s = 0.3; for m in M { s = (s * w[m] + x[n][m]).tanh(); } s }
}
pub fn loops_in_maps_vjp<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>, ct: &Table<N, f64>) -> (Table<N, f64>, (Table<(N, M), f64>, Table<M, f64>)) { vjp!(loops_in_maps)(x, w, ct) }
pub fn loops_in_maps_jvp<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>, dx: &Table<(N, M), f64>, dw: &Table<M, f64>) -> (Table<N, f64>, Table<N, f64>) { jvp!(loops_in_maps)(x, w, dx, dw) }

fn maps_in_loops<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>) -> Table<N, f64> {
    let mut h = for n in N { 0.1 };
    for m in M { let total = mean(h); h = for n in N { (0.5 * h[n] + x[n][m] * w[m] + 0.1 * total).tanh() }; }
    h
}
pub fn maps_in_loops_vjp<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>, ct: &Table<N, f64>) -> (Table<N, f64>, (Table<(N, M), f64>, Table<M, f64>)) { vjp!(maps_in_loops)(x, w, ct) }

fn loops_in_loops<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>) -> Table<N, f64> {
    for n in N {
        let mut s = 0.2;
        for m in M { let mut r = s; for _k in 0..3 { r = 0.5 * r + (w[m] * s).sin(); } s = r * x[n][m] + 0.3 * x[n][m]; }
        s
    }
}
pub fn loops_in_loops_vjp<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>, ct: &Table<N, f64>) -> (Table<N, f64>, (Table<(N, M), f64>, Table<M, f64>)) { vjp!(loops_in_loops)(x, w, ct) }

fn elman<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>) -> Table<N, f64> {
    let mut h = for m in M { 0.0 };
    for n in N {
        let total = sum(for m in M { h[m] * w[m] });
        h = for m in M { (x[n][m] + 0.1 * total).tanh() };
        total + sum(h)
    }
}
pub fn elman_vjp<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, w: &Table<M, f64>, ct: &Table<N, f64>) -> (Table<N, f64>, (Table<(N, M), f64>, Table<M, f64>)) { vjp!(elman)(x, w, ct) }

fn whiles<N: IndexSet>(x: &Table<N, f64>, a: f64) -> Table<N, f64> {
    for i in N { let mut s = x[i].abs() + 2.0; while s > 0.5 { s = s * 0.6 + 0.01 * a * x[i]; } s }
}
pub fn whiles_vjp<N: IndexSet>(x: &Table<N, f64>, a: f64, ct: &Table<N, f64>) -> (Table<N, f64>, (Table<N, f64>, f64)) { vjp!(whiles)(x, a, ct) }

fn bounded<N: IndexSet>(x: &Table<N, f64>, a: f64) -> f64 {
    let mut s = a;
    let mut k = 0;
    #[bound(8)]
    while k < 6 { s = (0.9 * s + 0.1 * a).sin() + if size(N) > 0 { 0.1 * s * mean(x) } else { 0.0 }; k = k + 1; }
    s
}
pub fn bounded_grad<N: IndexSet>(x: &Table<N, f64>, a: f64) -> (f64, (Table<N, f64>, f64)) { value_and_grad!(bounded)(x, a) }

// ---- Dependent ranges ----

fn triangle<N: IndexSet>(x: &Table<N, f64>, a: f64) -> f64 {
    sum(for i in N { sum(for j in ..i { x[i] * x[j] * x[j] * a }) / (1 + i.ordinal()) as f64 })
}
pub fn triangle_grad<N: IndexSet>(x: &Table<N, f64>, a: f64) -> (f64, (Table<N, f64>, f64)) { value_and_grad!(triangle)(x, a) }

fn triangle_loop<N: IndexSet>(x: &Table<N, f64>, a: f64) -> Table<N, f64> {
    for i in N { let mut s = a; for j in ..i { s = 0.5 * s * x[j] + 0.3 * x[i]; } s }
}
pub fn triangle_loop_vjp<N: IndexSet>(x: &Table<N, f64>, a: f64, ct: &Table<N, f64>) -> (Table<N, f64>, (Table<N, f64>, f64)) { vjp!(triangle_loop)(x, a, ct) }

fn solved<N: IndexSet>(x: &Table<N, f64>, a: f64) -> Table<N, f64> {
    // Forward substitution with the matrix 2 on the diagonal and decaying below it.
    let mut y = x;
    for i in N {
        y[i] = (x[i] - a * sum(for j in ..i { y[j] / (2 + i.ordinal() - j.ordinal()).pow(2) as f64 })) * 0.5;
    }
    y
}
pub fn solved_vjp<N: IndexSet>(x: &Table<N, f64>, a: f64, ct: &Table<N, f64>) -> (Table<N, f64>, (Table<N, f64>, f64)) { vjp!(solved)(x, a, ct) }

// ---- Factorizations ----

fn evidence<N: IndexSet>(a: &Table<(N, N), f64>, y: &Table<N, f64>) -> f64 {
    let mut l = for (i, j) in (N, N) { sum(for k in N { a[i][k] * a[j][k] }) / size(N) as f64 + if i == j { 2.0 } else { 0.0 } };
    for j in N {
        l[j][j] = (l[j][j] - sum(for k in ..j { l[j][k] * l[j][k] })).sqrt();
        for i in (j + 1).. { l[i][j] = (l[i][j] - sum(for k in ..j { l[i][k] * l[j][k] })) / l[j][j]; }
    }
    let mut z = y;
    for i in N { z[i] = (y[i] - sum(for k in ..i { l[i][k] * z[k] })) / l[i][i]; }
    sum(for i in N { z[i] * z[i] * 0.5 + l[i][i].ln() })
}
pub fn evidence_grad<N: IndexSet>(a: &Table<(N, N), f64>, y: &Table<N, f64>) -> (f64, (Table<(N, N), f64>, Table<N, f64>)) { value_and_grad!(evidence)(a, y) }

// ---- Higher and nested derivatives ----

fn energy<N: IndexSet>(x: &Table<N, f64>, a: f64) -> f64 {
    sum(for i in N { a * x[i].powi(3) + (x[i] * x[(i + 1).wrap()]).sin() }) + a * a * sum(x)
}
pub fn energy_grad<N: IndexSet>(x: &Table<N, f64>, a: f64) -> (f64, (Table<N, f64>, f64)) { value_and_grad!(energy)(x, a) }
pub fn energy_hvp<N: IndexSet>(x: &Table<N, f64>, a: f64, dx: &Table<N, f64>, da: f64) -> (Table<N, f64>, f64) { hvp!(energy)(x, a, dx, da) }
pub fn energy_reverse<N: IndexSet>(x: &Table<N, f64>, a: f64, dx: &Table<N, f64>, da: f64) -> (Table<N, f64>, f64) { vjp!(grad!(energy))(x, a, dx, da).1 }
pub fn energy_hessian<N: IndexSet>(x: &Table<N, f64>, a: f64) -> Table<(N, N), f64> { hessian!(energy, wrt = x)(x, a) }
fn along<N: IndexSet>(x: &Table<N, f64>, a: f64) -> f64 { jvp!(energy)(x, a, x, a).1 }
pub fn along_grad<N: IndexSet>(x: &Table<N, f64>, a: f64) -> (f64, (Table<N, f64>, f64)) { value_and_grad!(along)(x, a) }

pub fn stencil_jacobian<N: IndexSet>(x: &Table<N, f64>, a: f64) -> (Table<(N, N), f64>, Table<N, f64>) { jacobian!(stencil)(x, a) }
pub fn folded_hvp<N: IndexSet>(x: &Table<N, f64>, a: f64, dx: &Table<N, f64>, da: f64) -> (Table<N, f64>, f64) { hvp!(folded)(x, a, dx, da) }
pub fn scalar_state_hvp<N: IndexSet>(x: &Table<N, f64>, a: f64, dx: &Table<N, f64>, da: f64) -> (Table<N, f64>, f64) { hvp!(scalar_state)(x, a, dx, da) }
pub fn scalar_state_reverse<N: IndexSet>(x: &Table<N, f64>, a: f64, dx: &Table<N, f64>, da: f64) -> (Table<N, f64>, f64) { vjp!(grad!(scalar_state))(x, a, dx, da).1 }
pub fn gathered_hvp<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, w: &Table<N, f64>, at: &Table<N, K>, dx: &Table<K, f64>, dw: &Table<N, f64>) -> (Table<K, f64>, Table<N, f64>) { hvp!(gathered)(x, w, at, dx, dw) }

fn quintic(x: f64, a: f64) -> f64 { a * x.powi(5) + (x * a).exp() }
pub fn third<N: IndexSet>(x: &Table<N, f64>, a: f64) -> Table<N, f64> {
    for i in N { grad!(grad!(grad!(quintic, wrt = x), wrt = x), wrt = x)(x[i], a) }
}
pub fn third_forward<N: IndexSet>(x: &Table<N, f64>, a: f64) -> Table<N, f64> {
    for i in N { jvp!(jvp!(grad!(quintic, wrt = x), wrt = x), wrt = x)(x[i], a, 1.0, 1.0).1.1 }
}
pub fn mapped<N: IndexSet>(x: &Table<N, f64>, a: f64) -> Table<N, f64> { vmap!(grad!(quintic, wrt = x), over = x)(x, a) }

fn distance(w: f64, x: f64, a: f64) -> f64 { (w - x).powi(2) + a * w.sin() }
fn descended<N: IndexSet>(x: &Table<N, f64>, a: f64) -> f64 {
    let mut w = for i in N { 0.0 };
    for _t in 0..6 { w = for i in N { let g = grad!(distance, wrt = w)(w[i], x[i], a); w[i] - 0.2 * g }; }
    sum(for i in N { w[i] * w[i] })
}
pub fn descended_grad<N: IndexSet>(x: &Table<N, f64>, a: f64) -> (f64, (Table<N, f64>, f64)) { value_and_grad!(descended)(x, a) }

// ---- What authors say ----

fn softplus_vjp(x: f64, ct: f64) -> f64 { ct / (1.0 + (-x).exp()) }
#[pointful(vjp = softplus_vjp)]
fn softplus(x: f64) -> f64 { (1.0 + x.exp()).ln() }
#[pointful(remat)]
fn expensive(x: f64, a: f64) -> f64 { softplus((x * a).sin()) }
fn ruled<N: IndexSet>(x: &Table<N, f64>, a: f64) -> f64 {
    sum(for i in N { softplus(x[i] * a) + expensive(x[i], a) + stop_gradient(x[i]) * 0.0 })
}
pub fn ruled_grad<N: IndexSet>(x: &Table<N, f64>, a: f64) -> (f64, (Table<N, f64>, f64)) { value_and_grad!(ruled)(x, a) }

// ---- Steps that add to places of a table ----

fn pushed<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, w: &Table<N, f64>, at: &Table<N, K>) -> f64 {
    let mut y = x.clone();
    for k in K { for n in N { y[at[n]] += 0.1 * w[n] * y[k]; } }
    sum(y * y)
}
pub fn pushed_grad<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, w: &Table<N, f64>, at: &Table<N, K>) -> (f64, (Table<K, f64>, Table<N, f64>)) { value_and_grad!(pushed, wrt = (x, w))(x, w, at) }

fn pulled<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, w: &Table<N, f64>, at: &Table<N, K>) -> f64 {
    let mut y = x.clone();
    for k in K { y[k] = x[k] + 0.1 * sum(for n in N { w[n] * y[at[n]] }); }
    sum(y * y)
}
pub fn pulled_grad<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, w: &Table<N, f64>, at: &Table<N, K>) -> (f64, (Table<K, f64>, Table<N, f64>)) { value_and_grad!(pulled, wrt = (x, w))(x, w, at) }

fn pulled_if<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, w: &Table<N, f64>, at: &Table<N, K>) -> f64 {
    let mut y = x.clone();
    for k in K.rev() { y[k] = x[k] + sum(for n in N { if at[n].ordinal() >= k.ordinal() { 0.1 * (w[n] * y[at[n]]).tanh() } else { 0.0 } }); }
    sum(y * y)
}
pub fn pulled_if_grad<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, w: &Table<N, f64>, at: &Table<N, K>) -> (f64, (Table<K, f64>, Table<N, f64>)) { value_and_grad!(pulled_if, wrt = (x, w))(x, w, at) }

fn pulled_twice<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, w: &Table<N, f64>, at: &Table<N, K>) -> f64 {
    let mut y = x.clone();
    let mut z = 0.5 * x;
    for k in K {
        y[k] = x[k] + 0.1 * sum(for n in N { w[n] * z[at[n]] });
        z[k] = 0.3 * y[k] - 0.1 * sum(for n in N { y[at[n]] * z[at[n]] });
    }
    sum(y * z)
}
pub fn pulled_twice_grad<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, w: &Table<N, f64>, at: &Table<N, K>) -> (f64, (Table<K, f64>, Table<N, f64>)) { value_and_grad!(pulled_twice, wrt = (x, w))(x, w, at) }

fn pulled_rows<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, w: &Table<N, f64>, at: &Table<N, K>) -> f64 {
    let mut y = for k in K { for d in Fin::<3> { x[k] * (1.0 + d.ordinal() as f64) } };
    for k in K {
        let row = for d in Fin::<3> { 0.1 * sum(for n in N { w[n] * y[at[n]][d] }) };
        for d in Fin::<3> { y[k][d] += row[d]; }
    }
    sum(for k in K { sum(for d in Fin::<3> { y[k][d] * y[k][d] }) })
}
pub fn pulled_rows_grad<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, w: &Table<N, f64>, at: &Table<N, K>) -> (f64, (Table<K, f64>, Table<N, f64>)) { value_and_grad!(pulled_rows, wrt = (x, w))(x, w, at) }

fn pulled_in_pairs<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, w: &Table<N, f64>, at: &Table<N, K>) -> f64 {
    let mut y = x.clone();
    for k in K { y[k] = x[k] + 0.1 * sum(for n in N { w[n] * y[at[n]] * y[at[(n + 1).wrap()]] }); }
    sum(y * y)
}
pub fn pulled_in_pairs_grad<N: IndexSet, K: IndexSet>(x: &Table<K, f64>, w: &Table<N, f64>, at: &Table<N, K>) -> (f64, (Table<K, f64>, Table<N, f64>)) { value_and_grad!(pulled_in_pairs, wrt = (x, w))(x, w, at) }

fn lagged<N: IndexSet>(x: &Table<N, f64>, a: f64) -> f64 {
    let mut y = x.clone();
    for t in N { y[t] = x[t] - 0.3 * a * sum(for q in 0..size(N).min(12) { y.get(t - 1 - q).unwrap_or(0.0) / (q + 1) as f64 }); }
    sum(y * y)
}
pub fn lagged_grad<N: IndexSet>(x: &Table<N, f64>, a: f64) -> (f64, (Table<N, f64>, f64)) { value_and_grad!(lagged)(x, a) }
