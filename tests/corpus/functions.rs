//! Functions in the language, each one idea; `tests/functions.rs` says in plain Rust what it
//! computes.

pub fn axpy<N: IndexSet>(a: f64, x: &Table<N, f64>, y: &Table<N, f64>) -> Table<N, f64> {
    for i in _ { a * x[i] + y[i] }
}

pub fn matmul<I: IndexSet, K: IndexSet, J: IndexSet>(a: &Table<(I, K), f64>, b: &Table<(K, J), f64>) -> Table<(I, J), f64> {
    for (i, j) in _ { sum(for k in _ { a[i][k] * b[k][j] }) }
}

pub fn kmeans_cost<N: IndexSet, K: IndexSet, D: IndexSet>(points: &Table<(N, D), f64>, centres: &Table<(K, D), f64>) -> f64 {
    sum(for n in N { min(for k in K { sum(for d in D { (points[n][d] - centres[k][d]).powi(2) }) }) })
}

pub fn histogram<N: IndexSet, K: IndexSet>(class: &Table<N, K>) -> Table<K, f64> {
    let mut hist = Accum::zero();
    for n in N { hist[class[n]] += 1.0; }
    hist.get()
}

pub fn softmax_rows<N: IndexSet, K: IndexSet>(x: &Table<(N, K), f64>) -> Table<(N, K), f64> {
    for n in N {
        let top = max(for k in K { x[n][k] });
        let e = for k in K { (x[n][k] - top).exp() };
        let total = sum(for k in K { e[k] });
        for k in K { e[k] / total }
    }
}

pub fn log_sums<N: IndexSet, K: IndexSet>(x: &Table<(N, K), f64>) -> f64 {
    sum(for n in N {
        let top = stop_gradient(max(for k in K { x[n][k] }));
        top + sum(for k in K { (x[n][k] - top).exp() }).ln()
    })
}

pub fn log_sums_back<N: IndexSet, K: IndexSet>(x: &Table<(N, K), f64>) -> (f64, Table<(N, K), f64>) {
    value_and_grad!(log_sums)(x)
}

pub fn log_sums_of_three<N: IndexSet>(x: &Table<(N, Fin<3>), f64>) -> f64 {
    log_sums(x)
}

pub fn mixture<N: IndexSet, K: IndexSet, D: IndexSet>(x: &Table<(N, D), f32>, m: &Table<(K, D), f32>) -> f32 {
    sum(for n in N { sum(for k in K { (-sum(for d in D { (x[n][d] - m[k][d]).powi(2) })).exp() }).ln_1p() })
}

pub fn mixture_back<N: IndexSet, K: IndexSet, D: IndexSet>(x: &Table<(N, D), f32>, m: &Table<(K, D), f32>) -> (f32, Table<(K, D), f32>) {
    value_and_grad!(mixture, wrt = m)(x, m)
}

pub fn transpose<A: IndexSet, B: IndexSet>(x: &Table<(A, B), i32>) -> Table<(B, A), i32> {
    for (b, a) in _ { x[a][b] }
}

pub fn heat<N: IndexSet>(mut u: Table<N, f64>, steps: usize, r: f64) -> Table<N, f64> {
    for _t in 0..steps {
        u = for i in N { u[i] + r * (u[(i - 1).wrap()] - 2.0 * u[i] + u[(i + 1).wrap()]) };
    }
    u
}

pub fn blur<R: IndexSet, C: IndexSet>(x: &Table<(R, C), f32>) -> Table<(R, C), f32> {
    for (r, c) in _ {
        (x[(r - 1).clamp()][c] + x[(r + 1).clamp()][c] + x[r][(c - 1).mirror()] + x[r][(c + 1).mirror()]) * 0.25
    }
}

pub fn differences<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    for i in N { x[i] - x.get(i - 1).unwrap_or(0.0) }
}

pub fn running<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    let mut total = 0.0;
    for i in N {
        total = total * 0.5 + x[i];
        total
    }
}

pub fn newton(x: f64) -> f64 {
    let mut y = x;
    while (y * y - x).abs() > 1e-12 * x {
        y = 0.5 * (y + x / y);
    }
    y
}

pub fn roots<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    for i in N { if x[i] > 0.0 { newton(x[i]) } else { 0.0 } }
}

pub fn largest<N: IndexSet>(x: &Table<N, f64>) -> (N, f64) {
    let at = argmax(x);
    (at, x[at])
}

pub fn triangle<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    for i in N { sum(for j in ..i { x[j] * 2.0 }) }
}

