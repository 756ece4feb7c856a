//! Random functions of loops over a small state, as an integrator of a few equations or a filter
//! has one: vectors and matrices of some members, mapped, multiplied and summed up in each step.

use super::rng::Rng;

const PARAMS: &str = "x0: &Table<Fin<L>, f64>, m: &Table<(Fin<L>, Fin<L>), f64>, z: &Table<K, f64>";

/// The function itself and transformations of it: the result, and how that is computed.
const FORMS: [[&str; 2]; 5] = [
    ["f64", "f(x0, m, z)"],
    [
        "(Table<Fin<L>, f64>, Table<(Fin<L>, Fin<L>), f64>, Table<K, f64>)",
        "grad!(f)(x0, m, z)",
    ],
    [
        "Table<(Fin<L>, Fin<L>), f64>",
        "grad!(f, wrt = m)(x0, m, z)",
    ],
    ["f64", "let (v, t) = jvp!(f, wrt = x0)(x0, m, z, x0); v * t"],
    ["Table<Fin<L>, f64>", "hvp!(f, wrt = x0)(x0, m, z, x0)"],
];

/// What a step does with the vector `x`, the matrix `p`, the number `s` and the count `c`.
const STEPS: [&str; 19] = [
    "x = for i in Fin::<L> { x[i] + 0.1 * sum(for j in Fin::<L> { m[i][j] * x[j].sin() }) };",
    "x = for i in Fin::<L> { (x[(i + 1).wrap()] - x[(i - 1).wrap()]) * 0.5 + z[k] };",
    "let d = 0.1 * x; x = x + d * s; x = 0.9 * x - d;",
    "p = for (i, j) in (Fin::<L>, Fin::<L>) { 0.2 * sum(for l in Fin::<L> { p[i][l] * m[j][l] }) };",
    "p = for (i, j) in (Fin::<L>, Fin::<L>) { 0.5 * p[j][i] + if i == j { z[k] } else { x[i] * x[j] } };",
    "s += 0.1 * sum(for (i, j) in (Fin::<L>, Fin::<L>) { p[i][j] * x[i] });",
    "s = (s * 0.5 + x[0]).cos();",
    "x[0] = 0.5 * s; x[0] += 0.25 * z[k];",
    "x = for i in Fin::<L> { match i.ordinal() { 0 => 0.5 * x[i] + s, 1 => x[0] * z[k], _ => x[i] - 0.1 * x[1] } };",
    "let h = for i in Fin::<L> { sum(for j in Fin::<L> { p[j][i] * x[j] }) }; x = x * 0.3 + h * 0.1;",
    "let d = jacobian!(|y: Table<Fin<L>, f64>| for i in Fin::<L> { y[i].cos() * z[k] })(x); s += 0.1 * d[0][0] * d[1][1]; x = for i in Fin::<L> { x[i].cos() * z[k] };",
    "let d = jacobian!(|y: Table<Fin<L>, f64>| for i in Fin::<L> { (y[i] - 0.2 * y[(i + 1).wrap()]).tanh() })(x); p = 0.5 * d; x = for i in Fin::<L> { (x[i] - 0.2 * x[(i + 1).wrap()]).tanh() };",
    "let b = argmax(for i in Fin::<L> { x[i] + m[i][0] }); x[b] = 0.5 * s + 0.1 * x[b];",
    "if x[0] > s { c = k.ordinal(); s = 0.9 * x[0]; }",
    "c = if x[1] > 0.1 { (c + 1).min(size(K)) } else { c }; x = 0.8 * x;",
    "let r = Fin::<L>::from_ordinal(k.ordinal() % L); p[r] = for j in Fin::<L> { 0.5 * p[(r - 1).wrap()][j] + 0.1 * p[r][j] };",
    "let r = Fin::<L>::from_ordinal((k.ordinal() + 1) % L); p[r] = for j in Fin::<L> { 0.5 * p[r][j] + 0.1 * x[j] };",
    "for i in Fin::<L> { x[i] = 0.5 * x[i] + 0.1 * sum(for j in ..i { m[i][j] * x[j] }); }",
    "for j in Fin::<L> { for i in (j..).skip(1) { p[i][j] = 0.5 * p[i][j] + 0.1 * sum(for l in ..j { p[i][l] * p[j][l] }); } }",
];

/// What a step does with each number of the vector `y` and what all of them share.
const SHARING: [&str; 4] = [
    "y = for i in Fin::<L> { 0.5 * y[i] + z[k].exp() };",
    "let r = (z[k] + 2.0).sqrt(); y = for i in Fin::<L> { r * y[i].sin() + m[i][0] };",
    "let r = z[k].cos(); for i in Fin::<L> { if y[i] > r { y[i] -= r * x0[i]; } }",
    "if z[k] > 0.0 { y = for i in Fin::<L> { y[i] * z[k].exp() }; }",
];

/// A function `f` and, of some form, `g` of it.
fn random_states(rng: &mut Rng) -> String {
    let steps: Vec<&str> = (0..2 + rng.below(3)).map(|_| rng.pick(&STEPS)).collect();
    let steps = steps.join(" ");
    let sharing = rng.pick(&SHARING);
    let [result, value] = rng.pick(&FORMS);
    let text = format!(
        "fn f<K: IndexSet>({PARAMS}) -> f64 {{
            let mut x = x0.clone();
            let mut p = 0.5 * m;
            let mut y = x0.clone();
            let mut s = 0.3;
            let mut c = 0;
            for k in K {{ {steps} }}
            for k in K {{ {sharing} }}
            s + sum(y * y) + sum(x) + sum(p) + sum(for q in 0..c {{ z[q] * z[q] }})
        }}
        fn g<K: IndexSet>({PARAMS}) -> {result} {{ {value} }}"
    );
    // Members on both sides of those whose vectors, and whose matrices, are kept in variables.
    text.replace('L', rng.pick(&["2", "3", "4", "6", "9", "17"]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::agreement::{check_source, entered_by};
    use crate::testing::entered::{
        CHANGED_BY_LOOPS, FEW_STAY, INTERCHANGED, LENGTHS_BOUNDED, LENGTHS_CARRIED, MULTIVERSIONED,
        SEARCHED, SERIALIZED, TOO_SHORT, UNROLLED,
    };

    /// Members of `K`.
    const SIZES: [[usize; 1]; 4] = [[0], [1], [2], [4]];

    #[test]
    fn random_states_agree_at_every_stage() {
        let check = |seed| {
            let rng = &mut Rng::new(seed);
            let source = random_states(rng);
            check_source(&source, &SIZES, &[2], rng, seed)
        };
        let counters = [
            ("kernels of a few points are loops", &SERIALIZED),
            ("and those that search", &SEARCHED),
            ("and those whose length is computed", &LENGTHS_BOUNDED),
            ("loops over a few members are unrolled", &UNROLLED),
            ("a loop with a state of a few members stays one", &FEW_STAY),
            ("and one with more members runs at each", &INTERCHANGED),
            (
                "rows are changed where they are by loops",
                &CHANGED_BY_LOOPS,
            ),
            (
                "loops of the host are compiled for each level",
                &MULTIVERSIONED,
            ),
            ("or are too short for that", &TOO_SHORT),
            (
                "lengths are states of differentiated loops",
                &LENGTHS_CARRIED,
            ),
        ];
        entered_by(0..80, check, &counters);
    }
}
