//! Functions of `Ragged<I, T>` and derivatives of them, at every stage: rows that are read and made
//! in loops that run in parallel and in order.

use pointful_compiler::eval::compare::{Tolerance, difference};
use pointful_compiler::eval::{Data, EvalError, Inputs, ScalarValue, run};
use pointful_compiler::ir::stages::point::Point;
use pointful_compiler::ir::{Program, Scalar};
use pointful_compiler::lower::source::link;
use pointful_compiler::pipeline;
use pointful_compiler::testing::source::{inputs_of, lowered};
use pointful_compiler::testing::{Checked, Rng, check_derivative};

/// How many rows there are, and how many values they have together.
const SIZES: [[usize; 2]; 9] = [
    [0, 0],
    [1, 0],
    [1, 1],
    [3, 0],
    [2, 3],
    [4, 9],
    [7, 5],
    [3, 50],
    [5, 140],
];

/// What is computed of `a` and `b`, whose rows are of the same lengths, of `w` and of `n`.
const FUNCTIONS: [&str; 31] = [
    "sum(a)",
    "sum(for i in N { w[i] * sum(a[i]) })",
    "sum(for i in N { sum(for j in _ { a[i][j].sin() * b[i][j] * w[i] }) })",
    "sum(a * b + a.exp())",
    "sum(for i in N { sum(a[i] * b[i]) * w[i] + mean(for j in _ { a[i][j] + 1.0 }).max(0.0) })",
    "let r = for i in N { for j in _ { a[i][j] * w[i] } }; sum(r * b)",
    "let r = for i in N { let s = sum(a[i]); (a[i] - s).cos() }; sum(for i in N { w[i] * sum(r[i] * b[i]) })",
    "let (r, s) = for i in N { (a[i] * b[i], w[i] + sum(b[i])) }; sum(for i in N { s[i] * sum(r[i]) })",
    "let r = for i in N { cumsum(a[i] * b[i]) }; sum(r * r)",
    "let r = for i in N { let mut s = w[i]; for j in _ { s = 0.5 * s + a[i][j]; s * b[i][j] } }; sum(r.sin())",
    "let mut s = 0.3; for i in N { s = 0.5 * s + sum(a[i]) * s.sin() + w[i]; } s",
    "let mut s = 0.3; for i in N { for j in _ { s = (0.5 * s + a[i][j] * b[i][j]).sin(); } s += w[i]; } s",
    "let mut x = a; for k in 0..n { x = for i in N { for j in _ { 0.5 * x[i][j] + b[i][j] * w[i] + k as f64 } }; } sum(x * x)",
    "let mut x = a; for _k in 0..n { x = (x * b).cos(); } sum(for i in N { w[i] * sum(x[i]) })",
    "let mut x = a; for _k in 0..n { x = for i in N { let r = x[i]; for j in _ { r[(j + 1).wrap()] * b[i][j] + r[j] } }; } sum(x)",
    "sum(for i in N { let r = b[(i + 1).wrap()]; w[i] * sum(r) * sum(a[i]) })",
    "sum(for i in N { sum(for j in _ { let r = b[(i + 1).wrap()]; a[i][j] * sum(r) }) })",
    "sum(for i in N { if w[i] > 0.0 { sum(a[i] * b[i]) } else { sum(for j in _ { a[i][j].powi(3) }) } })",
    "let r = for i in N { if w[i] > 0.0 { a[i] } else { b[i] * w[i] } }; sum(r * a)",
    "sum(for i in N { sum(for j in _ { a[i].get(j + 1).unwrap_or(w[i]) * b[i][j] }) })",
    "sum(for i in N { if a[i].len() > 1 { a[i][1] * w[i] + max(b[i]) } else { w[i] } })",
    "let mut acc = Accum::zeros(N); for i in N { for j in _ { acc[(i + 1).wrap()] += a[i][j] * w[i]; } } sum(acc.get().sin())",
    "let t = for i in N { sum(a[i]) }; sum(for i in N { sum(for j in _ { sum(for k in ..i { t[k] * b[i][j] }) }) })",
    "sum(for i in N { w[i] * grad!(|x: f64| sum(for j in _ { (x * a[i][j]).sin() }))(w[i]) })",
    "sum(for i in N { jvp!(|x: f64| sum(a[i] * x.cos() + b[i]) * x)(w[i], 0.5).1 })",
    "let g = |i: N| sum(a[i] * b[i]); sum(for i in N { if n > 1 { g(i) * g((i + 1).wrap()) } else { w[i] } })",
    "sum(for row in a { sum(row * row.sin()) })",
    "let r = for row in a.rows() { let s = sum(row); row * s }; sum(r * b)",
    "let mut s = 0.3; for row in a.rows().rev() { for x in row { s = (0.5 * s + x).sin(); } } s",
    "let mut x = a; let mut s = 0.1; for row in x { x = x * b; s = 0.5 * s + sum(row) * w[0]; } s + sum(x)",
    "sum(grad!(|x: f64| sum(for i in N { sum(for j in _ { (x * a[i][j]).sin() }) }))(w) * w)",
];