pub fn statistics<N: IndexSet>(x: &Table<N, f64>) -> (f64, f64, usize, bool) {
    let m = mean(x);
    let variance = mean(for i in N { (x[i] - m).powi(2) });
    (m, variance, count(for i in N { x[i] > m }), all(for i in N { x[i].is_finite() }))
}

pub fn gather<N: IndexSet, M: IndexSet>(x: &Table<N, f64>, at: &Table<M, i64>) -> Table<M, f64> {
    for m in M { x[at[m]] }
}

pub fn segments<N: IndexSet, K: IndexSet>(w: &Table<(N, K), f64>, class: &Table<N, K>) -> Table<K, f64> {
    let mut acc = Accum::zero();
    for n in N {
        for k in K { acc[k] += w[n][k]; }
        acc[class[n]] += 10.0;
    }
    acc.get()
}

pub fn double_in_place<N: IndexSet>(u: &mut Table<N, f64>) {
    for i in N { u[i] *= 2.0; }
}

pub fn sweep<N: IndexSet>(mut u: Table<N, f64>) -> Table<N, f64> {
    for i in N.skip(1) { u[i] = 0.5 * (u[i] + u[i - 1]); }
    u
}

pub fn prefix<N: IndexSet>(x: &Table<N, i64>) -> Table<N, i64> {
    cumsum(x)
}

pub fn linspace<N: IndexSet>(n: Extent<N>, lo: f64, hi: f64) -> Table<N, f64> {
    for i in n { lo + (hi - lo) * i.ordinal() as f64 / (n.len() - 1) as f64 }
}

pub fn conv<W: IndexSet>(x: &Table<W, f64>, w: [f64; 3]) -> Table<W, f64> {
    for i in W { w[0] * x[(i - 1).clamp()] + w[1] * x[i] + w[2] * x[(i + 1).clamp()] }
}

pub fn outer<N: IndexSet, M: IndexSet>(x: &Table<N, u32>, y: &Table<M, u32>) -> Table<(N, M), u32> {
    for (i, j) in _ { x[i] * y[j] }
}

pub fn nearest<N: IndexSet, K: IndexSet, D: IndexSet>(points: &Table<(N, D), f32>, centres: &Table<(K, D), f32>) -> Table<N, K> {
    for n in N { argmin(for k in K { sum(for d in D { (points[n][d] - centres[k][d]).powi(2) }) }) }
}

pub fn rk4<N: IndexSet>(y: &Table<N, f64>, k: f64, h: f64, steps: usize) -> Table<N, f64> {
    let f = |y: f64| -k * y;
    for i in N {
        let mut y = y[i];
        for _s in 0..steps {
            let k1 = f(y);
            let k2 = f(y + 0.5 * h * k1);
            let k3 = f(y + 0.5 * h * k2);
            let k4 = f(y + h * k3);
            y += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
        }
        y
    }
}

pub fn column_means<N: IndexSet, D: IndexSet>(x: &Table<(N, D), f64>) -> Table<D, f64> {
    for d in D { mean(for n in N { x[n][d] }) }
}

pub fn covariance<N: IndexSet, D: IndexSet>(x: &Table<(N, D), f64>) -> Table<(D, D), f64> {
    let m = column_means(x);
    for (a, b) in (D, D) { sum(for n in N { (x[n][a] - m[a]) * (x[n][b] - m[b]) }) }
}

pub fn life<R: IndexSet, C: IndexSet>(x: &Table<(R, C), u8>) -> Table<(R, C), u8> {
    for (r, c) in _ {
        let n = sum(for (a, b) in (Fin::<3>, Fin::<3>) {
            x[(r + a.ordinal() - 1).wrap()][(c + b.ordinal() - 1).wrap()]
        }) - x[r][c];
        if n == 3 || (n == 2 && x[r][c] == 1) { 1 } else { 0 }
    }
}

pub fn product_in_bins<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, bin: &Table<N, K>) -> Table<K, f64> {
    let mut acc = Accum::prod();
    for n in N { acc[bin[n]].put(x[n]); }
    acc.get()
}

pub fn extrema_in_bins<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, bin: &Table<N, K>) -> (Table<K, f64>, Table<K, f64>) {
    let mut least = Accum::min();
    let mut most = Accum::max();
    for n in N {
        least[bin[n]].put(x[n]);
        most[bin[n]].put(x[n]);
    }
    (least.get(), most.get())
}

