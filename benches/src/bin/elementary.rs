//! Elementary functions over 10⁶ numbers, as kernels and as loops with rayon over the standard
//! library's: `cargo run --release -p pointful-benches --bin elementary`.

use pointful::prelude::*;
use pointful_benches::{Comparison, compare};
use rayon::prelude::*;

macro_rules! kernels {
    ($($double:ident $single:ident $method:ident;)*) => {
        $(
            #[pointful]
            fn $double<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> {
                for i in _ { x[i].$method() }
            }

            #[pointful]
            fn $single<N: IndexSet>(x: &Table<N, f32>) -> Table<N, f32> {
                for i in _ { x[i].$method() }
            }
        )*
    };
}

kernels! {
    exp_f64 exp_f32 exp;
    ln_f64 ln_f32 ln;
    sin_f64 sin_f32 sin;
    cos_f64 cos_f32 cos;
    tan_f64 tan_f32 tan;
    atan_f64 atan_f32 atan;
    tanh_f64 tanh_f32 tanh;
    cbrt_f64 cbrt_f32 cbrt;
}

/// What the argument is raised to, as a parameter so that it is not folded.
#[pointful]
fn powf_f64<N: IndexSet>(x: &Table<N, f64>, y: f64) -> Table<N, f64> {
    for i in _ {
        x[i].powf(y)
    }
}

#[pointful]
fn powf_f32<N: IndexSet>(x: &Table<N, f32>, y: f32) -> Table<N, f32> {
    for i in _ {
        x[i].powf(y)
    }
}

const COUNT: usize = 1_000_000;

fn report(name: &str, c: Comparison) {
    let ns = |d: std::time::Duration| d.as_secs_f64() * 1e9 / COUNT as f64;
    println!(
        "| {name} | {:.2} | {:.2} | {:.2} | {:.2} to {:.2} |",
        ns(c.ours),
        ns(c.theirs),
        c.ratio,
        c.quartiles.0,
        c.quartiles.1
    );
}

/// A loop over the standard library's function, on all threads.
fn by_hand<T: Copy + Send + Sync>(x: &[T], f: impl Fn(T) -> T + Sync) -> Vec<T> {
    x.par_iter().with_min_len(4096).map(|&x| f(x)).collect()
}

fn main() {
    let numbers: Vec<f64> = (0..COUNT)
        .map(|i| 0.01 + 12.0 * ((i * 7919) % COUNT) as f64 / COUNT as f64)
        .collect();
    let x = Table::<Dyn, f64>::from_vec(Extent::new(COUNT), numbers.clone()).expect("as many");
    let singles: Vec<f32> = numbers.iter().map(|&x| x as f32).collect();
    let y = Table::<Dyn, f32>::from_vec(Extent::new(COUNT), singles.clone()).expect("as many");
    println!("| function | pointful, ns | by hand, ns | ratio | quartiles |");
    println!("|---|---|---|---|---|");
    macro_rules! measure {
        ($($double:ident $single:ident $method:ident($($operand:literal)?);)*) => {$(
            let theirs = || by_hand(&numbers, |x| x.$method($($operand)?));
            report(stringify!($double), compare(31, || $double(&x $(, $operand)?), theirs));
            let theirs = || by_hand(&singles, |x| x.$method($($operand)?));
            report(stringify!($single), compare(31, || $single(&y $(, $operand)?), theirs));
        )*};
    }
    measure! {
        exp_f64 exp_f32 exp();
        ln_f64 ln_f32 ln();
        sin_f64 sin_f32 sin();
        cos_f64 cos_f32 cos();
        tan_f64 tan_f32 tan();
        atan_f64 atan_f32 atan();
        tanh_f64 tanh_f32 tanh();
        cbrt_f64 cbrt_f32 cbrt();
        powf_f64 powf_f32 powf(1.7);
    }
}
