//! Statements: what is named, tables that loops make, and above all states: numbers and tables that
//! loops change.

use super::super::Rng;
use super::exprs::{constant, element};
use super::{Both, DEEPEST, Kind, Lines, Set, Variable, Writer, line, weave};

impl Writer {
    /// One statement of some kind. Each draws from numbers of its own, so that others stay as they
    /// are where one is left out.
    pub(super) fn statement(&mut self, out: &mut Lines, depth: usize) {
        self.budget = self.budget.saturating_sub(1);
        let number = self.statements;
        self.statements += 1;
        let own = Rng::new(self.seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ number as u64);
        let rng = std::mem::replace(&mut self.rng, own);
        if self.without.contains(&number) {
            self.rng = rng;
            return;
        }
        type Make = fn(&mut Writer, &mut Lines, usize);
        let nested = |weight: usize| {
            if self.nest.len() + 1 >= DEEPEST {
                0
            } else {
                weight
            }
        };
        let assigns = if self.assignable().is_empty() { 0 } else { 30 };
        let make: Make = self.rng.weighted(&[
            (10, Writer::let_float as Make),
            (nested(12), Writer::let_table),
            (nested(14), Writer::number_states),
            (nested(18), Writer::table_states),
            (nested(8), Writer::steps),
            (nested(5), Writer::collect),
            (4, Writer::while_loop),
            (nested(6), Writer::accumulate),
            (nested(4), Writer::scan),
            (nested(4), Writer::best),
            (3, Writer::three),
            (assigns, Writer::assign),
            (assigns / 3, Writer::branch),
        ]);
        make(self, out, depth);
        self.rng = rng;
    }

    fn statements(&mut self, out: &mut Lines, depth: usize, most: usize) {
        for _ in 0..self.rng.below(most + 1) {
            if self.budget > 0 {
                self.statement(out, depth);
            }
        }
    }

    /// A value that states stay small with.
    fn bounded(&mut self, depth: usize) -> Both {
        let value = self.float(depth);
        match self.rng.below(4) {
            0 => weave("({}).sin()", &[&value]),
            1 => weave("({}).tanh()", &[&value]),
            2 => weave("({}).clamp(-2.0, 2.0)", &[&value]),
            _ => self.atom(),
        }
    }

    fn let_float(&mut self, out: &mut Lines, depth: usize) {
        let value = self.float(3);
        let name = self.fresh("v");
        line(
            out,
            depth,
            &weave(&format!("let {name} = {{}};"), &[&value]),
        );
        self.declare(&name, Kind::Float(vec![]), false);
    }

    fn three(&mut self, out: &mut Lines, depth: usize) {
        let values: Vec<Both> = (0..3).map(|_| self.float(1)).collect();
        let name = self.fresh("w");
        let values = weave("{}, {}, {}", &[&values[0], &values[1], &values[2]]);
        let text = Both::new(
            format!("let {name} = [{}];", values.point),
            format!("let {name} = vec![{}];", values.plain),
        );
        line(out, depth, &text);
        self.declare(&name, Kind::Float(vec![Set::Three]), false);
    }

    /// A set that loops run over.
    fn set(&mut self) -> Set {
        self.rng.pick(&[Set::N, Set::N, Set::M, Set::M, Set::Three])
    }

