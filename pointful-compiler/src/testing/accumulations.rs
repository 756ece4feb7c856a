//! Functions that put at computed places by operators of their own, and their derivatives.

use super::rng::Rng;

const PARAMS: &str =
    "p: &Table<N, f64>, w: &Table<(N, K), f64>, at: &Table<N, K>, to: &Table<(N, K), K>";

/// What an accumulator begins with and combines by, and what is made of a number and put; some do
/// not commute, and some are of several numbers.
const OPERATORS: [[&str; 3]; 5] = [
    ["0.0", "|a, b| a + b + a * b", "0.1 * X"],
    ["f64::NEG_INFINITY", "|a, b| if b > a { b } else { a }", "X"],
    [
        "(1.0, 0.0)",
        "|a, b| (a.0 * b.0, b.0 * a.1 + b.1)",
        "(1.0 + 0.1 * X, X)",
    ],
    [
        "(false, 0.0)",
        "|a, b| if b.0 { b } else { a }",
        "(X > 0.1, if X > 0.1 { X } else { 0.0 })",
    ],
    [
        "(f64::INFINITY, 0)",
        "|a, b| if b.0 < a.0 { b } else { a }",
        "(X, n.ordinal())",
    ],
];

/// What is got from each element of an accumulator, by the number of its operator.
const FOUND: [&str; 5] = [
    "h[k]",
    "h[k].max(-9.0)",
    "(h.0[k] + h.1[k])",
    "h.1[k]",
    "h.0[k].min(9.0)",
];

/// Loops that put.
const LOOPS: [&str; 6] = [
    "for n in N { h[at[n]].put(P); }",
    "for (n, k) in (N, K) { h[to[n][k]].put(Q); }",
    "for n in N { for k in K { h[to[n][k]].put(Q); } }",
    "for n in N { if p[n] > 0.0 { h[at[n]].put(P); } t[at[n]] += p[n]; }",
    "for n in N.skip(1) { h.get(at[n] + 1).put(P); }",
    "for n in N { let mut s = p[n]; for k in K { s = s * 0.5 + w[n][k]; } h[at[n]].put(S); h[at[n]].put(P); }",
];

/// The function itself and transformations of it, and what they give.
const FORMS: [[&str; 2]; 4] = [
    ["f64", "f(p, w, at, to)"],
    [
        "f64",
        "let (v, t) = jvp!(f, wrt = p)(p, w, at, to, p); v * t",
    ],
    [
        "(Table<N, f64>, Table<(N, K), f64>)",
        "grad!(f)(p, w, at, to)",
    ],
    ["Table<N, f64>", "hvp!(f, wrt = p)(p, w, at, to, p)"],
];

/// A function `f` and, of some form, `g` of it.
pub(crate) fn random_accumulations(rng: &mut Rng) -> String {
    let number = rng.below(OPERATORS.len());
    let [identity, op, put] = OPERATORS[number];
    let found = FOUND[number];
    let mut body =
        format!("let mut h = Accum::monoid({identity}, {op}); let mut t = Accum::zero(); ");
    for _ in 0..1 + rng.below(2) {
        let of = |x: &str| format!("({})", put.replace('X', x));
        body += &rng
            .pick(&LOOPS)
            .replace("(P)", &of("p[n]"))
            .replace("(Q)", &of("(w[n][k] * p[n])"))
            .replace("(S)", &of("s.sin()"));
        body.push(' ');
    }
    let [result, value] = rng.pick(&FORMS);
    format!(
        "fn f<N: IndexSet, K: IndexSet>({PARAMS}) -> f64 {{ {body} \
         for n in N {{ t[at[n]] += 0.0; }} let (h, t) = (h.get(), t.get()); sum(for k in K {{ {found} * (1.0 + t[k]) }}) }}
        fn g<N: IndexSet, K: IndexSet>({PARAMS}) -> {result} {{ {value} }}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::compare::{Tolerance, difference};
    use crate::eval::run;
    use crate::testing::agreement::{check_source, entered_by};
    use crate::testing::entered::{PIECES, PIECES_OF};
    use crate::testing::source::{inputs_of, lowered};

    /// Members of `N` and `K`.
    const SIZES: [[usize; 2]; 6] = [[0, 2], [1, 1], [3, 2], [7, 3], [2, 9], [13, 1]];

    /// Whether pieces of so many come to what one loop does.
    fn in_any_pieces(source: &str, rng: &mut Rng) -> Result<(), String> {
        let programs = [None, Some((0, 1)), Some((0, 3)), Some((1, 1))].map(|sizes| {
            PIECES_OF.set(sizes);
            let (function, _) = source.split_once("fn g<").expect("there are two");
            lowered(function)
        });
        for sizes in SIZES {
            let inputs = inputs_of(&programs[0], sizes.to_vec(), rng);
            let found = programs.each_ref().map(|program| run(program, &inputs));
            for other in &found[1..] {
                let (Ok((a, _)), Ok((b, _))) = (&found[0], other) else {
                    return Err(format!("{sizes:?}: {found:?}"));
                };
                let mut pairs = a.iter().zip(b);
                if let Some(what) = pairs.find_map(|(a, b)| difference(a, b, Tolerance::default()))
                {
                    return Err(format!("{sizes:?}: {what}"));
                }
            }
        }
        Ok(())
    }

    #[test]
    fn random_accumulations_agree_at_every_stage() {
        let check = |seed| {
            let rng = &mut Rng::new(seed);
            let source = random_accumulations(rng);
            in_any_pieces(&source, rng).map_err(|what| format!("{what}\n{source}"))?;
            PIECES_OF.set(Some((0, 3)));
            check_source(&source, &SIZES, &[7, 2], rng, seed)
        };
        entered_by(0..60, check, &[("what is put is put in pieces", &PIECES)]);
    }
}
