//! The programs. Each is one idea; `tests/compiled.rs` says in plain Rust what it computes.

use Scalar::{Bool, F32, F64, I8, I16, I32, I64, Isize, U8, U16, U32, U64, Usize};
use pointful_compiler::ir::stages::kernels::{KernelOp, Kernels};
use pointful_compiler::ir::{Elem, Extent, Message, Monoid, Program, Scalar, Type, ValueId};
use pointful_compiler::ops::Prim;
use pointful_compiler::targets::cpu::rust::testing::{
    Build, indices, matrix_product, matrix_vector, table,
};

/// All of them.
pub(crate) fn all() -> Vec<Program<Kernels>> {
    let mut programs = vec![
        matrix_vector(),
        matrix_product(),
        totals(),
        totals_of_integers(),
        any_and_all(),
        smallest_by_column(),
        histogram(),
        transposed(),
        jacobi(),
        scaled_in_place(),
        smoothed_rows(),
        private_copies(),
        ragged_private(),
        collatz(),
        by_sign(),
        prefix_sums(),
        horner(),
        edges(),
        checked(),
        asserted(),
        first_largest(),
        until_small(),
        filled(),
        correlation(),
        windows(),
        doubled_rows(),
        bytes(),
        range_table(),
        one_point(),
        distances(),
    ];
    programs.extend([F32, F64].map(float_functions));
    programs.extend([I8, I16, I32, I64, Isize, U8, U16, U32, U64, Usize].map(integer_functions));
    programs
}

fn index_type(extent: Extent) -> Type<Extent> {
    Type::scalar(Elem::Index(extent))
}

/// Two results of one pass over a matrix: the sum of squares and the largest element.
fn totals() -> Program<Kernels> {
    let mut b = Build::new("totals");
    let (n, m) = (b.size("N"), b.size("M"));
    let x = b.param("x", table(F32, &[n, m]));
    let (zero, lowest) = (b.lit(F32, 0.0), b.lit(F32, f64::NEG_INFINITY));
    let (sum, largest) = (b.var(zero), b.var(lowest));
    b.par(
        &[n, m],
        &[(Monoid::Add, sum), (Monoid::Max, largest)],
        |b, at, acc| {
            let x = b.load(x, at);
            let square = b.mul(x, x);
            b.combine(Monoid::Add, acc[0], &[], square);
            b.combine(Monoid::Max, acc[1], &[], x);
        },
    );
    let results = [b.get(sum), b.get(largest)];
    b.finish(&results)
}

/// Sum, product, smallest and largest, from initial values that count too.
fn totals_of_integers() -> Program<Kernels> {
    let mut b = Build::new("totals_of_integers");
    let n = b.size("N");
    let (x, y) = (
        b.param("x", table(I32, &[n])),
        b.param("y", table(U8, &[n])),
    );
    let initial = [
        b.lit(I32, 10.0),
        b.lit(I32, 3.0),
        b.lit(U8, 200.0),
        b.lit(U8, 1.0),
    ];
    let places = initial.map(|initial| b.var(initial));
    let monoids = [Monoid::Add, Monoid::Mul, Monoid::Min, Monoid::Max];
    let targets: Vec<(Monoid, ValueId)> = monoids.into_iter().zip(places).collect();
    b.par(&[n], &targets, |b, at, acc| {
        let (x, y) = (b.load(x, at), b.load(y, at));
        for (position, monoid) in monoids.into_iter().enumerate() {
            b.combine(monoid, acc[position], &[], if position < 2 { x } else { y });
        }
    });
    let results = places.map(|place| b.get(place));
    b.finish(&results)
}

fn any_and_all() -> Program<Kernels> {
    let mut b = Build::new("any_and_all");
    let n = b.size("N");
    let x = b.param("x", table(Bool, &[n]));
    let (no, yes) = (b.lit(Bool, 0.0), b.lit(Bool, 1.0));
    let (any, all) = (b.var(no), b.var(yes));
    b.par(
        &[n],
        &[(Monoid::Or, any), (Monoid::And, all)],
        |b, at, acc| {
            let x = b.load(x, at);
            b.combine(Monoid::Or, acc[0], &[], x);
            b.combine(Monoid::And, acc[1], &[], x);
        },
    );
    let results = [b.get(any), b.get(all)];
    b.finish(&results)
}

