//! Functions of tables over pairs, of which some elements are picked, which are reduced over one set
//! and over both, and added up into tables over one of the sets; and their derivatives.

use super::rng::Rng;

const PARAMS: &str = "p: &Table<N, f64>, c: &Table<K, f64>, w: &Table<(N, K), f64>, at: &Table<N, K>, to: &Table<N, K>";
const ARGS: &str = "p, c, w, at, to";

/// The function itself and transformations of it: a parameter, the result, and how that is computed.
const FORMS: [[&str; 3]; 8] = [
    ["", "f64", "f(ARGS)"],
    [
        "",
        "(Table<N, f64>, Table<K, f64>)",
        "grad!(f, wrt = (p, c))(ARGS)",
    ],
    [
        "",
        "(Table<N, f64>, Table<K, f64>, Table<(N, K), f64>)",
        "grad!(f, wrt = (p, c, w))(ARGS)",
    ],
    [
        "d: &Table<K, f64>",
        "f64",
        "let (v, t) = jvp!(f, wrt = c)(ARGS, d); v * t",
    ],
    [
        "d: &Table<K, f64>",
        "Table<K, f64>",
        "hvp!(f, wrt = c)(ARGS, d)",
    ],
    ["", "Table<(K, K), f64>", "hessian!(f, wrt = c)(ARGS)"],
    [
        "d: &Table<(B, K), f64>",
        "Table<(B, K), f64>",
        "vmap!(grad!(f, wrt = c), over = c)(p, d, w, at, to)",
    ],
    [
        "d: &Table<(B, N), f64>",
        "Table<(B, N), f64>",
        "for b in B { grad!(f, wrt = p)(&d[b], c, w, at, to) }",
    ],
];

/// A function `f` and, of some form, `g` of it.
pub(crate) fn random_reductions(rng: &mut Rng) -> String {
    let mut writer = Writer { rng };
    let (pairs, inside) = (writer.pair(1), writer.pair(1));
    let picked = writer.picked(2);
    // Sums that share no loops with picks are done in other orders.
    let mut body = match writer.rng.chance(60) {
        true => format!(
            "let d = for n in N {{ for k in K {{ {pairs} }} }}; \
             let e = for n in N {{ for k in K {{ ({inside}).cos() }} }}; \
             let mut s = sum(for n in N {{ {picked} }}); "
        ),
        false => "let mut s = sum(p); ".to_owned(),
    };
    for _ in 0..1 + writer.rng.below(2) {
        body += &writer.statement();
    }
    let [param, result, value] = FORMS[writer.rng.below(FORMS.len())];
    let value = value.replace("ARGS", ARGS);
    format!(
        "fn f<N: IndexSet, K: IndexSet>({PARAMS}) -> f64 {{ {body} s }}
        fn g<N: IndexSet, K: IndexSet, B: IndexSet>({PARAMS}, _b: &Table<B, f64>, {param}) -> {result} {{ {value} }}"
    )
}

struct Writer<'r> {
    rng: &'r mut Rng,
}

