//! Lengths that vary: triangles, lengths that are read of tables or computed by loops around, in
//! every nesting of loops that run in parallel and in order, and derivatives of them and of those.

use pointful_compiler::eval::compare::{Tolerance, difference};
use pointful_compiler::eval::{EvalError, run};
use pointful_compiler::lower::source::link;
use pointful_compiler::pipeline;
use pointful_compiler::testing::ragged::{FORMS, functions, source};
use pointful_compiler::testing::source::{inputs_of, lowered};
use pointful_compiler::testing::{Checked, Rng, check_derivative};

/// How long the sets `J`, `W` and `B` are.
const SIZES: [[usize; 3]; 7] = [
    [0, 0, 0],
    [0, 3, 2],
    [1, 1, 1],
    [2, 3, 2],
    [3, 0, 2],
    [3, 1, 0],
    [5, 4, 3],
];

/// What is done with `x` and `y` for a `w`.
const BODIES: [&str; 29] = [
    "for k in 0..n { for _j in 0..k { x = 0.5 * x + r[w]; } y += x.sin(); }",
    "for k in J { x = x * sum(for j in ..k { q[j] }) + 0.5; }",
    "for k in J { x = x * sum(for j in ..=k { (q[j] * x).sin() }) + 0.5; }",
    "for b in 0..ends[w] { x = x.cos() * at(q, b); }",
    "for k in J { for j in ..k { x = (q[j] * x).sin() + r[w]; } }",
    "for k in J { for j in ..=k { for i in j.. { x = (q[i] + x * q[j]).sin(); } y += x * q[k]; } }",
    "for k in 0..n { let t = for j in J { (x * q[j]).sin() + k as f64 }; for j in 0..k { x = 0.5 * x + at(t, j); } }",
    "for k in 0..n { for j in 0..k { let t = for j in J { (x * q[j]).sin() }; x = 0.5 * x + at(t, j + k); } }",
    "for k in J { x = 0.3 * x + max(for j in ..=k { q[j] * x }) + 0.2 * prod(for j in ..k { q[j] + x }); }",
    "for k in J { x = 0.3 * x + max(for j in k.. { q[j] * x + q[k] }); }",
    "for k in J { x = 0.3 * x + 0.1 * sum(for j in ..k { sum(for i in ..j { q[i] * q[j] * x }) }) + sum(for j in k.. { q[j].sin() }); }",
    "for k in J { x = 0.3 * x + 0.1 * sum(cumsum(for j in ..=k { q[j] * x })); }",
    "if x > 0.1 { for b in 0..ends[w] { x = x.cos() * at(q, b); } } else { for k in 0..n { for b in 0..k { x = 0.5 * x - at(q, b); } } }",
    "for k in 0..n { if x > 0.1 { for b in 0..k { x = x.cos() * at(q, b); } } y += x; }",
    "let mut u = q.clone(); for k in J { for j in ..k { u[j] = u[j] * x + 0.3 * q[k]; } } x = x + sum(u) * 0.1;",
    "let mut u = q.clone(); for k in J { for j in k.. { u[j] = (u[j] * x + u[k]).sin(); } x = 0.5 * x + u[k]; } y += 0.1 * sum(u);",
    "let mut c = ends[w]; while c > 0 { c -= 1; for j in 0..c { x = 0.5 * x + at(q, j) * x.sin(); } y += x; }",
    "let mut acc = Accum::zeros(J); for k in J { for j in ..k { acc[j] += q[k] * x * q[j]; } } x = sum(acc.get());",
    "for k in 0..n { let mut s = 0.0; for j in 0..ends[w] { s += at(q, j) * x; } for j in 0..k { s += at(q, j + k).sin(); } x = 0.5 * s; }",
    "for k in 0..n { x = 0.5 * x + sum(for j in 0..ends[w] { let mut z = x; for i in 0..j { z = z.sin() * at(q, i); } z }); }",
    "for k in 0..n { x = 0.5 * x + sum(for j in 0..k { let mut z = x; for i in 0..j { z = z.sin() * at(q, i) + 0.1; } z }); }",
    "x = x + sum(for j in 0..ends[w] { sum(for i in j..ends[w] { at(q, i) * at(q, j) * x }) });",
    "x = x + max(for j in 0..ends[w] + 1 { sum(for i in 0..j { at(q, i) * at(q, j) * x }) });",
    "for b in (0..ends[w]).rev() { x = x.cos() * at(q, b) + sum(for j in 0..b { 0.2 * at(q, j) }); }",
    "for k in J { let t = for j in J { q[j] * q[k] * 0.5 }; x = x * at(t, ends[w]) + at(q, ends[w]); }",
    "for k in J { for j in 0..k.ordinal() { x = x * at(r, j + ends[w]) + r[w] * at(r, ends[w]); } }",
    "for k in J { x = 0.5 * x + sum(for j in 0..k.ordinal() { at(r, j + ends[w]) * x }) + sum(for j in ..k { q[j] * at(r, ends[w]) }); }",
    "for k in J { for i in ..k { for j in 0..i.ordinal() + ends[w] { x = 0.5 * x + at(r, j) * at(q, j).sin() * r[w]; } } }",
    "for k in J.rev() { for j in (..k).rev() { x = (q[j] * x).sin() + r[w]; } }",
];