/// Rows that are made of them.
const ROWS: [&str; 5] = [
    "for i in N { for j in _ { (a[i][j] * w[i]).sin() * b[i][j] } }",
    "for i in N { let s = sum(a[i]); let e = (a[i] * w[i]).exp(); e * b[i] + s }",
    "a * b + 1.0",
    "let mut x = a; for _k in 0..n { x = for i in N { for j in _ { x[i][j] * b[i][(j - 1).wrap()] + w[i] } }; } x",
    "grad!(|x: f64| sum(for i in N { w[i] * sum((x * b[i]).sin()) }))(a)",
];

const PARAMS: &str = "a: &Ragged<N, f64>, b: &Ragged<N, f64>, w: &Table<N, f64>, n: usize";

/// Transformations of a function that gives a number: further parameters, the result, and how that
/// is computed.
const FORMS: [[&str; 3]; 4] = [
    ["", "f64", "f(a, b, w, n)"],
    [
        "",
        "(Ragged<N, f64>, Ragged<N, f64>, Table<N, f64>)",
        "grad!(f, wrt = (a, b, w))(a, b, w, n)",
    ],
    [
        "d: &Ragged<N, f64>",
        "f64",
        "let (v, t) = jvp!(f, wrt = a)(a, b, w, n, d); v * t",
    ],
    [
        "d: &Ragged<N, f64>",
        "Ragged<N, f64>",
        "hvp!(f, wrt = a)(a, b, w, n, d)",
    ],
];

/// The same of one that gives rows.
const ROW_FORMS: [[&str; 3]; 3] = [
    ["", "Ragged<N, f64>", "f(a, b, w, n)"],
    [
        "d: &Ragged<N, f64>",
        "(Ragged<N, f64>, (Ragged<N, f64>, Table<N, f64>))",
        "vjp!(f, wrt = (a, w))(a, b, w, n, d)",
    ],
    [
        "d: &Ragged<N, f64>",
        "(Ragged<N, f64>, Ragged<N, f64>)",
        "jvp!(f, wrt = b)(a, b, w, n, d)",
    ],
];

fn source(function: &str, of: &str, [param, result, value]: [&str; 3]) -> String {
    format!(
        "fn f<N: IndexSet>({PARAMS}) -> {of} {{ {function} }}
        fn g<N: IndexSet>({PARAMS}, {param}) -> {result} {{ {value} }}"
    )
}

/// Random inputs with so many rows and values, of which each has a random number.
fn inputs(program: &Program<Point>, [rows, values]: [usize; 2], seed: u64) -> Inputs {
    let rng = &mut Rng::new(seed);
    let size = |name: &str| match name {
        "N" => rows,
        name => {
            assert!(name.starts_with("Values"), "{name}");
            values
        }
    };
    let sizes = program.sizes.iter().map(|s| size(&s.name)).collect();
    let mut inputs = inputs_of(program, sizes, rng);
    let mut ends: Vec<usize> = (0..rows).map(|_| rng.below(values + 1)).collect();
    ends.sort_unstable();
    if let Some(last) = ends.last_mut() {
        *last = values;
    }
    let starts: Vec<usize> = [0]
        .into_iter()
        .chain(ends.iter().copied())
        .take(rows)
        .collect();
    for (param, data) in program.params.iter().zip(&mut inputs.params) {
        let offsets = match &param.name {
            name if name.ends_with("_starts") => &starts,
            name if name.ends_with("_ends") => &ends,
            _ => continue,
        };
        let numbers = offsets
            .iter()
            .map(|&n| ScalarValue::from_int(Scalar::Usize, n as i128));
        *data = Data::new(Scalar::Usize, vec![rows], numbers.collect());
    }
    inputs
}

/// Checks that a function passes the verifier after each pass, can be emitted, and gives the same
/// at every stage.
fn check_stages(source: &str) {
    let linked = link(source).unwrap_or_else(|e| panic!("{source}\n{:?}", e[0].message));
    let stages = pipeline::stages(&linked);
    let stages = stages.unwrap_or_else(|e| panic!("{source}\n{:?}", e[0].message));
    pipeline::emit(&stages);
    for (sizes, seed) in SIZES.into_iter().zip(0..) {
        let inputs = inputs(&stages.point, sizes, seed);
        let (bulk, kernels, cpu) = (
            run(&stages.bulk, &inputs),
            run(&stages.kernels, &inputs),
            run(&stages.cpu, &inputs),
        );
        let Ok((bulk, _)) = bulk else {
            // An index that is out of range; what nobody needs is not computed.
            assert!(
                matches!(bulk, Err(EvalError::Panic(_))),
                "{source}\nat {sizes:?}: {bulk:?}"
            );
            continue;
        };
        for (stage, results) in [("kernels", kernels), ("cpu", cpu)] {
            let (results, _) =
                results.unwrap_or_else(|e| panic!("{source}\n{stage} at {sizes:?}: {e:?}"));
            assert_eq!(bulk.len(), results.len());
            for (a, b) in bulk.iter().zip(&results) {
                if let Some(what) = difference(a, b, Tolerance::default()) {
                    panic!("{source}\n{stage} at {sizes:?}: {what}");
                }
            }
        }
    }
}

