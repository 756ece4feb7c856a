//! What transformations mean: compiled down to kernels, interpreted, and compared with differences,
//! or with what is known.

use super::{lower_source, rendered};
use crate::eval::compare::{Tolerance, difference};
use crate::eval::{Data, Inputs, run};
use crate::pipeline::{self, Trace};

const LOOSE: Tolerance = Tolerance {
    f32: 1e-3,
    f64: 1e-5,
};

fn lowered(source: &str) -> crate::lower::Lowered {
    match lower_source(source) {
        Ok(lowered) => lowered,
        Err(errors) => panic!("{source}\n{}", rendered(&errors)),
    }
}

/// What the last function of the source gives once it is compiled, which must be the same at each
/// stage.
fn results(source: &str, sizes: &[usize], params: &[Data]) -> Vec<Data> {
    let lowered = lowered(source);
    crate::ir::verify_after("lower", &lowered.program);
    let stages = pipeline::run(&mut Trace::default(), lowered.program, lowered.interface);
    let inputs = Inputs {
        sizes: sizes.to_vec(),
        params: params.to_vec(),
    };
    let bulk = run(&stages.bulk, &inputs).unwrap_or_else(|error| panic!("{source}\n{error}"));
    let kernels = run(&stages.kernels, &inputs).unwrap_or_else(|error| panic!("{source}\n{error}"));
    assert_same(source, &kernels.0, &bulk.0);
    kernels.0
}

fn assert_same(source: &str, found: &[Data], want: &[Data]) {
    assert_eq!(found.len(), want.len(), "{source}");
    for (found, want) in found.iter().zip(want) {
        if let Some(difference) = difference(found, want, LOOSE) {
            panic!("{source}\n{found:?}\nnot {want:?}: {difference}");
        }
    }
}

fn gives(source: &str, sizes: &[usize], params: &[Data], want: &[Data]) {
    assert_same(source, &results(source, sizes, params), want);
}

/// Differences of the function that the first lines define: of the sum of its results weighted by
/// these, by this parameter.
fn differences(
    function: &str,
    sizes: &[usize],
    params: &[Data],
    by: usize,
    weights: &[Data],
) -> Data {
    let program = lowered(function).program;
    let at = |params: &[Data]| -> f64 {
        let inputs = Inputs {
            sizes: sizes.to_vec(),
            params: params.to_vec(),
        };
        let found = run(&program, &inputs).unwrap_or_else(|error| panic!("{function}\n{error}"));
        let float = |v: &crate::eval::ScalarValue| v.float();
        found
            .0
            .iter()
            .zip(weights)
            .flat_map(|(data, weight)| data.values.iter().zip(&weight.values))
            .filter_map(|(value, weight)| Some(float(value)? * float(weight)?))
            .sum()
    };
    let step = 1e-6;
    let moved = |k: usize, by_step: f64| {
        let mut params = params.to_vec();
        let value = &mut params[by].values[k];
        *value = crate::eval::ScalarValue::F64(value.float().unwrap_or_default() + by_step);
        at(&params)
    };
    let values = (0..params[by].values.len())
        .map(|k| (moved(k, step) - moved(k, -step)) / (2.0 * step))
        .collect::<Vec<f64>>();
    Data::f64s(&params[by].shape, values)
}

/// Numbers between -1 and 1 that look random.
fn noise(shape: &[usize], seed: u64) -> Data {
    let len: usize = shape.iter().product();
    let values = (0..len as u64).map(|k| {
        let mut z = (k + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
            ^ (seed + 1).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 29)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 32)) % 2001) as f64 / 1000.0 - 1.0
    });
    Data::f64s(shape, values)
}

fn numbers(shape: &[usize], values: &[f64]) -> Data {
    Data::f64s(shape, values.iter().copied())
}

const KMEANS: &str = "fn cost<N: IndexSet, K: IndexSet, D: IndexSet>(points: &Table<(N, D), f64>, centres: &Table<(K, D), f64>) -> f64 {
    sum(for n in N { min(for k in K { sum(for d in D { (points[n][d] - centres[k][d]).powi(2) }) }) })
}\n";

#[test]
fn a_gradient_by_name() {
    let source = format!(
        "{KMEANS}fn g<N: IndexSet, K: IndexSet, D: IndexSet>(points: &Table<(N, D), f64>, centres: &Table<(K, D), f64>) -> Table<(K, D), f64> {{
            grad!(cost, wrt = centres)(points, centres)
        }}"
    );
    for [n, k, d] in [[0, 2, 2], [1, 1, 1], [7, 3, 2], [2, 1, 0], [40, 3, 2]] {
        let params = [noise(&[n, d], 1), noise(&[k, d], 2)];
        let sizes = [n, d, k];
        let want = differences(KMEANS, &sizes, &params, 1, &[1.0.into()]);
        gives(&source, &sizes, &params, &[want]);
    }
}

