//! What those write who come from Rust.

use pointful::prelude::*;

#[pointful]
fn r1<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    x.iter().sum()
}

#[pointful]
fn r2<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    x.iter().map(|v| v * v).sum::<f64>()
}

#[pointful]
fn r4<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let mut s = 0;
    for i in N {
        s += x[i];
    }
    s
}

#[pointful]
fn r5<N: IndexSet>(x: &Table<N, f64>) -> Vec<f64> {
    let mut v = Vec::new();
    for i in N {
        v.push(x[i]);
    }
    v
}

#[pointful]
fn r6<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    return sum(x);
}

#[pointful]
fn r7<N: IndexSet>(x: &[f64]) -> f64 {
    sum(x)
}

#[pointful]
fn r8(x: Vec<f64>) -> f64 {
    sum(x)
}

#[pointful]
fn r9<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    for i in N {
        x[i]
    }
}

#[pointful]
fn r12<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    x[0] + x[-1]
}

#[pointful]
fn r14<N: IndexSet>(x: &mut Table<N, f64>) {
    for i in N {
        x[i] *= 2;
    }
}

#[pointful]
fn r15<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let y: f64 = sum(x) as f32;
    y
}

#[pointful]
fn r16(x: f64) -> f64 {
    if x > 0 { x } else { 0.0 }
}

#[pointful]
fn r17(x: f64) -> f64 {
    if x > 0.0 {
        x
    }
}

#[pointful]
fn r18(x: f64) -> f64 {
    x.max(0)
}

#[pointful]
fn r19(x: f64) -> f64 {
    f64::max(x, 0.0)
}

#[pointful]
fn r22(n: usize) -> f64 {
    let mut s = 0.0;
    for i in 0..n {
        s += i;
    }
    s
}

#[pointful]
fn r23(x: f64) -> f64 {
    let y = x;
    y += 1.0;
    y
}

#[pointful]
fn r24(x: &Table<Dyn, f64>) -> Option<Table<Dyn, f64>> {
    if x.len() > 0 { Some(x + 1.0) } else { None }
}

#[pointful]
fn r25(x: f64) -> Result<f64, String> {
    Ok(x)
}

#[pointful]
fn r26(x: &str) -> f64 {
    1.0
}

#[pointful]
fn r27<T>(x: T) -> T {
    x
}

#[pointful]
fn r28<T: Copy + std::ops::Add<Output = T>>(x: T, y: T) -> T {
    x + y
}

#[pointful]
fn r29(x: f64) -> f64 {
    unsafe { x }
}

#[pointful]
fn r30(x: f64) -> f64 {
    let f = |y: f64| -> f64 { y };
    f(x)
}

#[pointful]
fn r31<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let (a, b) = x;
    a
}

#[pointful]
fn r32<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    for (i, v) in x.iter().enumerate() {
        v;
    }
    0.0
}

#[pointful]
fn r33<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    for v in &x {
        v;
    }
    0.0
}

#[pointful]
fn r34<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(&x[1..])
}

#[pointful]
fn r35<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let n = x.len();
    loop {
        if n > 1 {
            break;
        }
    }
    0.0
}

#[pointful]
fn r37(x: f64) -> f64 {
    x.sqr()
}

#[pointful]
fn r38(x: f64) -> f64 {
    x.pow(2)
}

#[pointful]
fn r39(x: f64) -> f64 {
    x.powi(2.0)
}

#[pointful]
fn r40(x: f64) -> f64 {
    x.powf(2)
}

#[pointful]
fn r41(x: f64) -> f64 {
    1 / x
}

#[pointful]
fn r42(x: f64, n: usize) -> f64 {
    x * n
}

#[pointful]
async fn r44(x: f64) -> f64 {
    x
}

#[pointful]
const fn r45(x: f64) -> f64 {
    x
}

#[pointful]
fn r47<N: IndexSet>(x: &Table<N, f64>, y: &Table<N, f64>) -> bool {
    x == y
}

#[pointful]
fn r48(x: f64) -> f64 {
    let s = "a";
    x
}

#[pointful]
fn r50<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    x.len()
}

fn main() {}
