//! Dynamic programs, whose cells wait for their neighbours; `tests/diagonals.rs` says in plain Rust
//! what they compute.

fn closest(a: f64, b: f64, c: f64, gamma: f64) -> f64 {
    let least = a.min(b).min(c);
    let near = |x: f64| ((least - x) / gamma).exp();
    least - gamma * (near(a) + near(b) + near(c)).ln()
}

pub fn warping<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, y: &Table<K, f64>, gamma: f64) -> Table<K, f64> {
    let mut row = for _j in K { f64::INFINITY };
    let mut corner = 0.0;
    for i in N {
        let mut diagonal = corner;
        let mut left = f64::INFINITY;
        row = for j in K {
            let best = closest(diagonal, row[j], left, gamma);
            diagonal = row[j];
            left = (x[i] - y[j]).powi(2) + best;
            left
        };
        corner = f64::INFINITY;
    }
    row
}

pub fn filled<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, y: &Table<K, f64>) -> Table<(N, K), f64> {
    let mut t = for (_, _) in (N, K) { 0.0 };
    for i in N {
        for j in K {
            let up = t.get((i - 1, j)).unwrap_or(x[i]);
            let left = t.get((i, j - 1)).unwrap_or(y[j]);
            let corner = t.get((i - 1, j - 1)).unwrap_or(0.25);
            t[(i, j)] = (0.4 * up - 0.4 * left).sin() + 0.2 * corner;
        }
    }
    t
}

pub fn filled_back<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, y: &Table<K, f64>) -> Table<(N, K), f64> {
    let mut t = for (i, j) in (N, K) { x[i] * y[j] };
    for i in N.rev() {
        for j in K {
            let down = t.get((i + 1, j)).unwrap_or(0.5);
            let left = t.get((i, j - 1)).unwrap_or(-0.5);
            t[(i, j)] = (t[(i, j)] + 0.5 * down * left).tanh();
        }
    }
    t
}

pub fn kept<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, y: &Table<K, f64>) -> (Table<N, f64>, Table<K, f64>) {
    let mut u = for j in K { y[j] };
    let mut last = for _i in N { 0.0 };
    for i in N {
        let mut r = x[i].exp();
        for j in K {
            u[j] = (0.4 * u[j] + 0.3 * r).cos();
            r = 0.5 * r + 0.3 * u[j];
        }
        last[i] = r;
    }
    (last, u)
}

pub fn total<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, y: &Table<K, f64>) -> f64 {
    let mut row = for j in K { y[j] };
    let mut s = 0.0;
    for i in N {
        let mut left = x[i];
        row = for j in K {
            left = (0.5 * left + 0.4 * row[j]).sin();
            s += left * y[j];
            left
        };
    }
    s
}

pub fn single<N: IndexSet, K: IndexSet>(x: &Table<N, f32>, y: &Table<K, f32>) -> Table<(N, K), f32> {
    let mut t = for (_, _) in (N, K) { 0.0 };
    for i in N {
        for j in K {
            let up = t.get((i - 1, j)).unwrap_or(x[i]);
            let left = t.get((i, j - 1)).unwrap_or(y[j]);
            t[(i, j)] = (0.3 * up - 0.3 * left).exp();
        }
    }
    t
}

fn rows_apart<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, y: &Table<K, f64>, gamma: f64) -> f64 {
    let mut row = for j in K { 9.0 + y[j] };
    let mut corner = 0.0;
    for i in N {
        let mut diagonal = corner;
        let mut left = 9.0;
        row = for j in K {
            let best = closest(diagonal, row[j], left, gamma);
            diagonal = row[j];
            left = (x[i] - y[j]).powi(2) + best;
            left
        };
        corner = 9.0;
    }
    sum(for j in K { row[j] * (1.0 + y[j] * y[j]) })
}
pub fn rows_apart_grad<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, y: &Table<K, f64>, gamma: f64) -> (f64, (Table<N, f64>, Table<K, f64>, f64)) { value_and_grad!(rows_apart)(x, y, gamma) }

fn cells_apart<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, y: &Table<K, f64>, gamma: f64) -> f64 {
    let mut t = for (i, j) in (N, K) { x[i] - y[j] };
    for i in N {
        for j in K {
            let corner = t.get((i - 1, j - 1)).unwrap_or(0.3);
            let up = t.get((i - 1, j)).unwrap_or(9.0);
            let left = t.get((i, j - 1)).unwrap_or(9.0);
            t[(i, j)] = t[(i, j)].powi(2) + closest(corner, up, left, gamma);
        }
    }
    sum(for j in K { t.get((size(N) - 1, j)).unwrap_or(9.0) * (1.0 + y[j]) })
}
pub fn cells_apart_grad<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, y: &Table<K, f64>, gamma: f64) -> (f64, (Table<N, f64>, Table<K, f64>, f64)) { value_and_grad!(cells_apart)(x, y, gamma) }