#[test]
fn several_parameters_in_the_order_of_wrt() {
    let f = "fn f<N: IndexSet>(a: &Table<N, f64>, k: usize, b: f64, #[constant] c: f64) -> f64 { sum(for i in N { (a[i] * b).sin() * c }) + (k as f64) * b }\n";
    let sizes = [3];
    let params = [noise(&[3], 1), Data::from(4_usize), 0.7.into(), 1.5.into()];
    let by = |k| differences(f, &sizes, &params, k, &[1.0.into()]);
    let g = |of: &str, gives: &str| {
        format!(
            "{f}fn g<N: IndexSet>(a: &Table<N, f64>, k: usize, b: f64, c: f64) -> {gives} {{ {of}(a, k, b, c) }}"
        )
    };
    gives(
        &g("grad!(f, wrt = (b, a))", "(f64, Table<N, f64>)"),
        &sizes,
        &params,
        &[by(2), by(0)],
    );
    gives(
        &g("grad!(f)", "(Table<N, f64>, f64)"),
        &sizes,
        &params,
        &[by(0), by(2)],
    );
    let value = results(f, &sizes, &params);
    gives(
        &g("value_and_grad!(f, wrt = b)", "(f64, f64)"),
        &sizes,
        &params,
        &[value[0].clone(), by(2)],
    );
}

const PAIR: &str = "fn f<N: IndexSet>(x: &Table<N, f64>, s: f64) -> (Table<N, f64>, usize, f64) {
    (for i in N { (x[i] * s).exp() }, 3, sum(for i in N { x[i] * x[i] }) * s)
}\n";

#[test]
fn cotangents_and_tangents_of_several_results() {
    let sizes = [4];
    let point = [noise(&[4], 3), 0.4.into()];
    let weights = [noise(&[4], 5), 0.0.into(), 1.3.into()];
    let by = |k| differences(PAIR, &sizes, &point, k, &weights);
    let values = results(PAIR, &sizes, &point);
    let vjp = format!(
        "{PAIR}fn g<N: IndexSet>(x: &Table<N, f64>, s: f64, c: &Table<N, f64>, d: f64) -> ((Table<N, f64>, usize, f64), (Table<N, f64>, f64)) {{ vjp!(f)(x, s, c, d) }}"
    );
    let given = [
        point[0].clone(),
        point[1].clone(),
        weights[0].clone(),
        weights[2].clone(),
    ];
    let cotangents = [by(0), by(1)];
    let want = [values.as_slice(), &cotangents].concat();
    gives(&vjp, &sizes, &given, &want);

    // ⟨c, J v⟩ = ⟨Jᵀ c, v⟩
    let jvp = format!(
        "{PAIR}fn g<N: IndexSet>(x: &Table<N, f64>, s: f64, v: &Table<N, f64>, w: f64) -> ((Table<N, f64>, usize, f64), (Table<N, f64>, f64)) {{ jvp!(f)(x, s, v, w) }}"
    );
    let (v, w) = (noise(&[4], 9), Data::from(0.9));
    let found = results(
        &jvp,
        &sizes,
        &[point[0].clone(), point[1].clone(), v.clone(), w.clone()],
    );
    assert_same(&jvp, &found[..3], &values);
    let dot = |a: &Data, b: &Data| -> f64 {
        let float = |v: &crate::eval::ScalarValue| v.float().unwrap_or_default();
        a.values
            .iter()
            .zip(&b.values)
            .map(|(a, b)| float(a) * float(b))
            .sum()
    };
    let left = dot(&weights[0], &found[3]) + dot(&weights[2], &found[4]);
    let right = dot(&cotangents[0], &v) + dot(&cotangents[1], &w);
    assert!((left - right).abs() < 1e-6, "{left} and {right}");
}

#[test]
fn linear_maps_are_used_again() {
    let source = "fn f(x: f64, y: f64) -> f64 { x * x * y }
    fn g(x: f64, y: f64) -> (f64, f64, f64) { let (v, map) = linearize!(f)(x, y); (v, map(1.0, 0.0), map(0.0, 1.0)) }";
    gives(
        source,
        &[],
        &[3.0.into(), 2.0.into()],
        &[18.0.into(), 12.0.into(), 9.0.into()],
    );
}

#[test]
fn derivatives_of_derivatives() {
    let cube = "fn f(x: f64) -> f64 { x * x * x * x }\n";
    for (of, want) in [
        ("grad!(f)(x)", 32.0),
        ("grad!(grad!(f))(x)", 48.0),
        ("grad!(grad!(grad!(f)))(x)", 48.0),
        ("jvp!(grad!(f))(x, 0.5).1", 24.0),
        ("jvp!(grad!(grad!(f)))(x, 0.5).1", 24.0),
        ("vjp!(grad!(f))(x, 2.0).1", 96.0),
        ("hvp!(f)(x, 3.0)", 144.0),
        ("hessian!(f)(x)", 48.0),
        ("jacobian!(grad!(f))(x)", 48.0),
        ("grad!(hessian!(f))(x)", 48.0),
        ("{ let g = grad!(f); let h = |y| g(y) * y; h(x) }", 64.0),
    ] {
        let source = format!("{cube}fn g(x: f64) -> f64 {{ {of} }}");
        gives(&source, &[], &[2.0.into()], &[want.into()]);
    }
}

