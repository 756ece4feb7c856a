//! Loops that change what they read beside what they reduce, and whose iterations emission would
//! run together, twice, or some ahead of others if that did not show; `tests/states.rs` says in
//! plain Rust what they compute.

pub fn greatest_prefix<K: IndexSet>(x: &Table<K, f64>) -> (f64, K) {
    let sums = cumsum(x);
    (max(sums), argmax(sums))
}

pub fn filtered<K: IndexSet>(x: &Table<K, f32>) -> (f32, f32) {
    let mut y = 0.0f32;
    let ys = for k in K { y = 0.5 * y + x[k]; y };
    (max(ys), min(ys))
}

pub fn prefixes<R: IndexSet, K: IndexSet>(x: &Table<(R, K), f64>) -> (Table<R, f64>, Table<R, K>, Table<R, f64>) {
    let sums = for r in R { cumsum(x[r]) };
    (for r in R { max(sums[r]) }, for r in R { argmin(sums[r]) }, for r in R { sum(sums[r]) })
}

pub fn furthest<K: IndexSet>(x: &Table<K, f64>) -> (f64, f64, bool) {
    let mut at = 0.0;
    let mut speed = 0.0;
    let track = for k in K {
        speed = 0.9 * speed + x[k];
        at += 0.1 * speed;
        at
    };
    (max(track), min(track), any(for k in K { track[k] > 1.0 }))
}

pub fn fullest<K: IndexSet, B: IndexSet>(at: &Table<K, B>, bins: Extent<B>) -> (Table<B, f64>, f64) {
    let mut count = for b in bins { 0.0 };
    let seen = for k in K { count[at[k]] = count[at[k]] + 1.0; count[at[k]] };
    (count, max(seen))
}

pub fn spent<K: IndexSet, B: IndexSet>(x: &Table<K, f64>, at: &Table<K, B>, mut h: Table<B, f64>) -> (Table<B, f64>, f64) {
    let paid = for k in K {
        let v = if h[at[k]] < 2.0 {
            x[k].exp() + (x[k] * 2.0).exp() + (x[k] * 3.0).exp() + (x[k] * 4.0).exp() + (x[k] * 5.0).exp() + (x[k] * 6.0).exp()
                + (x[k] * 7.0).exp() + (x[k] * 8.0).exp() + (x[k] * 9.0).exp() + (x[k] * 10.0).exp() + (x[k] * 11.0).exp() + (x[k] * 12.0).exp()
        } else { 0.0 };
        h[at[k]] = h[at[k]] - 1.0;
        v
    };
    (h, sum(paid))
}

pub fn halved<N: IndexSet>(x: &Table<N, f64>, y: &Table<N, f64>, steps: usize) -> Table<N, f64> {
    let mut s = x;
    let mut h = y;
    for _t in 0..steps {
        let a = h[argmax(h)];
        s = for i in N { 0.5 * s[i] };
        h = for _i in N { a };
    }
    for i in N { s[i] + h[i] }
}

pub fn chosen<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, v: &Table<K, f64>, at: &Table<N, K>) -> Table<N, f64> {
    let mut s = 0.0;
    let mut h = v;
    for i in N {
        s = (x[i] + 0.1 * h[at[i]]).sin();
        h[at[i]] = x[i].sin();
        if h[at[i]] < 0.5 { s = 0.5 * s; }
        s
    }
}

pub fn likelihood<N: IndexSet>(x: &Table<N, f64>) -> (f64, f64) {
    let mut s = 0.25;
    let mut total = 0.0;
    for i in N {
        let r = (1.0 + s * s + x[i] * x[i]).ln();
        total += if s < 0.5 { 0.5 * r } else if x[i] > s { r } else { -r };
        s = 0.3 * s + x[i];
    }
    (s, total)
}

pub fn last_read<N: IndexSet>(x: &Table<N, f64>, k: usize) -> f64 {
    let a = argmax(x);
    let b = argmin(x);
    let mut y = x;
    let mut total = 0.0;
    for _t in 0..k {
        let s = sum(y);
        let j = if s > 1.0 { a } else { b };
        total = total + y[j];
        y = for i in N { y[i] * 0.5 + 1.0 };
    }
    total
}

