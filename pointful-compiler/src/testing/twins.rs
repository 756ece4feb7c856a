//! Random loops over tables that begin alike: as one local table, or as equal ones.

use super::rng::Rng;

const PARAMS: &str = "x: &Table<N, f64>, a: f64";

/// The function itself and transformations of it: the result, and how that is computed.
const FORMS: [[&str; 2]; 5] = [
    ["f64", "f(x, a)"],
    ["f64", "f(x, a) + f(x, 0.3)"],
    ["(Table<N, f64>, f64)", "grad!(f)(x, a)"],
    ["f64", "let (v, t) = jvp!(f, wrt = x)(x, a, x); v * t"],
    ["Table<N, f64>", "hvp!(f, wrt = x)(x, a, x)"],
];

/// How `v` and `w` begin; `u` begins with `e`.
const BEGINNINGS: [[&str; 2]; 4] = [
    ["e", "e"],
    ["u", "v"],
    ["e.clone()", "2.0 * e"],
    ["for i in N { x[i].sin() }", "u.clone()"],
];

/// What an iteration does, of member `i`; `P` is one of the tables, `Q` and `R` are others.
const CHANGES: [&str; 7] = [
    "P[i] = 0.5 * P[(i - 1).clamp()] + 0.3 * Q[(i - 1).clamp()];",
    "P[i] = 0.7 * P[(i + 1).wrap()] - 0.1;",
    "P = 0.9 * P + 0.1 * R;",
    "P = for j in N { 0.4 * (P[(j - 1).wrap()] + Q[j]) };",
    "if x[i] > 0.1 { P[i] = Q[(i - 1).clamp()] + 0.2; }",
    "if P[i] > 0.3 { Q[i] = 0.5 * Q[(i - 1).clamp()]; P[i] = 0.9; }",
    "let n = 0.1 * sum(P); P[i] = n.cos();",
];

/// A function `f` and, of some form, `g` of it.
fn random_twins(rng: &mut Rng) -> String {
    let [v, w] = rng.pick(&BEGINNINGS);
    let changes: String = (0..2 + rng.below(3))
        .map(|k| {
            // Each table is changed in turn.
            let names = ["u", "v", "w"];
            let name = |by: usize| names[(k + by) % 3];
            let change = rng.pick(&CHANGES).replace('P', name(0));
            change.replace('Q', name(1)).replace('R', name(2)) + " "
        })
        .collect();
    let nest = rng.pick(&[
        "for i in N { CHANGES }",
        "for i in N.skip(1) { CHANGES }",
        "for i in N.rev() { CHANGES }",
        "for t in 0..2 { for i in N { CHANGES } u[0] += 0.1 * t as f64; }",
        "let mut k = 0; while k < size(N) { let i = N::from_ordinal(k); CHANGES k += 2; }",
        "if a > 0.0 { for i in N { CHANGES } }",
    ]);
    let nest = nest.replace("CHANGES", &changes);
    let [result, value] = rng.pick(&FORMS);
    format!(
        "fn f<N: IndexSet>({PARAMS}) -> f64 {{
            let e = for i in N {{ x[i].sin() }};
            let mut u = e; let mut v = {v}; let mut w = {w};
            {nest}
            sum(u) + 2.0 * sum(v * x) + 3.0 * sum(w)
        }}
        fn g<N: IndexSet>({PARAMS}) -> {result} {{ {value} }}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::agreement::{check_source, entered_by};
    use crate::testing::entered::COPIED_TWICE;

    /// Members of `N`.
    const SIZES: [[usize; 1]; 4] = [[1], [2], [5], [17]];

    #[test]
    fn random_twins_agree_at_every_stage() {
        let check = |seed| {
            let rng = &mut Rng::new(seed);
            let source = random_twins(rng);
            check_source(&source, &SIZES, &[4], rng, seed)
        };
        let counters = [(
            "one of two copies is changed in the place of both",
            &COPIED_TWICE,
        )];
        entered_by(0..100, check, &counters);
    }
}
