//! Random loops that change rows of a table in one of many ways: each arm of a `match`, or of `if`s one after
//! another, has its own.

use super::rng::Rng;

const PARAMS: &str = "a: &Table<(K, K), f64>, b: &Table<K, f64>, m: &Table<K, usize>";

/// The function itself and transformations of it: the result, and how that is computed.
const FORMS: [[&str; 2]; 4] = [
    ["f64", "f(a, b, m)"],
    ["Table<(K, K), f64>", "grad!(f, wrt = a)(a, b, m)"],
    [
        "(Table<(K, K), f64>, Table<K, f64>)",
        "grad!(f, wrt = (a, b))(a, b, m)",
    ],
    ["f64", "let (v, t) = jvp!(f, wrt = b)(a, b, m, b); v * t"],
];

/// What an arm does to the row `k`, or to others. `P` is a row.
const ARMS: [&str; 16] = [
    "let mut s = 0.1; for j in K { s = 0.3 * s + 0.2 * w[k][j]; w[k][j] = s; }",
    "for j in K { w[k][j] = 0.2 * w[P][(j + 1).wrap()] + 0.1; }",
    "let mut s = 0.2; for j in K { s = 0.5 * s + 0.1 * w[P][j]; } w[k][k] = s;",
    "let mut s = 0.1; for j in K { s = 0.4 * s + w[P][j] * w[k][j]; } w[k] = for j in K { s * w[k][j] };",
    "w[k] = w[P];",
    "w[k] = w[P];",
    "w[k] = 0.5 * w[k];",
    "let h = w[P][k]; for j in K { w[k][j] = h * w[k][j]; }",
    "v[k] += 0.1 * w[k][k];",
    "w[k][k] = v[k] * w[P][k];",
    "for j in K { w[j][k] = 0.4 * w[j][k] + 0.1 * b[j]; }",
    "let r = w[k]; w[k] = w[P]; w[P] = 0.5 * r;",
    "w[k] = for j in K { E };",
    "w[k] = for j in K { E };",
    "for j in K { w[k][j] = 0.2 * w[P][j] + 0.1; }",
    "",
];

/// An arm whose loop may fail, so that it stays where it is, and another one that reads what that began with.
const STAYING: [&str; 2] = [ARMS[1], ARMS[2]];

const ROWS: [&str; 4] = ["k", "(k - 1).clamp()", "(k + 1).clamp()", "(k - 2).wrap()"];

/// How many arms there are: a few, and more than are looked through.
const COUNTS: [usize; 8] = [2, 3, 3, 4, 4, 6, 9, 70];

/// A function `f` and, of some form, `g` of it.
fn random_arms(rng: &mut Rng) -> String {
    let count = rng.pick(&COUNTS);
    let mut arms: Vec<String> = (0..count).map(|_| arm(rng, &ARMS)).collect();
    if rng.below(3) == 0 {
        for (arm, staying) in arms.iter_mut().zip(STAYING) {
            *arm = self::arm(rng, &[staying]);
        }
    }
    let branch = match rng.below(3) {
        0 => ifs(&arms),
        _ => switch(&arms),
    };
    let [result, value] = rng.pick(&FORMS);
    format!(
        "fn f<K: IndexSet>({PARAMS}) -> f64 {{
            let mut w = a.clone();
            let mut v = 0.5 * b;
            for k in K {{ {branch} }}
            sum(w * w) + sum(v * b)
        }}
        fn g<K: IndexSet>({PARAMS}) -> {result} {{ {value} }}"
    )
}

fn arm(rng: &mut Rng, arms: &[&str]) -> String {
    // A number, of a row, that takes a few operations or many.
    let number = (0..rng.pick(&[1, 3, 20])).fold("w[P][j]".to_owned(), |number, _| {
        format!("(0.1 + 0.8 * {number})")
    });
    let arm = rng.pick(arms).replace('E', &number);
    arm.replace('P', rng.pick(&ROWS))
}

fn switch(arms: &[String]) -> String {
    let last = arms.len() - 1;
    let arms: String = (arms.iter().enumerate())
        .map(|(number, arm)| match number == last {
            true => format!("_ => {{ {arm} }} "),
            false => format!("{number} => {{ {arm} }} "),
        })
        .collect();
    format!("match m[k] {{ {arms} }}")
}

fn ifs(arms: &[String]) -> String {
    let all: Vec<String> = (arms.iter().enumerate())
        .map(|(number, arm)| match number {
            0 => format!("{{ {arm} }}"),
            _ => format!("if b[k] > 0.{number} {{ {arm} }} else "),
        })
        .collect();
    all.into_iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::agreement::{check_source, entered_by};
    use crate::testing::entered::{
        ADDED_AS_CHOICE, ADDED_TO_ANOTHER, BRANCHES_MANY, CHANGED_IN_BRANCHES, CONDITIONS_MANY,
        DUPLICATED, FED, FEEDS_MANY, READ_AS_HANDED, SUNK,
    };

    /// Members of `K`.
    const SIZES: [[usize; 1]; 5] = [[0], [1], [2], [5], [9]];

    #[test]
    fn random_arms_agree_at_every_stage() {
        let check = |seed| {
            let rng = &mut Rng::new(seed);
            let source = random_arms(rng);
            check_source(&source, &SIZES, &[3], rng, seed)
        };
        let counters = [
            ("rows are changed where they are", &CHANGED_IN_BRANCHES),
            ("arms contribute a choice", &ADDED_AS_CHOICE),
            ("or a sum", &ADDED_TO_ANOTHER),
            ("too many arms to see which", &BRANCHES_MANY),
            ("or too many conditions", &CONDITIONS_MANY),
            ("arms that do alike do so each for itself", &DUPLICATED),
            ("a change of one arm is made in it", &SUNK),
            ("what an arm reads, it reads of what is handed to it", &FED),
            ("or that is too much to see", &FEEDS_MANY),
            ("loops read it too", &READ_AS_HANDED),
        ];
        entered_by(0..100, check, &counters);
    }
}