/// A private buffer with another monoid than addition.
fn smallest_by_column() -> Program<Kernels> {
    let mut b = Build::new("smallest_by_column");
    let (n, m) = (b.size("N"), b.size("M"));
    let x = b.param("x", table(F64, &[n, m]));
    let y = b.alloc(table(F64, &[m]), Some(0.5));
    b.par(&[n, m], &[(Monoid::Min, y)], |b, at, acc| {
        let x = b.load(x, at);
        b.combine(Monoid::Min, acc[0], &[at[1]], x);
    });
    b.finish(&[y])
}

/// Counts into a table that the caller gave, and the sum of weights beside it.
fn histogram() -> Program<Kernels> {
    let mut b = Build::new("histogram");
    let (k, n) = (b.size("K"), b.size("N"));
    let counts = b.owned("counts", table(I64, &[k]));
    let class = b.param("class", indices(k, &[n]));
    let weight = b.param("weight", table(F64, &[n]));
    let sums = b.alloc(table(F64, &[k]), Some(0.0));
    b.par(
        &[n],
        &[(Monoid::Add, counts), (Monoid::Add, sums)],
        |b, at, acc| {
            let (class, weight, one) = (b.load(class, at), b.load(weight, at), b.lit(I64, 1.0));
            b.combine(Monoid::Add, acc[0], &[class], one);
            b.combine(Monoid::Add, acc[1], &[class], weight);
        },
    );
    b.finish(&[counts, sums])
}

/// Four axes, two of them constant, in the opposite order.
fn transposed() -> Program<Kernels> {
    let mut b = Build::new("transposed");
    let (n, m) = (b.size("N"), b.size("M"));
    let (two, three) = (Extent::Const(2), Extent::Const(3));
    let x = b.param("x", table(U32, &[n, two, m, three]));
    let y = b.alloc(table(U32, &[three, m, two, n]), None);
    b.par(&[three, m, two, n], &[], |b, at, _| {
        let x = b.load(x, &[at[3], at[2], at[1], at[0]]);
        b.store(y, at, x);
    });
    b.finish(&[y])
}

/// Sweeps from one buffer to another, exchanging them: the host's loop.
fn jacobi() -> Program<Kernels> {
    let mut b = Build::new("jacobi");
    let (n, t) = (b.size("N"), b.size("T"));
    let u = b.owned("u", table(F64, &[n]));
    let v = b.alloc(table(F64, &[n]), None);
    b.each(t, |b, _| {
        b.par(&[n], &[], |b, at, _| {
            let one = b.lit(I64, 1.0);
            let i = b.cast(I64, at[0]);
            let (before, after) = (b.prim(Prim::Sub, &[i, one]), b.add(i, one));
            let (before, after) = (
                b.prim(Prim::Wrap(n), &[before]),
                b.prim(Prim::Wrap(n), &[after]),
            );
            let (left, right, half) = (b.load(u, &[before]), b.load(u, &[after]), b.f64(0.5));
            let sum = b.add(left, right);
            let mean = b.mul(sum, half);
            b.store(v, at, mean);
        });
        b.effect(KernelOp::Swap(u, v));
    });
    b.finish(&[u])
}

/// A table behind `&mut`, updated where it is; a scalar result beside it.
fn scaled_in_place() -> Program<Kernels> {
    let mut b = Build::new("scaled_in_place");
    let (n, m) = (b.size("N"), b.size("M"));
    let u = b.owned("mut_u", table(F32, &[n, m]));
    let by = b.param("by", Type::scalar(Elem::Scalar(F32)));
    b.par(&[n, m], &[], |b, at, _| {
        let x = b.load(u, at);
        let scaled = b.mul(x, by);
        b.store(u, at, scaled);
    });
    let size = b.size_of(m);
    b.finish(&[size, u])
}

