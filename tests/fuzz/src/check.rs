//! Compares what a compiled function gives with plain loops over floats and dual numbers.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::inputs::{Draw, Inputs, Tables};
use crate::num::{Dual, Num, with_shaken_constants};

/// A random function as plain loops.
pub trait Plain {
    /// Its table, and its number.
    fn run<T: Num>(inputs: &Inputs<T>) -> (Vec<T>, T);
    /// `(n, m)` of each run.
    const SIZES: &'static [(usize, usize)];
    /// Columns of the table, if it is a matrix of `n` rows.
    fn columns(m: usize) -> usize;
}

/// What a compiled function computes of the function `f`, or of `loss`, which is
/// `Σ weights · table + number`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Value,
    Grad,
    Vjp,
    Jvp,
    /// `hvp!(loss, wrt = x)` with the tangent of [`Given`].
    Hvp,
    /// `hessian!(loss, wrt = x)`.
    Hessian,
    /// `jacobian!(h, wrt = y)`, where `h` is the table with the number added.
    Jacobian,
    /// `vmap!(f, over = x)`.
    Vmap,
    /// `vmap!(grad!(loss, wrt = x), over = x)`.
    VmapGrad,
    /// `jvp!(grad!(loss, wrt = x), wrt = x)`.
    JvpGrad,
    /// The gradient by `x` of `Σ cos(0.4 i) · (gradient by x)[i]`.
    GradGrad,
}

/// What a compiled function is given beside the tables.
pub struct Given {
    pub tables: Tables,
    /// A tangent of each parameter, or (in `x`) of one.
    pub tangent: Inputs<f64>,
    /// A cotangent of the table, and of the number.
    pub cotangent: (Vec<f64>, f64),
    /// Three of them for `x`.
    pub several: Vec<f64>,
}

/// Things in a batch of `vmap!`.
pub const BATCH: usize = 3;

fn weight(at: usize, columns: usize) -> f64 {
    (0.7 * (at / columns) as f64 + 0.3 * (at % columns) as f64).cos()
}

fn loss<P: Plain, T: Num>(inputs: &Inputs<T>) -> T {
    let (table, number) = P::run(inputs);
    let columns = P::columns(inputs.m);
    let terms = table.iter().enumerate();
    terms.fold(number, |sum, (at, &x)| sum + x * T::c(weight(at, columns)))
}

fn slope<P: Plain, T: Num>(inputs: &Inputs<T>, direction: &Inputs<f64>) -> T {
    loss::<P, Dual<T>>(&inputs.along(direction)).tangent
}