    /// `let t = for i in N { …; value };`, over one set or two.
    fn let_table(&mut self, out: &mut Lines, depth: usize) {
        let name = self.fresh("t");
        let first = self.set();
        let mut dims = vec![first];
        if self.rng.chance(25) && self.nest.len() + 2 < DEEPEST {
            let second = match first {
                Set::N => self.rng.pick(&[Set::M, Set::M, Set::Three]),
                _ => Set::N,
            };
            dims.push(second);
        }
        let mark = self.scope.len();
        let assignable = std::mem::replace(&mut self.assignable, mark);
        let indices: Vec<String> = dims.iter().map(|_| self.fresh("i")).collect();
        for (index, &set) in indices.iter().zip(&dims) {
            self.declare(index, Kind::Index(set), false);
            self.nest.push(Ok(set));
        }
        let mut body = (String::new(), String::new());
        self.statements(&mut body, depth + dims.len(), 2);
        let value = self.float(3);
        self.counted();
        self.nest.truncate(self.nest.len() - dims.len());
        self.scope.truncate(mark);
        self.assignable = assignable;
        line(
            out,
            depth,
            &Both::new(
                format!("let {name} ="),
                format!("let mut {name} = Vec::new();"),
            ),
        );
        self.opened(out, depth, &indices, &dims);
        out.0.push_str(&body.0);
        out.1.push_str(&body.1);
        let inner = depth + dims.len();
        line(
            out,
            inner,
            &Both::new(value.point, format!("{name}.push({});", value.plain)),
        );
        closed(out, depth, dims.len());
        line(out, depth, &Both::new(";", ""));
        self.declare(&name, Kind::Float(dims), false);
    }

    /// Loops over sets, opened.
    fn opened(&mut self, out: &mut Lines, depth: usize, indices: &[String], dims: &[Set]) {
        for (at, (index, set)) in indices.iter().zip(dims).enumerate() {
            let text = Both::new(
                format!("for {index} in {} {{", set.path()),
                format!("for {index} in 0..{} {{", set.length()),
            );
            line(out, depth + at, &text);
        }
    }

    /// The header of a loop in order, whose index is in scope from here on, and how often it runs.
    fn sequence(&mut self) -> (Both, Result<Set, f64>) {
        if self.rng.chance(15) {
            let name = self.fresh("t");
            self.declare(&name, Kind::Count(None), false);
            let times = self.rng.pick(&["0..steps", "0..steps + 2", "0..3"]);
            let header = match self.rng.below(3) {
                0 => format!("for {name} in ({times}).rev()"),
                _ => format!("for {name} in {times}"),
            };
            return (Both::same(header), Err(4.0));
        }
        if self.rng.chance(60) {
            let set = self.set();
            let name = self.fresh("i");
            self.declare(&name, Kind::Index(set), false);
            let (path, length) = (set.path(), set.length());
            let header = match self.rng.below(6) {
                0 => Both::new(
                    format!("for {name} in {path}.rev()"),
                    format!("for {name} in (0..{length}).rev()"),
                ),
                1 if set != Set::Three => Both::new(
                    format!("for {name} in {path}.skip(1)"),
                    format!("for {name} in 1..{length}"),
                ),
                _ => Both::new(
                    format!("for {name} in {path}"),
                    format!("for {name} in 0..{length}"),
                ),
            };
            return (header, Ok(set));
        }
        self.range()
    }

    /// A variable that loops assign to.
    fn state(&mut self, out: &mut Lines, depth: usize, table: bool) {
        let name = self.fresh(if table { "u" } else { "s" });
        if !table {
            let value = if self.rng.chance(40) {
                constant("0.0")
            } else {
                self.bounded(1)
            };
            line(
                out,
                depth,
                &weave(&format!("let mut {name} = {{}};"), &[&value]),
            );
            self.declare(&name, Kind::Float(vec![]), true);
            return;
        }
        let tables: Vec<Variable> = (self.scope.iter())
            .filter(|v| matches!(&v.kind, Kind::Float(dims) if !dims.is_empty()))
            .cloned()
            .collect();
        if self.rng.chance(60) {
            let from = tables[self.rng.below(tables.len())].clone();
            line(
                out,
                depth,
                &Both::new(
                    format!("let mut {name} = {}.clone();", from.name),
                    format!("let mut {name} = {}.to_vec();", from.name),
                ),
            );
            self.declare(&name, from.kind, true);
            return;
        }
        let set = self.rng.pick(&[Set::N, Set::M, Set::Three]);
        let index = self.fresh("i");
        let value = if self.rng.chance(50) {
            constant("0.0")
        } else {
            self.constant()
        };
        line(
            out,
            depth,
            &Both::new(
                format!(
                    "let mut {name} = for {index} in {} {{ let _ = {index}; {} }};",
                    set.path(),
                    value.point
                ),
                format!("let mut {name} = vec![{}; {}];", value.plain, set.length()),
            ),
        );
        self.declare(&name, Kind::Float(vec![set]), true);
    }