/// Checks the derivatives of a function.
fn check_derivatives(source: &str) {
    let program = lowered(source);
    let mut fine = 0;
    // The longest rows are for strips, which derivatives of definitions know nothing of.
    for (sizes, seed) in SIZES[..7].iter().copied().zip(0..) {
        match check_derivative(&program, &inputs(&program, sizes, seed), 7) {
            Ok(Checked::Fine(_)) => fine += 1,
            Ok(Checked::Unsuitable(_)) => {}
            Err(message) => panic!("{source}\nat {sizes:?}: {message}"),
        }
    }
    assert!(fine > 3, "{source}\nis checked at {fine} sizes");
}

#[test]
fn functions_of_rows_agree_at_every_stage() {
    for function in FUNCTIONS {
        for form in FORMS {
            check_stages(&source(function, "f64", form));
        }
    }
}

#[test]
fn rows_that_are_made_agree_at_every_stage() {
    for function in ROWS {
        for form in ROW_FORMS {
            check_stages(&source(function, "Ragged<N, f64>", form));
        }
    }
}

/// Functions, what they give, and all their derivatives.
const JACOBIANS: [[&str; 4]; 7] = [
    [
        "for i in N { w[i] * sum(a[i] * b[i]) }",
        "Table<N, f64>",
        "Table<(N, Dyn), f64>",
        "jacobian!(f, wrt = a)(a, b, w, n)",
    ],
    [
        "sum(a * a.sin())",
        "f64",
        "Ragged<N, f64>",
        "jacobian!(f, wrt = a)(a, b, w, n)",
    ],
    [
        "sum(a * a.sin() * b) + sum(w * w)",
        "f64",
        "Table<(Dyn, Dyn), f64>",
        "hessian!(f, wrt = a)(a, b, w, n)",
    ],
    [
        "for i in N { for j in _ { (a[i][j] * w[i]).sin() * b[i][j] } }",
        "Ragged<N, f64>",
        "Table<(Dyn, Dyn), f64>",
        "jacobian!(f, wrt = b)(a, b, w, n)",
    ],
    [
        "for i in N { let s = sum(a[i]); b[i] * w[i] * s }",
        "Ragged<N, f64>",
        "Table<(Dyn, N), f64>",
        "jacobian!(f, wrt = w)(a, b, w, n)",
    ],
    [
        "for i in N { w[i] * sum(a[i] * b[i]) }",
        "Table<N, f64>",
        "Table<(N, Dyn), f64>",
        "let j = jacobian!(f, wrt = a)(a, b, w, n); 2.0 * j",
    ],
    [
        "for i in N { w[i] * sum(a[i] * b[i]) }",
        "Table<N, f64>",
        "Table<N, f64>",
        "let j = jacobian!(f, wrt = b)(a, b, w, n); for i in N { sum(for k in N { sum(j[i][k] * b[k]) }) }",
    ],
];

#[test]
fn all_derivatives_by_rows_agree_at_every_stage() {
    for [function, of, result, value] in JACOBIANS {
        check_stages(&source(function, of, ["", result, value]));
    }
    // In a body they have the rows that tangents have.
    let stages = [
        "let j = jacobian!(f, wrt = a)(a, b, w, n); for i in N { sum(for k in N { sum(for e in _ { j[i][k][e] * d[k][e] }) }) }",
        "jvp!(f, wrt = a)(a, b, w, n, d).1",
    ]
    .map(|value| {
        let form = ["d: &Ragged<N, f64>", "Table<N, f64>", value];
        let text = source(JACOBIANS[0][0], "Table<N, f64>", form);
        let linked = link(&text).expect("it is a right program");
        pipeline::stages(&linked).expect("it has a derivative")
    });
    for (sizes, seed) in SIZES.into_iter().zip(0..) {
        let inputs = inputs(&stages[0].point, sizes, seed);
        let found = stages
            .each_ref()
            .map(|stages| run(&stages.bulk, &inputs).expect("it runs").0);
        for (a, b) in found[0].iter().zip(&found[1]) {
            assert_eq!(difference(a, b, Tolerance::default()), None, "at {sizes:?}");
        }
    }
}

#[test]
fn functions_of_rows_have_the_right_derivatives() {
    for function in FUNCTIONS {
        for form in &FORMS[..2] {
            check_derivatives(&source(function, "f64", *form));
        }
    }
    for function in ROWS {
        check_derivatives(&source(function, "Ragged<N, f64>", ROW_FORMS[0]));
    }
}
