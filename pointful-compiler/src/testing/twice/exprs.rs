//! Numbers, conditions and places.

use super::{Both, DEEPEST, Kind, Set, Variable, Writer, weave};

const CONSTANTS: [&str; 8] = [
    "0.5", "0.25", "1.371", "0.613", "0.137", "1.713", "0.9", "0.019",
];

/// A constant.
pub(super) fn constant(text: &str) -> Both {
    Both::new(text, format!("T::c({text})"))
}

impl Writer {
    pub(super) fn constant(&mut self) -> Both {
        let text = self.rng.pick(&CONSTANTS);
        constant(text)
    }

    /// A number.
    pub(super) fn float(&mut self, depth: usize) -> Both {
        if depth == 0 || self.rng.chance(12) {
            return self.atom();
        }
        let d = depth - 1;
        match self.rng.below(22) {
            0..3 => {
                let (a, b) = (self.float(d), self.float(d));
                weave("({} + {})", &[&a, &b])
            }
            3..5 => {
                let (a, b) = (self.float(d), self.float(d));
                weave("({} - {})", &[&a, &b])
            }
            5..8 => {
                let (a, b) = (self.float(d), self.float(d));
                weave("({} * {})", &[&a, &b])
            }
            8 => {
                let (a, b) = (self.float(d), self.float(d));
                let one = constant("1.0");
                weave("({} / ({} + {}.powi(2)))", &[&a, &one, &b])
            }
            9..12 => {
                let a = self.float(d);
                let method = self.rng.pick(&["sin", "cos", "tanh", "sin"]);
                weave(&format!("({{}}).{method}()"), &[&a])
            }
            12 => {
                let a = self.float(d);
                match self.rng.below(4) {
                    0 => weave("(({}).sin()).exp()", &[&a]),
                    1 => weave("({} + ({}).powi(2)).sqrt()", &[&constant("0.5"), &a]),
                    2 => weave("({} + ({}).powi(2)).ln()", &[&constant("1.5"), &a]),
                    _ => weave("(({}).clamp(-3.0, 2.0)).exp()", &[&a]),
                }
            }
            13 => {
                let (a, b) = (self.float(d), self.float(d));
                let method = self.rng.pick(&["max", "min"]);
                weave(&format!("({{}}).{method}({{}})"), &[&a, &b])
            }
            14 => {
                let a = self.float(d);
                weave("({}).abs()", &[&a])
            }
            15 | 16 => {
                let cond = self.condition(1);
                let (a, b) = (self.dear(d), self.float(d));
                weave("(if {} { {} } else { {} })", &[&cond, &a, &b])
            }
            17 => self.ordinal(),
            _ => self.reduction(d),
        }
    }

    /// What a branch is worth: several functions, sometimes.
    fn dear(&mut self, depth: usize) -> Both {
        let a = self.float(depth);
        if self.rng.chance(40) {
            let b = self.atom();
            return weave(
                "(({}).sin().exp() + (({}).cos().exp()).ln() * ({}).tanh().exp())",
                &[&a, &b, &a],
            );
        }
        a
    }

    fn ordinal(&mut self) -> Both {
        let indices: Vec<Variable> = (self.scope.iter())
            .filter(|v| matches!(v.kind, Kind::Index(_) | Kind::Count(_)))
            .cloned()
            .collect();
        let v = indices[self.rng.below(indices.len())].clone();
        let ordinal = match v.kind {
            Kind::Index(_) => format!("{}.ordinal()", v.name),
            _ => v.name.clone(),
        };
        Both::new(
            format!("(0.3 * {ordinal} as f64).sin()"),
            format!("T::c((0.3 * {} as f64).sin())", v.name),
        )
    }

    /// A number in scope, an element, or a constant.
    pub(super) fn atom(&mut self) -> Both {
        let floats: Vec<Variable> = (self.scope.iter())
            .filter(|v| matches!(v.kind, Kind::Float(_)))
            .cloned()
            .collect();
        for _ in 0..3 {
            if self.rng.chance(12) {
                return self.constant();
            }
            // What is new is of interest.
            let at = if self.rng.chance(50) {
                floats.len() - 1 - self.rng.below(floats.len().min(4))
            } else {
                self.rng.below(floats.len())
            };
            if let Some(read) = self.read(&floats[at].clone()) {
                return read;
            }
        }
        self.constant()
    }

