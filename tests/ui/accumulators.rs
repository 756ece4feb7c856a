//! What is done with accumulators that only accumulate.

use pointful::prelude::*;

#[pointful]
pub fn taken_inside<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let mut a = Accum::zero();
    for i in N {
        a += x[i];
        let y = a.get();
    }
    1.0
}

#[pointful]
pub fn taken_twice<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let mut a = Accum::zero();
    for i in N {
        a += x[i];
    }
    a.get() + a.get()
}

#[pointful]
pub fn multiplied<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let mut a = Accum::prod();
    for i in N {
        a *= x[i];
    }
    a.get()
}

#[pointful]
pub fn added_to_a_maximum<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let mut a = Accum::max();
    for i in N {
        a += x[i];
    }
    a.get()
}

#[pointful]
pub fn used_as_a_number<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let mut a = Accum::zero();
    for i in N {
        a += x[i];
    }
    a + 1.0
}

#[pointful]
pub fn overwritten<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let mut a = Accum::zero();
    for i in N {
        a = x[i];
    }
    a.get()
}

#[pointful]
pub fn of_another_type<N: IndexSet>(x: &Table<N, f64>, k: i64) -> f64 {
    let mut a = Accum::zero();
    for i in N {
        a.put(x[i]);
        a.put(k);
    }
    a.get()
}

#[pointful]
pub fn identity_of_another_type<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let mut a = Accum::monoid((0.0, 1.0), |p, q| (p.0 + q.0, p.1 * q.1));
    for i in N {
        a.put(x[i]);
    }
    a.get()
}

#[pointful]
pub fn operator_of_another_type<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let mut a = Accum::monoid(0.0, |p, q| p > q);
    for i in N {
        a.put(x[i]);
    }
    a.get()
}

#[pointful]
pub fn unknown_kind<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let mut a = Accum::mean();
    for i in N {
        a.put(x[i]);
    }
    a.get()
}

#[pointful]
pub fn many_places_at_once<N: IndexSet, K: IndexSet>(
    x: &Table<N, f64>,
    at: &Table<N, K>,
) -> Table<K, f64> {
    let mut a = Accum::zero();
    a[at] += x;
    a.get()
}

#[pointful]
pub fn in_an_operator<N: IndexSet, D: IndexSet>(
    x: &Table<(N, D), f64>,
    z: &Table<D, f64>,
) -> Table<D, f64> {
    reduce(
        z,
        |a, b| {
            let mut s = Accum::zero();
            for d in D {
                s[d] += a[d] * b[d];
            }
            s.get()
        },
        for n in N { x[n] },
    )
}

#[pointful]
pub fn by_value(a: Accum<f64>) -> f64 {
    a.get()
}

#[pointful]
fn set<K: IndexSet>(t: &mut Table<K, f64>, k: K) {
    t[k] = 1.0;
}

#[pointful]
pub fn given_as_a_table<N: IndexSet>(k: &Table<N, N>) -> Table<N, f64> {
    let mut a = Accum::zero();
    for i in N {
        set(&mut a, k[i]);
    }
    a.get()
}

#[pointful]
pub fn over_a_number<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let mut a = Accum::prod(3);
    for i in N {
        a.put(x[i]);
    }
    a.get()
}

#[pointful]
pub fn over_nothing_known<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let mut a = Accum::max();
    for i in N {
        a[0].put(x[i]);
    }
    let t = a.get();
    t[0]
}

#[pointful]
pub fn sized<D: IndexSet, K: IndexSet>(c: &Table<D, K>) -> Table<K, f64> {
    let mut h = Accum::zeros(size(K));
    for d in D {
        h[c[d]] += 1.0;
    }
    h.get()
}

#[pointful]
pub fn binned<D: IndexSet>(x: &Table<D, f64>, bins: usize) -> f64 {
    let mut h = Accum::zero(bins);
    for d in D {
        h[d.ordinal() % bins] += x[d];
    }
    max(h.get())
}

#[pointful]
pub fn over_two_numbers(x: f64, n: usize, m: usize) -> f64 {
    let mut h = Accum::zeros((n, m));
    h[(0, 0)] += x;
    sum(h.get())
}

fn main() {}