pub fn rows_multiplied_in_bins<N: IndexSet, K: IndexSet, D: IndexSet>(x: &Table<(N, D), f64>, bin: &Table<N, K>) -> Table<(K, D), f64> {
    let mut acc = Accum::prod();
    for n in N { for d in D { acc[bin[n]][d].put(x[n][d]); } }
    acc.get()
}

pub fn pairs_multiplied_in_bins<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, bin: &Table<N, K>) -> Table<K, f64> {
    let mut acc = Accum::prod();
    for i in N { for j in ..i { acc[bin[j]].put(x[i] + x[j]); } }
    acc.get()
}

pub fn picked<N: IndexSet, M: IndexSet>(x: &Table<N, f64>, at: &Table<M, i64>) -> Table<M, f64> {
    for m in _ { x[at[m]] }
}

pub fn picked_near<N: IndexSet>(x: &Table<N, f64>, by: i64) -> (Table<N, f64>, Table<N, f64>, Table<N, f64>, Table<N, f64>) {
    for i in N { (x[(i + by).wrap()], x[(i + by).clamp()], x[(i + by).mirror()], x.get(i + by).unwrap_or(-1.0)) }
}

pub fn picked_by_float<N: IndexSet>(x: &Table<N, f64>, at: f64) -> f64 {
    x[at as i64]
}

pub fn all_pairs<N: IndexSet, M: IndexSet>(n: Extent<N>, m: Extent<M>) -> Table<(N, M), f64> {
    for (i, j) in (n, m) { i.ordinal() as f64 - j.ordinal() as f64 }
}

pub fn last_known<N: IndexSet>(x: &Table<N, i64>) -> i64 {
    reduce(-1, |a, b| if b < 0 { a } else { b }, x)
}

pub fn unmatched<N: IndexSet>(x: &Table<N, i64>) -> (i64, i64) {
    // Closing and opening brackets that have no partner.
    reduce((0, 0), |(a, b), (c, d)| { let pairs = b.min(c); (a + c - pairs, b + d - pairs) }, for i in N { ((x[i] < 0) as i64, (x[i] >= 0) as i64) })
}

pub fn moments<N: IndexSet>(x: &Table<N, f64>) -> (f64, f64, f64) {
    reduce((0.0, 0.0, 0.0), |(n, m, s), (k, l, t)| { let all = n + k; let d = l - m; if all > 0.0 { (all, m + d * k / all, s + t + d * d * n * k / all) } else { (0.0, 0.0, 0.0) } }, for i in N { (1.0, x[i], 0.0) })
}

pub fn composed_affine<N: IndexSet, M: IndexSet>(x: &Table<(N, M), i64>, c: i64) -> (i64, i64) {
    reduce((1, c), |(a, b), (c, d)| (c * a, c * b + d), for (i, j) in _ { (x[i][j] | 1, x[i][j]) })
}

pub fn last_known_in_columns<N: IndexSet, K: IndexSet>(x: &Table<(N, K), i64>, below: &Table<K, i64>) -> Table<K, i64> {
    for k in K { reduce(below[k], |a, b| if b < below[k] { a } else { b }, for n in N { x[n][k] }) }
}

pub fn rows_joined<N: IndexSet, K: IndexSet>(x: &Table<(N, K), i64>, before: &Table<K, i64>) -> Table<K, i64> {
    reduce(before, |a, b| for k in K { if b[k] < 0 { a[k] } else { b[k] } }, for n in N { x[n] })
}

pub fn composed_matrices<N: IndexSet, D: IndexSet>(x: &Table<(N, D, D), i64>, before: &Table<(D, D), i64>) -> Table<(D, D), i64> {
    reduce(before, |a, b| for (i, j) in _ { sum(for k in D { a[i][k] * b[k][j] }) }, for n in N { x[n] })
}

pub fn least_and_largest<N: IndexSet>(x: &Table<N, f64>) -> (N, N, f64, f64) {
    (argmin(x), argmax(x), min(x), max(x))
}

pub fn largest_of_all<N: IndexSet, M: IndexSet>(x: &Table<(N, M), i64>) -> (N, M) {
    argmax(x)
}

pub fn largest_in_columns<N: IndexSet, K: IndexSet>(x: &Table<(N, K), f32>) -> Table<K, N> {
    for k in K { argmax(for n in N { x[n][k] }) }
}

pub fn places_of_other_extrema<N: IndexSet, K: IndexSet>(flags: &Table<N, bool>, bin: &Table<N, K>) -> (N, N, N, N, (N, N), Table<K, N>) {
    let pairs = for n in N { (flags[n], bin[n]) };
    (
        argmax(flags),
        argmin(flags),
        argmax(bin),
        argmin(bin),
        (argmax(pairs), argmin(for n in N { (bin[n], (flags[n], ())) })),
        for k in K { argmax(for n in N { flags[n] && bin[n] == k }) },
    )
}