    fn number_states(&mut self, out: &mut Lines, depth: usize) {
        for _ in 0..1 + self.rng.below(2) {
            self.state(out, depth, false);
        }
        self.in_order(out, depth);
    }

    fn table_states(&mut self, out: &mut Lines, depth: usize) {
        self.state(out, depth, true);
        if self.rng.chance(50) {
            let table = self.rng.chance(30);
            self.state(out, depth, table);
        }
        self.in_order(out, depth);
        if self.rng.chance(25) {
            self.in_order(out, depth);
        }
    }

    /// A loop in order that assigns.
    fn in_order(&mut self, out: &mut Lines, depth: usize) {
        let mark = self.scope.len();
        let (header, times) = self.sequence();
        self.nest.push(times);
        line(out, depth, &weave("{} {", &[&header]));
        let mut body = (String::new(), String::new());
        if self.rng.chance(60) {
            self.assign(&mut body, depth + 1);
        }
        self.statements(&mut body, depth + 1, 2);
        self.assign(&mut body, depth + 1);
        self.counted();
        out.0.push_str(&body.0);
        out.1.push_str(&body.1);
        line(out, depth, &Both::same("}"));
        self.nest.pop();
        self.scope.truncate(mark);
    }

    /// Steps of a whole table: maps, sums of them, single elements, and the table made new.
    fn steps(&mut self, out: &mut Lines, depth: usize) {
        self.state(out, depth, true);
        self.state(out, depth, false);
        let [.., table, number] = self.scope.as_slice() else {
            return;
        };
        let (table, number) = (table.clone(), number.clone());
        let mark = self.scope.len();
        let t = self.fresh("t");
        self.declare(&t, Kind::Count(None), false);
        self.nest.push(Err(4.0));
        line(out, depth, &Both::same(format!("for {t} in 0..steps {{")));
        let mut body = (String::new(), String::new());
        for _ in 0..2 + self.rng.below(3) {
            match self.rng.below(5) {
                0 if self.budget > 0 => self.statement(&mut body, depth + 1),
                1 => self.let_table(&mut body, depth + 1),
                2 => {
                    let value = self.reduction(2);
                    let text = weave(
                        &format!("{0} = ½ * {0} + ({{}}).tanh();", number.name),
                        &[&value],
                    );
                    line(&mut body, depth + 1, &text);
                }
                3 => {
                    if let Some(read) = self.read(&table) {
                        line(
                            &mut body,
                            depth + 1,
                            &weave(&format!("{} += {{}};", number.name), &[&read]),
                        );
                    }
                }
                _ => self.whole(&mut body, depth + 1, &table),
            }
        }
        if self.rng.chance(60) {
            self.whole(&mut body, depth + 1, &table);
        }
        self.counted();
        out.0.push_str(&body.0);
        out.1.push_str(&body.1);
        line(out, depth, &Both::same("}"));
        self.nest.pop();
        self.scope.truncate(mark);
    }

    /// A table made new of itself and others.
    fn whole(&mut self, out: &mut Lines, depth: usize, table: &Variable) {
        let Kind::Float(dims) = table.kind.clone() else {
            return;
        };
        if self.nest.len() + dims.len() > DEEPEST {
            return;
        }
        let mark = self.scope.len();
        let assignable = std::mem::replace(&mut self.assignable, usize::MAX);
        let indices: Vec<String> = dims.iter().map(|_| self.fresh("i")).collect();
        let mut places = Vec::new();
        for (index, &set) in indices.iter().zip(&dims) {
            self.declare(index, Kind::Index(set), false);
            self.nest.push(Ok(set));
            places.push(Both::same(index.clone()));
        }
        let own = element(&table.name, &dims, &places);
        let read = self.read(table).unwrap_or_else(|| own.clone());
        let more = self.bounded(2);
        let value = weave("½ * {} + ½ * ({}) * ({})", &[&own, &read, &more]);
        self.counted();
        self.nest.truncate(self.nest.len() - dims.len());
        self.scope.truncate(mark);
        self.assignable = assignable;
        let fresh = self.fresh("n");
        line(
            out,
            depth,
            &Both::new(
                format!("{} =", table.name),
                format!("let mut {fresh} = Vec::new();"),
            ),
        );
        self.opened(out, depth, &indices, &dims);
        line(
            out,
            depth + dims.len(),
            &Both::new(value.point, format!("{fresh}.push({});", value.plain)),
        );
        closed(out, depth, dims.len());
        line(
            out,
            depth,
            &Both::new(";", format!("{} = {fresh};", table.name)),
        );
    }

