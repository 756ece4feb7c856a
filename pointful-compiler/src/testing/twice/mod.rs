//! Random functions written twice: as text of the language, and as plain loops generic in what they
//! compute with.
//!
//! Nothing here knows the compiler. What both texts mean is the same by construction: each operand,
//! place, loop and assignment is written in both at once. Values stay tame (states are bounded or
//! contract), lengths are those of [`Set`]s, and no set is empty.

mod exprs;
mod stmts;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::Rng;

/// The same in the language and in plain Rust.
#[derive(Clone, Debug)]
struct Both {
    point: String,
    plain: String,
}

impl Both {
    fn same(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            point: text.clone(),
            plain: text,
        }
    }

    fn new(point: impl Into<String>, plain: impl Into<String>) -> Self {
        Self {
            point: point.into(),
            plain: plain.into(),
        }
    }
}

/// A pattern in which each `{}` is one of the parts, in both texts, and `½` a constant.
fn weave(pattern: &str, parts: &[&Both]) -> Both {
    let each = |of: fn(&Both) -> &str, half: &str| {
        let pattern = pattern.replace('½', half);
        let mut pieces = pattern.split("{}");
        let mut text = pieces.next().unwrap_or_default().to_owned();
        for (part, piece) in parts.iter().zip(pieces) {
            text.push_str(of(part));
            text.push_str(piece);
        }
        text
    };
    Both::new(
        each(|part| &part.point, "0.5"),
        each(|part| &part.plain, "T::c(0.5)"),
    )
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    N,
    M,
    Three,
}

impl Set {
    fn path(self) -> &'static str {
        match self {
            Set::N => "N",
            Set::M => "M",
            Set::Three => "Fin::<3>",
        }
    }

    fn length(self) -> &'static str {
        match self {
            Set::N => "n",
            Set::M => "m",
            Set::Three => "3",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// A number, or a table of numbers over these sets.
    Float(Vec<Set>),
    /// A table of members of the second set over the first.
    Places(Set, Set),
    /// A member.
    Index(Set),
    /// An integer, which is below the length of a set, if there is one.
    Count(Option<Set>),
    /// A table of lengths up to that of `M`, over `N`.
    Lengths,
}

#[derive(Clone, Debug)]
struct Variable {
    name: String,
    kind: Kind,
    mutable: bool,
}

/// A random function.
#[derive(Clone, Debug)]
pub struct Written {
    /// The function `f` in the language, from [`PARAMS`] to a table and a number.
    pub function: String,
    /// The body of a plain function of the same parameters.
    pub plain: String,
    /// Over what its table is.
    pub shape: Shape,
    /// How many statements were asked for.
    pub statements: usize,
    /// Products of lengths, as powers of those of `N` and `M` and a constant: how often something
    /// runs.
    work: Vec<(u32, u32, f64)>,
}

/// The sets of a table that is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `N`.
    N,
    /// `M`.
    M,
    /// `(N, M)`.
    Both,
}

/// What is to be written.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The same seed gives the same function.
    pub seed: u64,
    /// Statements with these numbers are left out.
    pub without: BTreeSet<usize>,
}

struct Writer {
    rng: Rng,
    seed: u64,
    without: BTreeSet<usize>,
    statements: usize,
    names: usize,
    scope: Vec<Variable>,
    /// Names in front of this may not be assigned to here.
    assignable: usize,
    budget: usize,
    /// Sets of the loops around, and constants.
    nest: Vec<Result<Set, f64>>,
    work: Vec<(u32, u32, f64)>,
}

/// Parameters in the language: tables over `N`, `M` and both, a number, members, lengths up to that
/// of `M`, and a number of steps.
pub const PARAMS: &str = "x: &Table<N, f64>, y: &Table<M, f64>, a: &Table<(N, M), f64>, c: f64, at: &Table<N, M>, to: &Table<M, N>, nx: &Table<N, N>, ends: &Table<N, usize>, steps: usize";

impl Shape {
    /// The table's type.
    pub fn ty(self) -> &'static str {
        match self {
            Self::N => "Table<N, f64>",
            Self::M => "Table<M, f64>",
            Self::Both => "Table<(N, M), f64>",
        }
    }
}

