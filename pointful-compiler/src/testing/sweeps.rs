//! Random functions that change a matrix and a vector by loops that assign: rows by other rows, parts
//! by other parts, every other element by its neighbours, in loops that wait for the last iteration
//! and in loops that do not.

use super::rng::Rng;

const PARAMS: &str = "a: &Table<(N, N), f64>, b: &Table<N, f64>, c: &Table<K, f64>";

/// The function itself and transformations of it: the result, and how that is computed.
const FORMS: [[&str; 2]; 5] = [
    ["f64", "f(a, b, c)"],
    [
        "(Table<(N, N), f64>, Table<N, f64>)",
        "grad!(f, wrt = (a, b))(a, b, c)",
    ],
    ["Table<(N, N), f64>", "grad!(f, wrt = a)(a, b, c)"],
    ["f64", "let (v, t) = jvp!(f, wrt = b)(a, b, c, b); v * t"],
    ["Table<N, f64>", "hvp!(f, wrt = b)(a, b, c, b)"],
];

/// The members that an inner loop goes through, beside those of the loop around it, `k`.
const RANGES: [&str; 6] = [
    "N",
    "(k..).skip(1)",
    "..k",
    "k..",
    "N.skip(1)",
    "(k..).skip(1).rev()",
];

/// Where an access may be along an axis, by the indices of the loops around it.
const PLACES: [&str; 5] = ["i", "j", "k", "(i - 1).clamp()", "(j + 1).clamp()"];

/// What a step does. `R` and `S` are ranges, `P` and `Q` are places.
const STEPS: [&str; 32] = [
    "v = for j in N { 0.5 * max(for i in N { w[i][j] + v[i] }) };",
    "for i in N { if i != k { let f = 0.1 * w[i][k]; for j in S { w[i][j] -= f * w[k][j]; v[i] -= 0.1 * f * v[k]; } } }",
    "let q = if b[k] > 0.1 { (k + 1).clamp() } else { k }; if q != k { let r = w[k]; w[k] = w[q]; w[q] = r; } for i in (k..).skip(1) { let f = 0.1 * w[i][k]; for j in k.. { w[i][j] -= f * w[k][j]; } }",
    "v[k] = 0.5 * v[k] + w[k][k]; z[k] = 0.1 * sum(for j in N { w[j][j] * v[j] }); for i in N { if i != k { for j in N { w[i][j] *= 0.9 - 0.1 * w[k][j] * w[i][j]; } } }",
    "for i in R { for j in S { w[i][j] -= 0.1 * w[P][Q]; } }",
    "for i in R { let f = 0.2 * w[i][k]; w[i][k] = f; for j in R { w[i][j] -= f * w[k][j]; } }",
    "for i in R { w[i][k] = 0.5 * (a[i][k] - 0.1 * sum(for m in ..k { w[i][m] * w[k][m] })); }",
    "for i in R { v[i] -= 0.1 * sum(for j in S { w[j][i] * b[j] }); }",
    "for i in R { if w[i][k] > 0.1 { w[i][k] *= 0.5; v[i] += 0.1 * b[k]; } }",
    "for i in N { for j in N { w[i][j] = 0.5 * (w[i][j] + w[j][i]); } }",
    "for h in 0..size(N) / 2 { let i = N::from_ordinal(2 * h); v[i] = 0.5 * (v[i] + v[(i + 1).clamp()]); }",
    "for h in 0..size(N) / 2 { let i = N::from_ordinal(2 * h + 1); v[i] = 0.5 * v[(i - 1).clamp()] + 0.1 * v[(i + 1).clamp()]; }",
    "for i in N { let q = if i == k { (i - 1).clamp() } else { i }; v[q] = 0.5 * v[q] + w[q][i]; }",
    "for h in 0..(v[k].abs() * 9.0) as usize % size(N) { let i = N::from_ordinal(h); z[i] = 0.5 * z[i] + 0.1 * b[i]; }",
    "for h in 0..size(N) - 1 { let i = N::from_ordinal(h); v[i] = 0.5 * v[i] + 0.1 * v[i + 1]; }",
    "for h in 0..(v[k].abs() * 7.0) as usize % size(N) { let i = N::from_ordinal(h); z[i] = 0.6 * z[i] + 0.1 * a[i][i]; }",
    "w[k] = for j in N { 0.5 * w[(k - 1).clamp()][j] + 0.1 * w[k][j] };",
    "let r = w[k]; w[k] = w[(k - 1).clamp()]; w[(k - 1).clamp()] = 0.5 * r;",
    "if v[k] > 0.1 { w[k] = for j in N { 0.5 * w[(k - 1).clamp()][j] }; }",
    "w[k] = for j in N { 0.2 * sum(for m in N { w[(k - 1).clamp()][m] * a[m][j] }) + 0.1 * w[k][j] };",
    "w[k] = for j in N { let q = (j + 1).clamp(); 0.1 * (w[(k - 1).wrap()][q] + w[(k + 1).wrap()][q] + w[(k + 2).wrap()][q] - w[(k - 2).wrap()][q] - w[(k + 3).wrap()][q]) };",
    "w[k] = for j in N { let q = (j - 1).wrap(); 0.1 * (w[k][j] - w[(k - 1).wrap()][q] + w[(k + 1).wrap()][q] + w[(k + 2).wrap()][q] - w[(k - 2).wrap()][q] - w[(k + 3).wrap()][q]) };",
    "z[k] = 0.5 * z[(k - 1).clamp()] - 0.1 * v[k]; v[k] = 0.3 * v[(k - 1).clamp()] + 0.1 * z[k];",
    "if v[k] > 0.1 { let mut m = k.ordinal(); while m < size(N) { v[m] = 0.9 * v[m] - 0.1; m += k.ordinal() + 1; } }",
    "if w[k][k] > 0.1 { let mut m = 0; while m < size(N) { w[k][m] *= 0.8; v[m] += 0.1 * b[k]; m += 2; } } else { v[k] = 0.5; }",
    "match m { 0 => { let mut x = 0.1; for j in S { x = 0.5 * x + 0.1 * w[k][j]; w[k][j] = x; } } 1 => { for j in N.rev() { w[k][j] = 0.4 * w[(k - 1).clamp()][j] + 0.1; } } _ => { w[k] = w[(k - 1).clamp()]; } }",
    "match m { 0 => { let mut x = 0.1; for j in S { x = 0.5 * x + 0.1 * w[k][j]; w[k][j] = x; } } 1 => { for j in S { w[k][j] = 0.5 * w[k][(j + 1).clamp()] + 0.1; } } _ => { w[k] = w[(k - 1).clamp()]; } }",
    "for j in N { w[k][j] = 0.3 * w[k][j] * w[k][j] + 0.1; } for i in R { let p = sum(for m in N { w[k][m] * w[i][m] }); for m in N { w[i][m] -= 0.1 * p * w[k][m]; } }",
    "for j in N { w[k][j] = 0.2 * w[k][j] * w[k][j] + 0.1; } for i in S { let p = sum(for m in N { w[k][m] * w[i][m] }); for m in N { w[i][m] -= 0.1 * p * w[k][m]; } }",
    "z = 0.9 * z + 0.1; v = v - 0.2;",
    "if w[k][k] > 0.1 { z[k] = 0.5 * z[(k - 1).clamp()] + 0.1; v[k] = 0.3 * v[(k - 1).clamp()]; }",
    "for i in R { let mut x = 0.3; for j in S { x = 0.5 * x + 0.1 * w[i][j]; } v[i] = x; }",
];

