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

#[pointful]
fn r51(n: usize) -> f64 {
    let t = [0.0; n];
    sum(t)
}

#[pointful]
fn r52<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let t = [0.0; x.len()];
    sum(t)
}

#[pointful]
fn r53(x: f64) -> f64 {
    let n = 3;
    let t: [f64; n] = [x, x, x];
    sum(t)
}

#[pointful]
fn r60<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    x.iter().map(|v| v * v).sum()
}

#[pointful]
fn r61<N: IndexSet>(x: &Table<N, f64>) -> usize {
    x.iter().filter(|v| **v > 0.0).count()
}

#[pointful]
fn r62<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    x.iter().zip(x.iter()).map(|(a, b)| a * b).fold(0.0, f64::max)
}

#[pointful]
fn r63(x: &Table<Dyn, f64>) -> f64 {
    x.windows(2).map(|w| w[1] - w[0]).sum()
}

#[pointful]
fn r64(x: &Table<Dyn, f64>, t: f64) -> usize {
    x.binary_search_by(|v| v.total_cmp(&t)).unwrap()
}

#[pointful]
fn r65(x: &Table<Dyn, f64>, t: f64) -> usize {
    x.partition_point(|v| v < t)
}

#[pointful]
fn r66(x: &Table<Dyn, f64>) -> Table<Dyn, f64> {
    let mut y = x.clone();
    y.sort_by(|a, b| a.partial_cmp(b).unwrap());
    y
}

#[pointful]
fn r67<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    reduce(0.0, f64::max, x)
}

#[pointful]
fn r68<N: Idx>(x: &Table<N, f64>) -> f64 {
    sum(x)
}

#[pointful]
fn r69<N: Dyn, M: usize>(x: &Table<(N, M), f64>) -> f64 {
    sum(x)
}

#[pointful]
fn r70<N: IndexSet>(x: &Table<N, f64>) -> &Table<N, f64> {
    x
}

#[pointful]
fn r71(x: &Table<Dyn, f64>) -> impl Iterator<Item = f64> {
    x
}

#[pointful]
fn r72<I: IndexSet, J: IndexSet>(x: &Table<I, J, f64>) -> f64 {
    sum(x)
}

#[pointful]
fn r73(x: &Table<(usize, Dyn), f64>) -> f64 {
    sum(x)
}

#[pointful]
fn r74(x: &mut Table<Dyn, f64>) {
    for v in x {
        *v *= 2.0;
    }
}

#[pointful]
fn r75(x: &mut Table<Dyn, f64>) {
    let first = &mut x[0];
    *first = 1.0;
}

#[pointful]
fn r76(x: &Table<Dyn, f64>) -> f64 {
    x.get(0).copied().unwrap_or(0.0)
}

#[pointful]
fn r77(x: &Table<Dyn, f64>) -> f64 {
    x.get(0).expect("it has one")
}

#[pointful]
fn r78(x: f64) -> f64 {
    x.sqrt().unwrap()
}

#[pointful]
fn r79(x: f64) -> f64 {
    let pair = (x, x);
    pair[0]
}

#[pointful]
fn r80(x: f64) -> f64 {
    let sum = x;
    sum(for k in 0..3 { sum })
}

#[pointful]
fn r81<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(for i in 0..N { x[i] })
}

#[pointful]
fn r82<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(x) / N as f64
}

#[pointful]
fn r83<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    let i: N = 0;
    x[i]
}

#[pointful]
fn r84<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    x[N::new(0)]
}

#[pointful]
fn r85(n: usize) -> Table<Dyn, f64> {
    for i in 0..n { i }
}

#[pointful]
fn r86(x: &Table<Dyn, f64>) -> f64 {
    let y = Table::<Dyn, f64>::zeros(3);
    sum(x)
}

#[pointful]
fn r87(x: &Table<Dyn, f64>) -> f64 {
    let y = zeros(3);
    sum(x)
}

#[pointful]
fn r88(x: &Table<Dyn, f64>) -> Table<Dyn, f64> {
    x.mapv(|v| 2.0 * v)
}

#[pointful]
fn r89<I: IndexSet, J: IndexSet>(x: &Table<(I, J), f64>) -> f64 {
    sum(x.row(0))
}

#[pointful]
fn r90(x: &Table<Dyn, f64>) -> bool {
    x.contains(&1.0)
}

#[pointful]
fn r91(x: &Table<Dyn, f64>) -> bool {
    x.is_empty()
}

#[pointful]
fn r92(x: &mut Table<Dyn, f64>) {
    x.fill(0.0);
}

#[pointful]
fn r93(x: f32) -> f64 {
    x.into()
}

#[pointful]
fn r94(x: f64) -> f64 {
    x.to_string();
    x
}

#[pointful]
fn r95(x: &Array2<f64>) -> f64 {
    sum(x)
}

#[pointful]
fn r96(x: &Table<Dyn, f64>) -> f64 {
    x.sum_axis(Axis(0))
}

#[pointful]
fn r97(x: &Table<Dyn, f64>) -> f64 {
    (0..x.len()).map(|i| x[i]).sum()
}

#[pointful]
fn r98(x: &Table<Dyn, f64>) -> f64 {
    x.sum
}

#[pointful]
fn r99(n: usize) -> Table<Fin<n>, f64> {
    for _ in 0..n { 1.0 }
}

#[pointful]
fn r100(x: &Table) -> f64 {
    sum(x)
}

fn main() {}
