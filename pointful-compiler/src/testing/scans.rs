//! Functions that scan and reduce by operators of the author's, alone and within loops, and their
//! derivatives.

use super::rng::Rng;

const PARAMS: &str = "p: &Table<N, f64>, w: &Table<(N, K), f64>, c: f64";

/// What operators begin with, what they do to `a` and `b`, what is made an element of a number `X`,
/// and a number of what they give, `R`. Some read what is around them; the states of some hang
/// together.
const OPERATORS: [[&str; 4]; 9] = [
    ["0.0", "a + b", "X", "R"],
    ["1.0", "a * b", "(1.0 + 0.3 * X)", "R"],
    ["0.3 * c", "a + b + c * (a * b)", "0.2 * X", "R"],
    ["-3.0", "(a.exp() + b.exp()).ln()", "X", "R"],
    [
        "(1.0, c)",
        "(a.0 * b.0, b.0 * a.1 + b.1)",
        "(1.0 - 0.2 * X, X)",
        "(R.0 + R.1)",
    ],
    [
        "(0.9, c * 0.1)",
        "(a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)",
        "(1.0 - 0.2 * X, 0.1 * X)",
        "(R.0 * R.1)",
    ],
    [
        "(0.0, c)",
        "(a.0 + b.0, a.1 + b.1 + c * a.0 * b.0)",
        "(X, X * X)",
        "R.1",
    ],
    [
        "(-4.0, 0.5)",
        "{ let m = a.0.max(b.0); (m, a.1 * (a.0 - m).exp() + b.1 * (b.0 - m).exp()) }",
        "(X, 1.0)",
        "(R.0 + R.1.ln())",
    ],
    [
        "(c, 0, 0.0)",
        "if b.0 > a.0 { (b.0, b.1, a.2 + b.2) } else { (a.0, a.1, a.2 + b.2) }",
        "(X, n.ordinal(), X * X)",
        "(R.0 + R.2)",
    ],
];

/// What is done with an operator `I`, `O` and elements `E`.
const USES: [&str; 5] = [
    "let r = reduce(I, |a, b| O, for n in N { E }); s += (V).sin();",
    "let r = scan(I, |a, b| O, for n in N { E }); s += sum(for n in N { (W) * p[n] });",
    "for k in K { let r = reduce(I, |a, b| O, for n in N { E }); s += (V).cos() * c; }",
    "let mut t = 0.1 * c; for k in K { let r = reduce(I, |a, b| O, for n in N { E }); t = t * 0.5 + (V).sin(); } s += t;",
    "let r = scan(I, |a, b| O, for n in N { E }); s += sum(for n in N.skip(1) { (W).cos() });",
];

/// The function itself and transformations of it, and what they give.
const FORMS: [[&str; 2]; 4] = [
    ["f64", "f(p, w, c)"],
    ["f64", "let (v, t) = jvp!(f, wrt = p)(p, w, c, p); v * t"],
    [
        "(Table<N, f64>, Table<(N, K), f64>, f64)",
        "grad!(f)(p, w, c)",
    ],
    ["Table<N, f64>", "hvp!(f, wrt = p)(p, w, c, p)"],
];

/// A function `f` and, of some form, `g` of it.
pub(crate) fn random_scans(rng: &mut Rng) -> String {
    let mut body = "let mut s = 0.0;".to_owned();
    for _ in 0..1 + rng.below(2) {
        let [init, op, element, result] = rng.pick(&OPERATORS);
        let used = rng.pick(&USES);
        let number = match used.contains("for k in K") {
            true => "(w[n][k] + 0.1 * p[n])",
            false => "p[n]",
        };
        body.push(' ');
        // A tuple of tables is what a scan of tuples gives.
        let at = result
            .replace("R.0", "r.0[n]")
            .replace("R.1", "r.1[n]")
            .replace("R.2", "r.2[n]")
            .replace('R', "r[n]");
        body += &used
            .replace('I', init)
            .replace('O', op)
            .replace('E', &element.replace('X', number))
            .replace('V', &result.replace('R', "r"))
            .replace('W', &at);
    }
    let [result, value] = rng.pick(&FORMS);
    format!(
        "fn f<N: IndexSet, K: IndexSet>({PARAMS}) -> f64 {{ {body} s }}
        fn g<N: IndexSet, K: IndexSet>({PARAMS}) -> {result} {{ {value} }}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::agreement::{check_source, entered_by};
    use crate::testing::entered::{BLOCKS, BLOCKS_OF, SUFFIXES};

    /// Members of `N` and `K`.
    const SIZES: [[usize; 2]; 6] = [[0, 2], [1, 1], [5, 2], [6, 3], [13, 1], [31, 2]];

    #[test]
    fn random_scans_agree_at_every_stage() {
        let check = |seed| {
            let rng = &mut Rng::new(seed);
            let source = random_scans(rng);
            BLOCKS_OF.set(Some([2, 3, 2]));
            check_source(&source, &SIZES, &[7, 2], rng, seed)
        };
        let counters = [
            ("scans go through blocks", &BLOCKS),
            ("ways back read suffixes", &SUFFIXES),
        ];
        entered_by(0..80, check, &counters);
    }
}