fn descent<I: IndexSet>(x: &Table<I, f64>, rate: f64, steps: usize) -> f64 {
    let mut w = x;
    let mut r = rate;
    for _t in 0..steps {
        w = for i in I { w[i] - r * w[i] };
        r = 0.9 * r;
    }
    sum(w)
}
pub fn descent_grad<I: IndexSet>(x: &Table<I, f64>, rate: f64, steps: usize) -> Table<I, f64> { grad!(descent, wrt = x)(x, rate, steps) }

pub fn scaled<T: IndexSet, N: IndexSet>(x: &Table<N, f64>, y: &Table<T, f64>) -> Table<N, f64> {
    let w = cumsum(y);
    let mut x = x;
    for t in T { x = for i in N { x[i] * w[t] }; }
    x
}

pub fn scaled_by_owned<T: IndexSet, N: IndexSet>(x: &Table<N, f64>, mut y: Table<T, f64>, from: T) -> (Table<N, f64>, Table<T, f64>) {
    y[from] = 0.5;
    let mut x = x;
    for t in T { x = for i in N { x[i] * y[t] + 1.0 }; }
    (x, y)
}

fn squared<N: IndexSet>(x: &Table<N, f64>, k: usize) -> f64 {
    let mut y = x;
    for _t in 0..k { if sum(y) > 1.0 { y = for i in N { y[i] * y[i] }; } }
    sum(y)
}
pub fn squared_grad<N: IndexSet>(x: &Table<N, f64>, k: usize) -> Table<N, f64> { grad!(squared)(x, k) }

pub fn drawdown<K: IndexSet>(x: &Table<K, f64>) -> (f64, f64, f64) {
    let mut top = 0.0;
    let mut level = 0.0;
    let falls = for k in K {
        level += x[k];
        top = if level > top { level } else { top };
        top - level
    };
    (max(falls), sum(falls), level)
}

pub fn records<K: IndexSet>(x: &Table<K, f64>) -> (usize, f64) {
    let mut best = 0.0;
    let new = for k in K {
        let is = x[k] > best;
        best = best.max(x[k]);
        is
    };
    (count(new), sum(for k in K { if new[k] { x[k] } else { 0.0 } }))
}

pub fn smoothed_twice<K: IndexSet>(x: &Table<K, f64>) -> (Table<K, f64>, f64, K) {
    let mut u = x.clone();
    for k in K.skip(1) { u[k] = 0.5 * u[k - 1] + 0.5 * u[k]; }
    let mut low = 0.0;
    let back = for k in K.rev() { low = 0.25 * low + u[k]; low };
    (u, max(back), argmin(back))
}

pub fn by_rows<R: IndexSet, K: IndexSet, B: IndexSet>(x: &Table<(R, K), f64>, at: &Table<(R, K), B>, bins: Extent<B>) -> (Table<(R, B), f64>, Table<R, f64>) {
    let counts = for r in R {
        let mut h = for b in bins { 0.0 };
        for k in K { h[at[r][k]] = 0.5 * h[at[r][k]] + x[r][k]; }
        h
    };
    let tops = for r in R {
        let mut h = for b in bins { 0.0 };
        let seen = for k in K {
            let v = if h[at[r][k]] < 1.0 { x[r][k].exp() } else { h[at[r][k]] };
            h[at[r][k]] = h[at[r][k]] + x[r][k].abs();
            v
        };
        max(seen) + sum(seen)
    };
    (counts, tops)
}

pub fn in_a_circle(y0: &Table<Fin<8>, f64>, f: f64, steps: usize) -> Table<Fin<8>, f64> {
    let mut y = y0.clone();
    for _t in 0..steps {
        let a = for i in Fin::<8> { (y[(i + 1).wrap()] - y[(i - 2).wrap()]) * y[(i - 1).wrap()] - y[i] + f };
        let z = y + 0.005 * a;
        let b = for i in Fin::<8> { (z[(i + 1).wrap()] - z[(i - 2).wrap()]) * z[(i - 1).wrap()] - z[i] + f };
        y = y + 0.01 * b;
    }
    y
}

