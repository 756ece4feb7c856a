//! Functions whose kernels are rewritten in ways that few others are: products that a loop adds up,
//! what points add to two elements, exponentials below a maximum, products that ignored cotangents
//! absorb. The interpreter says what they compute.

pub fn softmax<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    let top = max(x);
    let e = for i in N { (x[i] - top).exp() };
    let s = sum(e);
    for i in N { e[i] / s }
}

pub fn softmax_in_half<N: IndexSet>(x: &Table<N, f32>) -> Table<N, f32> {
    let top = max(x);
    let e = for i in N { (x[i] - top).exp() };
    let s = sum(e);
    for i in N { e[i] / s }
}

pub fn tempered<N: IndexSet>(x: &Table<N, f64>, t: f64) -> Table<N, f64> {
    let y = for i in N { x[i] * t };
    let top = max(y);
    let e = for i in N { (y[i] - top).exp() };
    let s = sum(e);
    for i in N { e[i] / s }
}

pub fn expected<N: IndexSet>(x: &Table<N, f64>, w: &Table<N, f64>) -> (Table<N, f64>, f64) {
    let top = max(x);
    let e = for i in N { (x[i] - top).exp() };
    let s = sum(e);
    let p = for i in N { e[i] / s };
    let mean = sum(for i in N { p[i] * w[i] });
    (p, mean)
}

pub fn surprise<N: IndexSet>(x: &Table<N, f64>, w: &Table<N, f64>) -> (Table<N, f64>, f64) {
    let top = max(for i in N { x[i] + w[i] });
    let e = for i in N { (x[i] + w[i] - top).exp() };
    let s = sum(e);
    (for i in N { e[i] / s }, s.ln() + top)
}

pub fn forces<P: IndexSet, S: IndexSet>(x: &Table<P, f64>, from: &Table<S, P>, to: &Table<S, P>, k: &Table<S, f64>) -> Table<P, f64> {
    let mut f = Accum::zeros(P);
    for s in S {
        let d = k[s] * (x[to[s]] - x[from[s]]);
        f[from[s]] += d;
        f[to[s]] -= d;
    }
    f.get()
}

fn energy<P: IndexSet, S: IndexSet>(x: &Table<P, f64>, from: &Table<S, P>, to: &Table<S, P>, k: &Table<S, f64>) -> f64 {
    sum(for s in S { k[s] * (x[to[s]] - x[from[s]]).powi(2) })
}

pub fn energy_gradient<P: IndexSet, S: IndexSet>(x: &Table<P, f64>, from: &Table<S, P>, to: &Table<S, P>, k: &Table<S, f64>) -> Table<P, f64> {
    grad!(energy, wrt = x)(x, from, to, k)
}

pub fn moments<P: IndexSet, S: IndexSet>(at: &Table<S, P>, x: &Table<S, f64>) -> (Table<P, f64>, Table<P, f64>) {
    let mut first = Accum::zeros(P);
    let mut second = Accum::zeros(P);
    for s in S {
        first[at[s]] += x[s];
        second[at[s]] += x[s] * x[s];
    }
    (first.get(), second.get())
}

fn angles<P: IndexSet, S: IndexSet>(x: &Table<P, f64>, a: &Table<S, P>, b: &Table<S, P>, c: &Table<S, P>) -> f64 {
    sum(for s in S { (x[a[s]] - 2.0 * x[b[s]] + x[c[s]]).cos() })
}

pub fn angles_gradient<P: IndexSet, S: IndexSet>(x: &Table<P, f64>, a: &Table<S, P>, b: &Table<S, P>, c: &Table<S, P>) -> Table<P, f64> {
    grad!(angles, wrt = x)(x, a, b, c)
}

fn recurrent<S: IndexSet, C: IndexSet, T: IndexSet>(w: &Table<(C, C), f64>, x: &Table<(T, S, C), f64>) -> f64 {
    let mut h = for _s in S { for _c in C { 0.0 } };
    for t in T {
        h = for s in S { for c in C { (sum(for k in C { w[c][k] * h[s][k] }) + x[t][s][c]).tanh() } };
    }
    sum(for s in S { sum(h[s]) })
}

pub fn recurrent_gradient<S: IndexSet, C: IndexSet, T: IndexSet>(w: &Table<(C, C), f64>, x: &Table<(T, S, C), f64>) -> Table<(C, C), f64> {
    grad!(recurrent, wrt = w)(w, x)
}

pub fn recurrent_value<S: IndexSet, C: IndexSet, T: IndexSet>(w: &Table<(C, C), f64>, x: &Table<(T, S, C), f64>) -> f64 {
    recurrent(w, x)
}

