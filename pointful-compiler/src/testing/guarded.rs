//! Random functions that look at neighbours, and at computed places, where a condition says that
//! they are there.

use super::rng::Rng;

const PARAMS: &str =
    "x: &Table<N, f64>, y: &Table<M, f64>, n: &Table<N, usize>, j: &Table<N, N>, u: f64";

/// The function itself and transformations of it: the result, and how that is computed.
const FORMS: [[&str; 2]; 4] = [
    ["f64", "f(x, y, n, j, u)"],
    [
        "(Table<N, f64>, Table<M, f64>, f64)",
        "grad!(f, wrt = (x, y, u))(x, y, n, j, u)",
    ],
    ["f64", "jvp!(f, wrt = (x, y))(x, y, n, j, u, x, y).1"],
    ["Table<N, f64>", "hvp!(f, wrt = x)(x, y, n, j, u, x)"],
];

/// A condition, what is there where it holds, and what is there where it does not.
const GUARDS: [[&str; 3]; 20] = [
    ["t.ordinal() > 0", "x[t - 1]", "u"],
    ["0 < t.ordinal()", "z[t - 1]", "u"],
    ["t.ordinal() != 0", "z[t - 1] * u", "0.3"],
    ["t.ordinal() >= 2", "x[t - 2] * z[t - 1]", "x[t]"],
    ["t.ordinal() + 1 < size(N)", "x[t + 1]", "u"],
    ["t.ordinal() < size(N) - 1", "x[t + 1].sin()", "u"],
    ["t.ordinal() + 2 <= size(N) - 1", "x[t + 2]", "x[t]"],
    ["size(N) > t.ordinal() + 2", "x[t + 1] * x[t + 2]", "u"],
    ["!(t.ordinal() == 0)", "z[t - 1]", "z[t]"],
    ["t.ordinal() == 0", "u", "z[t - 1]"],
    ["t.ordinal() < 1", "u", "x[t - 1] * u"],
    ["t.ordinal() + 1 == size(N)", "u", "x[t + 1]"],
    ["t.ordinal() == 0 || x[t - 1] > u", "0.2", "z[t - 1]"],
    ["t.ordinal() > 0 && z[t - 1] > u", "x[t - 1]", "u"],
    [
        "t.ordinal() > 0 && t.ordinal() + 1 < size(N)",
        "z[t - 1] * x[t + 1]",
        "u",
    ],
    ["n[t] < size(M)", "y[n[t]]", "u"],
    ["n[t] >= size(M)", "u", "y[n[t]] * z[t]"],
    ["n[t] > 0 && n[t] <= size(M)", "y[n[t] - 1]", "u"],
    ["j[t].ordinal() > 0", "x[j[t] - 1]", "x[j[t]]"],
    ["j[t].ordinal() + 1 < size(N)", "x[j[t] + 1]", "u"],
];

/// The same, where the condition says too little.
const TOO_WEAK: [[&str; 3]; 9] = [
    ["t.ordinal() > 0", "x[t - 2]", "u"],
    ["t.ordinal() != 1", "x[t - 1]", "u"],
    ["t.ordinal() + 1 < size(N)", "x[t + 2]", "u"],
    ["t.ordinal() + 1 != size(N)", "x[t + 2]", "u"],
    ["t.ordinal() < size(N) - 2", "x[t + 2]", "u"],
    ["t.ordinal() <= size(N) - 1", "x[t + 1]", "u"],
    ["n[t] <= size(M)", "y[n[t]]", "u"],
    ["t.ordinal() < size(M)", "x[t]", "y[t.ordinal()]"],
    ["t.ordinal() == 0 && u > 0.1", "u", "z[t - 1]"],
];

/// What a step does with them.
const STEPS: [&str; 5] = [
    "s = if GUARD { 0.5 * s + THERE } else { OTHERWISE };",
    "if GUARD { s = 0.2 * THERE + 0.3 * s; } else { z[t] = OTHERWISE; }",
    "z[t] = if GUARD { 0.5 * THERE } else { 0.1 * OTHERWISE };",
    "let mut k = n[t]; while k < size(M) && y[k] < u { s += 0.1 * y[k]; k += 1; }",
    "let k = n[t] + t.ordinal(); if k < size(N) { z[k] = 0.5 * z[k] + 0.1 * z[t]; }",
];

/// A function `f` and, of some form, `g` of it.
fn random_guarded(rng: &mut Rng) -> String {
    let steps: Vec<String> = (0..rng.pick(&[1, 1, 2]))
        .map(|_| {
            let [guard, there, otherwise] = match rng.below(4) {
                0 => rng.pick(&TOO_WEAK),
                _ => rng.pick(&GUARDS),
            };
            let step = rng.pick(&STEPS).replace("GUARD", guard);
            let step = step.replace("THERE", there).replace("OTHERWISE", otherwise);
            format!("for t in {} {{ {step} }}", rng.pick(&["N", "N", "N.rev()"]))
        })
        .collect();
    let steps = steps.join("\n");
    let [result, value] = rng.pick(&FORMS);
    format!(
        "fn f<N: IndexSet, M: IndexSet>({PARAMS}) -> f64 {{
            let mut z = 0.4 * x;
            let mut s = 0.1;
            {steps}
            s + sum(z * z) + sum(for t in N {{ z[t] * x[t] }})
        }}
        fn g<N: IndexSet, M: IndexSet>({PARAMS}) -> {result} {{ {value} }}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::agreement::{check_source, entered_by};
    use crate::testing::entered::IN_RANGE_SOMETIMES;

    /// Members of `N` and of `M`.
    const SIZES: [[usize; 2]; 6] = [[0, 3], [1, 0], [2, 1], [3, 4], [9, 3], [6, 9]];

    #[test]
    fn random_guarded_functions_agree_at_every_stage() {
        let check = |seed: u64| {
            let rng = &mut Rng::new(seed);
            let source = random_guarded(rng);
            check_source(&source, &SIZES, &[3, 4], rng, seed)
        };
        let counters = [("a place that a condition has in range", &IN_RANGE_SOMETIMES)];
        entered_by(0..160, check, &counters);
    }
}