fn bend<P: Plain>(inputs: &Inputs<f64>, one: &Inputs<f64>, other: &Inputs<f64>) -> f64 {
    slope::<P, Dual<f64>>(&inputs.along(other), one).tangent
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Numbers found and as they should be, of one kind.
type Pairs = Vec<(f64, f64)>;

/// What is compared, at these inputs. `found` is what the compiled function gave.
fn pairs<P: Plain>(
    mode: Mode,
    inputs: &Inputs<f64>,
    given: &Given,
    found: &[Vec<f64>],
) -> Vec<Pairs> {
    let zip = |found: &[f64], right: Vec<f64>| -> Pairs {
        if found.len() == right.len() {
            found.iter().copied().zip(right).collect()
        } else {
            vec![(found.len() as f64, f64::NAN)]
        }
    };
    let (n, m) = (inputs.n, inputs.m);
    // Directions of all floats, some of them of one float alone.
    let directions: Vec<Inputs<f64>> = {
        let draw = &mut Draw(n as u64 * 31 + m as u64);
        (0..3)
            .map(|k| inputs.direction(77 + k))
            .chain((0..6).map(|_| inputs.axis(draw.below(n + m + n * m + 1))))
            .collect()
    };
    let by_x: Vec<Inputs<f64>> = (0..3)
        .map(|k| inputs.direction(177 + k).only(true))
        .chain((0..n.min(6)).map(|k| inputs.axis(k * n / n.min(6))))
        .collect();
    match mode {
        Mode::Value => {
            let (table, number) = P::run(inputs);
            vec![zip(&found[0], table), zip(&found[1], vec![number])]
        }
        Mode::Grad => {
            let all = found.concat();
            vec![
                (directions.iter())
                    .map(|d| (dot(&all, &d.floats()), slope::<P, f64>(inputs, d)))
                    .collect(),
            ]
        }
        Mode::Vjp => {
            let (table, number) = P::run(inputs);
            let all = found[2..].concat();
            let pulled = |d: &Inputs<f64>| {
                let (table, number) = P::run(&inputs.along(d));
                let tangents: Vec<f64> = table.iter().map(|x| x.tangent).collect();
                dot(&tangents, &given.cotangent.0) + number.tangent * given.cotangent.1
            };
            vec![
                zip(&found[0], table),
                zip(&found[1], vec![number]),
                (directions.iter())
                    .map(|d| (dot(&all, &d.floats()), pulled(d)))
                    .collect(),
            ]
        }
        Mode::Jvp => {
            let (table, number) = P::run(&inputs.along(&given.tangent));
            let (values, tangents) = table.iter().map(|x| (x.value, x.tangent)).unzip();
            vec![
                zip(&found[0], values),
                zip(&found[1], vec![number.value]),
                zip(&found[2], tangents),
                zip(&found[3], vec![number.tangent]),
            ]
        }
        Mode::Hvp | Mode::GradGrad => {
            let tangent = if mode == Mode::Hvp {
                given.tangent.clone().only(true)
            } else {
                let mut cosines = inputs.axis(0);
                cosines.x = (0..n).map(|k| (0.4 * k as f64).cos()).collect();
                cosines
            };
            vec![
                (by_x.iter())
                    .map(|d| (dot(&found[0], &d.x), bend::<P>(inputs, &tangent, d)))
                    .collect(),
            ]
        }
        Mode::JvpGrad => {
            let tangent = given.tangent.clone().only(true);
            vec![
                (by_x.iter())
                    .map(|d| (dot(&found[0], &d.x), slope::<P, f64>(inputs, d)))
                    .collect(),
                (by_x.iter())
                    .map(|d| (dot(&found[1], &d.x), bend::<P>(inputs, &tangent, d)))
                    .collect(),
            ]
        }
        Mode::Hessian => {
            let times = |d: &Inputs<f64>| -> Vec<f64> {
                found[0].chunks(n).map(|row| dot(row, &d.x)).collect()
            };
            let mut pairs = Pairs::new();
            for a in &by_x {
                for b in &by_x {
                    pairs.push((dot(&times(a), &b.x), bend::<P>(inputs, a, b)));
                }
            }
            vec![pairs]
        }
        Mode::Jacobian => {
            let by_y = (0..2)
                .map(|k| inputs.direction(277 + k).only(false))
                .chain((0..m.min(4)).map(|k| inputs.axis(n + k * m / m.min(4))));
            by_y.map(|d| {
                let (table, number) = P::run(&inputs.along(&d));
                let right = table.iter().map(|x| x.tangent + number.tangent).collect();
                let product: Vec<f64> = found[0].chunks(m).map(|row| dot(row, &d.y)).collect();
                zip(&product, right)
            })
            .collect()
        }
        Mode::Vmap | Mode::VmapGrad => {
            let mut pairs = Vec::new();
            for (k, x) in given.several.chunks(n).enumerate() {
                let mut one = inputs.clone();
                one.x = x.to_vec();
                if mode == Mode::Vmap {
                    let (table, number) = P::run(&one);
                    let len = table.len();
                    pairs.push(zip(&found[0][k * len..][..len], table));
                    pairs.push(zip(&found[1][k..=k], vec![number]));
                } else {
                    let row = &found[0][k * n..][..n];
                    pairs.push(
                        (by_x.iter())
                            .map(|d| (dot(row, &d.x), slope::<P, f64>(&one, d)))
                            .collect(),
                    );
                }
            }
            pairs
        }
    }
}

/// What came of a compiled function.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    Agrees,
    /// Rounding decides what it computes, or it is not finite.
    Discarded,
    Wrong(String),
}

