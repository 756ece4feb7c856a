//! Functions of loops in triangles and of lengths that vary, written by tests or at random, in which
//! states change and tables are made, changed and read later; and their derivatives.

use super::rng::Rng;

/// Reads beyond the end begin again.
const READ: &str = "fn at<J: IndexSet>(q: &Table<J, f64>, b: usize) -> f64 { q[b % size(J)] }";

/// Functions of a body in loops that run in parallel, in order, in a triangle of their own, and in
/// a loop that runs in order.
pub fn functions(body: &str) -> [String; 5] {
    [
        format!("sum(for w in W {{ let mut x = r[w]; let mut y = 0.0; {body} x + y }})"),
        format!(
            "let mut x = 0.3; let mut y = 0.0; for w in W {{ x = x * r[w]; {body} }} x + 0.5 * y"
        ),
        format!(
            "let t = for w in W {{ let mut x = r[w]; let mut y = 0.0; {body} x * y + x }}; max(t) + sum(t)"
        ),
        format!(
            "sum(for w in W {{ sum(for v in ..w {{ let mut x = r[w] * r[v]; let mut y = 0.0; {body} x - y }}) }})"
        ),
        format!(
            "let mut z = 0.4; for i in 0..n {{ z = z * 0.5 + sum(for w in W {{ let mut x = r[w] * z; let mut y = 0.0; {body} x - y + i as f64 }}); }} z"
        ),
    ]
}

/// The function itself and transformations of it: each a parameter, the result, and how that is
/// computed.
pub const FORMS: [[&str; 3]; 14] = [
    ["", "f64", "f(q, r, ends, n)"],
    [
        "",
        "(Table<J, f64>, Table<W, f64>)",
        "grad!(f, wrt = (q, r))(q, r, ends, n)",
    ],
    [
        "d: &Table<J, f64>",
        "f64",
        "let (v, t) = jvp!(f, wrt = q)(q, r, ends, n, d); v * t",
    ],
    [
        "d: &Table<(B, J), f64>",
        "Table<(B, J), f64>",
        "vmap!(grad!(f, wrt = q), over = q)(d, r, ends, n)",
    ],
    [
        "d: &Table<J, f64>",
        "Table<J, f64>",
        "hvp!(f, wrt = q)(q, r, ends, n, d)",
    ],
    [
        "",
        "Table<(J, J), f64>",
        "hessian!(f, wrt = q)(q, r, ends, n)",
    ],
    [
        "",
        "Table<(J, J), f64>",
        "jacobian!(grad!(f, wrt = q), wrt = q)(q, r, ends, n)",
    ],
    [
        "d: &Table<(B, J), f64>",
        "Table<B, f64>",
        "for b in B { let (v, t) = jvp!(f, wrt = q)(&d[b], r, ends, n, q); v * t }",
    ],
    [
        "d: &Table<(B, J), f64>",
        "Table<(B, J), f64>",
        "for b in B { hvp!(f, wrt = q)(&d[b], r, ends, n, q) }",
    ],
    [
        "e: &Table<(B, W), usize>",
        "Table<(B, J), f64>",
        "for b in B { grad!(f, wrt = q)(q, r, &e[b], n) }",
    ],
    [
        "e: &Table<(B, W), usize>",
        "Table<(B, J, J), f64>",
        "for b in B { hessian!(f, wrt = q)(q, r, &e[b], n) }",
    ],
    [
        "",
        "Table<(W, W), f64>",
        "hessian!(f, wrt = r)(q, r, ends, n)",
    ],
    [
        "d: &Table<W, f64>",
        "Table<W, f64>",
        "hvp!(f, wrt = r)(q, r, ends, n, d)",
    ],
    [
        "d: &Table<(B, J), f64>",
        "Table<(B, J, J), f64>",
        "for b in B { hessian!(f, wrt = q)(&d[b], r, ends, n) }",
    ],
];

/// The forms that random functions are asked in: where they are differentiated twice, most of what
/// loops make is kept.
const DRAWN: [usize; 9] = [0, 1, 2, 4, 5, 11, 12, MAPPED, 13];

/// The gradient at several places at once.
const MAPPED: usize = 3;

/// A function `f` that computes this of `q`, `r`, `ends` and `n`, and `g`, one of its [forms](FORMS).
pub fn source(function: &str, [param, result, value]: [&str; 3]) -> String {
    let params = "q: &Table<J, f64>, r: &Table<W, f64>, ends: &Table<W, usize>, n: usize";
    format!(
        "{READ}
        fn f<J: IndexSet, W: IndexSet>({params}) -> f64 {{ {function} }}
        fn g<J: IndexSet, W: IndexSet, B: IndexSet>({params}, _b: &Table<B, f64>, {param}) -> {result} {{ {value} }}"
    )
}