impl Writer<'_> {
    /// A number for `n` and `k`.
    fn pair(&mut self, depth: usize) -> String {
        if depth > 0 && self.rng.chance(70) {
            let [a, b] = [0, 1].map(|_| self.pair(depth - 1));
            let form = self
                .rng
                .pick(&["(A - B).powi(2)", "(A * B)", "(A + B).sin()"]);
            return form.replace('A', &a).replace('B', &b);
        }
        let leaf = self
            .rng
            .pick(&["p[n]", "c[k]", "w[n][k]", "(p[n] - c[k])", "(p[n] * c[k])"]);
        leaf.to_owned()
    }

    /// A number for `n`, of few elements of its rows.
    fn picked(&mut self, depth: usize) -> String {
        if depth > 0 && self.rng.chance(70) {
            let [a, b] = [0, 1].map(|_| self.picked(depth - 1));
            let form = self
                .rng
                .pick(&["(A + B)", "A * B", "(A - B).sin()", "(A * A + B)"]);
            return form.replace('A', &a).replace('B', &b);
        }
        let table = self.rng.pick(&["d", "d", "e"]);
        let pick = self.rng.pick(&[
            "T[n][at[n]]",
            "T[n][to[n]]",
            "T[n][at[n]]",
            "min(T[n])",
            "max(T[n])",
            "sum(T[n])",
        ]);
        pick.replace('T', table)
    }

    /// Adds something to `s`.
    fn statement(&mut self) -> String {
        let (pair, word) = (self.pair(1), self.rng.pick(&["sum", "sum", "max", "min"]));
        match self.rng.below(9) {
            // What is the same all along the axis that it is reduced along.
            8 => format!(
                "for n in N {{ s += p[n].sin(); s += 0.1 * {word}(p); s += 0.1 * sum(c); }} "
            ),
            // In another column than the point's, or in its own of any row.
            6 => format!(
                "let mut t = for k in K {{ c[k] }}; for n in N {{ for k in K {{ t[at[n]] += {pair}; }} }} \
                 s += sum(for k in K {{ t[k].sin() }}); "
            ),
            7 => format!(
                "let mut t = for _k in K {{ for k in K {{ c[k] }} }}; \
                 for n in N {{ for k in K {{ t[at[n]][k] += {pair}; }} }} \
                 s += sum(for (j, k) in (K, K) {{ t[j][k].sin() }}); "
            ),
            4 => format!(
                "let r = for k in K {{ {word}(for n in N {{ w[n][k] * {pair} }}).tanh().exp() }}; \
                 s += sum(for k in K {{ r[k] * c[k] }}) + max(r); "
            ),
            5 => "s = if s > 0.3 { (0.7 * s).sin().exp() } else { (s * s).asinh() }; \
                  s = sum(for n in N { (p[n] * s).tanh() }) + 0.1 * s; "
                .to_owned(),
            0 => format!("s += {word}(for (n, k) in (N, K) {{ {pair} }}).sin(); "),
            1 => format!("s += {word}(for n in N {{ {word}(for k in K {{ {pair} }}) }}).cos(); "),
            2 => format!(
                "let mut t = for k in K {{ c[k] }}; for n in N {{ for k in K {{ t[k] += {pair}; }} }} \
                 s += sum(for k in K {{ t[k].sin() }}); "
            ),
            _ => format!(
                "let mut t = Accum::zero(); let mut u = 0.0; \
                 for n in N {{ for k in K {{ t[k] += {pair}; u += p[n] * c[k]; }} }} \
                 let t = t.get(); s += u * sum(for k in K {{ t[k] * c[k] }}); "
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::agreement::{check_source, entered_by};
    use crate::testing::entered::{BRANCHED, BY_COLUMNS, COALESCED, EACH, JOINED, STREAMED};

    /// Members of `N`, `K` and `B`.
    const SIZES: [&[usize]; 6] = [
        &[3, 2, 2],
        &[2, 5, 1],
        &[4, 1, 2],
        &[0, 0, 2],
        &[0, 3, 2],
        &[1, 9, 1],
    ];

    #[test]
    fn random_reductions_agree_at_every_stage() {
        let check = |seed| {
            let rng = &mut Rng::new(seed);
            let source = random_reductions(rng);
            check_source(&source, &SIZES, &[3, 2], rng, seed)
        };
        let counters = [
            ("reductions of reductions are one", &COALESCED),
            ("what is added in one place is added before", &JOINED),
            ("what is linear in a few places is done to each", &EACH),
            ("pieces are columns", &BY_COLUMNS),
            ("rows are summed up one after the other", &STREAMED),
            ("a number that a branch decides is kept", &BRANCHED),
        ];
        entered_by(0..100, check, &counters);
    }
}