/// Each row is smoothed five times in two small buffers of its own, which are exchanged.
fn smoothed_rows() -> Program<Kernels> {
    let mut b = Build::new("smoothed_rows");
    let (n, four) = (b.size("N"), Extent::Const(4));
    let x = b.param("x", table(F64, &[n, four]));
    let y = b.alloc(table(F64, &[n, four]), None);
    b.par(&[n], &[], |b, at, _| {
        let (p, q) = (
            b.alloc(table(F64, &[four]), None),
            b.alloc(table(F64, &[four]), Some(7.0)),
        );
        b.each(four, |b, j| {
            let x = b.load(x, &[at[0], j]);
            b.store(p, &[j], x);
        });
        b.each(Extent::Const(5), |b, _| {
            b.each(four, |b, j| {
                let one = b.lit(I64, 1.0);
                let j_number = b.cast(I64, j);
                let after = b.add(j_number, one);
                let after = b.prim(Prim::Mirror(four), &[after]);
                let (here, there, half) = (b.load(p, &[j]), b.load(p, &[after]), b.f64(0.5));
                let sum = b.add(here, there);
                let mean = b.mul(sum, half);
                b.store(q, &[j], mean);
            });
            b.effect(KernelOp::Swap(p, q));
        });
        b.each(four, |b, j| {
            let smoothed = b.load(p, &[j]);
            b.store(y, &[at[0], j], smoothed);
        });
    });
    b.finish(&[y])
}

/// A private copy of a table for each iteration, a small array beside it, and a copy made by the
/// host.
fn private_copies() -> Program<Kernels> {
    let mut b = Build::new("private_copies");
    let (n, k, three) = (b.size("N"), b.size("K"), Extent::Const(3));
    let x = b.param("x", table(I64, &[k]));
    let all = b.copy(x);
    let y = b.alloc(table(I64, &[n]), None);
    b.par(&[n], &[], |b, at, _| {
        let own = b.copy(x);
        let few = b.alloc(table(I64, &[three]), Some(0.0));
        let i = b.cast(I64, at[0]);
        b.each(k, |b, k| {
            let k_number = b.cast(I64, k);
            let slot = b.prim(Prim::Wrap(three), &[k_number]);
            b.combine(Monoid::Add, own, &[k], i);
            let value = b.load(own, &[k]);
            b.combine(Monoid::Max, few, &[slot], value);
        });
        let zero = b.lit(I64, 0.0);
        let sum = b.var(zero);
        b.each(three, |b, slot| {
            let value = b.load(few, &[slot]);
            b.combine(Monoid::Add, sum, &[], value);
        });
        let sum = b.get(sum);
        b.store(y, at, sum);
    });
    b.finish(&[y, all])
}

/// A private buffer as long as the iteration says.
fn ragged_private() -> Program<Kernels> {
    let mut b = Build::new("ragged_private");
    let n = b.size("N");
    let y = b.alloc(table(Usize, &[n]), None);
    b.par(&[n], &[], |b, at, _| {
        let i = b.cast(Usize, at[0]);
        let two = b.lit(Usize, 2.0);
        let length = b.mul(i, two);
        let length = Extent::Value(length);
        let own = b.alloc(table(Usize, &[length]), None);
        b.each(length, |b, k| {
            let k_number = b.cast(Usize, k);
            b.store(own, &[k], k_number);
        });
        let zero = b.lit(Usize, 0.0);
        let sum = b.var(zero);
        b.each(length, |b, k| {
            let k = b.load(own, &[k]);
            b.combine(Monoid::Add, sum, &[], k);
        });
        let sum = b.get(sum);
        b.store(y, at, sum);
    });
    b.finish(&[y])
}

