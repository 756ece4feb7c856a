//! Transformations in ordinary Rust that cannot be made: the same messages as in bodies.

use pointful::prelude::*;

#[pointful]
struct Line {
    slope: f64,
}

#[pointful]
fn along(line: &Line, x: f64) -> f64 {
    line.slope * x
}

#[pointful]
fn f<N: IndexSet>(x: &Table<N, f64>, k: i64, i: N, more: bool, #[constant] step: f64) -> f64 {
    if more { x[i] * step * k as f64 } else { 0.0 }
}

#[pointful]
fn squares<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
    x * x
}

#[pointful]
fn rounded(x: f64) -> i64 {
    x as i64
}

#[pointful]
fn counted(k: i64) -> f64 {
    k as f64
}

#[pointful]
fn times(x: f64, y: f64) -> f64 {
    x * y
}

#[pointful]
fn called<F: Fn(f64) -> f64>(g: F, x: f64) -> f64 {
    g(x)
}

#[pointful]
fn changed<N: IndexSet>(x: &mut Table<N, f64>, a: f64) -> f64 {
    for i in N { x[i] *= a; }
    sum(x)
}

define! { fn squares_grad = grad!(squares); }
define! { fn of_a_method = grad!(x.squares); }

fn main() {
    let x = Table::<Fin<2>, f64>::zeros(Extent::new(()));
    let i = Fin::<2>::from_ordinal(0, Extent::new(()));
    let line = Line { slope: 1.0 };
    let _ = grad!(f, wrt = k)(&x, 1, i, true, 1.0);
    let _ = grad!(f, wrt = i)(&x, 1, i, true, 1.0);
    let _ = grad!(f, wrt = more)(&x, 1, i, true, 1.0);
    let _ = grad!(f, wrt = step)(&x, 1, i, true, 1.0);
    let _ = grad!(f, wrt = z)(&x, 1, i, true, 1.0);
    let _ = grad!(f, wrt = (x, x))(&x, 1, i, true, 1.0);
    let _ = value_and_grad!(squares)(&x);
    let _ = hvp!(squares)(&x, &x);
    let _ = hessian!(squares)(&x);
    let _ = jvp!(rounded)(1.0, 1.0);
    let _ = vjp!(rounded)(1.0, 1.0);
    let _ = vjp!(counted)(1, 1.0);
    let _ = linearize!(counted)(1);
    let _ = jacobian!(along)(&line, 1.0);
    let _ = grad!(grad!(times))(1.0, 2.0);
    let _ = vmap!(times, over = z)(&x, &x);
    let _ = grad!(called)(|x: f64| x * x, 1.0);
    let mut y = Table::<Fin<2>, f64>::zeros(Extent::new(()));
    let _ = grad!(changed)(&mut y, 1.0);
    let _ = grad!(times(1.0, 2.0));
    let _ = grad!(|x: f64| x * x)(1.0);
    let _ = grad!(times, wrt = 0)(1.0, 2.0);
    let _ = grad!(times, x)(1.0, 2.0);
    let _ = grad!()(1.0);
    let _ = hessian!(times, wrt = ())(1.0, 2.0);
}