/// The forms of which derivatives are checked, and so second derivatives of the function.
const DIFFERENTIATED: std::ops::Range<usize> = 0..4;

/// Checks that a function passes the verifier after each pass, can be emitted, and gives as it is
/// scheduled what its definitions give.
fn check_stages(source: &str) {
    check_stages_at(source, SIZES.iter().zip(0..));
}

/// The same at these sizes, with inputs from these seeds.
fn check_stages_at<'a>(source: &str, at: impl Iterator<Item = (&'a [usize; 3], u64)>) {
    let linked = link(source).unwrap_or_else(|e| panic!("{source}\n{:?}", e[0].message));
    let stages = pipeline::stages(&linked);
    let stages = stages.unwrap_or_else(|e| panic!("{source}\n{:?}", e[0].message));
    pipeline::emit(&stages);
    for (sizes, seed) in at {
        let inputs = inputs_of(&stages.point, sizes.to_vec(), &mut Rng::new(seed));
        match (run(&stages.bulk, &inputs), run(&stages.kernels, &inputs)) {
            (Ok((bulk, _)), Ok((kernels, _))) => {
                for (a, b) in bulk.iter().zip(&kernels) {
                    if let Some(what) = difference(a, b, Tolerance::default()) {
                        panic!("{source}\nat sizes {sizes:?}: {what}");
                    }
                }
            }
            // What nobody needs is not computed.
            (Err(EvalError::Panic(_)), Ok(_) | Err(EvalError::Panic(_))) => {}
            (a, b) => panic!("{source}\nat sizes {sizes:?}: {a:?}\n{b:?}"),
        }
    }
}

/// Checks the derivatives of a function, and that there are any at most sizes.
fn check_derivatives(source: &str) {
    let program = lowered(source);
    let mut fine = 0;
    for (seed, sizes) in SIZES.iter().enumerate() {
        let inputs = inputs_of(&program, sizes.to_vec(), &mut Rng::new(seed as u64));
        match check_derivative(&program, &inputs, 7) {
            Ok(Checked::Fine(_)) => fine += 1,
            Ok(Checked::Unsuitable(_)) => {}
            Err(message) => panic!("{source}\nat sizes {sizes:?}: {message}"),
        }
    }
    assert!(fine > 2, "{source}\nis checked at {fine} sizes");
}

/// What a loop computes alike in all of its lanes has one cotangent. The lane that takes it is there: at the first row of a triangle
/// there is no point, and behind a condition of each lane perhaps nothing at the first.
#[test]
fn what_lanes_have_in_common_has_one_cotangent() {
    let body = "for k in J { x = x * sum(for j in ..k { q[j] }) + 0.5; }";
    let triangle = &functions(body)[3];
    let branch = &functions(&format!("if r[w] * r[w] > 0.3 {{ {body} }}"))[0];
    let both = format!(
        "sum(for w in W {{ sum(for v in ..w {{ let mut x = r[w] * r[v]; if r[v] < 0.2 {{ {body} }} x }}) }})"
    );
    for function in [triangle, branch, &both] {
        check_derivatives(&source(function, FORMS[1]));
        check_stages(&source(function, FORMS[5]));
    }
}