/// A loop of unknown length for each point.
fn collatz() -> Program<Kernels> {
    let mut b = Build::new("collatz");
    let n = b.size("N");
    let x = b.param("x", table(I64, &[n]));
    let steps = b.alloc(table(I64, &[n]), None);
    b.par(&[n], &[], |b, at, _| {
        let (start, zero) = (b.load(x, at), b.lit(I64, 0.0));
        let (x, count) = (b.var(start), b.var(zero));
        b.repeat(
            |b| {
                let (x, one) = (b.get(x), b.lit(I64, 1.0));
                b.prim(Prim::Gt, &[x, one])
            },
            |b| {
                let (value, one, two, three) =
                    (b.get(x), b.lit(I64, 1.0), b.lit(I64, 2.0), b.lit(I64, 3.0));
                let odd = b.prim(Prim::And, &[value, one]);
                let odd = b.cast(Bool, odd);
                b.branch(
                    odd,
                    |b| {
                        let tripled = b.mul(value, three);
                        let next = b.add(tripled, one);
                        b.set(x, next);
                    },
                    |b| {
                        let next = b.prim(Prim::Div, &[value, two]);
                        b.set(x, next);
                    },
                );
                b.combine(Monoid::Add, count, &[], one);
            },
        );
        let count = b.get(count);
        b.store(steps, at, count);
    });
    b.finish(&[steps])
}

/// Branches that store to different buffers, and a choice without a branch.
fn by_sign() -> Program<Kernels> {
    let mut b = Build::new("by_sign");
    let n = b.size("N");
    let x = b.param("x", table(F64, &[n]));
    let (y, z) = (
        b.alloc(table(F64, &[n]), Some(-1.0)),
        b.alloc(table(Bool, &[n]), None),
    );
    b.par(&[n], &[], |b, at, _| {
        let (value, zero, one) = (b.load(x, at), b.f64(0.0), b.f64(1.0));
        let negative = b.prim(Prim::Lt, &[value, zero]);
        b.branch(
            negative,
            |b| {
                let root = b.prim(Prim::Abs, &[value]);
                let root = b.prim(Prim::Sqrt, &[root]);
                b.store(y, at, root);
            },
            |_| {},
        );
        let chosen = b.select(negative, one, value);
        let large = b.prim(Prim::Ge, &[chosen, one]);
        b.store(z, at, large);
    });
    b.finish(&[y, z])
}

/// A triangular loop: as long as the index of the point.
fn prefix_sums() -> Program<Kernels> {
    let mut b = Build::new("prefix_sums");
    let n = b.size("N");
    let x = b.param("x", table(F64, &[n]));
    let y = b.alloc(table(F64, &[n]), None);
    b.par(&[n], &[], |b, at, _| {
        let (zero, one) = (b.f64(0.0), b.lit(Usize, 1.0));
        let sum = b.var(zero);
        let i = b.cast(Usize, at[0]);
        let length = b.add(i, one);
        b.each(Extent::Value(length), |b, j| {
            let j = b.prim(Prim::Trust(n), &[j]);
            let x = b.load(x, &[j]);
            b.combine(Monoid::Add, sum, &[], x);
        });
        let sum = b.get(sum);
        b.store(y, at, sum);
    });
    b.finish(&[y])
}

/// A loop from the last coefficient to the first, for the host once and for every point.
fn horner() -> Program<Kernels> {
    let mut b = Build::new("horner");
    let (k, n) = (b.size("K"), b.size("N"));
    let c = b.param("c", table(F64, &[k]));
    let x = b.param("x", table(F64, &[n]));
    let body = |b: &mut Build, x: ValueId| {
        let zero = b.f64(0.0);
        let value = b.var(zero);
        b.each_reversed(k, |b, k| {
            let (c, old) = (b.load(c, &[k]), b.get(value));
            let new = b.prim(Prim::MulAdd, &[old, x, c]);
            b.set(value, new);
        });
        b.get(value)
    };
    let two = b.f64(2.0);
    let at_two = body(&mut b, two);
    let y = b.alloc(table(F64, &[n]), None);
    b.par(&[n], &[], |b, at, _| {
        let x = b.load(x, at);
        let value = body(b, x);
        b.store(y, at, value);
    });
    b.finish(&[at_two, y])
}

/// Every way to make an index of an integer that never fails, and the test whether it is one.
fn edges() -> Program<Kernels> {
    let mut b = Build::new("edges");
    let (n, m) = (b.size("N"), b.size("M"));
    let at = b.param("at", table(I64, &[m]));
    let results = [0; 3].map(|_| b.alloc(indices(n, &[m]), None));
    let within = b.alloc(table(Bool, &[m]), None);
    b.par(&[m], &[], |b, k, _| {
        let at = b.load(at, k);
        for (result, prim) in
            results
                .into_iter()
                .zip([Prim::Wrap(n), Prim::ClampTo(n), Prim::Mirror(n)])
        {
            let index = b.prim(prim, &[at]);
            b.store(result, k, index);
        }
        let inside = b.prim(Prim::InRange(n), &[at]);
        b.store(within, k, inside);
    });
    b.finish(&[results[0], results[1], results[2], within])
}

