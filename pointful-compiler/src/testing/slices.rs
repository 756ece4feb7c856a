//! Random loops that change most rows of a matrix by one of them, as eliminations do, and what each hands on.

use super::rng::Rng;

const PARAMS: &str = "a: &Table<(K, K), f64>, b: &Table<K, f64>";

/// The function itself and transformations of it: the result, and how that is computed.
const FORMS: [[&str; 2]; 5] = [
    ["f64", "f(a, b)"],
    ["Table<(K, K), f64>", "grad!(f, wrt = a)(a, b)"],
    ["Table<(K, K), f64>", "grad!(f, wrt = a)(a, b)"],
    [
        "(Table<(K, K), f64>, Table<K, f64>)",
        "grad!(f, wrt = (a, b))(a, b)",
    ],
    ["Table<K, f64>", "hvp!(f, wrt = b)(a, b, b)"],
];

/// Which row is the one.
const PIVOTS: [&str; 5] = [
    "k",
    "k",
    "if b[k] > 0.1 { (k + 1).clamp() } else { k }",
    "(k + 1).wrap()",
    "argmax(for i in K { w[i][k] })",
];

/// What is done before with it.
const FIRST: [&str; 4] = [
    "",
    "if p != k { let r = w[k]; w[k] = w[p]; w[p] = r; }",
    "for j in K { w[p][j] *= 0.9; }",
    "w[p] = 0.8 * w[k] + 0.1 * w[p];",
];

/// How the rows are changed.
const ROWS: [&str; 7] = [
    "for i in K { if i != p { let f = 0.1 * w[i][k]; for j in K { w[i][j] -= f * w[p][j]; } } }",
    "for i in K { if i != k { let f = 0.1 * w[i][p]; for j in K { w[i][j] -= f * w[k][j] * b[i]; } } }",
    "for i in (k..).skip(1) { let f = 0.1 * w[i][k]; for j in k.. { w[i][j] -= f * w[k][j]; } }",
    "for i in ..k { let f = 0.1 * w[i][k]; for j in K { w[i][j] -= f * w[k][j].sin(); } }",
    "for j in (k..).skip(1) { let mut s = 0.0; for i in K { s += w[i][k] * w[i][j]; } for i in K { w[i][j] -= 0.1 * s * w[i][k]; } }",
    "for j in (k..).skip(1) { for i in K { r[j] += 0.3 * w[i][k] * w[i][j]; } for i in K { w[i][j] -= 0.1 * r[j] * w[i][k]; } }",
    "for i in K { if i == p { w[i][k] *= 0.5; } else { for j in K { w[i][j] -= 0.1 * w[p][j] * w[i][j]; } } }",
];

/// A function `f` and, of some form, `g` of it.
fn random_slices(rng: &mut Rng) -> String {
    let steps = [PIVOTS.as_slice(), &FIRST, &ROWS].map(|kinds| rng.pick(kinds));
    slices(steps, rng.pick(&FORMS))
}

fn slices([pivot, first, rows]: [&str; 3], [result, value]: [&str; 2]) -> String {
    format!(
        "fn f<K: IndexSet>({PARAMS}) -> f64 {{
            let mut w = a.clone();
            let mut r = 0.1 * b;
            for k in K {{ let p = {pivot}; {first} {rows} }}
            sum(w * w) + sum(r)
        }}
        fn g<K: IndexSet>({PARAMS}) -> {result} {{ {value} }}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::agreement::{check_source, entered_by};
    use crate::testing::entered::{DIFFER, REDUCED, SLICED, STORED_AWAY};

    /// Members of `K`.
    const SIZES: [[usize; 1]; 6] = [[0], [1], [2], [5], [9], [19]];

    #[test]
    fn random_slices_agree_at_every_stage() {
        let check = |seed| {
            let rng = &mut Rng::new(seed);
            let source = random_slices(rng);
            check_source(&source, &SIZES, &[3], rng, seed)
        };
        let counters = [
            ("a condition says that places differ", &DIFFER),
            ("the part of a table is kept that is read", &SLICED),
            ("what is combined at one place is combined first", &REDUCED),
            ("columns from one on are changed together", &STORED_AWAY),
        ];
        entered_by(0..80, check, &counters);
    }

    #[test]
    fn short_tables_are_kept_whole() {
        for (members, sliced) in [(64, false), (65, true)] {
            let source = slices([PIVOTS[0], FIRST[1], ROWS[0]], FORMS[1]);
            let source = source.replace("<K: IndexSet>", "<M: IndexSet>");
            let source =
                source.replace("b: &Table<K, f64>", "b: &Table<K, f64>, c: &Table<M, f64>");
            let source = source
                .replace("(a, b)", "(a, b, c)")
                .replace("sum(r)", "sum(r) + sum(c)");
            let source = source.replace('K', &format!("Fin::<{members}>"));
            SLICED.set(0);
            let checked = check_source(&source, &[[1]], &[2], &mut Rng::new(1), 1);
            // As many steps as that are not interpreted.
            assert!(checked.is_ok(), "{checked:?}");
            assert_eq!(SLICED.get() > 0, sliced, "{members}");
        }
    }
}