/// Names that stand for something where a statement is.
#[derive(Clone, Default)]
struct Scope {
    /// Members of `J`.
    members: Vec<String>,
    /// Integers.
    counts: Vec<String>,
    /// Tables over `J`.
    tables: Vec<String>,
    /// Those of them that may be changed.
    mutable: Vec<String>,
}

struct Writer<'r> {
    rng: &'r mut Rng,
    /// Says which loops stand behind a branch that lanes decide differently, if any.
    branches: Option<Rng>,
    names: usize,
}

/// A function `f` and, of some form, `g` of it.
pub fn random_ragged(rng: &mut Rng, branches: Option<Rng>) -> String {
    let mut writer = Writer {
        rng,
        branches,
        names: 0,
    };
    let scope = Scope {
        counts: vec!["n".to_owned(), "ends[w]".to_owned()],
        tables: vec!["q".to_owned()],
        ..Scope::default()
    };
    let body = writer.statements(scope, 0, 2);
    // Derivatives at several places at once are what most is shared in.
    let mapped = rng.chance(40);
    let around = [0, 1, 3, 4][rng.below(if mapped { 1 } else { 4 })];
    let form = match mapped {
        true => MAPPED,
        false => DRAWN[rng.below(DRAWN.len())],
    };
    source(&functions(&body)[around], FORMS[form])
}

/// The same with a place that is computed from integers, read in loops over the set it is in, and
/// so kept of the loops around.
#[cfg(test)]
fn random_kept(rng: &mut Rng) -> String {
    let mut place = || {
        let [a, b] = [0, 1].map(|_| rng.pick(&["k", "n", "ends[w]"]));
        format!("{a} + {b}")
    };
    let (table, factor) = (place(), place());
    let inner = rng.pick(&[
        "x *= sum(for _j in 0..ends[w] { at(t, PLACE) * x }).cos();",
        "x = (0.5 * x + at(t, PLACE).sin()).sin();",
        "for _j in J { x = 0.5 * x + at(t, PLACE).cos(); }",
    ]);
    let inner = inner.replace("PLACE", &factor);
    // A long loop in a loop runs again, and nothing that it reads is kept: what a short one reads is.
    let (around, rounds) = rng.pick(&[
        ("0..n", "J"),
        ("0..n", "Fin::<3>"),
        ("0..n", "Fin::<65>"),
        ("Fin::<2>", "Fin::<3>"),
    ]);
    let (table, inner) = match around {
        "0..n" => (table, inner),
        _ => {
            let number = |text: &str| text.replace('k', "k.ordinal()");
            (number(&table), inner.replace(&factor, &number(&factor)))
        }
    };
    let body = format!(
        "for k in {around} {{ let t = for j in J {{ x * q[j] + at(q, {table}) }}; for _i in {rounds} {{ {inner} }} }}"
    );
    let form = if rng.chance(60) {
        MAPPED
    } else {
        DRAWN[rng.below(DRAWN.len())]
    };
    source(&functions(&body)[rng.below(5)], FORMS[form])
}

