//! Random functions that fill tables step by step, of what the step before has left: paths that need
//! no other, rows that do, columns, conditions.

use super::rng::Rng;

const PARAMS: &str = "x0: &Table<(S, T), f64>, y0: &Table<(T, S), f64>, c: &Table<S, f64>, m: &Table<S, usize>, n: &Table<T, usize>, u: f64";

/// The function itself and transformations of it: the result, and how that is computed.
const FORMS: [[&str; 2]; 5] = [
    ["f64", "f(x0, y0, c, m, n, u)"],
    [
        "(Table<(S, T), f64>, Table<(T, S), f64>, f64)",
        "grad!(f, wrt = (x0, y0, u))(x0, y0, c, m, n, u)",
    ],
    ["Table<S, f64>", "grad!(f, wrt = c)(x0, y0, c, m, n, u)"],
    [
        "f64",
        "jvp!(f, wrt = (x0, y0))(x0, y0, c, m, n, u, x0, y0).1",
    ],
    [
        "Table<(S, T), f64>",
        "hvp!(f, wrt = x0)(x0, y0, c, m, n, u, x0)",
    ],
];

/// The steps.
const OUTER: [&str; 4] = [
    "for t in 1..size(T) { let (t, p) = (T::from_ordinal(t), T::from_ordinal(t - 1));",
    "for t in 1..size(T) { let p = t - 1;",
    "for p in 0..size(T).max(1) - 1 { let t = p + 1;",
    "for t in (T).skip(1) { let p = T::from_ordinal(t.ordinal() - 1);",
];

/// What a step goes over: all, nearly all, and few.
const INNER: [&str; 6] = [
    "for s in S {",
    "for s in S {",
    "for s in S.rev() {",
    "for s in 1..size(S) - 1 { let s = S::from_ordinal(s);",
    "for s in 0..size(S).max(1) - 1 { let s = S::from_ordinal(s);",
    "for s in 0..size(S) / 2 { let s = S::from_ordinal(s);",
];

/// What a step does: to rows of `x`, to columns of `y`, to numbers.
const BODIES: [&str; 24] = [
    "x[s][t] = x[s][p] * (0.1 * c[s] + u).cos();",
    "x[s][t] = 0.9 * x[s][p] + 0.1 * y0[t][s] * c[s];",
    "x[s][t] = 0.9 * x[s][p] + 0.1 * x0[s][t] * v[s]; v[s] = 0.5 * v[s] + u * x0[s][t];",
    "v[s] = v[s] + 0.1 * (u * v[s]).tanh(); w[s] = 0.7 * w[s] + v[s];",
    "v[s] = 0.5 * v[s] + y[p][s] * y[t][s];",
    "v[s] += 0.1 * y0[p][s].sin() * v[s];",
    "w[s] = 0.9 * w[s] + y0[t][s] * v[s];",
    "x[s][t] = x[s][p] + 0.1 * x[(s + 1).wrap()][p] - u * x[(s - 1).clamp()][p];",
    "if x[s][p] > c[s] { x[s][t] = x[(s + 1).wrap()][p] * u; }",
    "if m[s] % 2 == 0 { x[s][t] = x[(s + 1).clamp()][p].sin(); } else { x[s][t] = u; v[s] = 0.3 * x[s][p]; }",
    "x[s][t] = 0.1 * sum(for k in S { c[k] * x[k][p] }) + u;",
    "y[t][s] = y[p][s] + 0.1 * (y[p][(s - 1).wrap()] - 2.0 * y[p][s] + y[p][(s + 1).wrap()]).sin();",
    "y[t][s] = y[p][s] + u * (y[p][(s - 1).mirror()] + y[p][(s + 1).clamp()]);",
    "y[t][s] = 0.9 * y[p][s] + u * y0[t][s];",
    "y[t][s] = (y0[t][s] + 0.1 * sum(for k in S { c[k] * c[s] * y[p][k] })).tanh();",
    "if y[p][s] > u { y[t][s] = y[p][(s + 1).wrap()] - 0.5 * y[t][s]; }",
    "if c[s] > 0.0 { y[t][s] = 0.3 * y[p][s]; } else { if y[p][s] > 0.2 { y[t][s] += u; } }",
    "y[t][s] = 0.5 * y[p][s]; y[t][s] += 0.1 * c[s] * y[t][s] * y[p][(s + 1).clamp()];",
    "y[t][s] = 0.5 * y[t][(s - 1).clamp()] + y[p][s];",
    "y[t][s] = 0.5 * y[p][S::from_ordinal(m[s] % size(S))] * u;",
    "x[s][t] = 0.5 * x[s][p] + y[p][(s + 1).wrap()]; y[t][s] = x[s][t] * y[p][s];",
    "v[s] += if u > 0.1 { 0.2 * x0[(s - 2).clamp()][1].sin() } else { 0.1 };",
    "if u > 0.1 { let e = 0.2 * x0[(s + 1).wrap()][1]; v[s] += if v[s] > e { e * e } else { u }; }",
    "x[s][t] = 0.5 * x[s][p]; e += 0.1 * x[s][t] * c[s];",
];