pub fn places_in_products<N: IndexSet, M: IndexSet>(x: &Table<(N, M), u8>) -> (Either<N, M>, (M, N), Table<M, N>) {
    let sides = for e in Either::<N, M> { e };
    (argmax(sides), argmin(for (m, n) in (M, N) { (x[n][m] > 100, n) }), for m in M { argmax(for n in N { x[n][m] > 100 }) })
}

pub fn checked_roots<N: IndexSet, K: IndexSet>(x: &Table<(N, K), f64>, low: f64, strict: bool, width: f32) -> Table<(N, K), f64> {
    assert!(low >= 0.0, "{{low}} is {low:.2}");
    for n in N {
        for k in K {
            assert!(!strict || x[n][k] > -low, "x[{}][{}] is {:?}, not above -{low:08.3} ({strict:>6}, {2}, {twice:e}, {width})", n.ordinal(), k.ordinal(), x[n][k], twice = 2.0 * x[n][k]);
            x[n][k].sqrt()
        }
    }
}

pub fn stepped(steps: u32, limit: i64) -> i64 {
    let mut at = 1;
    for t in 0..steps {
        at = at * 3 - 1;
        assert!(at / 1000 < limit, "after {t} of {steps} steps {at:>6} is not below {limit:<6}|");
    }
    at
}

pub fn numbered<N: IndexSet>(x: &Table<(N, bool), f64>, n: Extent<N>, k: usize) -> (usize, f64, Table<(N, bool), usize>) {
    let i = N::from_ordinal(k, n);
    let b = bool::from_ordinal(k % size(bool));
    let numbers = for (j, c) in (N, bool) { (j, c).ordinal() + 100 * c.ordinal() };
    (size((N, bool)) + size(Fin::<3>) + size(()), x[i][b], numbers)
}

pub fn only(x: &Table<(), f64>, bonus: f64) -> (f64, f64, Table<(), f64>) {
    let mut state = 1.0;
    for u in () { state = state * x[u] + bonus; }
    let twice = for _ in () { 2.0 * state };
    (sum(x) * prod(twice), reduce(0.5, |a, b| a * b + 1.0, x), scan(1.0, |a, b| a + b, twice))
}

fn halved(x: f64) -> f64 { x / 2.0 }
fn clipped(at: f64, soft: bool) -> impl Fn(f64) -> f64 { if soft { move |x| at * (x / at).tanh() } else { move |x| x.clamp(-at, at) } }
pub fn smoothed<N: IndexSet>(x: &Table<N, f64>, how: u8, at: f64) -> (Table<N, f64>, f64) {
    let (f, weight) = match how { 0 => (halved, 1.0), 1 => (|y| y * at, 2.0), k => (clipped(at, k % 2 == 0), 3.0) };
    (for i in N { f(x[i]) }, weight * f(1.0))
}

pub fn normalized<N: IndexSet, M: IndexSet>(mut u: Table<(N, M), f64>, mut v: Table<N, f64>, low: f64) -> (Table<(N, M), f64>, Table<N, f64>) {
    let largest = max(for (n, m) in _ { u[n][m].abs() });
    for (n, m) in _ { u[n][m] /= largest; }
    for n in N { v[n] = v[n].clamp(low, 2.0 * low); }
    (u, v)
}

pub fn softmaxed<N: IndexSet>(x: &Table<N, f64>) -> (Table<N, f64>, f64) {
    let sums = scan(-100.0, |a, b| { let m = a.max(b); m + ((a - m).exp() + (b - m).exp()).ln() }, for i in N { x[i] * 2.0 });
    (sums, reduce(-100.0, |a, b| { let m = a.max(b); m + ((a - m).exp() + (b - m).exp()).ln() }, x))
}

pub fn last_known_and_lengths<N: IndexSet>(x: &Table<N, i64>) -> (Table<N, i64>, Table<N, f64>) {
    scan((-1, 0.0), |(a, p), (b, q)| (if b < 0 { a } else { b }, p.hypot(q)), for i in N { (x[i], (x[i] == 3) as i64 as f64) })
}

pub fn layers<B: IndexSet, I: IndexSet, H: IndexSet, O: IndexSet>(x: &Table<(B, I), f32>, w: &Table<(I, H), f32>, v: &Table<(O, H), f32>) -> Table<(O, B), f32> {
    let hidden = for b in B { for h in H { sum(for i in I { x[b][i] * w[i][h] }).tanh() } };
    for (o, b) in _ { sum(for h in H { v[o][h] * hidden[b][h] }) }
}