fn with_inputs<S: IndexSet, C: IndexSet, D: IndexSet, T: IndexSet>(w: &Table<(C, C), f64>, v: &Table<(C, D), f64>, x: &Table<(T, S, D), f64>) -> f64 {
    let mut h = for _s in S { for _c in C { 0.1 } };
    for t in T {
        h = for s in S { for c in C { (sum(for k in C { w[c][k] * h[s][k] }) + sum(for d in D { v[c][d] * x[t][s][d] })).tanh() } };
    }
    sum(for s in S { sum(for c in C { h[s][c] * h[s][c] }) })
}

pub fn with_inputs_gradient<S: IndexSet, C: IndexSet, D: IndexSet, T: IndexSet>(w: &Table<(C, C), f64>, v: &Table<(C, D), f64>, x: &Table<(T, S, D), f64>) -> (Table<(C, C), f64>, Table<(C, D), f64>) {
    grad!(with_inputs, wrt = (w, v))(w, v, x)
}

fn gated<S: IndexSet, C: IndexSet, T: IndexSet>(w: &Table<(C, C), f64>, u: &Table<(C, C), f64>, x: &Table<(T, S, C), f64>) -> f64 {
    let mut h = for _s in S { for _c in C { 0.0 } };
    for t in T {
        let z = for s in S { for c in C { (sum(for k in C { u[c][k] * h[s][k] }) + x[t][s][c]).tanh() } };
        let n = for s in S { for c in C { (sum(for k in C { w[c][k] * h[s][k] }) - x[t][s][c]).tanh() } };
        h = for s in S { for c in C { z[s][c] * n[s][c] + (1.0 - z[s][c]) * h[s][c] } };
    }
    sum(for s in S { sum(h[s]) })
}

pub fn gated_gradient<S: IndexSet, C: IndexSet, T: IndexSet>(w: &Table<(C, C), f64>, u: &Table<(C, C), f64>, x: &Table<(T, S, C), f64>) -> (Table<(C, C), f64>, Table<(C, C), f64>) {
    grad!(gated, wrt = (w, u))(w, u, x)
}

fn damped<S: IndexSet, C: IndexSet, T: IndexSet>(w: &Table<(C, C), f32>, x: &Table<(T, S, C), f32>) -> f32 {
    let mut h = for _s in S { for _c in C { 0.0f32 } };
    for t in T {
        h = for s in S { for c in C { 0.5 * h[s][c] + (sum(for k in C { w[c][k] * h[s][k] }) + x[t][s][c]).sin() } };
    }
    sum(for s in S { sum(h[s]) })
}

pub fn damped_gradient<S: IndexSet, C: IndexSet, T: IndexSet>(w: &Table<(C, C), f32>, x: &Table<(T, S, C), f32>) -> Table<(C, C), f32> {
    grad!(damped, wrt = w)(w, x)
}

fn summed<S: IndexSet, C: IndexSet, T: IndexSet>(w: &Table<(C, C), f64>, x: &Table<(T, S, C), f64>) -> f64 {
    let mut h = for _s in S { for _c in C { 0.2 } };
    let mut total = 0.0;
    for t in T {
        h = for s in S { for c in C { (sum(for k in C { w[k][c] * h[s][k] }) * x[t][s][c]).cos() } };
        total += sum(for s in S { sum(h[s]) });
    }
    total
}

pub fn summed_gradient<S: IndexSet, C: IndexSet, T: IndexSet>(w: &Table<(C, C), f64>, x: &Table<(T, S, C), f64>) -> Table<(C, C), f64> {
    grad!(summed, wrt = w)(w, x)
}

pub fn powers<S: IndexSet, C: IndexSet>(w: &Table<(C, C), f64>, x: &Table<(S, C), f64>, steps: usize) -> Table<(S, C), f64> {
    let mut h = x.clone();
    for _t in 0..steps {
        h = for s in S { for c in C { sum(for k in C { w[c][k] * h[s][k] }) } };
    }
    h
}

fn substituted<N: IndexSet>(l: &Table<(N, N), f64>, x: &Table<N, f64>) -> Table<N, f64> {
    let mut y = x.clone();
    for i in N { y[i] = 0.5 * (x[i] - sum(for j in ..i { l[i][j] * y[j] })); }
    y
}

pub fn substituted_vjp<N: IndexSet>(l: &Table<(N, N), f64>, x: &Table<N, f64>, ct: &Table<N, f64>) -> (Table<(N, N), f64>, Table<N, f64>) {
    vjp!(substituted)(l, x, ct).1
}

fn back_substituted<N: IndexSet>(u: &Table<(N, N), f64>, x: &Table<N, f64>) -> Table<N, f64> {
    let mut y = x.clone();
    for i in N.rev() { y[i] = (0.5 * (x[i] - sum(for j in i.. { u[i][j] * y[j] }))).sin(); }
    y
}

pub fn back_substituted_vjp<N: IndexSet>(u: &Table<(N, N), f64>, x: &Table<N, f64>, ct: &Table<N, f64>) -> (Table<(N, N), f64>, Table<N, f64>) {
    vjp!(back_substituted)(u, x, ct).1
}

