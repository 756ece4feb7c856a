//! Random functions of angles, added up into places that are computed, in tables that hold nothing
//! yet and in others; and their derivatives.

use super::rng::Rng;

const PARAMS: &str =
    "x: &Table<N, f64>, w: &Table<(N, K), f64>, at: &Table<N, K>, to: &Table<(N, K), K>";

/// What is done, with a number `@` for `n`, one `%` for `n` and `k`, and a number so far, `s`.
const STATEMENTS: [&str; 10] = [
    "s += sum(for n in N { @ * x[n] }); ",
    "let y = for n in N { @ }; s += max(y) + sum(for n in N { y[n] * y[n] }); ",
    // What an angle decides is what is computed, or where it is read.
    "s += sum(for n in N { let a = @; if a > 0.2 { a * a } else { x[n] } }); ",
    "s += sum(for n in N { x[(n + (@ * 3.0) as i64).wrap()] }); ",
    // It reads what it writes.
    "let mut u = x.clone(); for n in N { u[n] = u[n] * 0.5 + @; } s += sum(u); ",
    "let mut h = Accum::zero(); for n in N { h[at[n]] += @; } let h = h.get(); s += sum(for k in K { h[k].tanh() }); ",
    "let mut h = Accum::zero(); for (n, k) in (N, K) { h[to[n][k]] += %; } let h = h.get(); s += sum(for k in K { h[k] * h[k] }); ",
    // Of the same row of each point, and beside a number.
    "let mut h = Accum::zero(); for n in N { for k in K { h[at[n]][k] += %; s += 0.1 * @; } } let h = h.get(); s += sum(for (j, k) in (K, K) { h[j][k].sin() }); ",
    // It holds something, or is asked for before.
    "let mut h = for k in K { 0.5 }; for n in N { h[at[n]] += @; } s += sum(for k in K { h[k].cos() }); ",
    "let mut h = for _k in K { 0.0 }; let g = h.clone(); for n in N { h[at[n]] += @; } s += sum(for k in K { h[k] * (1.0 + g[k]) }); ",
];

/// The function itself and transformations of it: what is given beside its parameters, the result,
/// and how that is computed.
const FORMS: [[&str; 3]; 5] = [
    ["", "f64", "f(x, w, at, to)"],
    [
        "",
        "(Table<N, f64>, Table<(N, K), f64>)",
        "grad!(f)(x, w, at, to)",
    ],
    [
        "d: &Table<N, f64>",
        "f64",
        "let (v, t) = jvp!(f, wrt = x)(x, w, at, to, d); v * t",
    ],
    [
        "d: &Table<N, f64>",
        "Table<N, f64>",
        "hvp!(f, wrt = x)(x, w, at, to, d)",
    ],
    [
        "d: &Table<(B, N), f64>",
        "Table<B, f64>",
        "vmap!(f, over = x)(d, w, at, to)",
    ],
];

/// A function `f` and, of some form, `g` of it.
pub(crate) fn random_waves(rng: &mut Rng) -> String {
    let mut body = "let mut s = 0.0; ".to_owned();
    for _ in 0..1 + rng.below(2) {
        let function = rng.pick(&["sin", "cos", "tan", "sin", "exp"]);
        let of_row = format!("(x[n] * 0.7).{function}()");
        let of_pair = format!("(w[n][k] + x[n]).{function}()");
        let statement = rng.pick(&STATEMENTS);
        body += &statement.replace('@', &of_row).replace('%', &of_pair);
    }
    let [given, result, value] = rng.pick(&FORMS);
    format!(
        "fn f<N: IndexSet, K: IndexSet>({PARAMS}) -> f64 {{ {body} s }}
        #[pointful]
        fn g<N: IndexSet, K: IndexSet, B: IndexSet>({PARAMS}, _b: &Table<B, f64>, {given}) -> {result} {{ {value} }}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::agreement::{check_source, entered_by};
    use crate::testing::entered::{BECOMES, NOTED, SPECULATED};

    /// Members of `N`, `K` and `B`.
    const SIZES: [&[usize]; 6] = [
        &[4, 2, 2],
        &[7, 3, 1],
        &[1, 1, 2],
        &[0, 2, 1],
        &[2, 9, 1],
        &[13, 1, 0],
    ];

    #[test]
    fn random_waves_agree_at_every_stage() {
        let check = |seed| {
            let rng = &mut Rng::new(seed);
            let source = random_waves(rng);
            check_source(&source, &SIZES, &[3, 2], rng, seed)
        };
        let counters = [
            ("pieces bet on near angles", &SPECULATED),
            ("what is combined where may be noted", &NOTED),
            ("a table becomes what is merged", &BECOMES),
        ];
        entered_by(0..100, check, &counters);
    }
}