pub fn layers_back<B: IndexSet, I: IndexSet, H: IndexSet, O: IndexSet>(x: &Table<(B, I), f32>, w: &Table<(I, H), f32>, v: &Table<(O, H), f32>, seed: &Table<(O, B), f32>) -> (Table<(B, I), f32>, Table<(I, H), f32>, Table<(O, H), f32>) {
    vjp!(layers)(x, w, v, seed).1
}

pub fn power<N: IndexSet>(a: &Table<(N, N), f64>, times: usize) -> Table<(N, N), f64> {
    let mut p = for (i, j) in (N, N) { if i == j { 1.0 } else { 0.0 } };
    for _t in 0..times {
        p = for i in N { for j in N { sum(for k in N { p[i][k] * a[k][j] }) } };
    }
    p
}

/// Nothing of the axis is asked but whether a point is its first or its last.
pub fn ends<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    for i in _ {
        let k = i.ordinal();
        if k == 0 { 10.0 * x[i] } else if k + 1 == size(N) { -x[i] } else if k < 3 { x[i] * x[i] } else { x[i] + 1.0 }
    }
}

/// The logarithms of densities: the quadratic form's vectors are made on the way and used up at
/// once.
pub fn densities<N: IndexSet, K: IndexSet, D: IndexSet>(factor: &Table<(K, D, D), f64>, x: &Table<(N, D), f64>, mean: &Table<(K, D), f64>) -> f64 {
    sum(for n in N {
        let scale = 1.0 + sum(for j in D { x[n][j] * x[n][j] });
        let y = for k in K {
            -sum(for i in D { sum(for j in D { factor[k][i][j] * (x[n][j] - mean[k][j]) }).powi(2) }) / scale
        };
        let top = max(y);
        top + sum(for k in K { (y[k] - top).exp() }).ln()
    })
}

pub fn densities_slope<N: IndexSet, K: IndexSet, D: IndexSet>(factor: &Table<(K, D, D), f64>, x: &Table<(N, D), f64>, mean: &Table<(K, D), f64>) -> (Table<(K, D, D), f64>, Table<(K, D), f64>) {
    grad!(densities, wrt = (factor, mean))(factor, x, mean)
}

pub fn attention_scores<H: IndexSet, T: IndexSet, S: IndexSet, D: IndexSet>(q: &Table<(T, H, D), f64>, k: &Table<(S, H, D), f64>) -> Table<(H, T, S), f64> {
    for (h, t, s) in _ { sum(for d in D { q[t][h][d] * k[s][h][d] }) * 0.5 }
}

pub fn sines<H: IndexSet, T: IndexSet, S: IndexSet, D: IndexSet>(q: &Table<(T, H, D), f64>, k: &Table<(S, H, D), f64>) -> f64 {
    let scores = for (h, t, s) in _ { sum(for d in D { q[t][h][d] * k[s][h][d] }) };
    sum(for (h, t, s) in _ { scores[h][t][s].sin() })
}

pub fn sines_slope<H: IndexSet, T: IndexSet, S: IndexSet, D: IndexSet>(q: &Table<(T, H, D), f64>, k: &Table<(S, H, D), f64>) -> (Table<(T, H, D), f64>, Table<(S, H, D), f64>) {
    grad!(sines)(q, k)
}

pub fn ranked<N: IndexSet>(s: &Table<N, f32>, y: &Table<N, f32>) -> f32 {
    sum(for (i, j) in (N, N) { if y[i] > y[j] { (1.0 + (s[j] - s[i]).exp()).ln() } else { 0.0 } })
}

pub fn ranked_back<N: IndexSet>(s: &Table<N, f32>, y: &Table<N, f32>) -> (f32, Table<N, f32>) {
    value_and_grad!(ranked, wrt = s)(s, y)
}

pub fn near_pairs<N: IndexSet, M: IndexSet>(x: &Table<N, f64>, y: &Table<M, f64>, weights: &Table<M, f64>, far: f64) -> (Table<N, f64>, Table<N, f64>) {
    for n in N {
        let mut close = 0.0;
        let mut others = 0.0;
        for m in M {
            let d = (x[n] - y[m]).abs();
            if d < far {
                close += weights[m] * (-d * d).exp();
                if weights[m] > 0.0 { others += d; } else { others -= 0.5; }
            } else if weights[m] == 0.0 {
                others += 2.0;
            }
        }
        (close, others)
    }
}
