//! Functions of angles in the language: what bets that all of them are near, and what must not;
//! `tests/angles.rs` says in plain Rust what they compute.

pub fn waves<N: IndexSet>(x: &Table<N, f64>) -> (Table<N, f64>, Table<N, f64>, Table<N, f64>) {
    (for i in N { x[i].sin() }, for i in N { x[i].cos() }, for i in N { x[i].tan() })
}

pub fn waves_of_singles<N: IndexSet>(x: &Table<N, f32>) -> (Table<N, f32>, Table<N, f32>, Table<N, f32>) {
    (for i in N { x[i].sin() }, for i in N { x[i].cos() }, for i in N { x[i].tan() })
}

pub fn of_both_widths<N: IndexSet>(x: &Table<N, f32>, y: &Table<N, f64>) -> Table<N, f64> {
    for i in N { x[i].sin() as f64 * y[i].cos() }
}

pub fn half_waves<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    for i in N { if x[i] > 0.0 { x[i].sin() } else { 2.0 * x[i] } }
}

pub fn neighbours<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    for i in N { x[(i - 1).wrap()].sin() + x[(i + 1).clamp()].cos() }
}

pub fn by_rows<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>, a: &Table<N, f64>) -> Table<(N, M), f64> {
    for (n, m) in _ { a[n].sin() * x[n][m] + x[n][m].cos() }
}

pub fn totals<N: IndexSet>(x: &Table<N, f64>) -> (f64, f64, usize) {
    (sum(for i in N { x[i].sin() }), max(for i in N { x[i].cos() }), count(for i in N { x[i].tan() > 0.5 }))
}

pub fn of_rows<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>) -> Table<N, f64> {
    for n in N { sum(for m in M { x[n][m].cos() }) }
}

pub fn of_columns<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f64>) -> Table<M, f64> {
    for m in M { sum(for n in N { x[n][m].sin() }) }
}

pub fn in_bins<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, class: &Table<N, K>) -> (Table<K, f64>, f64) {
    let mut bins = Accum::zero();
    let mut total = Accum::zero();
    for n in N {
        bins[class[n]] += x[n].sin();
        total += x[n].cos();
    }
    (bins.get(), total.get())
}

pub fn last_wave<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    reduce(-9.0, |a, b| if b == -9.0 { a } else { b }, for i in N { if x[i] > 0.0 { x[i].sin() } else { -9.0 } })
}

pub fn histogram<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, y: &Table<K, f64>) -> Table<K, f64> {
    let mut bins = Accum::zero();
    for n in N { bins[((x[n].sin() + 1.0) * 4.0) as i64] += 1.0; }
    let bins = bins.get();
    for k in K { bins[k] + y[k] }
}

pub fn picked<N: IndexSet, K: IndexSet>(x: &Table<N, f64>, y: &Table<K, f64>) -> Table<N, f64> {
    for i in N { y[((x[i].sin() + 1.0) * 4.0) as i64] }
}

pub fn asserted<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    for i in N {
        let y = x[i].sin();
        assert!(y.abs() <= 1.0, "the sine of {} is {}", x[i], y);
        y
    }
}

pub fn iterated<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    for i in N {
        let mut y = x[i].sin();
        while y.abs() > 0.6 { y = y.sin(); }
        y
    }
}

pub fn repeated<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    for i in N {
        let mut y = x[i];
        for _k in 0..((y.sin() + 1.0) * 4.0) as usize { y = y.cos(); }
        y
    }
}

pub fn in_place<N: IndexSet>(u: &mut Table<N, f64>) {
    for i in N { u[i] += u[i].sin(); }
}

pub fn given_away<N: IndexSet>(mut u: Table<N, f64>) -> Table<N, f64> {
    for i in N { u[i] = u[i].sin() * u[i].cos(); }
    u
}

pub fn overwritten<N: IndexSet>(mut u: Table<N, f64>, x: &Table<N, f64>) -> Table<N, f64> {
    for i in N { u[i] = x[i].sin(); }
    u
}

pub fn overwritten_in_part<N: IndexSet>(mut u: Table<N, f64>, x: &Table<N, f64>) -> Table<N, f64> {
    for i in N { if x[i].sin() > 0.5 { u[i] = x[i]; } }
    u
}

pub fn steps<N: IndexSet>(mut u: Table<N, f64>, a: f64) -> Table<N, f64> {
    for _t in 0..3 {
        u = for i in N { u[i] + a * (u[(i - 1).wrap()] - u[i]).sin() };
    }
    u
}

fn energy<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(for i in N { 0.5 * x[i].sin() * x[i].tan() })
}
pub fn energy_grad<N: IndexSet>(x: &Table<N, f64>) -> (f64, Table<N, f64>) { value_and_grad!(energy)(x) }

fn wave<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    for i in N { x[i].sin() }
}
pub fn wave_vjp<N: IndexSet>(x: &Table<N, f64>, ct: &Table<N, f64>) -> Table<N, f64> { vjp!(wave)(x, ct).1 }
pub fn wave_jvp<N: IndexSet>(x: &Table<N, f64>, d: &Table<N, f64>) -> Table<N, f64> { jvp!(wave)(x, d).1 }