    /// A number, or an element of a table at some place.
    pub(super) fn read(&mut self, variable: &Variable) -> Option<Both> {
        let Kind::Float(dims) = &variable.kind else {
            return None;
        };
        let name = &variable.name;
        if let [set] = dims.as_slice()
            && self.rng.chance(12)
            && *set != Set::Three
            && let Some(index) = self.index_of(*set)
        {
            let distance = self.rng.pick(&[1, 1, 1, 2, 3, 9]);
            let (op, sign) = if self.rng.chance(70) {
                ("-", -distance)
            } else {
                ("+", distance)
            };
            let otherwise = self.constant();
            return Some(Both::new(
                format!(
                    "{name}.get({} {op} {distance}).unwrap_or({})",
                    index.point, otherwise.point
                ),
                format!(
                    "get(&{name}, {} as i64 + ({sign}), {})",
                    index.plain, otherwise.plain
                ),
            ));
        }
        let mut places = Vec::new();
        for &set in dims {
            places.push(self.place(set));
        }
        Some(element(name, dims, &places))
    }

    /// An index variable of a set.
    fn index_of(&mut self, set: Set) -> Option<Both> {
        let fit: Vec<String> = (self.scope.iter())
            .filter(|v| v.kind == Kind::Index(set))
            .map(|v| v.name.clone())
            .collect();
        if fit.is_empty() {
            return None;
        }
        let newest = fit.len() - 1 - self.rng.below(fit.len().min(2));
        Some(Both::same(fit[newest].clone()))
    }

    /// A place in a table over a set: mostly the loop's own, neighbours, looked-up or counted ones.
    pub(super) fn place(&mut self, set: Set) -> Both {
        let place = (0..3).find_map(|_| self.some_place(set));
        place.unwrap_or_else(|| Both::same("0"))
    }

    fn some_place(&mut self, set: Set) -> Option<Both> {
        let own = self.index_of(set);
        if set == Set::Three {
            let constant = Both::same(self.rng.below(3).to_string());
            return Some(match own {
                Some(own) if self.rng.chance(60) => own,
                _ => constant,
            });
        }
        let own_chance = if own.is_some() { 60 } else { 0 };
        if self.rng.chance(own_chance) {
            return own;
        }
        match self.rng.below(6) {
            0 | 1 => {
                let own = own?;
                let method = self.rng.pick(&["wrap", "clamp", "wrap", "mirror"]);
                let distance = self.rng.pick(&[1, 1, 1, 2, 3, 8, 17]);
                let (op, sign) = if self.rng.chance(60) {
                    ("-", -distance)
                } else {
                    ("+", distance)
                };
                Some(Both::new(
                    format!("({} {op} {distance}).{method}()", own.point),
                    format!(
                        "{method}({} as i64 + ({sign}), {})",
                        own.plain,
                        set.length()
                    ),
                ))
            }
            2 | 3 => {
                let tables: Vec<Variable> = (self.scope.iter())
                    .filter(|v| matches!(v.kind, Kind::Places(_, to) if to == set))
                    .cloned()
                    .collect();
                let table = tables[self.rng.below(tables.len())].clone();
                let Kind::Places(from, _) = table.kind else {
                    return None;
                };
                let at = self.index_of(from)?;
                Some(weave(&format!("{}[{{}}]", table.name), &[&at]))
            }
            4 => {
                let counts: Vec<String> = (self.scope.iter())
                    .filter(|v| v.kind == Kind::Count(Some(set)))
                    .map(|v| v.name.clone())
                    .collect();
                if counts.is_empty() {
                    return own;
                }
                Some(Both::same(counts[self.rng.below(counts.len())].clone()))
            }
            _ => match own {
                Some(own) if self.rng.chance(70) => Some(own),
                _ => Some(Both::same("0")),
            },
        }
    }

    pub(super) fn condition(&mut self, depth: usize) -> Both {
        match self.rng.below(8) {
            0 if depth > 0 => {
                let (a, b) = (self.condition(0), self.condition(0));
                let op = self.rng.pick(&["&&", "||"]);
                weave(&format!("({{}} {op} {{}})"), &[&a, &b])
            }
            1 | 2 => {
                let indices: Vec<Variable> = (self.scope.iter())
                    .filter(|v| matches!(v.kind, Kind::Index(_) | Kind::Count(_)))
                    .cloned()
                    .collect();
                let v = indices[self.rng.below(indices.len())].clone();
                let ordinal = match v.kind {
                    Kind::Index(_) => Both::new(format!("{}.ordinal()", v.name), v.name.clone()),
                    _ => Both::same(v.name.clone()),
                };
                match self.rng.below(3) {
                    0 => weave(&format!("{{}} % 3 == {}", self.rng.below(3)), &[&ordinal]),
                    1 => weave(
                        &format!("{{}} > {}", self.rng.pick(&[0, 1, 5, 16])),
                        &[&ordinal],
                    ),
                    _ => weave(
                        &format!("{{}} < {}", self.rng.pick(&[2, 7, 9, 30])),
                        &[&ordinal],
                    ),
                }
            }
            _ => {
                let (a, b) = (self.float(depth), self.constant());
                let op = self.rng.pick(&["<", ">"]);
                weave(&format!("{{}} {op} {{}}"), &[&a, &b])
            }
        }
    }