/// What a step does of which points wait for each other, with loops of points that do not.
const STEPS: [&str; 3] = [
    "for k in 0..n[t] { for s in S { v[s] *= (0.3 * u * k as f64).cos(); } } e += 0.1 * sum(v);",
    "for k in 0..n[t] { let z = (u + k as f64).tanh(); for s in S { w[s] = 0.5 * w[s] + z * z * v[s]; } } for s in S { v[s] = 0.3 * sum(w); }",
    "for k in 0..n[p] { for s in S { v[s] = 0.5 * v[s] + w[s] * (u * c[s] + k as f64).sin(); } } v[S::from_ordinal(0)] = sum(w);",
];

/// A function `f` and, of some form, `g` of it.
fn random_steps(rng: &mut Rng) -> String {
    let steps: Vec<String> = (0..rng.pick(&[1, 1, 2]))
        .map(|_| {
            let outer = rng.pick(&OUTER);
            if rng.below(4) == 0 {
                return format!("{outer} {} }}", rng.pick(&STEPS));
            }
            let inner = (0..rng.pick(&[1, 1, 2]))
                .map(|_| format!("{} {} }}", rng.pick(&INNER), rng.pick(&BODIES)));
            let inner = inner.collect::<Vec<_>>().join(" ");
            format!("{outer} {inner} }}")
        })
        .collect();
    let steps = steps.join("\n");
    let [result, value] = rng.pick(&FORMS);
    format!(
        "fn f<S: IndexSet, T: IndexSet>({PARAMS}) -> f64 {{
            let mut x = x0.clone();
            let mut y = 0.5 * y0;
            let mut v = 0.3 * c;
            let mut w = c.clone();
            let mut e = 0.1;
            {steps}
            sum(x * x) + sum(for (t, s) in (T, S) {{ y[t][s] * y[t][s] * c[s] }}) + sum(v * w) + e
        }}
        fn g<S: IndexSet, T: IndexSet>({PARAMS}) -> {result} {{ {value} }}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::agreement::{check_source, entered_by};
    use crate::testing::entered::{
        BET_BESIDE, CHANGED_BESIDE, COLUMNS_STAY, DOALL, DOALL_MOST, DOALL_SOMETIMES, INTERCHANGED,
        SHIFTED_IN_A_ROW, SHIFTED_SOMETIMES, TAPED_APART, UNCHECKED,
    };

    /// Members of `S` and of `T`.
    const SIZES: [[usize; 2]; 6] = [[0, 3], [1, 0], [2, 1], [3, 4], [9, 3], [18, 5]];

    #[test]
    fn random_steps_agree_at_every_stage() {
        let check = |seed| {
            let rng = &mut Rng::new(seed);
            let source = random_steps(rng);
            check_source(&source, &SIZES, &[4, 3], rng, seed)
        };
        let counters = [
            ("a loop runs at each point", &INTERCHANGED),
            ("points of a step lie beside each other", &COLUMNS_STAY),
            ("what counts from an index is not checked", &UNCHECKED),
            ("a step computes elements in any order", &DOALL),
            ("of nearly all of a row", &DOALL_MOST),
            ("where a condition holds", &DOALL_SOMETIMES),
            ("what is shifted goes to a row", &SHIFTED_IN_A_ROW),
            ("which is there where a condition holds", &SHIFTED_SOMETIMES),
            (
                "a row is changed in place beside the one that is read",
                &CHANGED_BESIDE,
            ),
            ("a piece bets beside a row that it reads", &BET_BESIDE),
            ("what lanes compute alike is on one tape", &TAPED_APART),
        ];
        entered_by(0..120, check, &counters);
    }
}
