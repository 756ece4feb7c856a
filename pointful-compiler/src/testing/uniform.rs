//! Functions of loops in lanes whose steps compute something that is the same in all lanes, and
//! their derivatives.

use super::rng::Rng;

const PARAMS: &str = "p: &Table<(N, K), f64>, w: &Table<K, f64>, u: &Table<(M, K), f64>, c: f64";

/// Numbers of a step `k`: alike in all lanes, alike along some, or in none; total, behind a
/// condition, checked, or summed up. `S` is a state.
const NUMBERS: [&str; 16] = [
    "(w[k] * c).sin()",
    "(-0.1 * c * k.ordinal() as f64).exp()",
    "(w[k] + c).cos() * w[k].sin()",
    "u[m][k].sin()",
    "(u[m][k] + w[k]).cos()",
    "(if w[k] > 0.2 { w[k].sqrt() } else { w[k].sin() })",
    "(if S > 0.1 { (w[k] * c).cos() } else { 0.3 })",
    "w[(k + 1).clamp()].exp()",
    "(w.get(k - 1).unwrap_or(0.5) * c).sin()",
    "sum(for l in K { w[l].sin() * w[k] })",
    "(p[n][k] * w[k]).sin()",
    "sum(for l in ..=k { w[l].sin() })",
    "sum(for l in ..k { w[l] * c }).sin()",
    "(w[K::from_ordinal((9.0 * p[n][k]).abs() as usize % w.len())] * c).exp()",
    "p[n][K::from_ordinal(k.ordinal() / 2)].sin()",
    "w[w.len() / 2].cos() * w[k].tanh()",
];

/// Numbers that are alike along `m`, made by loops of their own: they stay in their step.
const LOOPS: [&str; 2] = [
    "{ let mut q = p[n][k]; for _l in Fin::<2> { q = (q * c).sin(); } q }",
    "{ let mut q = p[n][k]; while q > 0.1 { q = q * 0.5; } q }",
];

/// What is done with two such numbers in the steps of the lanes.
const STEPS: [&str; 8] = [
    // More than is made again.
    "let (x, y) = ((p[n][k] * c).cos(), (s * 0.5).sin());
     let a = [x * B, y * B, x - y, x + y, -x, -y, x * x, y * y, B - x, B - y, x * y, y + B, x + A];
     s = 0.1 * sum(for q in Fin::<13> { a[q] * r }) + 0.2 * s;",
    "r = 0.5 - (-(s * B).sin()) * r; s = A - (s + r).abs() * 0.5;",
    "let (x, y) = ((p[n][k] * c).cos(), (p[n][k] * c).sin()); let turn = [[x, -y * B], [y, x]];
     let v = for a in Fin::<2> { turn[a][0] * s + turn[a][1] * r }; s = v[0] * A; r = v[1];",
    "s = (s * A + p[n][k] * B).sin();",
    "s = s * 0.5 + A * p[n][k]; r = r * B + s * s;",
    "if p[n][k] > 0.0 { s = (s + A).sin() * B; }",
    "assert!(s < 1e9, \"{s}\"); s = (s + p[n][k] * A).cos() + B;",
    "for _l in Fin::<2> { s = (s * A + r).cos() * B; } r = r * A;",
];

const FORMS: [[&str; 2]; 4] = [
    ["f64", "f(p, w, u, c)"],
    ["f64", "let (v, t) = jvp!(f, wrt = w)(p, w, u, c, w); v * t"],
    [
        "(Table<(N, K), f64>, Table<K, f64>, Table<(M, K), f64>, f64)",
        "grad!(f)(p, w, u, c)",
    ],
    ["Table<K, f64>", "hvp!(f, wrt = w)(p, w, u, c, w)"],
];

/// A derivative that sums up nothing for each of the outer lanes.
const OF_INNER_LANES: [&str; 2] = [
    "(Table<(M, K), f64>, f64)",
    "grad!(f, wrt = (u, c))(p, w, u, c)",
];

/// A function `f` and, of some form, `g` of it.
pub(crate) fn random_uniform(rng: &mut Rng) -> String {
    // A number that stays in its step is kept for the way back, once for each of the outer lanes.
    let stays = rng.chance(25);
    let of = if stays { &LOOPS[..] } else { &NUMBERS };
    let steps = if stays {
        "s = s * B + A * u[m][k];"
    } else {
        rng.pick(&STEPS)
    };
    let [first, second] = [&NUMBERS, of].map(|from| rng.pick(from).replace('S', "s"));
    let steps = steps.replace('A', &first).replace('B', &second);
    let range = rng.pick(&["K", "K.rev()", "K.skip(1)", "K.skip(n.ordinal() % 3)"]);
    let [result, value] = if stays {
        OF_INNER_LANES
    } else {
        rng.pick(&FORMS)
    };
    // Lanes of sets that are known while compiling, few and not few, too.
    let [generics, n, m] = rng.pick(&[
        ["N: IndexSet, M: IndexSet, ", "N", "M"],
        ["N: IndexSet, M: IndexSet, ", "N", "M"],
        ["", "Fin<16>", "Fin<2>"],
        ["", "Fin<17>", "Fin<2>"],
    ]);
    let of_sets = |text: &str| text.replace('N', n).replace('M', m);
    let (params, result) = (of_sets(PARAMS), of_sets(result));
    let (over_n, over_m) = (n.replace("Fin", "Fin::"), m.replace("Fin", "Fin::"));
    format!(
        "fn f<{generics}K: IndexSet>({params}) -> f64 {{
            sum(for (n, m) in ({over_n}, {over_m}) {{
                let mut s = 0.2 * c;
                let mut r = 0.1;
                for k in {range} {{ {steps} }}
                s + r
            }})
        }}
        fn g<{generics}K: IndexSet>({params}) -> {result} {{ {value} }}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::agreement::{check_source, entered_by};
    use crate::testing::entered::{HOISTED, OPERANDS, ORDERED, OWN_STEPS, REMADE, UNIFORM};

    /// Members of `N`, `K` and `M`, as the parameters name them.
    const SIZES: [[usize; 3]; 6] = [
        [0, 3, 2],
        [1, 1, 1],
        [3, 0, 2],
        [2, 4, 0],
        [5, 3, 2],
        [18, 2, 1],
    ];

    #[test]
    fn random_uniform_values_agree_at_every_stage() {
        let check = |seed| {
            let rng = &mut Rng::new(seed);
            let source = random_uniform(rng);
            check_source(&source, &SIZES, &[2, 3, 2], rng, seed)
        };
        let counters = [
            ("collected values leave their lanes", &UNIFORM),
            ("dear values leave their lanes", &HOISTED),
            ("inner loops go in order", &ORDERED),
            ("short arrays are made again", &REMADE),
            ("operands of negatives are kept", &OPERANDS),
            ("each lane has steps of its own", &OWN_STEPS),
        ];
        entered_by(0..80, check, &counters);
    }
}