    /// A reduction over a set, a part of it, or a counted range.
    pub(super) fn reduction(&mut self, depth: usize) -> Both {
        if self.nest.len() >= DEEPEST {
            return self.atom();
        }
        let (header, set) = self.range();
        let mark = self.scope.len();
        let assignable = std::mem::replace(&mut self.assignable, usize::MAX);
        self.nest.push(set);
        let value = self.float(depth.min(2));
        let value_plain = &value.plain;
        self.counted();
        let word = self
            .rng
            .pick(&["sum", "sum", "sum", "max", "min", "mean", "prod", "count"]);
        let cond = if word == "count" {
            self.condition(0)
        } else {
            Both::same("")
        };
        self.nest.pop();
        self.scope.truncate(mark - 1);
        self.assignable = assignable;
        let (point, plain) = (&header.point, &header.plain);
        match word {
            "sum" => Both::new(
                format!("(0.125 * sum({point} {{ {} }}))", value.point),
                format!(
                    "(T::c(0.125) * {{ let mut r = T::c(0.0); {plain} {{ r += {value_plain}; }} r }})"
                ),
            ),
            "mean" => Both::new(
                format!("mean({point} {{ {} }}).max(-9.0)", value.point),
                format!(
                    "({{ let mut r = T::c(0.0); let mut l = 0; {plain} {{ r += {value_plain}; l += 1; }} r / T::c(l as f64) }}).max(T::c(-9.0))"
                ),
            ),
            "prod" => Both::new(
                format!(
                    "prod({point} {{ 1.0 + 0.1 * ({}).sin() }}).min(4.0)",
                    value.point
                ),
                format!(
                    "({{ let mut r = T::c(1.0); {plain} {{ r *= T::c(1.0) + T::c(0.1) * ({value_plain}).sin(); }} r }}).min(T::c(4.0))"
                ),
            ),
            "count" => Both::new(
                format!("(0.125 * count({point} {{ {} }}) as f64)", cond.point),
                format!(
                    "T::c(0.125 * {{ let mut r = 0; {plain} {{ if {} {{ r += 1; }} }} r }} as f64)",
                    cond.plain
                ),
            ),
            word => {
                let (start, op) = if word == "max" {
                    ("-f64::INFINITY", ">")
                } else {
                    ("f64::INFINITY", "<")
                };
                Both::new(
                    format!("{word}({point} {{ {} }}).clamp(-9.0, 9.0)", value.point),
                    format!(
                        "({{ let mut r = T::c({start}); {plain} {{ let e = {value_plain}; if e {op} r {{ r = e; }} }} r }}).clamp(-9.0, 9.0)"
                    ),
                )
            }
        }
    }

    /// The header of a loop in no order, whose index is in scope from here on.
    pub(super) fn range(&mut self) -> (Both, Result<Set, f64>) {
        let inner: Vec<(String, Set)> = (self.scope.iter())
            .filter_map(|v| match v.kind {
                Kind::Index(set) if set != Set::Three => Some((v.name.clone(), set)),
                _ => None,
            })
            .collect();
        if !inner.is_empty() && self.rng.chance(25) {
            let (i, set) = inner[self.rng.below(inner.len())].clone();
            if set == Set::N && self.rng.chance(40) {
                let name = self.fresh("k");
                self.declare(&name, Kind::Count(Some(Set::M)), false);
                let header = Both::same(format!("for {name} in 0..ends[{i}]"));
                return (header, Ok(Set::M));
            }
            let name = self.fresh("i");
            let (point, plain) = match self.rng.below(3) {
                0 => (format!("..{i}"), format!("0..{i}")),
                1 => (format!("..={i}"), format!("0..={i}")),
                _ => (format!("{i}.."), format!("{i}..{}", set.length())),
            };
            self.declare(&name, Kind::Index(set), false);
            let header = Both::new(
                format!("for {name} in {point}"),
                format!("for {name} in {plain}"),
            );
            return (header, Ok(set));
        }
        let set = self.rng.pick(&[Set::N, Set::N, Set::M, Set::M, Set::Three]);
        let name = self.fresh("i");
        self.declare(&name, Kind::Index(set), false);
        let header = Both::new(
            format!("for {name} in {}", set.path()),
            format!("for {name} in 0..{}", set.length()),
        );
        (header, Ok(set))
    }
}

/// An element of a table.
pub(super) fn element(name: &str, dims: &[Set], places: &[Both]) -> Both {
    match (dims, places) {
        ([_], [at]) => weave(&format!("{name}[{{}}]"), &[at]),
        ([_, columns], [i, j]) => Both::new(
            format!("{name}[{}][{}]", i.point, j.point),
            format!(
                "{name}[({}) * {} + ({})]",
                i.plain,
                columns.length(),
                j.plain
            ),
        ),
        _ => Both::same(name),
    }
}