/// By how many bits the runtime's limits are lowered: small work is one piece, or many.
const LOWERED: [u32; 2] = [0, 12];

/// Compares a compiled function with plain loops at all sizes, on one thread and on several, in one
/// piece and in many.
pub fn check<P: Plain>(mode: Mode, compiled: impl Fn(&Given) -> Vec<Vec<f64>> + Sync) -> Found {
    let mut discarded = 0;
    for &(n, m) in P::SIZES {
        let seed = (n * 1031 + m) as u64;
        let inputs = Inputs::random(n, m, seed);
        let (table, _) = P::run(&inputs);
        let mut draw = Draw(seed ^ 0x5eed);
        let given = Given {
            tables: Tables::of(&inputs),
            tangent: inputs.direction(seed ^ 0x7a),
            cotangent: (draw.units(table.len()), draw.unit()),
            several: draw.units(BATCH * n),
        };
        let run = Run {
            mode,
            inputs: &inputs,
            given: &given,
            // How much rounding may matter shows in what comes of almost the same inputs and constants.
            shaken: [1, 2, 3].map(|seed| inputs.shaken(seed)),
        };
        for bits in LOWERED {
            pointful_runtime::testing::lower_limits(bits);
            match run.once::<P>(&compiled) {
                Ok(sure) => discarded += usize::from(!sure),
                Err(what) => {
                    return Found::Wrong(format!(
                        "{mode:?} at n = {n}, m = {m}, limits lower by {bits} bits: {what}"
                    ));
                }
            }
        }
    }
    if discarded > P::SIZES.len() {
        Found::Discarded
    } else {
        Found::Agrees
    }
}

/// What is run at one size.
struct Run<'a> {
    mode: Mode,
    inputs: &'a Inputs<f64>,
    given: &'a Given,
    shaken: [Inputs<f64>; 3],
}

impl Run<'_> {
    /// Whether rounding decides nothing, or what is wrong.
    fn once<P: Plain>(
        &self,
        compiled: &(impl Fn(&Given) -> Vec<Vec<f64>> + Sync),
    ) -> Result<bool, String> {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.expect("threads");
            let call = || pool.install(|| compiled(self.given));
            catch_unwind(AssertUnwindSafe(call))
                .map_err(|_| format!("it panics on {threads} threads"))
        };
        let bits = |found: &[Vec<f64>]| -> Vec<Vec<u64>> {
            let one = |one: &Vec<f64>| one.iter().map(|x| x.to_bits()).collect();
            found.iter().map(one).collect()
        };
        let found = run(1)?;
        for threads in [1, 3] {
            if bits(&run(threads)?) != bits(&found) {
                return Err(format!("other bits, on {threads} threads"));
            }
        }
        let compared = pairs::<P>(self.mode, self.inputs, self.given, &found);
        let others: Vec<Vec<Pairs>> = (self.shaken.iter().zip(1..))
            .map(|(inputs, seed)| {
                with_shaken_constants(seed, || pairs::<P>(self.mode, inputs, self.given, &found))
            })
            .collect();
        let mut sure = true;
        for (part, pairs) in compared.iter().enumerate() {
            let scale = pairs
                .iter()
                .fold(1.0, |scale: f64, &(_, x)| scale.max(x.abs()));
            let mut moved: f64 = 0.0;
            for other in &others {
                for (a, b) in pairs.iter().zip(&other[part]) {
                    moved = moved.max((a.1 - b.1).abs());
                }
            }
            let finite = pairs.iter().all(|(_, right)| right.is_finite());
            if !finite || moved > 1e-7 * scale {
                sure = false;
                continue;
            }
            let tolerance = 1e-9 * scale + 1e3 * moved;
            for (at, &(found, right)) in pairs.iter().enumerate() {
                if (found - right).abs() > tolerance || found.is_nan() {
                    return Err(format!(
                        "part {part}, {at}: {found}, not {right} (scale {scale:e}, moved {moved:e})"
                    ));
                }
            }
        }
        Ok(sure)
    }
}