#[test]
fn a_derivative_inside_of_what_is_differentiated() {
    // The inner derivative is by another variable: its tangents do not mix with the outer ones.
    let source = "fn inner(y: f64, x: f64) -> f64 { x * y * y }
    fn outer(x: f64) -> f64 { x * grad!(inner, wrt = y)(x, x) }
    fn g(x: f64) -> f64 { grad!(outer)(x) }";
    // outer is 2 x³
    gives(source, &[], &[3.0.into()], &[54.0.into()]);
}

#[test]
fn jacobians_have_the_axes_of_the_result_first() {
    let wide = "fn f<N: IndexSet, M: IndexSet>(a: &Table<(M, N), f64>, x: &Table<N, f64>) -> Table<M, f64> { for i in M { sum(for j in N { a[i][j] * x[j] }).tanh() } }\n";
    let source = format!(
        "{wide}fn g<N: IndexSet, M: IndexSet>(a: &Table<(M, N), f64>, x: &Table<N, f64>) -> (Table<(M, N), f64>, Table<(M, M, N), f64>) {{ (jacobian!(f, wrt = x)(a, x), jacobian!(f, wrt = a)(a, x)) }}"
    );
    for [m, n] in [[2, 3], [3, 1], [1, 1], [0, 2], [2, 0]] {
        let params = [noise(&[m, n], 1), noise(&[n], 2)];
        // Sizes in the order of generics.
        let sizes = order(&source, &[("M", m), ("N", n)]);
        let mut rows = [Vec::new(), Vec::new()];
        for i in 0..m {
            let mut unit = vec![0.0; m];
            unit[i] = 1.0;
            for (k, by) in [(0, 1), (1, 0)] {
                let row = differences(wide, &sizes, &params, by, &[numbers(&[m], &unit)]);
                rows[k].extend(row.values.iter().filter_map(|v| v.float()));
            }
        }
        gives(
            &source,
            &sizes,
            &params,
            &[numbers(&[m, n], &rows[0]), numbers(&[m, m, n], &rows[1])],
        );
    }
}

/// Which derivatives a program has, in order.
fn derivatives(source: &str) -> String {
    let text = crate::ir::print(&lowered(source).program);
    let modes = text
        .split_whitespace()
        .filter(|word| ["vjp", "jvp"].contains(word));
    modes.collect::<Vec<_>>().join(" ")
}

#[test]
fn jacobians_go_by_rows_for_all_parameters_or_by_columns_for_all_results() {
    // f(a, b, c)_i = a_i b_i c, and the sum of a with it.
    let one = "fn f(a: &Table<Fin<2>, f64>, b: &Table<Fin<2>, f64>, c: f64) -> Table<Fin<2>, f64> { for i in _ { a[i] * b[i] * c } }
    fn g(a: &Table<Fin<2>, f64>, b: &Table<Fin<2>, f64>, c: f64) -> (Table<(Fin<2>, Fin<2>), f64>, Table<(Fin<2>, Fin<2>), f64>, Table<Fin<2>, f64>) { jacobian!(f)(a, b, c) }";
    let params = [
        numbers(&[2], &[2.0, 3.0]),
        numbers(&[2], &[5.0, 7.0]),
        11.0.into(),
    ];
    let want = [
        numbers(&[2, 2], &[55.0, 0.0, 0.0, 77.0]),
        numbers(&[2, 2], &[22.0, 0.0, 0.0, 33.0]),
        numbers(&[2], &[10.0, 21.0]),
    ];
    gives(one, &[], &params, &want);
    // Two cotangents are fewer than five tangents, though the last parameter has but one.
    assert_eq!(derivatives(one), "vjp");
    // Three results' elements are not fewer than the parameter's two.
    let two = "fn f(a: &Table<Fin<2>, f64>) -> (f64, usize, Table<Fin<2>, f64>) { (sum(a), 4, for i in _ { a[i] * a[i] }) }
    fn g(a: &Table<Fin<2>, f64>) -> (Table<Fin<2>, f64>, Table<(Fin<2>, Fin<2>), f64>) { jacobian!(f)(a) }";
    let want = [
        numbers(&[2], &[1.0, 1.0]),
        numbers(&[2, 2], &[4.0, 0.0, 0.0, 6.0]),
    ];
    gives(two, &[], &params[..1], &want);
    assert_eq!(derivatives(two), "jvp");
    // Where sizes are not known, a number goes by a row and a table as large as a parameter by columns.
    let three = "fn f<N: IndexSet>(a: &Table<N, f64>, c: f64) -> (f64, Table<N, f64>) { (sum(a) * c, for i in _ { a[i] * c }) }
    fn g<N: IndexSet>(a: &Table<N, f64>, c: f64) -> ((Table<N, f64>, f64), (Table<(N, N), f64>, Table<N, f64>)) { jacobian!(f)(a, c) }";
    assert_eq!(derivatives(three), "vjp jvp jvp");
    for n in [0, 1, 2, 7] {
        let a: Vec<f64> = (0..n).map(|k| k as f64).collect();
        let ones: Vec<f64> = (0..n * n).map(|at| f64::from(at / n == at % n)).collect();
        let twice: Vec<f64> = ones.iter().map(|x| 2.0 * x).collect();
        let want = [
            numbers(&[n], &vec![2.0; n]),
            a.iter().sum::<f64>().into(),
            numbers(&[n, n], &twice),
            numbers(&[n], &a),
        ];
        gives(three, &[n], &[numbers(&[n], &a), 2.0.into()], &want);
    }
}