/// Reads at computed positions, which are checked.
fn checked() -> Program<Kernels> {
    let mut b = Build::new("checked");
    let (n, m) = (b.size("N"), b.size("M"));
    let x = b.param("x", table(F64, &[n]));
    let at = b.param("at", table(I32, &[m]));
    let y = b.alloc(table(F64, &[m]), None);
    b.par(&[m], &[], |b, k, _| {
        let at = b.load(at, k);
        let at = b.prim(Prim::Check(n), &[at]);
        let x = b.load(x, &[at]);
        b.store(y, k, x);
    });
    b.finish(&[y])
}

fn asserted() -> Program<Kernels> {
    let mut b = Build::new("asserted");
    let x = b.param("x", Type::scalar(Elem::F64));
    let zero = b.f64(0.0);
    let cond = b.prim(Prim::Ge, &[x, zero]);
    b.effect(KernelOp::Assert {
        cond,
        message: Message::plain("x is not {negative}"),
        shown: Vec::new(),
    });
    let root = b.prim(Prim::Sqrt, &[x]);
    b.finish(&[root])
}

/// The host's own loop, an index as a parameter and another as the result.
fn first_largest() -> Program<Kernels> {
    let mut b = Build::new("first_largest");
    let n = b.size("N");
    let x = b.param("x", table(F64, &[n]));
    let start = b.param("start", index_type(n));
    let initial = b.load(x, &[start]);
    let (best, best_at) = (b.var(initial), b.var(start));
    b.each(n, |b, i| {
        let (x, old) = (b.load(x, &[i]), b.get(best));
        let better = b.prim(Prim::Gt, &[x, old]);
        b.branch(
            better,
            |b| {
                b.set(best, x);
                b.set(best_at, i);
            },
            |_| {},
        );
    });
    let results = [b.get(best_at), b.get(best)];
    b.finish(&results)
}

/// Kernels launched by a `while` of the host, one of which decides when it ends.
fn until_small() -> Program<Kernels> {
    let mut b = Build::new("until_small");
    let n = b.size("N");
    let u = b.owned("u", table(F64, &[n]));
    let (infinity, zero) = (b.f64(f64::INFINITY), b.lit(Usize, 0.0));
    let (largest, rounds) = (b.var(infinity), b.var(zero));
    b.repeat(
        |b| {
            let (largest, limit) = (b.get(largest), b.f64(0.25));
            b.prim(Prim::Gt, &[largest, limit])
        },
        |b| {
            let (lowest, one) = (b.f64(0.0), b.lit(Usize, 1.0));
            b.set(largest, lowest);
            let halves = b.alloc(table(F64, &[n]), None);
            b.par(&[n], &[(Monoid::Max, largest)], |b, at, acc| {
                let (x, half) = (b.load(u, at), b.f64(0.5));
                let x = b.mul(x, half);
                b.store(halves, at, x);
                let size = b.prim(Prim::Abs, &[x]);
                b.combine(Monoid::Max, acc[0], &[], size);
            });
            b.effect(KernelOp::Swap(u, halves));
            b.combine(Monoid::Add, rounds, &[], one);
        },
    );
    let rounds = b.get(rounds);
    b.finish(&[u, rounds])
}

/// Tables of sizes that no table carries.
fn filled() -> Program<Kernels> {
    let mut b = Build::new("filled");
    let (n, m) = (b.size("N"), b.size("M"));
    let ones = b.alloc(table(F32, &[n, m]), Some(1.5));
    let corner = b.alloc(table(U8, &[Extent::Const(2), n]), Some(9.0));
    b.finish(&[ones, corner])
}

