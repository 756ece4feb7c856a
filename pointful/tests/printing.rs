//! `println!` and `dbg!` in bodies: what stands on standard output and on standard error, which a
//! run of this program of its own is asked for.
#![deny(warnings)]

use std::process::Command;

use pointful::prelude::*;

#[derive(IndexSet, Clone, Copy)]
struct Row(usize);

#[pointful]
struct Pair {
    left: f64,
    right: i64,
}

#[pointful]
fn twice(x: f64) -> f64 {
    println!("twice {x}");
    x * 2.0
}

#[pointful]
fn rows(x: &Table<(Row, Fin<2>), f64>) -> Table<Row, f64> {
    println!("begins");
    let sums = for r in Row {
        let mut s = 0.0;
        for k in _ {
            s += x[r][k];
            println!("{r}, {k:?}: {s:.1}");
        }
        if s > 3.0 {
            println!("{} is large: {large}", r, large = s > 5.0);
        }
        s
    };
    println!("ends");
    sums
}

#[pointful]
fn lifted<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let y = twice(x);
    sum(for i in _ {
        twice(y[i])
    })
}

#[pointful]
fn until(x: f32, n: usize) -> (f32, usize) {
    let mut y = x;
    let mut k = 0;
    while dbg!(k < n) {
        y = dbg!(y * 2.0);
        k += 1;
    }
    let pair = Pair {
        left: 1.5,
        right: -1,
    };
    let _ = dbg!((y, k), pair);
    dbg!();
    (y, k)
}

#[pointful]
fn triangle<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(for i in N {
        sum(for j in ..i {
            print!("{i}{j} ");
            x[i] * x[j]
        })
    })
}

#[pointful]
fn matched(c: bool, x: f64) -> f64 {
    match c {
        true => {
            println!("yes");
            twice(x)
        }
        false => {
            println!("no");
            x
        }
    }
}

#[pointful]
fn stepped<T: Float, N: IndexSet>(x: &Table<N, T>) -> Table<N, T> {
    let mut u = x.clone();
    for t in 0..2 {
        let v = u.clone();
        for i in N {
            println!("{t} {i} {}", v[i]);
            u[i] = v[i] + v[(i + 1).wrap()];
        }
    }
    u
}

/// What is printed, when [`each_point_prints_once_and_in_order`] asks for it.
fn prints() {
    let extent = Extent::<(Row, Fin<2>)>::new((3, ()));
    let x = Table::from_vec(extent, vec![1.0, 2.0, 0.5, 0.5, 3.0, 4.0]).expect("its length");
    assert_eq!(rows(&x).as_slice(), [3.0, 1.0, 7.0]);
    let none = Table::<(Row, Fin<2>), f64>::zeros(Extent::new((0, ())));
    assert_eq!(rows(&none).len(), 0);
    let list = Table::<Dyn, f64>::from(vec![1.0, 2.0]);
    assert_eq!(lifted(&list), 12.0);
    assert_eq!(until(1.0, 2), (4.0, 2));
    assert_eq!(
        triangle(&Table::<Dyn, f64>::from(vec![1.0, 2.0, 3.0])),
        11.0
    );
    println!();
    assert_eq!((matched(true, 1.0), matched(false, 1.0)), (2.0, 1.0));
    assert_eq!(stepped(&list).as_slice(), [6.0, 6.0]);
    let single = Table::<Dyn, f32>::from(vec![1.0]);
    assert_eq!(stepped(&single).as_slice(), [4.0]);
    // Derivatives and what is mapped print nothing.
    assert_eq!(grad!(lifted)(&list).as_slice(), [4.0, 4.0]);
    assert_eq!(jvp!(twice)(1.0, 1.0), (2.0, 2.0));
    assert_eq!(vmap!(twice)(&list).as_slice(), [2.0, 4.0]);
}

const OUT: &str = "\
begins
0, 0: 1.0
0, 1: 3.0
1, 0: 0.5
1, 1: 1.0
2, 0: 3.0
2, 1: 7.0
2 is large: true
ends
begins
ends
twice 1
twice 2
twice 2
twice 4
10 20 21 
yes
twice 1
no
0 0 1
0 1 2
1 0 3
1 1 3
0 0 1
1 0 2
";

const ERR: &[&str] = &[
    "k < n = true",
    "y * 2.0 = 2.0",
    "k < n = true",
    "y * 2.0 = 4.0",
    "k < n = false",
    "(y, k) = (4.0, 2)",
    "pair = Pair { left: 1.5, right: -1 }",
    "",
];

/// Where a text stands in this file, as `dbg!` says it.
fn place(text: &str) -> String {
    let (before, _) = include_str!("printing.rs")
        .split_once(text)
        .expect("it stands here");
    let column = before.lines().last().map_or(0, str::len) + 1;
    format!("[{}:{}:{column}]", file!(), before.lines().count())
}

#[test]
fn each_point_prints_once_and_in_order() {
    const ASKED: &str = "POINTFUL_TEST_PRINTS";
    if std::env::var_os(ASKED).is_some() {
        return prints();
    }
    let this = std::env::current_exe().expect("this program has a path");
    let name = "each_point_prints_once_and_in_order";
    let run = Command::new(this)
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .env(ASKED, "")
        .output()
        .expect("this program runs");
    let out = String::from_utf8(run.stdout).expect("text");
    let err = String::from_utf8(run.stderr).expect("text");
    assert!(run.status.success(), "{out}{err}");
    // The harness says something before and after.
    let out_wanted = if cfg!(debug_assertions) { OUT } else { "\n" };
    assert!(out.contains(out_wanted), "{out}");
    let shown: Vec<&str> = err
        .lines()
        .map(|line| line.split_once("] ").map_or("", |(_, shown)| shown))
        .collect();
    let err_wanted = if cfg!(debug_assertions) { ERR } else { &[] };
    assert_eq!(shown, err_wanted, "{err}");
    if let Some(first) = err.lines().next() {
        assert!(first.starts_with(&place("dbg!(k < n)")), "{first}");
    }
    assert_eq!(out.contains("begins"), cfg!(debug_assertions), "{out}");
}
