//! Random loops that change tables in place: each iteration a slice of its own along some axis, or not.

use super::rng::Rng;

const PARAMS: &str = "a: &Table<(M, K), f64>, b: &Table<K, f64>";

/// The function itself and transformations of it: the result, and how that is computed.
const FORMS: [[&str; 2]; 5] = [
    ["Table<(M, K), f64>", "f(a, b)"],
    ["Table<(M, K), f64>", "grad!(h, wrt = a)(a, b)"],
    [
        "(Table<(M, K), f64>, Table<K, f64>)",
        "grad!(h, wrt = (a, b))(a, b)",
    ],
    ["Table<(M, K), f64>", "jvp!(f)(a, b, a, b).1"],
    ["Table<K, f64>", "hvp!(h, wrt = b)(a, b, b)"],
];

/// The loops over columns, `j`: all, those within, those that are as far from the ends as is looked at and further,
/// and a few only.
const OUTER: [&str; 9] = [
    "for j in K {",
    "for j in K.rev() {",
    "for j in 1..size(K) - 1 { let j = K::from_ordinal(j);",
    "for j in 1..size(K) - 1 { let j = K::from_ordinal(j);",
    "for j in (K).skip(1) {",
    "for j in 0..size(K) { let j = K::from_ordinal(j);",
    "for j in 1..size(K) - 8 { let j = K::from_ordinal(j);",
    "for j in 1..size(K) - 9 { let j = K::from_ordinal(j);",
    "for j in 0..size(K) / 2 { let j = K::from_ordinal(j);",
];

/// What an iteration does to its column, or to others.
const BODIES: [&str; 20] = [
    "for i in M { t[i][j] = 0.5 * t[i][j] + a[i][j].sin() * b[j]; }",
    "for i in M { t[i][j] += 0.5 * t[(i - 1).clamp()][j] * b[j]; }",
    "for i in M { let e = t[i][j].sin(); t[i][j] = 0.5 * e; t[i][(j - 1).clamp()] += e; }",
    "for i in M { let e = t[i][j].sin(); t[i][j] = 0.5 * e; t[i][(j - 1).clamp()] += e; } w = 0.5 * w + sum(for i in M { t[i][j] });",
    "for i in M { let e = t[i][j].tanh() * b[j]; t[i][j] = 0.3 * e; if i != i0 { t[i][(j + 1).wrap()] += e; } }",
    "let mut s = 0.1; for i in M { s = 0.5 * s + a[i][j] * t[i][j]; t[i][j] = s; }",
    "let mut s = 0.1; for i in M.rev() { s = 0.5 * s + t[i][j]; t[i][j] = s * b[j]; u[i][j] -= s; }",
    "for i in M { if a[i][j] > 0.2 { t[i][j] = b[j]; } else { u[i][j] *= t[i][j]; } }",
    "for i in M { t[i][j] = u[i][(j + 1).clamp()] + u[i][(j - 1).wrap()]; }",
    "for i in 1..size(M) - 1 { let i = M::from_ordinal(i); t[i][j] = u[i - 1][j] - 0.5 * u[i + 1][j]; }",
    "for i in M { t[i][j] = u[i][j] * u[i][(j + 1).clamp()]; u[i][j] = 0.9; }",
    "for i in M { t[i][j] += 0.5 * t[i][(j - 1).clamp()]; }",
    "for i in M { t[i][j] = 0.5 * b[j]; } t[(i0 + 1).wrap()][j] += a[i0][j];",
    "t[i0][j] = 0.5 * t[i0][j] + b[j];",
    "let mut k = 0; while k < 2 { for i in M { t[i][j] *= b[j]; } k += 1; }",
    "let r = for i in M { t[i][j] + a[i][j] }; for i in M { t[i][j] = 0.5 * r[(i + 1).wrap()]; }",
    "for i in M { v[j] += t[i][j]; } for i in M { t[i][j] -= 0.1 * v[j]; }",
    "for i in M { w = 0.5 * w + 0.1 * t[i][j]; t[i][j] = w * b[j]; }",
    "for i in M { t[i][j] = 0.5 * w; w = 0.3 * t[i][j] + a[i][j]; for k in K { u[i][k] += w; } }",
    "for i in M { w *= 0.5; for _k in 0..2 { t[i][j] += 0.1 * u[i][j] + w; w = t[i][j].sin(); } }",
];

/// Functions `f` and `h`, and `g` of them.
fn random_owners(rng: &mut Rng) -> String {
    let loops = rng.pick(&[1, 2]);
    let loops = (0..loops).map(|_| [rng.pick(&OUTER), rng.pick(&BODIES)]);
    let loops: Vec<[&str; 2]> = loops.collect();
    owners(&loops, rng.pick(&FORMS))
}

fn owners(loops: &[[&str; 2]], [result, value]: [&str; 2]) -> String {
    let loops: Vec<String> = loops
        .iter()
        .map(|[outer, body]| format!("{outer} {body} }}"))
        .collect();
    let loops = loops.join("\n");
    format!(
        "fn f<M: IndexSet, K: IndexSet>({PARAMS}) -> Table<(M, K), f64> {{
            let mut t = a.clone();
            let mut u = 0.5 * a;
            let mut v = 0.1 * b;
            let mut w = 0.1;
            let i0 = argmax(for i in M {{ sum(a[i]) }});
            {loops}
            for (i, j) in (M, K) {{ t[i][j] + u[i][j] * v[j] + 0.1 * w }}
        }}
        fn h<M: IndexSet, K: IndexSet>({PARAMS}) -> f64 {{ let r = f(a, b); sum(r * r) }}
        fn g<M: IndexSet, K: IndexSet>({PARAMS}) -> {result} {{ {value} }}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::agreement::{check_source, entered_by};
    use crate::testing::entered::{
        CHANGED_BY_ANGLES, OWNED, OWNED_INTERIOR, OWNED_MOST, PUT_BACK, PUT_BESIDE, ROWS_STAY,
    };

    /// Members of `M` and of `K`.
    const SIZES: [[usize; 2]; 6] = [[1, 0], [1, 1], [2, 2], [3, 4], [2, 9], [3, 17]];

    #[test]
    fn random_owners_agree_at_every_stage() {
        let check = |seed| {
            let rng = &mut Rng::new(seed);
            let source = random_owners(rng);
            check_source(&source, &SIZES, &[4, 4], rng, seed)
        };
        let counters = [
            ("iterations own slices", &OWNED),
            ("slices of nearly all of an axis", &OWNED_MOST),
            ("in a loop over all of it", &OWNED_INTERIOR),
            ("rows stay in their table", &ROWS_STAY),
            ("what is added where zero was put is put there", &PUT_BACK),
            ("it is added at another place", &PUT_BESIDE),
            ("a part is changed by angles", &CHANGED_BY_ANGLES),
        ];
        entered_by(0..120, check, &counters);
    }

    #[test]
    fn loops_that_leave_out_many_stay() {
        for (end, owned) in [("1..size(K) - 8", true), ("1..size(K) - 9", false)] {
            let outer = format!("for j in {end} {{ let j = K::from_ordinal(j);");
            let source = owners(&[[outer.as_str(), BODIES[0]]], FORMS[0]);
            OWNED.set(0);
            let checked = check_source(&source, &[[2, 20]], &[4, 4], &mut Rng::new(1), 1);
            assert!(checked.is_ok(), "{checked:?}");
            assert_eq!(OWNED.get() > 0, owned, "{end}");
        }
    }
}