fn factored<N: IndexSet>(a: &Table<(N, N), f64>) -> f64 {
    let mut l = a.clone();
    for j in N {
        l[j][j] = 2.0 + (l[j][j] - sum(for k in ..j { l[j][k] * l[j][k] })).cos();
        for i in (j + 1).. { l[i][j] = (l[i][j] - sum(for k in ..j { l[i][k] * l[j][k] })) / l[j][j]; }
    }
    sum(for i in N { l[i][i].ln() })
}

pub fn factored_gradient<N: IndexSet>(a: &Table<(N, N), f64>) -> Table<(N, N), f64> {
    grad!(factored)(a)
}

fn halved<N: IndexSet>(x: &Table<N, f64>, a: f64) -> Table<N, f64> {
    let mut y = x.clone();
    for i in N { y[i] = x[i] - a * sum(for j in ..i { y[j] / (2 + i.ordinal() - j.ordinal()) as f64 }); }
    y
}

pub fn halved_vjp<N: IndexSet>(x: &Table<N, f64>, a: f64, ct: &Table<N, f64>) -> (Table<N, f64>, f64) {
    vjp!(halved)(x, a, ct).1
}

fn rectified<S: IndexSet, C: IndexSet, D: IndexSet>(w: &Table<(C, D), f64>, x: &Table<(S, D), f64>) -> f64 {
    sum(for s in S { sum(for c in C { sum(for d in D { w[c][d] * x[s][d] }).max(0.0).powi(2) }) })
}

pub fn rectified_gradient<S: IndexSet, C: IndexSet, D: IndexSet>(w: &Table<(C, D), f64>, x: &Table<(S, D), f64>) -> (Table<(C, D), f64>, Table<(S, D), f64>) {
    grad!(rectified)(w, x)
}

fn rooted<S: IndexSet, C: IndexSet, D: IndexSet>(w: &Table<(C, D), f64>, x: &Table<(S, D), f64>) -> f64 {
    let h = for s in S { for c in C { sum(for d in D { w[c][d] * x[s][d] }) } };
    sum(for s in S { sum(for c in C { if h[s][c] > 0.019 { h[s][c].sqrt() } else { 0.0 } }) })
}

pub fn rooted_gradient<S: IndexSet, C: IndexSet, D: IndexSet>(w: &Table<(C, D), f64>, x: &Table<(S, D), f64>) -> Table<(C, D), f64> {
    grad!(rooted, wrt = w)(w, x)
}

fn chosen<S: IndexSet, C: IndexSet, D: IndexSet>(w: &Table<(C, D), f64>, x: &Table<(S, D), f64>, keep: &Table<(S, C), bool>) -> f64 {
    let h = for s in S { for c in C { sum(for d in D { w[c][d] * x[s][d] }) } };
    sum(for s in S { sum(for c in C { if keep[s][c] { h[s][c] * h[s][c] } else { 1.0 } }) })
}

pub fn chosen_gradient<S: IndexSet, C: IndexSet, D: IndexSet>(w: &Table<(C, D), f64>, x: &Table<(S, D), f64>, keep: &Table<(S, C), bool>) -> Table<(S, D), f64> {
    grad!(chosen, wrt = x)(w, x, keep)
}

fn clamped<S: IndexSet, C: IndexSet, D: IndexSet>(w: &Table<(C, D), f32>, x: &Table<(S, D), f32>) -> f32 {
    let h = for s in S { for c in C { sum(for d in D { w[c][d] * x[s][d] }) } };
    sum(for s in S { sum(for c in C { h[s][c].clamp(-0.371, 0.613) }) })
}

pub fn clamped_gradient<S: IndexSet, C: IndexSet, D: IndexSet>(w: &Table<(C, D), f32>, x: &Table<(S, D), f32>) -> Table<(C, D), f32> {
    grad!(clamped, wrt = w)(w, x)
}

fn rectified_twice<S: IndexSet, C: IndexSet, D: IndexSet>(w: &Table<(C, D), f64>, v: &Table<(C, C), f64>, x: &Table<(S, D), f64>) -> f64 {
    let h = for s in S { for c in C { sum(for d in D { w[c][d] * x[s][d] }).max(0.0) } };
    sum(for s in S { sum(for c in C { sum(for k in C { v[c][k] * h[s][k] }).max(0.137) }) })
}

pub fn rectified_twice_gradient<S: IndexSet, C: IndexSet, D: IndexSet>(w: &Table<(C, D), f64>, v: &Table<(C, C), f64>, x: &Table<(S, D), f64>) -> (Table<(C, D), f64>, Table<(C, C), f64>) {
    grad!(rectified_twice, wrt = (w, v))(w, v, x)
}