/// A few results of any number of parameters go by rows, and more by columns; both give the same.
#[test]
fn jacobians_of_a_few_results_go_by_rows() {
    for (results, direction) in [(1_usize, "vjp"), (2, "vjp"), (16, "vjp"), (17, "jvp")] {
        let source = format!(
            "fn f<N: IndexSet>(a: &Table<N, f64>) -> Table<Fin<{results}>, f64> {{ for r in _ {{ sum(for i in N {{ a[i] * a[i] * (r.ordinal() as f64) }}) }} }}
            fn g<N: IndexSet>(a: &Table<N, f64>) -> Table<(Fin<{results}>, N), f64> {{ jacobian!(f)(a) }}"
        );
        assert_eq!(derivatives(&source), direction, "{results}");
        for n in [0, 1, 2, 7, 30] {
            let a: Vec<f64> = (0..n).map(|k| k as f64).collect();
            let all = (0..results * n).map(|at| 2.0 * (at % n) as f64 * (at / n) as f64);
            let want = [numbers(&[results, n], &all.collect::<Vec<_>>())];
            gives(&source, &[n], &[numbers(&[n], &a)], &want);
        }
    }
}

/// Sizes as the program numbers them.
fn order(source: &str, sizes: &[(&str, usize)]) -> Vec<usize> {
    let program = lowered(source).program;
    let named = program.sizes.iter().map(|size| {
        let known = sizes.iter().find(|(name, _)| *name == size.name);
        known.map_or(0, |(_, n)| *n)
    });
    named.collect()
}

#[test]
fn hessians() {
    let f = "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { let s = sum(x); s * s * s + sum(for i in N { x[i] * x[i] * x[i] }) }\n";
    let source = format!(
        "{f}fn g<N: IndexSet>(x: &Table<N, f64>, v: &Table<N, f64>) -> (Table<(N, N), f64>, Table<N, f64>) {{ (hessian!(f)(x), hvp!(f)(x, v)) }}"
    );
    for n in [0, 1, 2, 5] {
        let (x, v) = (noise(&[n], 1), noise(&[n], 2));
        let float =
            |data: &Data| -> Vec<f64> { data.values.iter().filter_map(|v| v.float()).collect() };
        let (a, b) = (float(&x), float(&v));
        let s: f64 = a.iter().sum();
        let hessian: Vec<f64> = (0..n * n)
            .map(|at| {
                6.0 * s
                    + if at / n == at % n {
                        6.0 * a[at / n]
                    } else {
                        0.0
                    }
            })
            .collect();
        let product: Vec<f64> = (0..n)
            .map(|i| (0..n).map(|j| hessian[i * n + j] * b[j]).sum())
            .collect();
        gives(
            &source,
            &[n],
            &[x, v],
            &[numbers(&[n, n], &hessian), numbers(&[n], &product)],
        );
    }
}