/// A function `f` and, of some form, `g` of it.
fn random_sweeps(rng: &mut Rng) -> String {
    let steps: Vec<String> = (0..1 + rng.below(3))
        .map(|_| {
            let mut step = rng.pick(&STEPS).to_owned();
            for (hole, choices) in [
                ("R", RANGES.as_slice()),
                ("S", RANGES.as_slice()),
                ("P", PLACES.as_slice()),
                ("Q", PLACES.as_slice()),
            ] {
                step = step.replace(&format!(" {hole} "), &format!(" {} ", rng.pick(choices)));
                step = step.replace(&format!("[{hole}]"), &format!("[{}]", rng.pick(choices)));
            }
            step
        })
        .collect();
    let steps = steps.join(" ");
    let [result, value] = rng.pick(&FORMS);
    let text = format!(
        "fn f<K: IndexSet>({PARAMS}) -> f64 {{
            let mut w = a.clone();
            let e = 0.5 * b;
            let mut v = e;
            let mut z = e;
            for k in N {{
                let m = (k.ordinal() + if b[k] > 0.1 {{ 1 }} else {{ 0 }}) % 3;
                {steps}
            }}
            sum(w) + sum(v * b) + sum(z) + sum(c)
        }}
        fn g<K: IndexSet>({PARAMS}) -> {result} {{ {value} }}"
    );
    // Sets of unknown length, and on both sides of what is too short for a kernel.
    text.replace(
        'N',
        rng.pick(&["K", "K", "Fin::<6>", "Fin::<11>", "Fin::<11>", "Fin::<11>"]),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::agreement::{check_source, entered_by};
    use crate::testing::entered::{
        ACCUMULATED, ADDED_AS_CHOICE, ADDED_TO_ANOTHER, ASKED, CARRIED, CHANGED_IN_BRANCHES,
        CHOSEN_BY_THE_SIDE, COMPARED, DIFFER, ENDED_AT_ONCE, FED, KNOWN_LENGTHS, PARALLELIZED,
        PARTS_KEPT, PARTS_MANY, READERS_FIRST, SUMMED_IN_PARALLEL,
    };

    /// Members of `K`: about the least that sums inside of a loop become loops for.
    const SIZES: [[usize; 1]; 6] = [[0], [1], [2], [5], [15], [18]];

    #[test]
    fn random_sweeps_agree_at_every_stage() {
        let check = |seed| {
            let rng = &mut Rng::new(seed);
            let source = random_sweeps(rng);
            check_source(&source, &SIZES, &[3 + 3 * (seed % 2) as usize], rng, seed)
        };
        let counters = [
            ("loops of independent iterations are kernels", &PARALLELIZED),
            ("and those over sets of known length", &KNOWN_LENGTHS),
            ("sums in them are loops", &SUMMED_IN_PARALLEL),
            ("lengths of which nothing is known are asked", &ASKED),
            ("loops whose iterations may meet stay", &CARRIED),
            ("a condition says that places differ", &DIFFER),
            ("what is accumulated beside a state is in it", &ACCUMULATED),
            (
                "rows are changed where they are in branches",
                &CHANGED_IN_BRANCHES,
            ),
            ("and several are kept", &PARTS_KEPT),
            ("or are too many", &PARTS_MANY),
            ("states are kept before they are changed", &READERS_FIRST),
            ("a side of a branch reads what another hands on", &FED),
            ("or takes what it says of a choice", &CHOSEN_BY_THE_SIDE),
            ("branches contribute a choice", &ADDED_AS_CHOICE),
            ("or a sum", &ADDED_TO_ANOTHER),
            ("what arms compare is kept", &COMPARED),
            ("a `while` behind a condition ends at once", &ENDED_AT_ONCE),
        ];
        entered_by(0..180, check, &counters);
    }
}
