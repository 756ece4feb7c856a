//! Random nests of two loops whose cells wait for their neighbours: tables that are filled in, rows
//! made of rows, variables of a row, what is done after one; in every direction.

use super::rng::Rng;

const PARAMS: &str = "x: &Table<N, f64>, y: &Table<K, f64>, a: f64";

/// The function itself and transformations of it: the result, and how that is computed.
const FORMS: [[&str; 2]; 6] = [
    ["f64", "f(x, y, a)"],
    ["f64", "f(x, y, a)"],
    ["f64", "f(x, y, 0.5 * a) + f(x, y, 0.3)"],
    ["f64", "let (v, t) = jvp!(f, wrt = x)(x, y, a, x); v * t"],
    ["(Table<N, f64>, Table<K, f64>, f64)", "grad!(f)(x, y, a)"],
    ["Table<N, f64>", "grad!(f, wrt = x)(x, y, a)"],
];

/// A function `f` and, of some form, `g` of it.
fn random_diagonals(rng: &mut Rng) -> String {
    let nest = match rng.below(3) {
        0 => row(rng),
        _ => table(rng),
    };
    let [result, value] = rng.pick(&FORMS);
    format!(
        "fn f<N: IndexSet, K: IndexSet>({PARAMS}) -> f64 {{
            let mut s = 0.0;
            {nest}
            s
        }}
        fn g<N: IndexSet, K: IndexSet>({PARAMS}) -> {result} {{ {value} }}"
    )
}

/// A table that is filled in from its neighbours.
fn table(rng: &mut Rng) -> String {
    let backwards = [rng.below(3) == 0, rng.below(3) == 0];
    let [rows, columns] = ["N", "K"];
    let order = |axis: &str, backwards: bool| match backwards {
        true => format!("{axis}.rev()"),
        false => axis.to_owned(),
    };
    let mut terms = String::new();
    for _ in 0..1 + rng.below(3) {
        // Most have been computed; some have not yet, and so are none of this diagonal.
        let [i, j] = rng.pick(&[
            [1, 0],
            [0, 1],
            [1, 1],
            [2, 0],
            [1, 0],
            [0, 1],
            [2, -1],
            [1, -1],
            [0, 0],
            [-1, 0],
        ]);
        let place =
            |index: &str, back: i32, backwards: bool| match (if backwards { -back } else { back })
                .signum()
            {
                1 => format!("{index} - {}", back.abs()),
                -1 => format!("{index} + {}", back.abs()),
                _ => index.to_owned(),
            };
        let (i, j) = (place("i", i, backwards[0]), place("j", j, backwards[1]));
        let otherwise = rng.pick(&["0.5", "x[i]", "y[j]", "a"]);
        terms += &format!("+ 0.4 * t.get(({i}, {j})).unwrap_or({otherwise}) ");
    }
    let function = rng.pick(&["sin", "tanh", "cos", "atan"]);
    let cell = format!("t[(i, j)] = (x[i] * y[j] {terms}).{function}();");
    let (inside, before, after, end) = match rng.below(8) {
        6 => ("s -= 0.1 * t[(i, j)] * y[j];", "", "", ""),
        7 => ("top = t[(i, j)].max(top);", "", "", "s += 0.1 * top;"),
        // Looked at before later rows change it, or added up meanwhile.
        4 => (
            "u[j] = 0.5 * u[j] + t[(i, j)];",
            "",
            "last[i] = u.get(0).unwrap_or(0.3);",
            "s += sum(last);",
        ),
        5 => (
            "s += 0.1 * t[(i, j)];",
            "",
            "last[i] = s;",
            "s += sum(last);",
        ),
        0 => (
            "r += t[(i, j)] * y[j];",
            "let mut r = x[i];",
            "last[i] = r;",
            "s += sum(last);",
        ),
        1 => ("s += 0.1 * t[(i, j)];", "", "", ""),
        2 => (
            "",
            "let z = (x[i] + a).exp();",
            "last[i] = z;",
            "s += sum(last);",
        ),
        _ => ("", "", "", ""),
    };
    let (outer, inner) = (order(rows, backwards[0]), order(columns, backwards[1]));
    format!(
        "let mut t = for (i, j) in (N, K) {{ 0.3 * x[i] + y[j] }};
        let mut last = for _i in N {{ 0.0 }};
        let mut u = for j in K {{ y[j] }};
        let mut top = -9.0;
        for i in {outer} {{ {before} for j in {inner} {{ {cell} {inside} }} {after} }}
        {end} s += sum(for (i, j) in (N, K) {{ t[(i, j)] * (1.0 + x[i]) }});"
    )
}

/// Rows made of rows, with variables.
fn row(rng: &mut Rng) -> String {
    let function = rng.pick(&["sin", "tanh", "cos", "atan"]);
    let cell = rng.pick(&[
        "(left + row[j] * y[j])",
        "(diagonal - 0.5 * left + x[i])",
        "(0.5 * row[j] + 0.3 * diagonal + a * left)",
        "(row[j] * y[j] + x[i])",
    ]);
    let corner = rng.pick(&[
        "corner = 0.5;",
        "corner = 0.3 * x[i];",
        "corner = left;",
        "",
    ]);
    let kept = rng.pick(&["", "s += 0.2 * left;"]);
    let added = rng.pick(&["", "s -= 0.1 * next * y[j];", "s += next; s -= a * row[j];"]);
    format!(
        "let mut row = for j in K {{ y[j] }}; let mut corner = a;
        for i in N {{
            let mut diagonal = corner; let mut left = x[i];
            row = for j in K {{
                let next = {cell}.{function}();
                diagonal = row[j];
                left = next;
                {added}
                next
            }};
            {corner} {kept}
        }}
        s += sum(for j in K {{ row[j] * y[j] }});"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::agreement::{check_source, entered_by};
    use crate::testing::entered::{DISTRIBUTED, HANDED_ON, ROWS, SKEWED};

    /// Members of `N` and `K`, on both sides of where diagonals begin.
    const SIZES: [[usize; 2]; 5] = [[0, 2], [1, 1], [5, 40], [33, 7], [32, 34]];

    #[test]
    fn random_diagonals_agree_at_every_stage() {
        let check = |seed| {
            let rng = &mut Rng::new(seed);
            let source = random_diagonals(rng);
            check_source(&source, &SIZES, &[4, 3], rng, seed)
        };
        let counters = [
            ("loops are skewed", &SKEWED),
            (
                "functions of a diagonal have a kernel of their own",
                &DISTRIBUTED,
            ),
            ("a sum is handed on from row to row", &HANDED_ON),
            ("a loop over a row keeps its states", &ROWS),
        ];
        entered_by(0..40, check, &counters);
    }
}
