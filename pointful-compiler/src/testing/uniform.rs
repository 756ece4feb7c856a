//! Functions of loops in lanes whose steps compute something that is the same in all lanes, and
//! their derivatives.

use super::rng::Rng;

const PARAMS: &str = "p: &Table<(N, K), f64>, w: &Table<K, f64>, u: &Table<(M, K), f64>, c: f64";

/// Numbers of a step `k`: alike in all lanes, alike along some, or in none; total, behind a
/// condition, checked, or summed up. `S` is a state.
const NUMBERS: [&str; 14] = [
    "(w[k] * c).sin()",
    "(-0.1 * c * k.ordinal() as f64).exp()",
    "(w[k] + c).cos() * w[k].sin()",
    "u[m][k].sin()",
    "(u[m][k] + w[k]).cos()",
    "(if w[k] > 0.2 { w[k].sqrt() } else { w[k].sin() })",
    "(if S > 0.1 { (w[k] * c).cos() } else { 0.3 })",
    "w[(k + 1).clamp()].exp()",
    "(w.get(k - 1).unwrap_or(0.5) * c).sin()",
    "sum(for l in K { w[l].sin() * w[k] })",
    "(p[n][k] * w[k]).sin()",
    "sum(for l in ..=k { w[l].sin() })",
    "sum(for l in ..k { w[l] * c }).sin()",
    "w[w.len() / 2].cos() * w[k].tanh()",
];

/// What is done with two such numbers in the steps of the lanes.
const STEPS: [&str; 5] = [
    "s = (s * A + p[n][k] * B).sin();",
    "s = s * 0.5 + A * p[n][k]; r = r * B + s * s;",
    "if p[n][k] > 0.0 { s = (s + A).sin() * B; }",
    "assert!(s < 1e9, \"{s}\"); s = (s + p[n][k] * A).cos() + B;",
    "for _l in Fin::<2> { s = (s * A + r).cos() * B; } r = r * A;",
];

const FORMS: [[&str; 2]; 4] = [
    ["f64", "f(p, w, u, c)"],
    ["f64", "let (v, t) = jvp!(f, wrt = w)(p, w, u, c, w); v * t"],
    [
        "(Table<(N, K), f64>, Table<K, f64>, Table<(M, K), f64>, f64)",
        "grad!(f)(p, w, u, c)",
    ],
    ["Table<K, f64>", "hvp!(f, wrt = w)(p, w, u, c, w)"],
];

/// A function `f` and, of some form, `g` of it.
pub(crate) fn random_uniform(rng: &mut Rng) -> String {
    let [first, second] = [(); 2].map(|()| rng.pick(&NUMBERS).replace('S', "s"));
    let steps = rng.pick(&STEPS).replace('A', &first).replace('B', &second);
    let range = rng.pick(&["K", "K.rev()", "K.skip(1)"]);
    let [result, value] = rng.pick(&FORMS);
    format!(
        "fn f<N: IndexSet, M: IndexSet, K: IndexSet>({PARAMS}) -> f64 {{
            sum(for (n, m) in (N, M) {{
                let mut s = 0.2 * c;
                let mut r = 0.1;
                for k in {range} {{ {steps} }}
                s + r
            }})
        }}
        fn g<N: IndexSet, M: IndexSet, K: IndexSet>({PARAMS}) -> {result} {{ {value} }}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::agreement::{check_source, entered_by};
    use crate::testing::entered::{HOISTED, UNIFORM};

    /// Members of `N`, `K` and `M`, as the parameters name them.
    const SIZES: [[usize; 3]; 6] = [
        [0, 3, 2],
        [1, 1, 1],
        [3, 0, 2],
        [2, 4, 0],
        [5, 3, 2],
        [18, 2, 1],
    ];

    #[test]
    fn random_uniform_values_agree_at_every_stage() {
        let check = |seed| {
            let rng = &mut Rng::new(seed);
            let source = random_uniform(rng);
            check_source(&source, &SIZES, &[2, 3, 2], rng, seed)
        };
        let counters = [
            ("collected values leave their lanes", &UNIFORM),
            ("dear values leave their lanes", &HOISTED),
        ];
        entered_by(0..80, check, &counters);
    }
}