/// Two reductions in one inner loop, read along the points: strips with two variables.
fn correlation() -> Program<Kernels> {
    let mut b = Build::new("correlation");
    let (k, n) = (b.size("K"), b.size("N"));
    let (x, y) = (
        b.param("x", table(F64, &[k, n])),
        b.param("y", table(F64, &[k, n])),
    );
    let scale = b.param("scale", table(F64, &[n]));
    let r = b.alloc(table(F64, &[n]), None);
    b.par(&[n], &[], |b, at, _| {
        let (zero, lowest, scale) = (b.f64(0.0), b.f64(f64::INFINITY), b.load(scale, at));
        let scale = b.prim(Prim::Exp, &[scale]);
        let (sum, least) = (b.var(zero), b.var(lowest));
        b.each(k, |b, k| {
            let (x, y) = (b.load(x, &[k, at[0]]), b.load(y, &[k, at[0]]));
            let product = b.mul(x, y);
            let product = b.mul(product, scale);
            b.combine(Monoid::Add, sum, &[], product);
            b.combine(Monoid::Min, least, &[], product);
        });
        let (sum, least) = (b.get(sum), b.get(least));
        let r_value = b.add(sum, least);
        b.store(r, at, r_value);
    });
    b.finish(&[r])
}

/// A convolution: reads along the points at an offset.
fn windows() -> Program<Kernels> {
    let mut b = Build::new("windows");
    let (w, k) = (b.size("W"), b.size("K"));
    let weights = b.param("weights", table(F32, &[k]));
    let x = b.param("x", table(F32, &[w]));
    let (width, length, one) = (b.size_of(w), b.size_of(k), b.lit(Usize, 1.0));
    let width = b.add(width, one);
    let count = b.prim(Prim::Sub, &[width, length]);
    let out = Extent::Value(count);
    let y = b.alloc(table(F32, &[out]), None);
    b.par(&[out], &[], |b, at, _| {
        let zero = b.lit(F32, 0.0);
        let sum = b.var(zero);
        b.each(k, |b, k| {
            let (i, offset) = (b.cast(Usize, at[0]), b.cast(Usize, k));
            let position = b.add(i, offset);
            let position = b.prim(Prim::Trust(w), &[position]);
            let (x, weight) = (b.load(x, &[position]), b.load(weights, &[k]));
            let product = b.mul(x, weight);
            b.combine(Monoid::Add, sum, &[], product);
        });
        let sum = b.get(sum);
        b.store(y, at, sum);
    });
    b.finish(&[y])
}

/// Strips over a buffer that is read and written, so that no point may be computed twice.
fn doubled_rows() -> Program<Kernels> {
    let mut b = Build::new("doubled_rows");
    let (n, k, m) = (b.size("N"), b.size("K"), b.size("M"));
    let u = b.owned("u", table(F64, &[n, m]));
    let x = b.param("x", table(F64, &[k, m]));
    b.par(&[n, m], &[], |b, at, _| {
        let initial = b.load(u, at);
        let sum = b.var(initial);
        b.each(k, |b, k| {
            let x = b.load(x, &[k, at[1]]);
            b.combine(Monoid::Add, sum, &[], x);
        });
        let sum = b.get(sum);
        b.store(u, at, sum);
    });
    b.finish(&[u])
}

/// Casts between all types.
fn bytes() -> Program<Kernels> {
    let mut b = Build::new("bytes");
    let n = b.size("N");
    let x = b.param("x", table(F64, &[n]));
    let types = [
        F32, F64, I8, I16, I32, I64, Isize, U8, U16, U32, U64, Usize, Bool,
    ];
    let results: Vec<ValueId> = types
        .iter()
        .map(|&to| b.alloc(table(to, &[n]), None))
        .collect();
    b.par(&[n], &[], |b, at, _| {
        let x = b.load(x, at);
        let mut value = x;
        for (&result, &to) in results.iter().zip(&types) {
            let cast = b.cast(to, x);
            b.store(result, at, cast);
            value = b.cast(to, value);
        }
    });
    b.finish(&results)
}