    /// A loop in order that gives a table.
    fn collect(&mut self, out: &mut Lines, depth: usize) {
        self.state(out, depth, false);
        if self.rng.chance(40) {
            self.state(out, depth, true);
        }
        let name = self.fresh("t");
        let set = self.rng.pick(&[Set::N, Set::M]);
        let mark = self.scope.len();
        let index = self.fresh("i");
        self.declare(&index, Kind::Index(set), false);
        self.nest.push(Ok(set));
        let mut body = (String::new(), String::new());
        self.assign(&mut body, depth + 1);
        self.statements(&mut body, depth + 1, 1);
        self.assign(&mut body, depth + 1);
        let value = self.float(1);
        self.counted();
        self.nest.pop();
        self.scope.truncate(mark);
        line(
            out,
            depth,
            &Both::new(
                format!("let {name} ="),
                format!("let mut {name} = Vec::new();"),
            ),
        );
        self.opened(out, depth, std::slice::from_ref(&index), &[set]);
        out.0.push_str(&body.0);
        out.1.push_str(&body.1);
        line(
            out,
            depth + 1,
            &Both::new(value.point, format!("{name}.push({});", value.plain)),
        );
        closed(out, depth, 1);
        line(out, depth, &Both::new(";", ""));
        self.declare(&name, Kind::Float(vec![set]), false);
    }

    /// A point's own loop, which ends sooner or later.
    fn while_loop(&mut self, out: &mut Lines, depth: usize) {
        let counter = self.fresh("n");
        line(
            out,
            depth,
            &Both::new(
                format!("let mut {counter} = 0_usize;"),
                format!("let mut {counter} = 0_usize;"),
            ),
        );
        self.state(out, depth, false);
        let state = self.scope[self.scope.len() - 1].clone();
        let limit = self.constant();
        let mark = self.scope.len();
        self.nest.push(Err(6.0));
        let most = self.rng.pick(&[1, 3, 6]);
        let head = weave(
            &format!("while {counter} < {most} && {} < {{}} {{", state.name),
            &[&limit],
        );
        line(out, depth, &head);
        line(out, depth + 1, &Both::same(format!("{counter} += 1;")));
        let assignable = std::mem::replace(&mut self.assignable, mark - 1);
        if self.rng.chance(30) {
            self.statements(out, depth + 1, 1);
        }
        let value = self.bounded(2);
        let text = weave(
            &format!("{0} = {0} * {{}} + {{}} + {{}};", state.name),
            &[&constant("0.5"), &constant("0.25"), &value],
        );
        line(out, depth + 1, &text);
        self.assignable = assignable;
        line(out, depth, &Both::same("}"));
        self.counted();
        self.nest.pop();
        self.scope.truncate(mark);
    }

