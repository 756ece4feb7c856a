//! Loops of the host whose steps are kernels over the same rows, which run several steps at once;
//! `tests/stencils.rs` says in plain Rust what they compute.

pub fn spread<R: IndexSet, C: IndexSet>(u: &Table<(R, C), f64>, steps: usize) -> Table<(R, C), f64> {
    let mut u = u;
    for _t in 0..steps {
        u = for (r, c) in _ {
            let inside = r.ordinal() > 0 && r.ordinal() + 1 < size(R) && c.ordinal() > 0 && c.ordinal() + 1 < size(C);
            if inside {
                0.5 * u[r][c] + 0.1 * (u[r + 1][c] + u[r - 1][c]) + 0.2 * u[r][c + 1] + 0.05 * u[r][c - 1]
            } else {
                u[r][c]
            }
        };
    }
    u
}

pub fn weighted<R: IndexSet, C: IndexSet>(u: &Table<(R, C), f64>, w: &Table<(R, C), f64>, steps: usize) -> f64 {
    let after = spread(u, steps);
    sum(for (r, c) in (R, C) { w[r][c] * after[r][c] })
}

pub fn spread_back<R: IndexSet, C: IndexSet>(u: &Table<(R, C), f64>, w: &Table<(R, C), f64>, steps: usize) -> Table<(R, C), f64> {
    grad!(weighted, wrt = u)(u, w, steps)
}

pub fn bent<N: IndexSet>(x: &Table<N, f32>, steps: usize) -> Table<N, f32> {
    let mut x = x;
    for t in 0..steps {
        x = for n in N {
            let near = x[(n - 2).mirror()] - 0.25 * x[(n + 3).clamp()];
            0.5 * x[n] + 0.3 * near - 0.001 * t as f32
        };
    }
    x
}

pub fn around<N: IndexSet>(x: &Table<N, f64>, steps: usize) -> Table<N, f64> {
    let mut x = x;
    for _t in 0..steps {
        x = for n in N { 0.5 * x[(n - 1).wrap()] + 0.5 * x[n] };
    }
    x
}

pub fn waves<R: IndexSet, C: IndexSet>(u: &Table<(R, C), f64>, v: &Table<(R, C), f64>, steps: usize) -> (Table<(R, C), f64>, Table<(R, C), f64>, f64) {
    let mut u = u;
    let mut v = v;
    let mut moved = 0.0;
    for _t in 0..steps {
        let bend = for (r, c) in (R, C) { u[(r + 1).clamp()][c] + u[(r - 1).clamp()][c] - 2.0 * u[r][c] };
        let pull = for (r, c) in (R, C) { bend[(r - 1).clamp()][c] + bend[(r + 1).clamp()][c] };
        v = for (r, c) in (R, C) { 0.99 * v[r][c] + 0.1 * bend[r][c] - 0.01 * pull[r][c] };
        u = for (r, c) in (R, C) { u[r][c] + 0.1 * v[r][c] };
        moved += sum(for (r, c) in (R, C) { v[r][c] * v[r][c] });
    }
    (u, v, moved)
}

pub fn recurrent<T: IndexSet, S: IndexSet, F: IndexSet, C: IndexSet>(
    input: &Table<(C, F), f64>,
    feedback: &Table<(C, C), f64>,
    features: &Table<(T, S, F), f64>,
    targets: &Table<(T, S, C), f64>,
) -> f64 {
    let mut state = for (_s, _c) in (S, C) { 0.0 };
    let mut total = 0.0;
    for t in T {
        let came = for (s, c) in (S, C) { sum(for f in F { input[c][f] * features[t][s][f] }) };
        let back = for (s, c) in (S, C) { sum(for d in C { feedback[c][d] * state[s][d] }) };
        state = for (s, c) in (S, C) { (came[s][c] + back[s][c]).tanh() };
        total += sum(for (s, c) in (S, C) { (state[s][c] - targets[t][s][c]).powi(2) });
    }
    total
}

pub fn recurrent_slope<T: IndexSet, S: IndexSet, F: IndexSet, C: IndexSet>(
    input: &Table<(C, F), f64>,
    feedback: &Table<(C, C), f64>,
    features: &Table<(T, S, F), f64>,
    targets: &Table<(T, S, C), f64>,
) -> (Table<(C, F), f64>, Table<(C, C), f64>, Table<(T, S, F), f64>) {
    grad!(recurrent, wrt = (input, feedback, features))(input, feedback, features, targets)
}