#[test]
fn one_more_axis() {
    let source = "fn f<N: IndexSet>(x: &Table<N, f64>, k: usize, s: f64) -> (f64, Table<N, f64>) { (sum(x) * s + k as f64, for i in N { x[i] * s }) }
    fn g<B: IndexSet, N: IndexSet>(x: &Table<(B, N), f64>, k: &Table<B, usize>, s: &Table<B, f64>, y: &Table<N, f64>) -> (Table<B, f64>, Table<(B, N), f64>, Table<B, f64>) {
        let (p, q) = vmap!(f)(x, k, s);
        let (r, _) = vmap!(f, over = s)(y, 2, s);
        (p, q, r)
    }";
    let x = numbers(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    gives(
        source,
        &order(source, &[("B", 2), ("N", 3)]),
        &[
            x,
            Data::usizes(&[2], [1, 2]),
            numbers(&[2], &[2.0, 3.0]),
            numbers(&[3], &[1.0, 1.0, 1.0]),
        ],
        &[
            numbers(&[2], &[13.0, 47.0]),
            numbers(&[2, 3], &[2.0, 4.0, 6.0, 12.0, 15.0, 18.0]),
            numbers(&[2], &[8.0, 11.0]),
        ],
    );
}

#[test]
fn a_gradient_for_each_example() {
    let f = "fn f<N: IndexSet>(w: &Table<N, f64>, x: &Table<N, f64>, y: f64) -> f64 { (sum(for i in N { w[i] * x[i] }) - y).powi(2) }\n";
    let source = format!(
        "{f}fn g<B: IndexSet, N: IndexSet>(w: &Table<N, f64>, x: &Table<(B, N), f64>, y: &Table<B, f64>) -> Table<(B, N), f64> {{ vmap!(grad!(f, wrt = w), over = (x, y))(w, x, y) }}"
    );
    for [b, n] in [[0, 2], [3, 2], [1, 1], [2, 0]] {
        let params = [noise(&[n], 1), noise(&[b, n], 2), noise(&[b], 3)];
        let float =
            |k: usize| -> Vec<f64> { params[k].values.iter().filter_map(|v| v.float()).collect() };
        let (w, x, y) = (float(0), float(1), float(2));
        let mut want = Vec::new();
        for r in 0..b {
            let p: f64 = (0..n).map(|i| w[i] * x[r * n + i]).sum::<f64>() - y[r];
            want.extend((0..n).map(|i| 2.0 * p * x[r * n + i]));
        }
        let sizes = order(&source, &[("B", b), ("N", n)]);
        gives(&source, &sizes, &params, &[numbers(&[b, n], &want)]);
    }
}

#[test]
fn a_gradient_is_a_struct_like_the_parameter() {
    let f = "struct Model<N: IndexSet> { w: Table<N, f64>, k: usize, b: f64 }
    fn f(m: &Model, x: f64) -> f64 { m.b * x * x + (m.k as f64) * m.b }
    fn g(m: &Model, x: f64) -> (Model, f64) { grad!(f)(m, x) }";
    let f = &f.replace(
        "<N: IndexSet> { w: Table<N, f64>,",
        " { w: Table<Fin<2>, f64>,",
    );
    gives(
        f,
        &[],
        &[noise(&[2], 1), Data::from(3_usize), 2.0.into(), 1.5.into()],
        &[
            numbers(&[2], &[0.0, 0.0]),
            Data::from(3_usize),
            5.25.into(),
            6.0.into(),
        ],
    );
}

#[test]
fn functions_take_transformed_functions() {
    let source = "fn newton<T: Float>(f: impl Fn(T) -> T, df: impl Fn(T) -> T, x: T) -> T { let mut y = x; for _ in 0..20 { y = y - f(y) / df(y); } y }
    fn f<T: Float>(x: T) -> T { x * x - 2.0 }
    fn g(x: f64) -> f64 { newton(f, grad!(f), x) }";
    gives(source, &[], &[1.0.into()], &[2.0_f64.sqrt().into()]);
    let source = "fn f<T: Float>(x: T) -> T { x * x - 2.0 }
    fn g(x: f32) -> f32 { let h = grad!(f); h(x) }";
    gives(source, &[], &[1.5_f32.into()], &[3.0_f32.into()]);
}

#[test]
fn a_descent_in_a_body() {
    let source = "fn loss<N: IndexSet>(w: &Table<N, f64>, t: &Table<N, f64>) -> f64 { sum(for i in N { (w[i] - t[i]).powi(2) }) }
    fn g<N: IndexSet>(t: &Table<N, f64>) -> Table<N, f64> {
        let mut w = for i in N { 0.0 };
        for _ in 0..30 { let d = grad!(loss, wrt = w)(w, t); w = w - 0.3 * d; }
        w
    }";
    for n in [0, 1, 4] {
        let t = noise(&[n], 1);
        gives(
            source,
            &[n],
            std::slice::from_ref(&t),
            std::slice::from_ref(&t),
        );
    }
}

#[test]
fn what_is_stopped_is_constant() {
    let source = "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { let (a, b) = stop_gradient((x, sum(x))); sum(for i in N { a[i] * x[i] }) + b * x[0] + b }
    fn g<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { grad!(f)(x) }";
    gives(
        source,
        &[2],
        &[numbers(&[2], &[3.0, 4.0])],
        &[numbers(&[2], &[10.0, 4.0])],
    );
}

const SMOOTH: &str = "fn f<T: IndexSet>(a: &Table<T, f64>, x: f64) -> f64 { let mut v = x; let mut s = 0.0; CHECKPOINT for t in T { v = (v * a[t]).sin() + x; s = s * v + v; } s + v }\n";

#[test]
fn checkpoints_change_nothing() {
    let plain = SMOOTH.replace("CHECKPOINT", "");
    for checkpoint in [
        "",
        "#[checkpoint]",
        "#[checkpoint(every = 1)]",
        "#[checkpoint(every = 3)]",
        "#[checkpoint(levels = 2)]",
    ] {
        let f = SMOOTH.replace("CHECKPOINT", checkpoint);
        let source = format!(
            "{f}fn g<T: IndexSet>(a: &Table<T, f64>, x: f64) -> (Table<T, f64>, f64) {{ grad!(f)(a, x) }}"
        );
        let text = crate::ir::print(&lowered(&source).program);
        let word = match checkpoint {
            "" => None,
            "#[checkpoint]" => Some("checkpoint log"),
            "#[checkpoint(every = 1)]" => Some("checkpoint 1"),
            "#[checkpoint(every = 3)]" => Some("checkpoint 3"),
            _ => Some("checkpoint levels 2"),
        };
        assert_eq!(word.is_some(), text.contains("checkpoint"), "{text}");
        assert!(word.is_none_or(|word| text.contains(word)), "{text}");
        for n in [0, 1, 2, 7, 20] {
            let params = [noise(&[n], 1), 0.6.into()];
            let by = |k| differences(&plain, &[n], &params, k, &[1.0.into()]);
            gives(&source, &[n], &params, &[by(0), by(1)]);
        }
    }
}

#[test]
fn functions_computed_again_change_nothing() {
    let h = "fn h<N: IndexSet>(x: &Table<N, f64>, s: f64) -> (Table<N, f64>, f64) { let y = for i in N { (x[i] * s).exp().sin() }; (y, sum(y)) }
    fn f<N: IndexSet>(x: &Table<N, f64>, s: f64) -> f64 { let (y, t) = h(x, s); sum(for i in N { y[i] * y[i] }) * t }\n";
    let source = format!(
        "#[pointful(remat)] {h}fn g<N: IndexSet>(x: &Table<N, f64>, s: f64) -> (Table<N, f64>, f64) {{ grad!(f)(x, s) }}"
    );
    let text = crate::ir::print(&lowered(&source).program);
    assert!(text.contains("checkpoint 1"), "{text}");
    let alone = crate::ir::print(&lowered(h).program);
    assert!(!alone.contains("checkpoint"), "{alone}");
    for n in [0, 1, 2, 7] {
        let params = [noise(&[n], 1), 0.6.into()];
        let by = |k| differences(h, &[n], &params, k, &[1.0.into()]);
        gives(&source, &[n], &params, &[by(0), by(1)]);
    }
}

#[test]
fn the_author_s_own_derivative_is_taken() {
    // The rules are wrong by a factor of ten, which shows that they are used.
    let vjp = "fn sq_vjp<N: IndexSet>(x: &Table<N, f64>, k: usize, s: f64, ct: f64) -> (Table<N, f64>, f64) { (for i in N { 20.0 * x[i] * s * ct }, 10.0 * ct * sum(for i in N { x[i] * x[i] })) }
    #[pointful(vjp = sq_vjp)] fn sq<N: IndexSet>(x: &Table<N, f64>, k: usize, s: f64) -> f64 { sum(for i in N { x[i] * x[i] }) * s }
    fn f<M: IndexSet>(x: &Table<M, f64>, s: f64) -> f64 { 3.0 * sq(x, 1, s) }\n";
    let x = numbers(&[2], &[1.0, 2.0]);
    gives(
        &format!(
            "{vjp}fn g<M: IndexSet>(x: &Table<M, f64>, s: f64) -> (f64, (Table<M, f64>, f64)) {{ value_and_grad!(f)(x, s) }}"
        ),
        &[2],
        &[x.clone(), 2.0.into()],
        &[30.0.into(), numbers(&[2], &[120.0, 240.0]), 150.0.into()],
    );
    gives(
        &format!(
            "{vjp}fn g<M: IndexSet>(x: &Table<M, f64>, s: f64) -> Table<M, f64> {{ grad!(sq, wrt = x)(x, 0, s) }}"
        ),
        &[2],
        &[x.clone(), 2.0.into()],
        &[numbers(&[2], &[40.0, 80.0])],
    );
    let jvp = "fn cube_jvp<T: Float>(x: T, v: T) -> T { 30.0 * x * x * v }
    #[pointful(jvp = cube_jvp)] fn cube<T: Float>(x: T) -> T { x * x * x }
    fn f(x: f64) -> f64 { 2.0 * cube(x) }\n";
    for of in [
        "grad!(f)(x)",
        "jvp!(f)(x, 1.0).1",
        "jvp!(cube)(x, 2.0).1",
        "grad!(f, wrt = x)(x)",
    ] {
        gives(
            &format!("{jvp}fn g(x: f64) -> f64 {{ {of} }}"),
            &[],
            &[2.0.into()],
            &[240.0.into()],
        );
    }
    // Outside of derivatives it is a function like any other.
    let alone = crate::ir::print(
        &lowered(&format!(
            "{vjp}fn g<M: IndexSet>(x: &Table<M, f64>) -> f64 {{ f(x, 1.0) }}"
        ))
        .program,
    );
    assert!(!alone.contains("rule"), "{alone}");
}

/// A function that gives what it is given, or the same twice, says how its results change, and not
/// how its argument does.
#[test]
fn rules_of_what_is_handed_on() {
    let functions = "fn clip_vjp(x: f64, ct: f64) -> f64 { 10.0 * ct * x }
    #[pointful(vjp = clip_vjp)] fn clip(x: f64) -> f64 { x }
    fn both_vjp(x: f64, a: f64, b: f64) -> f64 { 3.0 * a + 5.0 * b + x }
    #[pointful(vjp = both_vjp)] fn both(x: f64) -> (f64, f64) { let y = x * x; (y, y) }
    fn slow_jvp(x: f64, t: f64) -> f64 { 7.0 * t * x }
    #[pointful(jvp = slow_jvp)] fn slow(x: f64) -> f64 { x }
    fn f(x: f64) -> f64 { x * clip(x) + x * x }
    fn h(x: f64) -> f64 { let (a, b) = both(x); 2.0 * a + 100.0 * b + x }
    fn k(x: f64) -> f64 { slow(x) * x + x }\n";
    for (of, want) in [
        ("grad!(f)(x)", 2.0 + 10.0 * 4.0 + 4.0),
        ("grad!(h)(x)", 6.0 + 500.0 + 2.0 + 1.0),
        ("grad!(k)(x)", 2.0 + 7.0 * 4.0 + 1.0),
        ("jvp!(k)(x, 1.0).1", 2.0 + 7.0 * 4.0 + 1.0),
        ("hvp!(k)(x, 1.0)", 14.0 + 7.0 * 4.0),
        ("grad!(grad!(k))(x)", 14.0 + 7.0 * 4.0),
        // Of ten times the square, twice that; and of what is clipped, what its rule says.
        ("hvp!(f)(x, 1.0)", 20.0 + 40.0 + 2.0),
        ("grad!(grad!(f))(x)", 20.0 + 40.0 + 2.0),
    ] {
        let source = format!("{functions}fn g(x: f64) -> f64 {{ {of} }}");
        gives(&source, &[], &[2.0.into()], &[want.into()]);
    }
}

/// Of a function with a `vjp` only, a Jacobian goes by rows whatever the extents, and a product
/// with a Hessian goes forwards over the rule, unless that meets such a function again. The rules
/// are wrong by a factor of ten, which shows that they are used.
#[test]
fn what_is_known_backwards_only_is_taken_backwards() {
    let functions = "fn sq_vjp(x: f64, ct: f64) -> f64 { 20.0 * x * ct }
    #[pointful(vjp = sq_vjp)] fn sq(x: f64) -> f64 { x * x }
    fn id_vjp(x: f64, ct: f64) -> f64 { ct * sq(x) }
    #[pointful(vjp = id_vjp)] fn id(x: f64) -> f64 { x }
    fn many<N: IndexSet>(x: &Table<N, f64>, s: f64) -> Table<N, f64> { for i in N { sq(x[i] * s) } }
    fn one<N: IndexSet>(x: &Table<N, f64>) -> f64 { let mut t = 0.0; for i in N { t += sq(x[i]); } t }
    fn power<N: IndexSet>(x: &Table<N, f64>) -> f64 { let s = sum(for i in N { sq(x[i]) }); s * s }
    fn steps<N: IndexSet>(x: &Table<N, f64>) -> f64 { let mut t = 1.0; for i in N { t = t * sq(x[i]); } t }
    fn beside(x: f64, s: f64) -> f64 { x * x * sq(s) }
    fn slope(s: f64) -> f64 { grad!(beside, wrt = x)(3.0, s) }
    fn last<N: IndexSet>(x: &Table<N, f64>) -> f64 { let mut t = 0.0; for i in N { t = id(x[i]) + 0.0 * t; } t }\n";
    let x = numbers(&[2], &[1.0, 2.0]);
    for (of, result, want) in [
        (
            "jacobian!(many, wrt = s)(x, 1.0)",
            "Table<M, f64>",
            numbers(&[2], &[20.0, 80.0]),
        ),
        (
            "jacobian!(one)(x)",
            "Table<M, f64>",
            numbers(&[2], &[20.0, 40.0]),
        ),
        (
            "hvp!(one)(x, x)",
            "Table<M, f64>",
            numbers(&[2], &[20.0, 40.0]),
        ),
        (
            "jvp!(grad!(one))(x, x).1",
            "Table<M, f64>",
            numbers(&[2], &[20.0, 40.0]),
        ),
        (
            "hessian!(one)(x)",
            "Table<(M, M), f64>",
            numbers(&[2, 2], &[20.0, 0.0, 0.0, 20.0]),
        ),
        // The value that a gradient is multiplied by changes as the rule says, also forwards.
        (
            "hvp!(power)(x, x)",
            "Table<M, f64>",
            numbers(&[2], &[4200.0, 8400.0]),
        ),
        (
            "vjp!(grad!(power))(x, x).1",
            "Table<M, f64>",
            numbers(&[2], &[4200.0, 8400.0]),
        ),
        (
            "hessian!(power)(x)",
            "Table<(M, M), f64>",
            numbers(&[2, 2], &[1000.0, 1600.0, 1600.0, 3400.0]),
        ),
        (
            "hessian!(steps)(x)",
            "Table<(M, M), f64>",
            numbers(&[2, 2], &[80.0, 800.0, 800.0, 20.0]),
        ),
        (
            "for i in M { jvp!(slope)(x[i], 1.0).1 }",
            "Table<M, f64>",
            numbers(&[2], &[120.0, 240.0]),
        ),
        (
            "for i in M { grad!(slope)(x[i]) }",
            "Table<M, f64>",
            numbers(&[2], &[120.0, 240.0]),
        ),
        (
            "grad!(last)(x)",
            "Table<M, f64>",
            numbers(&[2], &[0.0, 4.0]),
        ),
        // The rule's own square has a derivative of twenty times the number.
        (
            "hvp!(last)(x, x)",
            "Table<M, f64>",
            numbers(&[2], &[0.0, 80.0]),
        ),
        (
            "hessian!(last)(x)",
            "Table<(M, M), f64>",
            numbers(&[2, 2], &[0.0, 0.0, 0.0, 40.0]),
        ),
    ] {
        let source =
            format!("{functions}fn g<M: IndexSet>(x: &Table<M, f64>) -> {result} {{ {of} }}");
        gives(&source, &[2], std::slice::from_ref(&x), &[want]);
    }
    // What does not change with what is differentiated may be anything.
    let constant = "fn h(x: f64, s: f64) -> f64 { let mut t = sq(s); for i in Fin::<2> { t = t * x + sq(s.floor()); } t * sq(stop_gradient(x)) }
        fn g(x: f64) -> f64 { jvp!(h, wrt = x)(x, 1.0, 1.0).1 }";
    gives(
        &format!("{functions}{constant}"),
        &[],
        &[2.0.into()],
        &[20.0.into()],
    );
    for of in [
        "jvp!(one)(x, x).1",
        "linearize!(one)(x).1(x)",
        "grad!(along)(x)[0usize]",
        "sum(jvp!(grad!(last))(x, x).1)",
        "jvp!(folded)(x, x).1",
    ] {
        let message = rejected(&format!(
            "{functions}fn along<N: IndexSet>(x: &Table<N, f64>) -> f64 {{ jvp!(one)(x, x).1 }}
            fn folded<N: IndexSet>(x: &Table<N, f64>) -> f64 {{ let mut s = 0.0; let mut t = 1.0; for i in N {{ t = sq(s); s = x[i]; }} t }}
            fn g<M: IndexSet>(x: &Table<M, f64>) -> f64 {{ {of} }}"
        ));
        assert!(
            message.starts_with("`sq` has a derivative of its own for the way back only"),
            "{of}: {message}"
        );
    }
}

fn rejected(source: &str) -> String {
    let errors = lower_source(source).err().unwrap_or_default();
    let [error] = &errors[..] else {
        panic!("{source}\n{} errors", errors.len());
    };
    error.message.clone()
}

#[test]
fn a_rule_of_a_struct_sees_the_integers_of_its_value() {
    let source = "struct P { n: usize, a: f64 }
    fn p_vjp(x: f64, ct: &P) -> f64 { 7.0 * ct.a * (ct.n as f64) }
    #[pointful(vjp = p_vjp)] fn p(x: f64) -> P { P { n: (x as usize) + 1, a: x * x } }
    fn f(x: f64) -> f64 { p(x).a }
    fn g(x: f64) -> f64 { grad!(f)(x) }";
    gives(source, &[], &[2.0.into()], &[21.0.into()]);
}

#[test]
fn transformed_functions_are_applied_cell_by_cell() {
    let source = "fn f(x: f64, y: f64) -> f64 { x * x * y }
    fn g<N: IndexSet>(x: &Table<N, f64>, y: f64) -> (Table<N, f64>, Table<N, f64>) { (grad!(f, wrt = x)(x, y), jvp!(f)(x, y, 1.0, 0.0).1) }";
    gives(
        source,
        &[2],
        &[numbers(&[2], &[1.0, 3.0]), 2.0.into()],
        &[numbers(&[2], &[4.0, 12.0]), numbers(&[2], &[4.0, 12.0])],
    );
}
