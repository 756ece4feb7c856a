//! Variables of a loop that begin alike are tables of their own from then on.

use pointful::lib::dot;
use pointful::prelude::*;

fn numbers(values: &[f64]) -> Table<Dyn, f64> {
    Table::from(values.to_vec())
}

#[pointful]
fn whole<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let mut u = for i in N {
        x[i].sin()
    };
    let mut v = u;
    for _s in 0..1 {
        u = u + 1.0;
        v = v + 2.0;
    }
    1000.0 * sum(u) + sum(v)
}

#[pointful]
fn equal<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let mut u = for i in N {
        x[i].sin()
    };
    let mut v = for i in N {
        x[i].sin()
    };
    let mut k = 0;
    while k < 2 {
        u = u + 1.0;
        v = v + 2.0;
        k += 1;
    }
    1000.0 * sum(u) + sum(v)
}

#[pointful]
fn elements<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    let mut u = for i in N {
        x[i].sin()
    };
    let mut v = u;
    for i in N.skip(1) {
        u[i] = u[i - 1] + v[i - 1];
        v[i] = v[i - 1] + 2.0;
    }
    u
}

#[pointful]
fn products<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let mut u = for i in N {
        1.0 + x[i]
    };
    let mut v = u;
    for i in N.skip(1) {
        u[i] = u[i - 1] * 2.0;
        v[i] = v[i - 1] * 3.0;
    }
    1000.0 * sum(u) + sum(v)
}

#[pointful]
fn both<N: IndexSet>(x: &Table<N, f64>) -> (Table<N, f64>, Table<N, f64>) {
    let mut u = for i in N {
        x[i].sin()
    };
    let mut v = u;
    for i in N.skip(1) {
        if x[i] > 0.0 {
            u[i] = u[i - 1] + 1.0;
            v[i] = v[i - 1] + 2.0;
        }
    }
    (u, v)
}

#[pointful]
fn search(n: usize, begins: bool) -> (Table<Dyn, i64>, usize) {
    let e = Extent::new(n);
    let mut distance = for _k in e {
        -1
    };
    let mut queue = for _k in e {
        (0usize, 0usize)
    };
    let (mut head, mut tail) = (0, 0);
    if n > 0 && begins {
        queue[0] = (0, 0);
        tail = 1;
        distance[0] = 0;
    }
    while head < tail {
        let (a, b) = queue[head];
        head += 1;
        if a + 1 < n {
            distance[a + 1] = distance[a] + b as i64 + 1;
            queue[tail] = (a + 1, b + 2);
            tail += 1;
        }
    }
    (distance, tail)
}

#[pointful]
fn product(q: &Table<Fin<3>, f64>) -> Table<Fin<3>, f64> {
    [
        4.0 * q[0] + q[1],
        q[0] + 5.0 * q[1] + q[2],
        q[1] + 7.0 * q[2],
    ]
}

#[pointful]
fn conjugate_gradients(n: usize) -> Table<Fin<3>, f64> {
    let right = product([1.0, 2.0, 3.0]);
    let mut solution = [0.0; 3];
    let mut residual = right;
    let mut q = right;
    for _k in 0..n {
        let image = product(q);
        let step = dot(residual, residual) / dot(q, image);
        solution = solution + step * q;
        let next = residual - step * image;
        q = next + dot(next, next) / dot(residual, residual) * q;
        residual = next;
    }
    solution
}

#[test]
fn tables_that_are_replaced() {
    let x = numbers(&[0.0; 3]);
    assert_eq!(whole(&x), 3006.0);
    assert_eq!(equal(&x), 6012.0);
}

#[test]
fn tables_whose_elements_change() {
    let x = numbers(&[0.0; 3]);
    assert_eq!(elements(&x).into_vec(), [0.0, 0.0, 2.0]);
    assert_eq!(products(&x), 1000.0 * 7.0 + 13.0);
    let along = numbers(&[1.0, 0.0, 0.0]);
    let (value, slope) = jvp!(products)(&x, &along);
    assert_eq!((value, slope), (7013.0, 7013.0));
    let slopes: Table<Dyn, f64> = grad!(products)(&x);
    assert_eq!(slopes.into_vec(), [7013.0, 0.0, 0.0]);
    let (u, v) = both(&numbers(&[0.0, 1.0, 1.0]));
    assert_eq!(u.into_vec(), [0.0, 1.0, 2.0]);
    assert_eq!(v.into_vec(), [0.0, 2.0, 4.0]);
}

#[test]
fn queues_of_pairs() {
    let (distance, tail) = search(5, true);
    assert_eq!((distance.into_vec(), tail), (vec![0, 1, 4, 9, 16], 5));
}

#[test]
fn residual_and_direction() {
    for (found, right) in conjugate_gradients(3)
        .into_vec()
        .iter()
        .zip([1.0, 2.0, 3.0])
    {
        assert!((found - right).abs() < 1e-12, "{found} {right}");
    }
}