/// Loops in loops.
const DEEPEST: usize = 4;

impl Written {
    /// The function that is asked for.
    pub fn new(asked: &Asked) -> Self {
        let mut writer = Writer {
            rng: Rng::new(asked.seed ^ 0xf00d),
            seed: asked.seed,
            without: asked.without.clone(),
            statements: 0,
            names: 0,
            scope: Vec::new(),
            assignable: 0,
            budget: 0,
            nest: Vec::new(),
            work: Vec::new(),
        };
        writer.budget = 3 + writer.rng.below(7);
        writer.function()
    }

    /// A function that calls it, or another of these: `loss` is a sum of what it gives, `h` a table,
    /// and `gg` a sum of the gradient of `loss`.
    pub fn helper(&self, name: &str) -> String {
        let call = "(x, y, a, c, at, to, nx, ends, steps)";
        let head = |ty: &str| format!("fn {name}<N: IndexSet, M: IndexSet>({PARAMS}) -> {ty}");
        let (index, set, element, angle) = match self.shape {
            Shape::N => ("i", "N", "r[i]", "0.7 * i.ordinal() as f64"),
            Shape::M => ("i", "M", "r[i]", "0.7 * i.ordinal() as f64"),
            Shape::Both => (
                "(i, j)",
                "(N, M)",
                "r[i][j]",
                "0.7 * i.ordinal() as f64 + 0.3 * j.ordinal() as f64",
            ),
        };
        match name {
            "loss" => format!(
                "{} {{\n    let (r, s) = f{call};\n    sum(for {index} in {set} {{ {element} * ({angle}).cos() }}) + s\n}}",
                head("f64")
            ),
            "h" => format!(
                "{} {{\n    let (r, s) = f{call};\n    for {index} in {set} {{ {element} + s }}\n}}",
                head(self.shape.ty())
            ),
            _ => format!(
                "{} {{\n    let g = grad!(loss, wrt = x){call};\n    sum(for i in N {{ g[i] * (0.4 * i.ordinal() as f64).cos() }})\n}}",
                head("f64")
            ),
        }
    }

    /// Lengths for each run, round those at which other code runs, where the work is not too much.
    pub fn sizes(&self, seed: u64, runs: usize, most: usize) -> Vec<(usize, usize)> {
        const ROUND: [usize; 24] = [
            1, 2, 3, 7, 8, 9, 11, 12, 13, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1023,
            1024, 1025,
        ];
        let mut rng = Rng::new(seed ^ 0x517e5);
        let work = |n: usize, m: usize| -> f64 {
            let term = |&(a, b, c): &(u32, u32, f64)| {
                (n as f64).powi(a as i32) * (m as f64).powi(b as i32) * c
            };
            self.work.iter().map(term).sum()
        };
        let mut sizes = vec![(2, 3)];
        while sizes.len() < runs {
            let mut draw = || {
                let from = rng.below(ROUND.len());
                ROUND[from]
            };
            let (mut n, mut m) = (draw().min(most), draw().min(most));
            while n * m > 20_000 || work(n, m) > 4e5 {
                let larger = if n > m { &mut n } else { &mut m };
                *larger = ROUND
                    .iter()
                    .copied()
                    .rev()
                    .find(|&x| x < *larger)
                    .unwrap_or(1);
            }
            sizes.push((n, m));
        }
        sizes
    }

    /// What is left out in turn, where so much is left out already.
    pub fn smaller(&self, without: &BTreeSet<usize>) -> Vec<BTreeSet<usize>> {
        let free = (0..self.statements)
            .rev()
            .filter(|number| !without.contains(number));
        free.map(|number| without.iter().copied().chain([number]).collect())
            .collect()
    }
}

