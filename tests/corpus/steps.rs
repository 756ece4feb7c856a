//! Points that go through loops of their own, several of them at once; `tests/steps.rs` says in
//! plain Rust what they compute.

pub fn logistic<N: IndexSet>(x: &Table<N, f64>, r: f64, steps: usize) -> Table<N, f64> {
    for n in N {
        let mut x = x[n];
        for _t in 0..steps { x = r * x * (1.0 - x); }
        x
    }
}

pub fn logistic_single<N: IndexSet>(x: &Table<N, f32>, r: f32, steps: usize) -> Table<N, f32> {
    for n in N {
        let mut x = x[n];
        for _t in 0..steps { x = r * x * (1.0 - x); }
        x
    }
}

pub fn hailstones<N: IndexSet>(n: &Table<N, i64>, limit: u32) -> (Table<N, u32>, Table<N, i64>) {
    for i in N {
        let mut at = n[i];
        let mut highest = at;
        let mut steps = 0u32;
        while at > 1 && steps < limit {
            if (at & 1) == 0 { at = at >> 1; } else { at = 3 * at + 1; }
            highest = highest.max(at);
            steps += 1;
        }
        (steps, highest)
    }
}

pub fn escape<R: IndexSet, C: IndexSet>(rows: Extent<R>, columns: Extent<C>, width: f64, limit: u32) -> Table<(R, C), u32> {
    let pixel = width / size(C) as f64;
    for (row, column) in (rows, columns) {
        let cx = (column.ordinal() as f64 - 0.5 * size(C) as f64) * pixel - 0.5;
        let cy = (row.ordinal() as f64 - 0.5 * size(R) as f64) * pixel;
        let mut zx = 0.0;
        let mut zy = 0.0;
        let mut steps = 0u32;
        while zx * zx + zy * zy <= 4.0 && steps < limit {
            let next = zx * zx - zy * zy + cx;
            zy = 2.0 * zx * zy + cy;
            zx = next;
            steps += 1;
        }
        steps
    }
}

pub fn of_lengths<N: IndexSet>(x: &Table<N, f64>, lengths: &Table<N, usize>) -> Table<N, f64> {
    for n in N {
        let mut y = x[n];
        for k in 0..lengths[n] { y = 0.5 * y + x[n] / (k as f64 + 1.0); }
        y
    }
}

pub fn nested<N: IndexSet>(x: &Table<N, f64>, steps: usize) -> (Table<N, f64>, Table<N, i64>) {
    for n in N {
        let mut x = x[n];
        let mut rounds = 0i64;
        for t in 0..steps {
            let mut y = x;
            let mut k = 0i64;
            while y.abs() > 0.25 && k < 9 {
                y = 0.5 * y * y - 0.3;
                k += 1;
            }
            for j in 0..t { y = y * 0.9 + j as f64 * 0.001; }
            if y > 0.0 { x = x - y; } else { x = 0.7 * x + 1.0; }
            rounds += k;
        }
        (x, rounds)
    }
}

pub fn two_ways<N: IndexSet>(x: &Table<N, f64>, steps: usize) -> Table<N, f64> {
    for n in N {
        let mut y = x[n];
        if y > 0.0 {
            for _t in 0..steps { y = (y * y).sqrt() * 0.9 + 0.1; }
        } else {
            let mut k = 0;
            while y < 1.0 && k < steps { y = y * 0.5 + 0.6; k += 1; }
            y = -y;
        }
        y
    }
}

pub fn nearest<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, centres: &Table<K, f64>, values: &Table<K, f64>) -> (Table<N, f64>, Table<N, i64>) {
    for n in N {
        let mut best = 1e300;
        let mut at = -1i64;
        let mut value = 0.0;
        for k in K {
            let far = (x[n] - centres[k]).abs();
            if far < best {
                best = far;
                at = k.ordinal() as i64;
                value = values[k];
            }
        }
        (value, at)
    }
}

