//! Where panics say that they are: at the expression that the user wrote, in whatever function or crate, and at the call
//! where arguments do not fit each other.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use pointful::prelude::*;
use pointful_link_lib::element;

/// File, line, column and text of a panic.
type Panic = (String, u32, u32, String);

/// What a function panics with. Tables are small, so that it does so on this thread.
fn panic_of<T>(f: impl FnOnce() -> T) -> Panic {
    thread_local! {
        static HEARD: RefCell<Option<Panic>> = const { RefCell::new(None) };
    }
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        std::panic::set_hook(Box::new(|panic| {
            let at = panic.location().expect("a place");
            let text = match panic.payload().downcast_ref::<String>() {
                Some(text) => text.clone(),
                None => (*panic.payload().downcast_ref::<&str>().expect("a text")).to_owned(),
            };
            eprintln!("{panic}");
            HEARD.set(Some((at.file().to_owned(), at.line(), at.column(), text)));
        }));
    });
    assert!(catch_unwind(AssertUnwindSafe(f)).is_err(), "a panic");
    HEARD.take().expect("a panic")
}

/// The line of a mark in this file, and the column of what stands there.
fn place(mark: &str, text: &str) -> (u32, u32) {
    let mark = format!("// {mark}");
    let mut lines = include_str!("panics.rs").lines().enumerate();
    let (at, line) = lines
        .find(|(_, line)| line.ends_with(&mark))
        .expect("the mark");
    let column = line.find(text).expect("what stands there");
    (at as u32 + 1, column as u32 + 1)
}

/// That something panics at what stands on the line of a mark, with this message.
#[track_caller]
fn assert_panics<T>(f: impl FnOnce() -> T, mark: &str, text: &str, message: &str) {
    let (file, line, column, said) = panic_of(f);
    assert_eq!(
        ((line, column), said.as_str()),
        (place(mark, text), message)
    );
    assert!(file.ends_with("panics.rs"), "{file}");
}

#[pointful]
struct Model {
    weights: Table<Dyn, f64>,
}

#[pointful]
fn gathered(x: &Table<Dyn, f64>, y: &Table<Dyn, f64>, k: &Table<Dyn, i64>) -> f64 {
    let a = sum(for i in Dyn {
        x[k[i]]
    });
    let b = sum(for i in Dyn {
        y[k[i] + 1] // gathered
    });
    a + b
}

#[pointful]
fn of_a_field<N: IndexSet>(model: &Model, k: &Table<N, i64>) -> f64 {
    sum(for n in N {
        2.0 * model.weights[(k[n] + 1) * k[n] - k[n].pow(2)].sin() // of_a_field
    })
}

#[pointful]
fn of_two_axes<N: IndexSet, M: IndexSet>(
    x: &Table<(N, M), f32>,
    k: &Table<N, i64>,
) -> Table<N, f32> {
    for n in N {
        x[n][k[n]] + x[(n, 0)] // of_two_axes
    }
}

#[pointful]
fn changed<N: IndexSet>(mut u: Table<N, f64>, k: i64) -> Table<N, f64> {
    for t in 0..3 {
        u[k + t] = 1.0; // changed
    }
    u
}

#[pointful]
fn accumulated<N: IndexSet, K: IndexSet>(k: &Table<N, i64>, bins: Extent<K>) -> Table<K, f64> {
    let mut hist = Accum::zeros(bins);
    for n in N {
        hist[k[n] - 1] += 1.0; // accumulated
    }
    hist.get()
}

#[pointful]
fn unwrapped<N: IndexSet>(u: &Table<N, f64>) -> Table<N, f64> {
    for i in N {
        u.get(i + 1).unwrap() * 2.0 // unwrapped
    }
}

#[pointful]
fn numbered<N: IndexSet>(x: &Table<N, f64>, at: &Table<Dyn, i64>) -> f64 {
    sum(for d in Dyn {
        x[N::from_ordinal(at[d] as usize)] // numbered
    })
}

#[pointful]
fn from_elsewhere<N: IndexSet>(x: &Table<Dyn, f64>, at: &Table<N, usize>) -> f64 {
    sum(for n in N {
        element(x, at[n])
    })
}

#[pointful]
fn divided(x: i64, y: i64) -> i64 {
    // A variable of the name that a function of the runtime has.
    let div = x + 1;
    let check_here = div // divided_by
        / y;
    check_here
}

#[pointful]
fn divided_on_one_line(x: i64, y: i64) -> i64 {
    1 + (x % y) // divided
}

#[pointful]
fn asserted<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(for i in N {
        assert!(x[i] > 0.0, "element {} is {}", i.ordinal(), x[i]); // asserted
        x[i].ln()
    })
}

#[pointful]
fn asserted_plainly(x: f64) -> f64 {
    assert!(x > 0.0); // asserted_plainly
    x.ln()
}

#[pointful]
fn best<N: IndexSet>(x: &Table<N, f64>) -> usize {
    argmax(x).ordinal() // best
}

#[pointful]
fn bounded(n: f64) -> f64 {
    let mut x = 1.0;
    #[bound(3)] // bounded
    while x < n {
        x *= 2.0;
    }
    x
}