    /// An accumulator that is written at computed places, and read in the end.
    fn accumulate(&mut self, out: &mut Lines, depth: usize) {
        let name = self.fresh("h");
        let into = self.rng.pick(&[Set::M, Set::N]);
        let largest = self.rng.chance(20);
        let (start, plain) = if largest {
            ("Accum::max()", "T::c(-f64::INFINITY)")
        } else {
            ("Accum::zero()", "T::c(0.0)")
        };
        line(
            out,
            depth,
            &Both::new(
                format!("let mut {name} = {start};"),
                format!("let mut {name} = vec![{plain}; {}];", into.length()),
            ),
        );
        let (places, from) = if into == Set::M {
            ("at", Set::N)
        } else {
            ("to", Set::M)
        };
        let index = self.fresh("i");
        let mark = self.scope.len();
        let assignable = std::mem::replace(&mut self.assignable, mark);
        self.declare(&index, Kind::Index(from), false);
        self.nest.push(Ok(from));
        self.opened(out, depth, std::slice::from_ref(&index), &[from]);
        self.statements(out, depth + 1, 1);
        let value = self.float(2);
        let cond = self.condition(1);
        let place = format!("{places}[{index}]");
        let add = if largest {
            Both::new(
                format!("{name}[{place}].put({});", value.point),
                format!(
                    "{{ let e = {}; if e > {name}[{place}] {{ {name}[{place}] = e; }} }}",
                    value.plain
                ),
            )
        } else {
            weave(&format!("{name}[{place}] += {{}};"), &[&value])
        };
        let add = if self.rng.chance(30) {
            weave("if {} { {} }", &[&cond, &add])
        } else {
            add
        };
        line(out, depth + 1, &add);
        self.counted();
        closed(out, depth, 1);
        self.nest.pop();
        self.scope.truncate(mark);
        self.assignable = assignable;
        let got = self.fresh("g");
        let k = self.fresh("i");
        line(
            out,
            depth,
            &if largest {
                Both::new(
                    format!("let {got} = {name}.get().clamp(-9.0, 9.0);"),
                    format!(
                        "let {got}: Vec<T> = {name}.iter().map(|&{k}| {k}.clamp(-9.0, 9.0)).collect();"
                    ),
                )
            } else {
                Both::new(
                    format!("let {got} = {name}.get();"),
                    format!("let {got} = {name};"),
                )
            },
        );
        self.declare(&got, Kind::Float(vec![into]), false);
    }

    fn scan(&mut self, out: &mut Lines, depth: usize) {
        let set = self.rng.pick(&[Set::N, Set::M]);
        let (name, index) = (self.fresh("q"), self.fresh("i"));
        let mark = self.scope.len();
        let assignable = std::mem::replace(&mut self.assignable, usize::MAX);
        self.declare(&index, Kind::Index(set), false);
        self.nest.push(Ok(set));
        let value = self.float(2);
        self.counted();
        self.nest.pop();
        self.scope.truncate(mark);
        self.assignable = assignable;
        let (path, length) = (set.path(), set.length());
        let (point, step) = match self.rng.below(3) {
            0 => (
                format!(
                    "scan(0.25, |p, q| p.max(q), for {index} in {path} {{ let _ = {index}; {} }})",
                    value.point
                ),
                "if e > r { r = e; }",
            ),
            1 => (
                format!(
                    "cumprod(for {index} in {path} {{ let _ = {index}; 1.0 + 0.01 * ({}).sin() }})",
                    value.point
                ),
                "r *= T::c(1.0) + T::c(0.01) * e.sin();",
            ),
            _ => (
                format!(
                    "cumsum(for {index} in {path} {{ let _ = {index}; 0.125 * {} }})",
                    value.point
                ),
                "r += T::c(0.125) * e;",
            ),
        };
        let start = match step.as_bytes()[2] {
            b' ' if step.starts_with("if") => "0.25",
            b'*' => "1.0",
            _ => "0.0",
        };
        line(
            out,
            depth,
            &Both::new(
                format!("let {name} = {point};"),
                format!(
                    "let {name}: Vec<T> = {{ let mut r = T::c({start}); (0..{length}).map(|{index}| {{ let e = {}; {step} r }}).collect() }};",
                    value.plain
                ),
            ),
        );
        self.declare(&name, Kind::Float(vec![set]), false);
    }

