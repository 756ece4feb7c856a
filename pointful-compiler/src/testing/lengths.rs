//! Functions whose points make tables as long as they compute: from numbers, from what such tables
//! hold, and from one round of a loop to the next.

use super::rng::Rng;

/// What is in scope where a statement is.
struct Writer<'r> {
    rng: &'r mut Rng,
    names: usize,
}

/// A function of this kind.
pub(crate) fn random_lengths(rng: &mut Rng) -> String {
    let mut writer = Writer { rng, names: 0 };
    let body = writer.statements(Vec::new(), 0);
    let point =
        format!("for i in N {{ let mut s = x[i]; let mut n = ends[i]; {body} s + n as f64 }}");
    let (result, value) = writer.rng.pick(&[
        ("Table<N, f64>", "POINT"),
        ("f64", "sum(POINT)"),
        ("Table<N, f64>", "cumsum(POINT)"),
        (
            "f64",
            "let mut z = 0.5; for _r in 0..2 { z = z.sin() + max(POINT); } z",
        ),
    ]);
    let value = value.replace("POINT", &point);
    format!(
        "fn f<N: IndexSet, M: IndexSet>(x: &Table<N, f64>, q: &Table<M, f64>, ends: &Table<N, usize>) -> {result} {{ {value} }}"
    )
}

impl Writer<'_> {
    fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    /// Statements that know these tables.
    fn statements(&mut self, mut tables: Vec<String>, depth: usize) -> String {
        let count = 2 + self.rng.below(3);
        let made = self.made(&mut tables);
        (0..count).fold(made, |text, _| text + &self.statement(&mut tables, depth))
    }

    fn statement(&mut self, tables: &mut Vec<String>, depth: usize) -> String {
        let table = tables[self.rng.below(tables.len())].clone();
        match self.rng.below(9) {
            0 => self.made(tables),
            1 => {
                let (name, least) = (self.fresh("t"), self.rng.pick(&["0.3", "-0.2", "2.0"]));
                tables.push(name.clone());
                format!("let {name} = filter(|y| y > {least}, &{table}); ")
            }
            2 => {
                let name = self.fresh("t");
                tables.push(name.clone());
                format!("let {name} = cumsum(&{table}); ")
            }
            3 => format!("n = {table}.len() + {}; ", self.rng.below(2)),
            4 => format!("n = filter(|y| y > 0.1, &{table}).len(); "),
            5 => format!("s = (0.5 * s + sum(&{table})).sin(); "),
            6 => self
                .rng
                .pick(&[
                    "s += q[n as i64]; ",
                    "assert!(n < 3, \"{} are too many\", n); ",
                    "s += q[n as i64 - 1]; ",
                ])
                .to_owned(),
            kind if depth < 2 => {
                let body = self.statements(tables.clone(), depth + 1);
                match kind {
                    7 => format!("for _r in 0..{} {{ {body} }} ", 2 + self.rng.below(2)),
                    _ => format!("if s > 0.1 {{ {body} }} "),
                }
            }
            _ => self.made(tables),
        }
    }

    /// A new table.
    fn made(&mut self, tables: &mut Vec<String>) -> String {
        let (name, index) = (self.fresh("t"), self.fresh("j"));
        let length = self.rng.pick(&["n", "n + 1", "ends[i]", "2 * n % 5"]);
        let value = match tables.is_empty() {
            false if self.rng.chance(40) => {
                let table = tables[self.rng.below(tables.len())].clone();
                format!("s * max(&{table})")
            }
            _ => "s + x[i]".to_owned(),
        };
        tables.push(name.clone());
        format!("let {name} = for {index} in 0..{length} {{ ({value} + {index} as f64).sin() }}; ")
    }
}
