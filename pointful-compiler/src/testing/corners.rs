//! Random functions that add up along axes and read the sums at a few places each, as sums over boxes
//! do: on the way back tables are added to at several places, and added up along axes again.

use super::rng::Rng;

const PARAMS: &str = "x: &Table<(R, C), f64>, v: &Table<C, f64>, w: usize, u: f64";

/// The function itself and transformations of it: the result, and how that is computed.
const FORMS: [[&str; 2]; 6] = [
    ["f64", "f(x, v, w, u)"],
    [
        "(Table<(R, C), f64>, f64)",
        "grad!(f, wrt = (x, u))(x, v, w, u)",
    ],
    ["Table<(R, C), f64>", "grad!(f, wrt = x)(x, v, w, u)"],
    ["Table<C, f64>", "grad!(f, wrt = v)(x, v, w, u)"],
    ["f64", "let (y, t) = jvp!(f, wrt = x)(x, v, w, u, x); y * t"],
    ["Table<(R, C), f64>", "hvp!(f, wrt = x)(x, v, w, u, x)"],
];

/// What is added up, `s`, of `x` and numbers along columns.
const SUMS: [&str; 7] = [
    "let s = cumsum(for r in R { x[r] });",
    "let s = for r in R { cumsum(x[r]) };",
    "let rows = for r in R { cumsum(x[r]) }; let s = cumsum(for r in R { rows[r] });",
    "let rows = cumsum(for r in R { for c in C { x[r][c] * v[c] } }); let s = for r in R { cumsum(rows[r]) };",
    "let s = cumsum(for r in R { for c in C { (x[r][c] * u).sin() } });",
    "let s = x.clone();",
    "let s = cumprod(for r in R { for c in C { 1.0 + 0.1 * x[r][c] } });",
];

/// What is read of it.
const READS: [&str; 9] = [
    "sum(for r in w + 1..size(R) - w { sum(for c in w + 1..size(C) - w { (s[r + w][c + w] - s[r - w - 1][c + w] - s[r + w][c - w - 1] + s[r - w - 1][c - w - 1]).powi(2) }) })",
    "sum(for r in 1..size(R) { sum(for c in C { (s[r][c] - s[r - 1][c]).powi(2) * v[c] }) })",
    "sum(for r in R { sum(for c in 1..size(C) { (s[r][c] - 0.5 * s[r][c - 1]).sin() }) })",
    "sum(for r in 0..size(R) / 2 { sum(for c in C { s[2 * r][c] * s[2 * r + 1][c] }) })",
    "sum(for (r, c) in (R, C) { (s[(r + w).clamp()][c] - s[r][(c - w).clamp()]).powi(2) })",
    "sum(for (r, c) in (R, C) { (s[(r + w).wrap()][(c - 1).wrap()] - u * s[r][(c + w).wrap()]).tanh() })",
    "sum(for r in R { sum(for c in 0..size(C) / 2 { let k = (3 * c + w) % size(C); s[r][k] * s[r][c] * v[k] }) })",
    "sum(for c in C { sum(for r in w + 1..size(R) { (s[r - w][c] - s[r - w - 1][c] * v[c]).powi(2) }) })",
    "sum(for (r, c) in (R, C) { s[r][c] * x[r][c] })",
];

/// A function `f` and, of some form, `g` of it.
fn random_corners(rng: &mut Rng) -> String {
    let reads: Vec<&str> = (0..rng.pick(&[1, 1, 2]))
        .map(|_| rng.pick(&READS))
        .collect();
    let (sums, reads) = (rng.pick(&SUMS), reads.join(" + "));
    let [result, value] = rng.pick(&FORMS);
    format!(
        "fn f<R: IndexSet, C: IndexSet>({PARAMS}) -> f64 {{
            let w = w % 3;
            {sums}
            {reads}
        }}
        fn g<R: IndexSet, C: IndexSet>({PARAMS}) -> {result} {{ {value} }}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::agreement::{check_source, entered_by};
    use crate::testing::entered::{ADDED_IN_LOOPS, LIES_AS_ADDED, LIES_AS_SCANNED};

    /// Members of `R` and of `C`.
    const SIZES: [[usize; 2]; 6] = [[0, 3], [1, 0], [2, 1], [4, 3], [9, 5], [3, 20]];

    #[test]
    fn random_corners_agree_at_every_stage() {
        let check = |seed| {
            let rng = &mut Rng::new(seed);
            let source = random_corners(rng);
            check_source(&source, &SIZES, &[6, 5], rng, seed)
        };
        let counters = [
            ("a table lies as it is added to", &LIES_AS_ADDED),
            ("what is scanned lies as that does", &LIES_AS_SCANNED),
            ("tables are added in a loop of a kernel's", &ADDED_IN_LOOPS),
        ];
        entered_by(0..120, check, &counters);
    }
}