    /// `argmax` and `argmin`: a member.
    fn best(&mut self, out: &mut Lines, depth: usize) {
        let set = self.rng.pick(&[Set::N, Set::M]);
        let (name, index) = (self.fresh("b"), self.fresh("i"));
        let mark = self.scope.len();
        let assignable = std::mem::replace(&mut self.assignable, usize::MAX);
        self.declare(&index, Kind::Index(set), false);
        self.nest.push(Ok(set));
        let value = self.float(2);
        self.counted();
        self.nest.pop();
        self.scope.truncate(mark);
        self.assignable = assignable;
        let (word, op) = self.rng.pick(&[("argmax", ">"), ("argmin", "<")]);
        line(
            out,
            depth,
            &Both::new(
                format!(
                    "let {name} = {word}(for {index} in {} {{ let _ = {index}; {} }});",
                    set.path(),
                    value.point
                ),
                format!(
                    "let {name} = {{ let mut r = (None::<T>, 0); for {index} in 0..{} {{ let e = {}; if r.0.is_none_or(|b| e {op} b) {{ r = (Some(e), {index}); }} }} r.1 }};",
                    set.length(),
                    value.plain
                ),
            ),
        );
        self.declare(&name, Kind::Index(set), false);
    }

    fn assignable(&self) -> Vec<Variable> {
        let from = self.assignable.min(self.scope.len());
        let own = self.scope[from..].iter();
        own.filter(|v| v.mutable).cloned().collect()
    }

    /// An assignment to a number, or to an element of a table.
    fn assign(&mut self, out: &mut Lines, depth: usize) {
        let states = self.assignable();
        if states.is_empty() {
            return;
        }
        let newest = states.len().min(3);
        let state = states[states.len() - 1 - self.rng.below(newest)].clone();
        let Kind::Float(dims) = state.kind.clone() else {
            return;
        };
        if !dims.is_empty() && self.rng.chance(12) {
            self.whole(out, depth, &state);
            return;
        }
        let mut places = Vec::new();
        for &set in &dims {
            places.push(self.place(set));
        }
        let target = element(&state.name, &dims, &places);
        let text = match self.rng.below(9) {
            0 | 1 => {
                let value = self.float(2);
                let op = self.rng.pick(&["+", "+", "-"]);
                // A plain place is not borrowed while what it is changed by is read.
                let added = weave("½ * ({}).tanh()", &[&value]);
                Both::new(
                    format!("{} {op}= {};", target.point, added.point),
                    format!("{0} = {0} {op} {1};", target.plain, added.plain),
                )
            }
            2 => weave("{} *= {};", &[&target, &constant("0.9")]),
            3 => {
                let value = self.float(2);
                let (method, other) = self.rng.pick(&[("max", "min"), ("min", "max")]);
                let bound = constant(if method == "max" { "2.0" } else { "-2.0" });
                weave(
                    &format!("{{}} = ({{}}).{method}(({{}}).{other}({{}}));"),
                    &[&target, &target, &value, &bound],
                )
            }
            4 | 5 => {
                // Linear in another element of the same table.
                let other = self.read(&state).unwrap_or_else(|| target.clone());
                let value = self.bounded(2);
                weave("{} = ½ * ({}) + ½ * ({});", &[&target, &other, &value])
            }
            _ => {
                let value = self.bounded(3);
                weave("{} = {};", &[&target, &value])
            }
        };
        let text = if self.rng.chance(25) {
            let cond = self.condition(1);
            weave("if {} { {} }", &[&cond, &text])
        } else {
            text
        };
        line(out, depth, &text);
    }

    /// `if` and `else` that assign.
    fn branch(&mut self, out: &mut Lines, depth: usize) {
        let cond = self.condition(1);
        line(out, depth, &weave("if {} {", &[&cond]));
        let mark = self.scope.len();
        for last in [false, true] {
            self.statements(out, depth + 1, 1);
            self.assign(out, depth + 1);
            self.scope.truncate(mark);
            line(out, depth, &Both::same(if last { "}" } else { "} else {" }));
        }
    }
}

fn closed(out: &mut Lines, depth: usize, loops: usize) {
    for at in (0..loops).rev() {
        line(out, depth + at, &Both::same("}"));
    }
}
