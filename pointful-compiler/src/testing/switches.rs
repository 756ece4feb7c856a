//! Random switches over the members of a short set: what each of them reads, of which row and how
//! far away, as in a lattice whose directions stream apart.

use super::rng::Rng;

const PARAMS: &str = "p: &Table<(Fin<5>, X), f64>, w: &Table<Fin<5>, f64>, y: &Table<X, f64>";

/// The function itself and transformations of it: the result, and how that is computed.
const FORMS: [[&str; 2]; 6] = [
    ["f64", "f(p, w, y)"],
    [
        "(Table<(Fin<5>, X), f64>, Table<Fin<5>, f64>, Table<X, f64>)",
        "grad!(f)(p, w, y)",
    ],
    ["Table<(Fin<5>, X), f64>", "grad!(f, wrt = p)(p, w, y)"],
    ["Table<X, f64>", "grad!(f, wrt = y)(p, w, y)"],
    ["Table<(Fin<5>, X), f64>", "hvp!(f, wrt = p)(p, w, y, p)"],
    ["f64", "let (v, t) = jvp!(f, wrt = y)(p, w, y, y); v * t"],
];

/// A function `f` and, of some form, `g` of it.
fn random_switches(rng: &mut Rng) -> String {
    let steps: String = (0..1 + rng.below(2)).map(|_| step(rng)).collect();
    let [result, value] = rng.pick(&FORMS);
    // As few as are unrolled, and more.
    let members = rng.pick(&["5", "5", "9"]);
    let text = format!(
        "fn f<X: IndexSet>({PARAMS}) -> f64 {{
            let mut r = for q in Fin::<5> {{ for x in X {{ p[q][x].sin() }} }};
            let mut s = 0.0;
            {steps}
            s + sum(for (q, x) in (Fin::<5>, X) {{ r[q][x] * (1.0 + r[q][x]) }})
        }}
        fn g<X: IndexSet>({PARAMS}) -> {result} {{ {value} }}"
    );
    text.replace("<5>", &format!("<{members}>"))
}

/// A step of a lattice, or something added up where a switch says so.
fn step(rng: &mut Rng) -> String {
    match rng.below(4) {
        0 => format!(
            "for q in Fin::<5> {{ for x in X {{ if {} {{ s += {}; }} }} }} ",
            condition(rng),
            read(rng)
        ),
        1 => format!(
            "for q in Fin::<5> {{ if {} {{ s += sum(for x in X {{ {} }}); }} }} ",
            member(rng),
            read(rng)
        ),
        _ => {
            let mut switch = String::new();
            for _ in 0..1 + rng.below(3) {
                switch += &format!("if {} {{ {} }} else ", condition(rng), read(rng));
            }
            format!(
                "r = for q in Fin::<5> {{ for x in X {{ {switch} {{ {} }} }} }}; ",
                read(rng)
            )
        }
    }
}

/// Whether `q` is one of some members.
fn member(rng: &mut Rng) -> String {
    let word = rng.pick(&["==", "==", "==", "<", "!="]);
    format!("q.ordinal() {word} {}", rng.below(5))
}

fn condition(rng: &mut Rng) -> String {
    let member = member(rng);
    let more = rng.pick(&[
        "",
        "",
        "",
        " && y[x] > 0.0",
        " && w[q] > 0.0",
        " || y[x] > 0.5",
    ]);
    member + more
}

/// A number for `q` and `x`.
fn read(rng: &mut Rng) -> String {
    let row = match rng.below(4) {
        0 => "q".to_owned(),
        _ => rng.below(5).to_string(),
    };
    let at = match rng.below(4) {
        0 => "x".to_owned(),
        _ => {
            let form = rng.pick(&[
                "(x + S).wrap()",
                "(x - S).wrap()",
                "(x + S).clamp()",
                "(x - S).mirror()",
            ]);
            form.replace('S', &(1 + rng.below(2)).to_string())
        }
    };
    let factor = rng.pick(&["", "", "w[q] * ", "y[x] * ", "0.5 + "]);
    format!("{factor}r[{row}][{at}]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::agreement::{check_source, entered_by};
    use crate::testing::entered::{SPLIT_MEMBERS, UNROLLED};

    /// Members of `X`.
    const SIZES: [[usize; 1]; 5] = [[0], [1], [2], [3], [9]];

    #[test]
    fn random_switches_agree_at_every_stage() {
        let check = |seed| {
            let rng = &mut Rng::new(seed);
            let source = random_switches(rng);
            check_source(&source, &SIZES, &[4], rng, seed)
        };
        let counters = [
            ("loops over a few members are unrolled", &UNROLLED),
            ("accumulations are split by members", &SPLIT_MEMBERS),
        ];
        entered_by(0..80, check, &counters);
    }
}
