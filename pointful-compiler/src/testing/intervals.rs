//! Random tables of intervals: each cell is made of those of the parts of its interval, shorter
//! ones first, as in parsing, in the product of a chain of matrices, or in the folding of a strand.

use super::rng::Rng;

const PARAMS: &str = "w: &Table<(N, N), f64>, u: &Table<N, f64>";

/// The function itself and transformations of it: the result, and how that is computed.
const FORMS: [[&str; 2]; 5] = [
    ["f64", "f(w, u)"],
    ["(Table<(N, N), f64>, Table<N, f64>)", "grad!(f)(w, u)"],
    ["Table<(N, N), f64>", "grad!(f, wrt = w)(w, u)"],
    [
        "f64",
        "let (v, t) = jvp!(f, wrt = w)(w, u, 0.3 * w + 0.1); v * t",
    ],
    ["Table<N, f64>", "hvp!(f, wrt = u)(w, u, u)"],
];

/// Where the two parts of an interval end and begin. What the last two read is not all final.
const PARTS: [&str; 5] = [
    "t[i][i + m] + t[i + (m + 1)][j]",
    "t[i][i + m] + t[i + (m + 1)][j]",
    "t[i][i + m] * (1.0 + t[i + (m + 1)][j])",
    "t[i][i + (m + 1)] + t[i + m][j]",
    "t[i][i + m] + 0.5 * t[i + (m + 1)][(j + 1).clamp()]",
];

/// What a cell is, of `PART`.
const CELLS: [&str; 7] = [
    "t[i][j] = w[i][j] + min(for m in 0..len { PART });",
    "t[i][j] = 0.5 * w[i][j] + 0.9 * max(for m in 0..len { PART });",
    "t[i][j] = w[i][j] + 0.1 * sum(for m in 0..len { (PART).tanh() });",
    "let mut s = 0.0; for m in 0..len { s = (0.5 * s + PART).sin(); } t[i][j] = s + w[i][j];",
    "let q = argmin(for m in 0..len { PART }).ordinal(); t[i][j] = w[i][j] + 0.7 * (t[i][i + q] + t[i + (q + 1)][j]);",
    "if w[i][j] > 0.1 { t[i][j] = min(for m in 0..len { PART }); }",
    "let best = max(for m in 0..len { PART }); t[i][j] = best.sin() * u[i]; v[i] += 0.1 * best;",
];

/// What is done to cells again, so that they are not final.
const AFTER: [&str; 4] = ["", "", "", "t[i][j] = 0.5 * t[i][j] + 0.1 * t[j][i];"];

/// A function `f` and, of some form, `g` of it.
fn random_intervals(rng: &mut Rng) -> String {
    let cell = rng.pick(&CELLS).replace("PART", rng.pick(&PARTS));
    let after = rng.pick(&AFTER);
    let [result, value] = rng.pick(&FORMS);
    format!(
        "fn f<N: IndexSet>({PARAMS}) -> f64 {{
            let mut t = for i in N {{ for j in N {{ if i == j {{ u[i] }} else {{ 0.1 * w[i][j] }} }} }};
            let mut v = u.clone();
            for len in 1..size(N) {{ for a in 0..size(N) - len {{
                let i = N::from_ordinal(a);
                let j = N::from_ordinal(a + len);
                {cell} {after}
            }} }}
            sum(for i in N {{ t[0][i] * u[i] }}) + sum(v * u)
        }}
        fn g<N: IndexSet>({PARAMS}) -> {result} {{ {value} }}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::agreement::{check_source, entered_by};
    use crate::testing::entered::{DISTRIBUTED_AGAIN, RUN_AGAIN};

    /// Members of `N`; an empty table has no first row.
    const SIZES: [[usize; 1]; 4] = [[1], [2], [5], [9]];

    #[test]
    fn random_intervals_agree_at_every_stage() {
        let check = |seed| {
            let rng = &mut Rng::new(seed);
            let source = random_intervals(rng);
            check_source(&source, &SIZES, &[3], rng, seed)
        };
        let counters = [
            (
                "an inner loop that runs again reads final tables",
                &DISTRIBUTED_AGAIN,
            ),
            ("one runs again", &RUN_AGAIN),
        ];
        entered_by(0..60, check, &counters);
    }
}