/// A table over a range that is computed.
fn range_table() -> Program<Kernels> {
    let mut b = Build::new("range_table");
    let m = b.param("m", Type::scalar(Elem::USIZE));
    let two = b.lit(Usize, 2.0);
    let length = b.mul(m, two);
    let y = b.alloc(
        table(Usize, &[Extent::Value(length), Extent::Const(2)]),
        None,
    );
    b.par(
        &[Extent::Value(length), Extent::Const(2)],
        &[],
        |b, at, _| {
            let (i, j) = (b.cast(Usize, at[0]), b.cast(Usize, at[1]));
            let sum = b.add(i, j);
            b.store(y, at, sum);
        },
    );
    b.finish(&[y])
}

/// A kernel without axes.
fn one_point() -> Program<Kernels> {
    let mut b = Build::new("one_point");
    let x = b.param("x", Type::scalar(Elem::F64));
    let zero = b.f64(0.0);
    let sum = b.var(zero);
    b.par(&[], &[(Monoid::Add, sum)], |b, _, acc| {
        let two = b.f64(2.0);
        let product = b.mul(x, two);
        b.combine(Monoid::Add, acc[0], &[], product);
    });
    let result = b.get(sum);
    b.finish(&[result])
}

/// Three levels: the smallest squared distance to a centre, summed.
fn distances() -> Program<Kernels> {
    let mut b = Build::new("distances");
    let (n, k, d) = (b.size("N"), b.size("K"), b.size("D"));
    let points = b.param("points", table(F64, &[n, d]));
    let centres = b.param("centres", table(F64, &[k, d]));
    let zero = b.f64(0.0);
    let total = b.var(zero);
    b.par(&[n], &[(Monoid::Add, total)], |b, at, acc| {
        let infinity = b.f64(f64::INFINITY);
        let least = b.var(infinity);
        b.each(k, |b, k| {
            let zero = b.f64(0.0);
            let sum = b.var(zero);
            b.each(d, |b, d| {
                let (p, c) = (b.load(points, &[at[0], d]), b.load(centres, &[k, d]));
                let difference = b.prim(Prim::Sub, &[p, c]);
                let square = b.mul(difference, difference);
                b.combine(Monoid::Add, sum, &[], square);
            });
            let sum = b.get(sum);
            b.combine(Monoid::Min, least, &[], sum);
        });
        let least = b.get(least);
        b.combine(Monoid::Add, acc[0], &[], least);
    });
    let result = b.get(total);
    b.finish(&[result])
}

/// Every float primitive of two operands or fewer, added up with weights that tell them apart.
fn float_functions(scalar: Scalar) -> Program<Kernels> {
    let mut b = Build::new(&format!("functions_{}", scalar.name()));
    let n = b.size("N");
    let (x, y) = (
        b.param("x", table(scalar, &[n])),
        b.param("y", table(scalar, &[n])),
    );
    let prims = prims_of(Elem::Scalar(scalar));
    let result = b.alloc(table(scalar, &[n, Extent::Const(prims.len() as u64)]), None);
    b.par(&[n], &[], |b, at, _| {
        apply_all(b, &prims, x, y, at[0], result)
    });
    b.finish(&[result])
}

/// Every integer primitive of two operands or fewer.
fn integer_functions(scalar: Scalar) -> Program<Kernels> {
    float_functions(scalar)
}

/// The primitives that take one operand of this type, or two, and give a number or a truth value.
fn prims_of(elem: Elem) -> Vec<Prim> {
    let accepts = |prim: &&Prim| prim.result(&vec![elem; prim.arity()]).is_ok();
    Prim::PLAIN.iter().filter(accepts).copied().collect()
}

fn apply_all(b: &mut Build, prims: &[Prim], x: ValueId, y: ValueId, i: ValueId, result: ValueId) {
    let (x, y) = (b.load(x, &[i]), b.load(y, &[i]));
    let scalar = b.program.elem(x).repr();
    for (position, &prim) in prims.iter().enumerate() {
        let operands = [x, y, x];
        let value = b.prim(prim, &operands[..prim.arity()]);
        let value = b.cast(scalar, value);
        let slot = b.lit(Usize, position as f64);
        let slot = b.prim(Prim::Trust(Extent::Const(prims.len() as u64)), &[slot]);
        b.store(result, &[i, slot], value);
    }
}