pub fn chains<N: IndexSet, K: IndexSet>(first: &Table<N, K>, next: &Table<K, K>, weight: &Table<K, f64>, limit: f64) -> (Table<N, f64>, Table<N, u32>) {
    for n in N {
        let mut at = first[n];
        let mut sum = 0.0;
        let mut count = 0u32;
        while sum < limit && count < 40 {
            let w = weight[at];
            sum += w + (w * w + 1.0).sqrt() * (w * 0.5 - 0.25) * (w + 2.0) / (w * w + 3.0) - w * w * w * 0.01 + 0.3;
            at = next[at];
            count += 1;
        }
        (sum, count)
    }
}

pub fn flags<N: IndexSet>(x: &Table<N, f32>, steps: u32) -> (Table<N, bool>, Table<N, u8>) {
    for n in N {
        let mut x = x[n];
        let mut ever = false;
        let mut odd = 0u8;
        for t in 0..steps {
            x = 1.0 - 1.7 * x * x;
            ever = ever | (x > 0.99);
            if ever { odd += (t & 3) as u8; }
        }
        (ever, odd)
    }
}

pub fn waves<N: IndexSet>(x: &Table<N, f64>, steps: usize) -> Table<N, f64> {
    for n in N {
        let mut x = x[n];
        for _t in 0..steps { x = x.sin() + 0.5 * x.cos() + (-x * x).exp(); }
        x
    }
}

pub fn total<N: IndexSet>(x: &Table<N, f64>, r: f64, steps: usize) -> (f64, f64, f64) {
    let mut after = Accum::zero();
    let mut way = Accum::zero();
    let mut most = Accum::max();
    for n in N {
        let mut x = x[n];
        for _t in 0..steps {
            x = r * x * (1.0 - x);
            way += x;
            most.put(x);
        }
        after += x;
    }
    (after.get(), way.get(), most.get())
}

pub fn mean_square<N: IndexSet>(x: &Table<N, f64>, a: f64, steps: usize) -> f64 {
    sum(for n in N {
        let mut x = x[n];
        let mut v = 0.0;
        for _t in 0..steps {
            v = 0.99 * v - a * x * x * x;
            x = x + 0.05 * v;
        }
        x * x
    })
}

pub fn mean_square_grad<N: IndexSet>(x: &Table<N, f64>, a: f64, steps: usize) -> (f64, (Table<N, f64>, f64)) {
    value_and_grad!(mean_square, wrt = (x, a))(x, a, steps)
}

pub fn looked_up<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, lengths: &Table<N, usize>, table: &Table<K, f64>) -> Table<N, f64> {
    for n in N {
        let mut y = x[n];
        let mut k = 0;
        while k < lengths[n] {
            y = 0.75 * y + table[k] * (y * y + 1.0).sqrt() / (1.0 + y * y) + (0.1 * y - 0.2) * (0.3 * y + 0.5) * 0.125 + 0.01 * y;
            k += 1;
        }
        y
    }
}

pub fn fit<N: IndexSet, M: IndexSet>(x: &Table<M, f64>, t: &Table<N, f64>, y: &Table<N, f64>) -> f64 {
    sum(for i in N {
        let mut value = 0.0;
        for j in M.rev() { value = value * t[i] + x[j]; }
        (y[i] - value).powi(2)
    })
}

pub fn fit_back<N: IndexSet, M: IndexSet>(x: &Table<M, f64>, t: &Table<N, f64>, y: &Table<N, f64>) -> Table<M, f64> {
    grad!(fit, wrt = x)(x, t, y)
}

pub fn passed<N: IndexSet, M: IndexSet>(x: &Table<N, f32>, y: &Table<M, f32>) -> (Table<M, f32>, Table<M, f32>) {
    let mut most = Accum::max();
    let mut left = Accum::zero();
    for i in N {
        let mut x = x[i];
        for j in M {
            if x > 0.25 { left[j] += x; }
            most[j].put(x);
            x = x * y[j];
        }
    }
    (most.get(), left.get())
}