/// A lane's own element has one cotangent in a loop around; what all lanes read at one place of the
/// same table, in a triangle, is added to that.
#[test]
fn a_table_is_read_in_a_lane_and_by_all_in_a_triangle() {
    let body = "for k in J { for _i in J { x = 0.5 * x + r[w]; } for _j in ..k { y += at(r, n) * x; x = 0.5 * x; } }";
    let function = &functions(body)[0];
    check_derivatives(&source(function, FORMS[0]));
    check_derivatives(&source(function, FORMS[1]));
}

/// Where a loop has no lanes, nobody has made what it collects alike in all of them: an index is none, also of an empty table.
#[test]
fn what_no_lane_has_made_is_no_index() {
    for (body, number) in [(BODIES[18], 0), (BODIES[21], 4), (BODIES[21], 3)] {
        let source = source(&functions(body)[number], FORMS[5]);
        check_stages_at(&source, [[0, 3, 2]; 12].iter().zip(0..));
    }
}

/// What a loop over an empty set reads alike in all iterations is computed outside of it, and there
/// is no place to read: in a triangle, and where a loop or two of them have kept the place.
#[test]
fn a_read_stands_behind_the_guard_of_its_index() {
    let read = "x = (0.5 * x + sum(for _j in J { (at(q, ends[w]) * x).sin() })).sin();";
    let [lanes, _, _, triangle, _] = functions(read);
    let kept = &functions(&format!("for _k in 0..n {{ {read} }}"))[0];
    let kept_twice = &functions(&format!("for _k in 0..n {{ for _i in 0..n {{ {read} }} }}"))[0];
    for function in [&lanes, &triangle, kept, kept_twice] {
        for form in [3, 5, 13] {
            let source = source(function, FORMS[form]);
            check_stages_at(&source, [[0, 3, 2]; 4].iter().zip(0..));
        }
    }
    for (body, function, form) in [
        // The guard stands inside of the loop whose places are kept by one around.
        (
            "for k in 0..n { x = x + sum(for _i in 0..k { at(q, k) * x }); }",
            1,
            4,
        ),
        // The first row of the triangle keeps no place.
        ("for _k in 0..n { x = x + at(q, n).cos(); }", 3, 4),
        // It is written there as well.
        (
            "let t = for j in J { x * q[j] + sum(for _i in 0..ends[w] { at(q, n).sin() }) }; for _k in 0..ends[w] { x = x + at(t, n); }",
            0,
            13,
        ),
        // The place is read in a loop over the set that may be empty.
        (
            "for k in 0..n { let t = for j in J { x * q[j] + at(q, k + n) }; for _j in J { x *= sum(for _i in 0..ends[w] { at(t, n) * x }); } }",
            4,
            3,
        ),
    ] {
        let source = source(&functions(body)[function], FORMS[form]);
        check_stages_at(&source, [[0, 3, 2], [0, 2, 0]].repeat(6).iter().zip(0..));
    }
}

/// Lanes of a triangle are summed before, or together with, those that say how long they are.
#[test]
fn tables_along_one_side_of_a_triangle_are_summed_over_both() {
    for body in [BODIES[25], BODIES[27]] {
        check_stages(&source(&functions(body)[3], FORMS[1]));
    }
}

/// Each body in one of the loops after the other, with some of the forms, so that all pairs of a
/// loop and a form are met.
#[test]
fn functions_and_derivatives_agree_at_every_stage() {
    for (number, body) in BODIES.iter().enumerate() {
        let functions = functions(body);
        for k in 0..3 {
            let function = &functions[(number + k) % functions.len()];
            let form = (number * 3 + k * 4) % FORMS.len();
            check_stages(&source(function, FORMS[form]));
        }
        let (function, form) = (&functions[number % 5], number % DIFFERENTIATED.len());
        check_derivatives(&source(function, FORMS[form]));
    }
}

/// The same for all bodies, loops and forms.
#[test]
#[ignore = "takes minutes"]
fn all_functions_and_derivatives_agree_at_every_stage() {
    for body in BODIES {
        for function in functions(body) {
            for (number, form) in FORMS.into_iter().enumerate() {
                let source = source(&function, form);
                check_stages(&source);
                if DIFFERENTIATED.contains(&number) {
                    check_derivatives(&source);
                }
            }
        }
    }
}