pub fn in_a_circle_grad(y0: &Table<Fin<8>, f64>, f: f64, steps: usize) -> (Table<Fin<8>, f64>, f64) {
    grad!(|y0, f| sum(in_a_circle(y0, f, steps)))(y0, f)
}

pub fn covariance<T: IndexSet>(z: &Table<T, f64>, m: &Table<(Fin<3>, Fin<3>), f64>) -> (Table<(Fin<3>, Fin<3>), f64>, f64) {
    let mut p = for (i, j) in (Fin::<3>, Fin::<3>) { if i == j { 1.0 } else { 0.0 } };
    let mut total = 0.0;
    for t in T {
        p = for (i, j) in (Fin::<3>, Fin::<3>) {
            sum(for (k, l) in (Fin::<3>, Fin::<3>) { m[i][k] * p[k][l] * m[j][l] }) + if i == j { 0.1 } else { 0.0 }
        };
        let s = p[0][0] + 1.0;
        let row = p[0];
        p = for (i, j) in (Fin::<3>, Fin::<3>) { p[i][j] - row[i] * row[j] / s };
        total += z[t] * z[t] / s + s.ln();
    }
    (p, total)
}

pub fn tracked<T: IndexSet>(x0: &Table<Fin<2>, f64>, z: &Table<T, f64>) -> f64 {
    let mut x = x0.clone();
    let mut p = [[1.0, 0.0], [0.0, 1.0]];
    let mut total = 0.0;
    for t in T {
        let step = |y: Table<Fin<2>, f64>| [y[0] + 0.1 * y[1].cos(), 0.9 * y[1] + 0.1 * y[0].sin()];
        let f = jacobian!(|y: Table<Fin<2>, f64>| [y[0] + 0.1 * y[1].cos(), 0.9 * y[1] + 0.1 * y[0].sin()])(x);
        x = step(x);
        p = for (i, j) in (Fin::<2>, Fin::<2>) {
            sum(for (k, l) in (Fin::<2>, Fin::<2>) { f[i][k] * p[k][l] * f[j][l] }) + if i == j { 0.1 } else { 0.0 }
        };
        let s = p[0][0] + 0.5;
        let e = z[t] - x[0];
        let gain = for i in Fin::<2> { p[i][0] / s };
        x = x + e * gain;
        p = for (i, j) in (Fin::<2>, Fin::<2>) { p[i][j] - gain[i] * p[0][j] };
        total += e * e / s + s.ln();
    }
    total
}

pub fn tracked_grad<T: IndexSet>(x0: &Table<Fin<2>, f64>, z: &Table<T, f64>) -> (Table<Fin<2>, f64>, Table<T, f64>) {
    grad!(tracked)(x0, z)
}

pub fn factored<N: IndexSet>(a: &Table<(N, N), f64>) -> (Table<(N, N), f64>, Table<(N, N), f64>) {
    let mut w = a.clone();
    for k in N {
        for i in (k..).skip(1) {
            w[i][k] /= w[k][k];
            for j in (k..).skip(1) { w[i][j] -= w[i][k] * w[k][j]; }
        }
    }
    // By columns, each from sums of what is to the left of it.
    let mut l = for (_i, _j) in (N, N) { 0.0 };
    for j in N {
        l[j][j] = (a[j][j] - sum(for k in ..j { l[j][k] * l[j][k] })).sqrt();
        for i in (j..).skip(1) { l[i][j] = (a[i][j] - sum(for k in ..j { l[i][k] * l[j][k] })) / l[j][j]; }
    }
    (w, l)
}

pub fn red_and_black<N: IndexSet>(u: &Table<N, f64>, f: &Table<N, f64>, sweeps: usize) -> Table<N, f64> {
    let mut u = u.clone();
    let n = size(N);
    for _s in 0..sweeps {
        for h in 0..n / 2 {
            let i = N::from_ordinal(2 * h + 1);
            u[i] = 0.5 * (u[(i - 1).clamp()] + u[(i + 1).clamp()] + f[i]);
        }
        for h in 0..n.div_ceil(2) {
            let i = N::from_ordinal(2 * h);
            u[i] = 0.5 * (u[(i - 1).clamp()] + u[(i + 1).clamp()] + f[i]);
        }
    }
    u
}
