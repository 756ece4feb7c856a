use pointful::prelude::*;

#[pointful]
fn closure<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let shown = |y: f64| dbg!(y * 2.0);
    sum(shown(x))
}

#[pointful]
fn table<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    println!("{x}");
    sum(dbg!(x))
}

#[pointful]
fn no_format(x: f64) -> f64 {
    println!(x);
    eprintln!("{}");
    print!("{x}", x + 1.0);
    x
}

#[pointful]
fn exponent(x: f64) -> f64 {
    println!("{:e}", x > 1.0);
    x
}

#[pointful]
fn in_a_condition(x: f64) -> f64 {
    let mut y = x;
    while dbg!(y) < 3.0 {
        y += 1.0;
    }
    y
}

fn main() {}