#[pointful]
fn dot<N: IndexSet>(x: &Table<N, f64>, y: &Table<N, f64>) -> f64 {
    sum(for i in N {
        x[i] * y[i]
    })
}

fn table(values: &[f64]) -> Table<Dyn, f64> {
    values.to_vec().into()
}

#[test]
fn an_index_out_of_range_is_at_the_expression() {
    let (x, k) = (table(&[1.0, 2.0]), Table::<Dyn, i64>::from(vec![0, 1]));
    let over = "index 2 is out of range for `y[k[i] + 1]` over `Dyn` of 2 members";
    assert_panics(|| gathered(&x, &x, &k), "gathered", "y[", over);
    // In its derivatives too.
    assert_panics(|| grad!(gathered)(&x, &x, &k), "gathered", "y[", over);
    assert_panics(
        || jvp!(gathered)(&x, &x, &k, &x, &x),
        "gathered",
        "y[",
        over,
    );
    assert_panics(
        || {
            vmap!(grad!(gathered), over = k)(
                &x,
                &x,
                &Table::from_vec(Extent::<(Dyn, Dyn)>::new((1, 2)), vec![0, 1]).unwrap(),
            )
        },
        "gathered",
        "y[",
        over,
    );

    let model = Model {
        weights: table(&[1.0]),
    };
    let over = "index 1 is out of range for `model.weights[(k[n] + 1) * k[n] - k[n].pow(2)]` over `Dyn` of 1 member";
    assert_panics(|| of_a_field(&model, &k), "of_a_field", "model", over);

    let x = Table::from_fn(Extent::<(Dyn, Fin<2>)>::new((3, ())), |_| 1.0);
    let k = Table::<Dyn, i64>::from(vec![0, 1, -1]);
    let over = "index -1 is out of range for `x[n][k[n]]` over `M` of 2 members";
    assert_panics(|| of_two_axes(&x, &k), "of_two_axes", "x[n]", over);
    let over = "index -1 is out of range for `hist[k[n] - 1]` over `K` of 4 members";
    assert_panics(
        || accumulated(&k, Extent::<Dyn>::new(4)),
        "accumulated",
        "hist",
        over,
    );

    let u = || table(&[1.0, 2.0]);
    let over = "index 2 is out of range for `u[k + t]` over `N` of 2 members";
    assert_panics(|| changed(u(), 0), "changed", "u[", over);
    let over = "index 2 is out of range for `u.get(i + 1)` over `N` of 2 members";
    assert_panics(|| unwrapped(&u()), "unwrapped", "u.get", over);
    let over = "index 5 is out of range for `N` of 2 members";
    let at = Table::<Dyn, i64>::from(vec![0, 5]);
    assert_panics(|| numbered(&u(), &at), "numbered", "N::", over);
}

#[test]
fn a_function_of_another_crate_has_its_own_places() {
    let at = Table::<Dyn, usize>::from(vec![0, 1, 2]);
    let (file, line, _, said) = panic_of(|| from_elsewhere(&table(&[1.0, 2.0]), &at));
    assert_eq!(
        said,
        "index 2 is out of range for `x[at]` over `Dyn` of 2 members"
    );
    assert!(file.ends_with("link-lib/src/lib.rs"), "{file}");
    let text = include_str!("../../link-lib/src/lib.rs")
        .lines()
        .nth(line as usize - 1);
    assert_eq!(text, Some("    x[at] * 2.0"));
}

#[test]
fn a_division_is_where_its_dividend_begins() {
    let by_zero = "integer 2 divided by zero";
    assert_panics(|| divided(1, 0), "divided_by", "div ", by_zero);
    assert_panics(|| divided_on_one_line(2, 0), "divided", "x %", by_zero);
}

#[test]
fn assertions_are_where_they_are_written() {
    let x = table(&[1.0, 0.0]);
    assert_panics(|| asserted(&x), "asserted", "assert!", "element 1 is 0");
    assert_panics(
        || grad!(asserted)(&x),
        "asserted",
        "assert!",
        "element 1 is 0",
    );
    assert_panics(
        || asserted_plainly(0.0),
        "asserted_plainly",
        "assert!",
        "assertion failed: x > 0.0",
    );
    assert_panics(
        || best(&table(&[])),
        "best",
        "argmax",
        "argmin or argmax of an empty table",
    );
    assert_panics(
        || bounded(100.0),
        "bounded",
        "#[bound",
        "the loop runs longer than its bound",
    );
}

#[test]
fn arguments_that_do_not_fit_are_a_mistake_of_the_caller() {
    let (x, y) = (table(&[1.0]), table(&[1.0, 2.0]));
    let said = |name| {
        format!("`{name}`: parameters `x` and `y` disagree on the size of `N`: 1 in `x`, 2 in `y`")
    };
    assert_panics(
        || {
            dot(&x, &y) // dot
        },
        "dot",
        "dot",
        &said("dot"),
    );
    assert_panics(
        || {
            grad!(dot)(&x, &y) // grad
        },
        "grad",
        "grad!",
        &said("grad_dot"),
    );
}