impl Writer {
    fn function(&mut self) -> Written {
        for (name, kind) in [
            ("x", Kind::Float(vec![Set::N])),
            ("y", Kind::Float(vec![Set::M])),
            ("a", Kind::Float(vec![Set::N, Set::M])),
            ("c", Kind::Float(vec![])),
            ("at", Kind::Places(Set::N, Set::M)),
            ("to", Kind::Places(Set::M, Set::N)),
            ("nx", Kind::Places(Set::N, Set::N)),
            ("ends", Kind::Lengths),
            ("steps", Kind::Count(None)),
        ] {
            self.declare(name, kind, false);
        }
        let mut body = (String::new(), String::new());
        while self.budget > 0 {
            self.statement(&mut body, 1);
        }
        let shape = self.rng.pick(&[Shape::N, Shape::M, Shape::Both]);
        let dims: &[Set] = match shape {
            Shape::N => &[Set::N],
            Shape::M => &[Set::M],
            Shape::Both => &[Set::N, Set::M],
        };
        let table = self.result(dims);
        let number = self.newest();
        let (point, plain) = body;
        Written {
            function: format!(
                "fn f<N: IndexSet, M: IndexSet>({PARAMS}) -> ({}, f64) {{\n{point}    ({}, {})\n}}\n",
                shape.ty(),
                table.point,
                number.point
            ),
            plain: format!("{plain}    ({}, {})\n", table.plain, number.plain),
            shape,
            work: self.work.clone(),
            statements: self.statements,
        }
    }

    /// A table of what tables and numbers there are: whole, or a few of them added up.
    fn result(&mut self, dims: &[Set]) -> Both {
        let whole: Vec<String> = (self.scope.iter().skip(9))
            .filter(|v| v.kind == Kind::Float(dims.to_vec()))
            .map(|v| v.name.clone())
            .collect();
        if let Some(name) = whole.last()
            && self.rng.chance(50)
        {
            return Both::new(format!("{name}.clone()"), format!("{name}.clone()"));
        }
        let names = ["i", "j"];
        for (name, &set) in names.iter().zip(dims) {
            self.declare(name, Kind::Index(set), false);
        }
        self.nest.extend(dims.iter().map(|&set| Ok(set)));
        let mut value = self.float(1);
        let tables: Vec<Variable> = (self.scope.iter().skip(9))
            .filter(|v| matches!(&v.kind, Kind::Float(_)))
            .cloned()
            .collect();
        for variable in tables.iter().rev().take(3) {
            if let Some(read) = self.read(variable) {
                value = weave("({} + ½ * {})", &[&value, &read]);
            }
        }
        self.counted();
        self.nest.truncate(self.nest.len() - dims.len());
        self.scope.truncate(self.scope.len() - dims.len());
        match dims {
            [set] => Both::new(
                format!("for i in {} {{ {} }}", set.path(), value.point),
                format!(
                    "(0..{}).map(|i| {{ {} }}).collect()",
                    set.length(),
                    value.plain
                ),
            ),
            _ => Both::new(
                format!("for (i, j) in (N, M) {{ {} }}", value.point),
                format!(
                    "(0..n * m).map(|k| {{ let (i, j) = (k / m, k % m); {} }}).collect()",
                    value.plain
                ),
            ),
        }
    }

    /// Numbers in scope, newest first, added up.
    fn newest(&mut self) -> Both {
        let numbers: Vec<String> = (self.scope.iter().skip(9).rev())
            .filter(|v| v.kind == Kind::Float(vec![]))
            .map(|v| v.name.clone())
            .take(3)
            .collect();
        match numbers.as_slice() {
            [] => self.float(1),
            several => Both::same(several.join(" + ")),
        }
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn declare(&mut self, name: &str, kind: Kind, mutable: bool) {
        self.scope.push(Variable {
            name: name.to_owned(),
            kind,
            mutable,
        });
    }

    /// What stands here runs as often as the loops around say.
    fn counted(&mut self) {
        let mut term = (0, 0, 1.0);
        for loop_ in &self.nest {
            match loop_ {
                Ok(Set::N) => term.0 += 1,
                Ok(Set::M) => term.1 += 1,
                Ok(Set::Three) => term.2 *= 3.0,
                Err(times) => term.2 *= times,
            }
        }
        if !self.work.contains(&term) {
            self.work.push(term);
        }
    }
}

/// Lines of a block, in both texts.
type Lines = (String, String);

fn line(out: &mut Lines, depth: usize, text: &Both) {
    let indent = "    ".repeat(depth);
    let _ = writeln!(out.0, "{indent}{}", text.point);
    let _ = writeln!(out.1, "{indent}{}", text.plain);
}