impl Writer<'_> {
    fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn one_of(&mut self, names: &[String]) -> String {
        names[self.rng.below(names.len())].clone()
    }

    fn statements(&mut self, mut scope: Scope, depth: usize, most: usize) -> String {
        let count = 1 + self.rng.below(most);
        let mut text = String::new();
        for _ in 0..count {
            text.push_str(&self.statement(&mut scope, depth));
        }
        text.push_str(&self.change(&scope));
        text
    }

    /// A loop, or a table.
    fn statement(&mut self, scope: &mut Scope, depth: usize) -> String {
        match self.rng.below(7) {
            0 => {
                let (name, index) = (self.fresh("t"), self.fresh("j"));
                let value = self.value(scope, 1);
                scope.tables.push(name.clone());
                format!("let {name} = for {index} in J {{ (x * q[{index}] + {value}).sin() }}; ")
            }
            1 => {
                let (name, table) = (self.fresh("u"), self.one_of(&scope.tables));
                scope.tables.push(name.clone());
                scope.mutable.push(name.clone());
                format!("let mut {name} = {table}.clone(); ")
            }
            2..7 if depth < 2 => self.repeated(scope, depth),
            _ => self.change(scope),
        }
    }

    /// A range, and what its index is in a scope.
    fn range(&mut self, scope: &Scope) -> (String, bool) {
        let members = !scope.members.is_empty();
        match self.rng.below(8) {
            0..3 if members => {
                let index = self.one_of(&scope.members);
                let range = self.rng.pick(&["..I", "..=I", "I..", "(..I).rev()"]);
                (range.replace('I', &index), true)
            }
            3 if members => {
                let index = self.one_of(&scope.members);
                (format!("0..{index}.ordinal()"), false)
            }
            0 | 4 => ("J".to_owned(), true),
            1 => ("J.rev()".to_owned(), true),
            _ => {
                let end = self.one_of(&scope.counts);
                let range = self.rng.pick(&["0..E", "0..E", "(0..E).rev()"]);
                (range.replace('E', &end), false)
            }
        }
    }

    /// The head of a loop, whose index is named so and a number, and what is in scope in it.
    fn head(&mut self, scope: &Scope, prefix: &str) -> (String, Scope) {
        let (range, member) = self.range(scope);
        let index = self.fresh(prefix);
        let head = format!("for {index} in {range} {{ let _ = {index};");
        let mut inner = scope.clone();
        match member {
            true => inner.members.push(index),
            false => inner.counts.push(index),
        }
        (head, inner)
    }

    fn repeated(&mut self, scope: &Scope, depth: usize) -> String {
        let (head, inner) = self.head(scope, "k");
        let body = self.statements(inner, depth + 1, 2);
        let repeated = format!("{head} {body} }} ");
        match (self.branches.as_mut()).is_some_and(|rng| rng.chance(40)) {
            true => format!("if x > 0.1 {{ {repeated} }} "),
            false => repeated,
        }
    }

    /// A state or an element of a table changes.
    fn change(&mut self, scope: &Scope) -> String {
        if !scope.mutable.is_empty() && !scope.members.is_empty() && self.rng.chance(50) {
            let (table, index) = (self.one_of(&scope.mutable), self.one_of(&scope.members));
            let value = self.value(scope, 1);
            return format!("{table}[{index}] = ({table}[{index}] * x + {value}).sin(); ");
        }
        let value = self.value(scope, 2);
        match self.rng.below(6) {
            0 => format!("y += {value}.sin(); "),
            1 => format!("x = 0.5 * x * {value}.sin() + 0.5; "),
            2 => format!("x = 0.5 * x + {value}.cos(); "),
            3 | 4 => format!("x *= {value}.cos(); "),
            _ => format!("x = (0.5 * x + {value}).sin(); "),
        }
    }

    /// A number that is computed here.
    fn value(&mut self, scope: &Scope, depth: usize) -> String {
        match self.rng.below(7) {
            0 => "r[w]".to_owned(),
            1 if !scope.members.is_empty() => {
                let (table, index) = (self.one_of(&scope.tables), self.one_of(&scope.members));
                format!("{table}[{index}]")
            }
            2 | 3 if depth > 0 => {
                let (head, inner) = self.head(scope, "s");
                let value = self.value(&inner, depth - 1);
                let word = self.rng.pick(&["sum", "sum", "sum", "prod"]);
                format!("{word}({head} ({value} * x).sin() }})")
            }
            4 if depth > 0 => {
                let [a, b] = [0, 1].map(|_| self.value(scope, depth - 1));
                format!("({a} * {b})")
            }
            _ => {
                let (table, end) = (self.one_of(&scope.tables), self.one_of(&scope.counts));
                let other = self.one_of(&scope.counts);
                match self.rng.below(5) {
                    0 => format!("at(r, {end})"),
                    3 | 4 => format!("at({table}, {end}).sin()"),
                    1 => format!("at({table}, {end} + {other})"),
                    _ => format!("at({table}, {end})"),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::agreement::{check_source, entered_by};
    use crate::testing::entered::{GUARDED, KEPT, RUN_AGAIN, TRIED, UNMADE};

    /// Members of `J`, `W` and `B`.
    const SIZES: [&[usize]; 5] = [&[3, 2, 2], &[2, 3, 1], &[3, 0, 2], &[0, 3, 2], &[1, 1, 1]];

    fn check(seed: u64) -> Result<bool, String> {
        let rng = &mut Rng::new(seed);
        let source = random_ragged(rng, seed.is_multiple_of(3).then(|| Rng::new(seed)));
        check_source(&source, &SIZES, &[3, 2], rng, seed)
    }

    #[test]
    fn random_ragged_functions_agree_at_every_stage() {
        let counters = [
            ("a loop in a loop runs again", &RUN_AGAIN),
            ("what perhaps no lane has made is read", &UNMADE),
            ("a read stands behind the guard of its index", &GUARDED),
            ("a device finds out how long arrays are", &TRIED),
        ];
        entered_by(0..170, check, &counters);
    }

    #[test]
    fn places_that_are_kept_are_read_where_there_are_any() {
        let check = |seed| {
            let rng = &mut Rng::new(seed);
            let source = random_kept(rng);
            check_source(&source, &SIZES, &[3, 2], rng, seed)
        };
        let counters = [
            ("a load stays in its loop", &KEPT),
            ("a loop in a loop runs again", &RUN_AGAIN),
        ];
        entered_by(0..70, check, &counters);
    }
}
