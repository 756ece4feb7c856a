//! Random functions whose steps read, and on the way back add to, a few places of a table: lags,
//! delays that are computed, neighbours in a list, in loops that hand on what they change.

use super::rng::Rng;

const PARAMS: &str =
    "x: &Table<T, f64>, w: &Table<Q, f64>, m: &Table<(T, Q), T>, n: &Table<Q, usize>, u: f64";

/// The function itself and transformations of it: the result, and how that is computed.
const FORMS: [[&str; 2]; 5] = [
    ["f64", "f(x, w, m, n, u)"],
    [
        "(Table<T, f64>, Table<Q, f64>, f64)",
        "grad!(f, wrt = (x, w, u))(x, w, m, n, u)",
    ],
    ["Table<Q, f64>", "grad!(f, wrt = w)(x, w, m, n, u)"],
    [
        "f64",
        "let (v, t) = jvp!(f, wrt = (x, w))(x, w, m, n, u, x, w); v * t",
    ],
    ["Table<T, f64>", "hvp!(f, wrt = x)(x, w, m, n, u, x)"],
];

/// The steps.
const OUTER: [&str; 4] = ["T", "T", "T.rev()", "T.skip(1)"];

/// What a step does.
const STEPS: [&str; 18] = [
    "y[t] = x[t] - 0.2 * sum(for q in Q { w[q] * y.get(t - 1 - q.ordinal()).unwrap_or(0.0) });",
    "y[t] = 0.3 * y[t] + 0.2 * sum(for q in Q { y.get(t - 1 - q.ordinal()).unwrap_or(0.0) * w[q] });",
    "z[t] = x[t] + 0.1 * sum(for q in Q { (w[q] * z.get(t - q.ordinal() - 2).unwrap_or(u)).tanh() });",
    "y[t] = x[t] + 0.1 * sum(for q in Q { w[q] * y.get(t - n[q]).unwrap_or(u) });",
    "y[t] = x[t] + 0.1 * sum(for q in Q { w[q] * y[m[t][q]] });",
    "y[t] = x[t] + 0.1 * sum(for q in Q { (w[q] * y[m[t][q]]).tanh() }) * z[t];",
    "y[t] = u + 0.2 * max(for q in Q { w[q] * y[m[t][q]] }).clamp(-1.0, 1.0);",
    "for q in Q { y[m[t][q]] += 0.1 * w[q] * y[t]; }",
    "for q in Q { y[m[t][q]] += 0.1 * w[q] * x[t]; z[(t + q.ordinal()).wrap()] -= 0.2 * u * y[t]; }",
    "for q in Q { if w[q] > u { z[m[t][q]] += 0.1 * z[t]; } }",
    "for q in Q { let k = n[q] % size(T); if k != t.ordinal() { y[k] = 0.5 * y[k] + 0.1 * y[t]; } }",
    "z[t] = 0.5 * y[t] + 0.1 * sum(for q in 0..size(Q) / 2 { w[q] * z.get(t - 2 * q - 1).unwrap_or(0.1) });",
    "let mut s = x[t]; for q in Q { s -= 0.1 * w[q] * z[m[t][q]]; } z[t] = s / (2.0 + u * u);",
    "let r = for q in Q { 0.1 * y[m[t][q]] }; y[t] += sum(r) * u; z[t] -= sum(for q in Q { r[q] * r[q] });",
    "y[t] = 0.5 * x[t]; for q in Q { y[t] += 0.1 * w[q] * y[m[t][q]]; }",
    "e += 0.1 * sum(for q in Q { w[q] * y[m[t][q]] }); y[t] = 0.3 * y[t] + 0.1 * e;",
    "y[t] += 0.1 * sum(for q in Q { sum(for r in Q { w[q] * w[r] * z[m[m[t][q]][r]] }) });",
    "z[t] = 0.1 * sum(for k in ..t { z[k] * x[k] }) + y[t];",
];

/// A function `f` and, of some form, `g` of it.
fn random_lags(rng: &mut Rng) -> String {
    let steps: Vec<String> = (0..rng.pick(&[1, 1, 2]))
        .map(|_| {
            let steps = (0..rng.pick(&[1, 1, 2])).map(|_| rng.pick(&STEPS));
            let steps = steps.collect::<Vec<_>>().join(" ");
            format!("for t in {} {{ {steps} }}", rng.pick(&OUTER))
        })
        .collect();
    let steps = steps.join("\n");
    let [result, value] = rng.pick(&FORMS);
    format!(
        "fn f<T: IndexSet, Q: IndexSet>({PARAMS}) -> f64 {{
            let mut y = x.clone();
            let mut z = 0.4 * x;
            let mut e = 0.1;
            {steps}
            sum(y * y) + sum(for t in T {{ z[t] * x[t] }}) + e * u
        }}
        fn g<T: IndexSet, Q: IndexSet>({PARAMS}) -> {result} {{ {value} }}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::agreement::{check_source, entered_by};
    use crate::testing::entered::{FROM_THE_END, LITTLE, SERIAL_VERSION};

    /// Members of `T` and of `Q`.
    const SIZES: [[usize; 2]; 6] = [[0, 3], [1, 0], [2, 1], [3, 4], [9, 3], [6, 9]];

    /// With work that is little at all sizes, and at some.
    #[test]
    fn random_lags_agree_at_every_stage() {
        let check = |seed: u64| {
            LITTLE.set((seed % 2 == 1).then_some(40));
            let rng = &mut Rng::new(seed);
            let source = random_lags(rng);
            let checked = check_source(&source, &SIZES, &[4, 3], rng, seed);
            LITTLE.set(None);
            checked
        };
        let counters = [
            (
                "a nest that adds to a table has a sequential version",
                &SERIAL_VERSION,
            ),
            (
                "places that are counted from the other end are a point's own",
                &FROM_THE_END,
            ),
        ];
        entered_by(0..120, check, &counters);
    }
}
