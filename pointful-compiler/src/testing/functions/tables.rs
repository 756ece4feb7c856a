//! Tables: made by loops, combined whole, reduced and scanned.

use super::sets::{Elem, Set, Type};
use super::{Callable, Source, line};

impl Source {
    /// A loop that makes a table of such elements, as an expression: `for i in N { … }`.
    pub(super) fn table_for(&mut self, elem: &Elem, depth: usize) -> String {
        let set = self.loop_set();
        self.for_over(&set, elem, depth)
    }

    /// A table over this set of numbers.
    pub(super) fn row_over(&mut self, set: &Set, depth: usize) -> String {
        let elem = self.rng.pick(&[0, 0, 1]);
        let elem = [Elem::F64, Elem::I64][elem].clone();
        self.for_over(set, &elem, depth)
    }

    fn for_over(&mut self, set: &Set, elem: &Elem, depth: usize) -> String {
        let mark = self.enter();
        let index = self.fresh("i");
        self.declare(index.clone(), member_of(set), false);
        let value = self.expr(elem, depth.min(2));
        self.leave(&mark);
        format!(
            "for {index} in {} {{ let _ = {index}; {value} }}",
            set.path()
        )
    }

    /// `sum(…)` and its kin, as an expression of this type.
    pub(super) fn reduction(&mut self, elem: &Elem, depth: usize) -> String {
        let float = matches!(elem, Elem::F64 | Elem::F32);
        if self.loops > 3 {
            return self.constant(elem);
        }
        let words: &[&str] = match elem {
            Elem::F64 | Elem::F32 => &["sum", "sum", "min", "max", "mean", "prod"],
            _ => &["sum", "min", "max", "prod"],
        };
        let word = self.rng.pick(words);
        if self.rng.chance(20)
            && let Some((index, set)) = self.some_index()
            && matches!(set, Set::Generic(_) | Set::Fin(_) | Set::Pixel)
        {
            let range = match self.rng.below(4) {
                0 | 1 => format!("..{index}"),
                2 => format!("..={index}"),
                _ => format!("{index}.."),
            };
            if self.rng.chance(40) {
                return self.twice_over(word, member_of(&set), &range, elem, depth);
            }
            return self.over(word, &set, &range, elem, depth);
        }
        if self.rng.chance(10)
            && let Some(pair) = self.pair_of_indices()
        {
            return self.over_pairs(word, pair, elem, depth);
        }
        if self.rng.chance(10)
            && let Some(rows) = self.over_rows(elem, depth)
        {
            return tame(word, &rows, float);
        }
        if self.rng.chance(15) {
            let end = self.expr(&Elem::Usize, depth.min(1));
            if self.rng.chance(30) {
                let length = self.fresh("n");
                let index = Type::scalar(Elem::Usize);
                let read = self.twice_over(word, index, &format!("0..{length}"), elem, depth);
                return format!("({{ let {length} = {end} % 4; {read} }})");
            }
            let range = format!("0..({end} % 4)");
            let mark = self.enter();
            let index = self.fresh("k");
            self.declare(index.clone(), Type::scalar(Elem::Usize), false);
            let value = self.expr(elem, depth.min(2));
            self.leave(&mark);
            return tame(
                word,
                &format!("for {index} in {range} {{ {value} }}"),
                float,
            );
        }
        if self.rng.chance(20)
            && let Some(table) = self.rank_one(elem)
        {
            return tame(word, &table, float);
        }
        let set = self.loop_set();
        let mut range = set.path();
        if matches!(set, Set::Generic(_)) && self.rng.chance(10) {
            range.push_str(".skip(1)");
        }
        self.over(word, &set, &range, elem, depth)
    }

    fn over(&mut self, word: &str, set: &Set, range: &str, elem: &Elem, depth: usize) -> String {
        let mark = self.enter();
        let index = self.fresh("i");
        self.declare(index.clone(), member_of(set), false);
        let value = self.expr(elem, depth.min(3));
        self.leave(&mark);
        let float = matches!(elem, Elem::F64 | Elem::F32);
        tame(
            word,
            &format!("for {index} in {range} {{ let _ = {index}; {value} }}"),
            float,
        )
    }

    /// A range of members of a product, reduced at once, or what is made over it by another loop over
    /// the same range.
    fn over_pairs(
        &mut self,
        word: &str,
        [first, last]: [(String, Set); 2],
        elem: &Elem,
        depth: usize,
    ) -> String {
        let bound = format!("({}, {})", first.0, last.0);
        let range = match self.rng.below(4) {
            0 | 1 => format!("..{bound}"),
            2 => format!("..={bound}"),
            _ => format!("{bound}.."),
        };
        let float = matches!(elem, Elem::F64 | Elem::F32);
        let sets = [first.1, last.1];
        let (at, made) = self.at_pairs(&sets, elem, depth.min(2));
        let table = format!("for {at} in {range} {{ let _ = {at}; {made} }}");
        if self.rng.chance(50) {
            return tame(word, &table, float);
        }
        let name = self.fresh("t");
        let (then, more) = self.at_pairs(&sets, elem, depth.min(1));
        let read = match elem {
            Elem::Bool => format!("{name}[{then}] != {more}"),
            _ => format!("{name}[{then}] - {more}"),
        };
        let loops = format!("{{ let {name} = {table}; for {then} in {range} {{ {read} }} }}");
        tame(word, &loops, float)
    }

    /// A pattern for a member of a product, and what is computed of it.
    fn at_pairs(&mut self, sets: &[Set; 2], elem: &Elem, depth: usize) -> (String, String) {
        let names = [self.fresh("i"), self.fresh("i")];
        let mark = self.enter();
        for (name, set) in names.iter().zip(sets) {
            self.declare(name.clone(), member_of(set), false);
        }
        let value = self.expr(elem, depth);
        self.leave(&mark);
        (format!("({})", names.join(", ")), value)
    }

    /// A loop over the rows of a table in scope.
    fn over_rows(&mut self, elem: &Elem, depth: usize) -> Option<String> {
        let tables: Vec<(String, Type)> = (self.scope.iter())
            .filter(|v| v.ty.dims.first().is_some_and(|dim| *dim != Set::Unit))
            .filter(|v| !matches!(v.ty.elem, Elem::Member(_)))
            .map(|v| (v.name.clone(), v.ty.clone()))
            .collect();
        if tables.is_empty() {
            return None;
        }
        let (table, ty) = tables[self.rng.below(tables.len())].clone();
        let rows = self.rng.pick(&["", ".rows()", ".rev()", ".skip(1)"]);
        let row = self.fresh("r");
        let mark = self.enter();
        let ty = Type::table(ty.dims[1..].to_vec(), ty.elem);
        self.declare(row.clone(), ty, false);
        let value = self.expr(elem, depth.min(2));
        self.leave(&mark);
        Some(format!(
            "for {row} in {table}{rows} {{ let _ = {row}; {value} }}"
        ))
    }

    /// A table over a range, reduced by a loop over the same range, or by one over its own set.
    fn twice_over(
        &mut self,
        word: &str,
        index: Type,
        range: &str,
        elem: &Elem,
        depth: usize,
    ) -> String {
        let (table, first, then) = (self.fresh("t"), self.fresh("i"), self.fresh("i"));
        let mark = self.enter();
        self.declare(first.clone(), index.clone(), false);
        let made = self.expr(elem, depth.min(2));
        self.leave(&mark);
        let mark = self.enter();
        self.declare(then.clone(), index, false);
        let more = self.expr(elem, depth.min(1));
        self.leave(&mark);
        let float = matches!(elem, Elem::F64 | Elem::F32);
        let read = match elem {
            Elem::Bool => format!("{table}[{then}] != {more}"),
            _ => format!("{table}[{then}] - {more}"),
        };
        let loops = format!(
            "{{ let {table} = for {first} in {range} {{ let _ = {first}; {made} }}; \
             for {then} in {range} {{ {read} }} }}"
        );
        tame(word, &loops, float)
    }

    /// A table of one axis in scope.
    fn rank_one(&mut self, elem: &Elem) -> Option<String> {
        let fit: Vec<String> = (self.scope.iter())
            .filter(|v| v.ty.dims.len() == 1 && v.ty.dims[0] != Set::Unit && v.ty.elem == *elem)
            .map(|v| v.name.clone())
            .collect();
        (!fit.is_empty()).then(|| fit[self.rng.below(fit.len())].clone())
    }

    /// A call of a function of a table, of whatever rank.
    pub(super) fn folded(&mut self) -> Option<String> {
        let tables: Vec<String> = (self.scope.iter())
            .filter(|v| v.ty.dims.iter().any(|dim| *dim != Set::Unit) && v.ty.elem == Elem::F64)
            .map(|v| v.name.clone())
            .collect();
        if tables.is_empty() || self.folds.is_empty() {
            return None;
        }
        let table = tables[self.rng.below(tables.len())].clone();
        let function = self.folds[self.rng.below(self.folds.len())].clone();
        // A closure takes what stands for any rank as one table.
        Some(format!("{function}(&{table})").replace('&', ""))
    }

    /// Inside a loop whose value is a table nothing outside is assigned to.
    fn enter(&mut self) -> (super::Mark, usize, Vec<super::Accumulator>) {
        let mark = self.open();
        let assignable = std::mem::replace(&mut self.assignable, self.scope.len());
        self.loops += 1;
        (mark, assignable, std::mem::take(&mut self.accumulators))
    }

    fn leave(&mut self, mark: &(super::Mark, usize, Vec<super::Accumulator>)) {
        self.accumulators.clone_from(&mark.2);
        self.close(&mark.0);
        self.assignable = mark.1;
        self.loops -= 1;
    }

    pub(super) fn let_scalar(&mut self, out: &mut String, depth: usize) {
        if self.rng.chance(10) {
            let (a, b) = (self.any_elem(), self.any_elem());
            let (x, y) = (self.expr(&a, 2), self.expr(&b, 2));
            let (p, q) = (self.fresh("v"), self.fresh("v"));
            line(out, depth, &format!("let ({p}, {q}) = ({x}, {y});"));
            self.declare(p, Type::scalar(a), false);
            self.declare(q, Type::scalar(b), false);
            return;
        }
        let elem = self.inner_elem();
        let value = self.expr(&elem, 3);
        let name = self.fresh("v");
        line(out, depth, &format!("let {name} = {value};"));
        self.declare(name, Type::scalar(elem), false);
    }

    pub(super) fn let_member(&mut self, out: &mut String, depth: usize) {
        let set = self.loop_set();
        let elem = Elem::Member(set.clone());
        if let Some(value) = self.member(&set, 2) {
            let name = self.fresh("v");
            let elem = if set == Set::Bool { Elem::Bool } else { elem };
            line(out, depth, &format!("let {name} = {value};"));
            self.declare(name, Type::scalar(elem), false);
        }
    }

    /// Operations on whole tables: the methods and operators of their elements, stacked values,
    /// parts.
    pub(super) fn let_whole(&mut self, out: &mut String, depth: usize) {
        let tables: Vec<(String, Type)> = (self.scope.iter())
            .filter(|v| !v.ty.dims.is_empty() && v.ty.elem == Elem::F64)
            .map(|v| (v.name.clone(), v.ty.clone()))
            .collect();
        let name = self.fresh("w");
        if tables.is_empty() || self.rng.chance(20) {
            let count = 1 + self.rng.below(3);
            let values: Vec<String> = (0..count).map(|_| self.expr(&Elem::F64, 2)).collect();
            line(
                out,
                depth,
                &format!("let {name} = [{}];", values.join(", ")),
            );
            let ty = Type::table(vec![Set::Fin(count)], Elem::F64);
            self.declare(name, ty, false);
            return;
        }
        let (x, ty) = tables[self.rng.below(tables.len())].clone();
        let y = self.variable(&ty).unwrap_or_else(|| x.clone());
        let a = self.expr(&Elem::F64, 1);
        let value = match self.rng.below(7) {
            0 => format!("({x} * {a} + {y}).sin()"),
            1 => format!("{x}.max({y})"),
            2 => format!("{x} - {y} * 0.5"),
            3 if !self.callables.is_empty() => {
                let callable = self.callables[self.rng.below(self.callables.len())].clone();
                let args: Vec<String> = (0..callable.params)
                    .map(|k| {
                        if k == 0 {
                            x.clone()
                        } else {
                            self.rng.pick(&[&y, &a]).clone()
                        }
                    })
                    .collect();
                format!("{}({})", callable.name, args.join(", "))
            }
            4 if ty.dims.len() > 1 => {
                let Some(at) = self.place(&ty.dims[0]) else {
                    return;
                };
                line(out, depth, &format!("let {name} = {x}[{at}].clone();"));
                self.declare(name, Type::table(ty.dims[1..].to_vec(), Elem::F64), false);
                return;
            }
            5 => {
                let cond = self.truth(1);
                format!("if {cond} {{ {x}.clone() }} else {{ {y} * {a} }}")
            }
            _ => format!("{x}.tanh() + {a}"),
        };
        line(out, depth, &format!("let {name} = {value};"));
        self.declare(name, ty, false);
    }

    /// `let t = for i in N { … };`, with one or two values, over one set or a product, with
    /// statements of its own.
    pub(super) fn let_for(&mut self, out: &mut String, depth: usize) {
        if self.loops > 3 {
            return;
        }
        let (index, range, sets) = self.loop_header();
        let collects = self.rng.chance(20);
        let mark = if collects {
            // What is assigned to outside makes it a loop that carries states.
            self.loops += 1;
            (self.open(), self.assignable, self.accumulators.clone())
        } else {
            self.enter()
        };
        for (name, set) in &sets {
            self.declare(name.clone(), member_of(set), false);
        }
        let mut body = String::new();
        self.statements(&mut body, depth + 1, 3);
        let count = self.rng.pick(&[1, 1, 1, 2]);
        let (mut values, mut types) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let (value, ty) = self.yielded(mark.0.scope);
            values.push(value);
            types.push(ty);
        }
        self.leave(&mark);
        let names: Vec<String> = values.iter().map(|_| self.fresh("t")).collect();
        let (pattern, value) = match count {
            1 => (names[0].clone(), values[0].clone()),
            _ => (
                format!("({})", names.join(", ")),
                format!("({})", values.join(", ")),
            ),
        };
        line(
            out,
            depth,
            &format!("let {pattern} = for {index} in {range} {{"),
        );
        out.push_str(&body);
        line(out, depth + 1, &value);
        line(out, depth, "};");
        for (name, ty) in names.into_iter().zip(types) {
            let dims: Vec<Set> = sets.iter().map(|(_, set)| set.clone()).collect();
            let ty = Type::table([dims, ty.dims].concat(), ty.elem);
            self.declare(name, ty, false);
        }
    }

    /// What a loop or a branch gives: something of its own, or a new scalar.
    pub(super) fn yielded(&mut self, from: usize) -> (String, Type) {
        let own: Vec<(String, Type)> = (self.scope[from..].iter())
            .filter(|v| v.ty.dims.len() < 3)
            .map(|v| (v.value(), v.ty.clone()))
            .filter(|(_, ty)| !matches!(ty.elem, Elem::Member(Set::Either(..) | Set::Unit)))
            .collect();
        if !own.is_empty() && self.rng.chance(40) {
            return own[self.rng.below(own.len())].clone();
        }
        let elem = self.inner_elem();
        (self.expr(&elem, 3), Type::scalar(elem))
    }

    /// The pattern, the set and the indices of a loop over members.
    pub(super) fn loop_header(&mut self) -> (String, String, Vec<(String, Set)>) {
        let set = self.loop_set();
        let index = self.fresh("i");
        if self.rng.chance(20) {
            let (other, second) = (self.loop_set(), self.fresh("i"));
            return (
                format!("({index}, {second})"),
                format!("({}, {})", set.path(), other.path()),
                vec![(index, set), (second, other)],
            );
        }
        (index.clone(), set.path(), vec![(index, set)])
    }

    /// `scan`, `reduce` and their kin, with operators that are associative.
    pub(super) fn let_scan(&mut self, out: &mut String, depth: usize) {
        let set = self.loop_set();
        let name = self.fresh("s");
        let table = Type::table(vec![set.clone()], Elem::F64);
        match self.rng.below(7) {
            0 => {
                let t = self.for_over(&set, &Elem::F64, 2);
                let word = self.rng.pick(&["cumsum", "cumprod"]);
                let t = if word == "cumprod" {
                    format!("({t}).cos()")
                } else {
                    t
                };
                line(out, depth, &format!("let {name} = {word}({t});"));
                self.declare(name, table, false);
            }
            1 => {
                let t = self.for_over(&set, &Elem::F64, 2);
                let init = self.expr(&Elem::F64, 1);
                line(
                    out,
                    depth,
                    &format!("let {name} = scan({init}, |a, b| a.max(b), {t});"),
                );
                self.declare(name, table, false);
            }
            2 => {
                let t = self.for_over(&set, &Elem::I64, 2);
                let op = self.rng.pick(&["a + b", "a * b", "a ^ b", "a.min(b)"]);
                let init = self.expr(&Elem::I64, 1);
                line(
                    out,
                    depth,
                    &format!("let {name} = reduce({init}, |a, b| {op}, {t});"),
                );
                self.declare(name, Type::scalar(Elem::I64), false);
            }
            // Composition of `x ↦ a x + b`, and the largest with its place.
            3 => {
                let mark = self.enter();
                let index = self.fresh("i");
                self.declare(index.clone(), member_of(&set), false);
                let (a, b) = (self.expr(&Elem::F64, 1), self.expr(&Elem::F64, 2));
                self.leave(&mark);
                let other = self.fresh("s");
                let word = self.rng.pick(&["reduce", "scan"]);
                line(
                    out,
                    depth,
                    &format!(
                        "let ({name}, {other}) = {word}((1.0, 0.0), |a, b| (a.0 * b.0, a.1 * b.0 + b.1), for {index} in {} {{ ({a}.sin(), {b}.sin()) }});",
                        set.path()
                    ),
                );
                let ty = if word == "scan" {
                    table
                } else {
                    Type::scalar(Elem::F64)
                };
                self.declare(name, ty.clone(), false);
                self.declare(other, ty, false);
            }
            4 => {
                let t = self.for_over(&set, &Elem::I64, 2);
                let (best, index) = (self.fresh("s"), self.fresh("i"));
                line(out, depth, &format!("let {best} = {t};"));
                self.declare(
                    best.clone(),
                    Type::table(vec![set.clone()], Elem::I64),
                    false,
                );
                let other = self.fresh("s");
                let number = if set == Set::Bool {
                    format!("{index} as usize")
                } else {
                    format!("{index}.ordinal()")
                };
                line(
                    out,
                    depth,
                    &format!(
                        "let ({name}, {other}) = reduce((i64::MIN, 0_usize), |a, b| if b.0 > a.0 {{ b }} else {{ a }}, for {index} in {} {{ ({best}[{index}], {number}) }});",
                        set.path()
                    ),
                );
                self.declare(name, Type::scalar(Elem::I64), false);
                self.declare(other, Type::scalar(Elem::Usize), false);
            }
            5 => {
                let t = self.for_over(&set, &Elem::F64, 2);
                let least = self.expr(&Elem::F64, 1);
                line(
                    out,
                    depth,
                    &format!("let {name} = sum(filter(|a| a > {least}, {t}));"),
                );
                self.declare(name, Type::scalar(Elem::F64), false);
            }
            _ => {
                // Rows combined as wholes.
                let inner = self.loop_set();
                let mark = self.enter();
                let (i, j, k) = (self.fresh("i"), self.fresh("i"), self.fresh("i"));
                self.declare(i.clone(), member_of(&set), false);
                self.declare(j.clone(), member_of(&inner), false);
                let value = self.expr(&Elem::F64, 2);
                self.leave(&mark);
                let path = inner.path();
                line(
                    out,
                    depth,
                    &format!(
                        "let {name} = reduce(for {k} in {path} {{ let _ = {k}; 0.5 }}, |a, b| a + b, for {i} in {} {{ for {j} in {path} {{ let _ = ({i}, {j}); {value} }} }});",
                        set.path()
                    ),
                );
                self.declare(name, Type::table(vec![inner], Elem::F64), false);
            }
        }
    }

    /// A function of its own that captures what is there.
    pub(super) fn closure(&mut self, out: &mut String, depth: usize) {
        let name = self.fresh("f");
        let mark = self.open();
        let count = 1 + self.rng.below(2);
        let params: Vec<String> = (0..count)
            .map(|_| {
                let param = self.fresh("a");
                self.declare(param.clone(), Type::scalar(Elem::F64), false);
                format!("{param}: f64")
            })
            .collect();
        let value = self.expr(&Elem::F64, 2);
        self.close(&mark);
        line(
            out,
            depth,
            &format!("let {name} = |{}| {value};", params.join(", ")),
        );
        self.callables.push(Callable {
            name,
            params: count,
        });
    }

    /// `assert!` of what mostly holds.
    pub(super) fn assertion(&mut self, out: &mut String, depth: usize) {
        let cond = self.truth(2);
        if self.rng.chance(4) {
            line(
                out,
                depth,
                &format!("assert!({cond}, \"what holds {{}}\", {cond});"),
            );
        } else {
            let other = self.variable(&Type::scalar(Elem::Bool));
            let other = other.unwrap_or_else(|| cond.clone());
            line(
                out,
                depth,
                &format!("assert!(!{other} || {other}, \"what holds\");"),
            );
        }
    }
}

/// The type of the index of a loop.
pub(super) fn member_of(set: &Set) -> Type {
    Type::scalar(match set {
        Set::Bool => Elem::Bool,
        other => Elem::Member(other.clone()),
    })
}

/// A reduction that stays tame, also where there is nothing to reduce.
fn tame(word: &str, table: &str, float: bool) -> String {
    match (word, float) {
        ("min" | "max", true) => format!("{word}({table}).clamp(-9.0, 9.0)"),
        ("mean", true) => format!("mean({table}).max(-9.0)"),
        ("prod", true) => format!("prod(({table}).cos())"),
        ("min" | "max", false) => format!("({word}({table}) % 100)"),
        _ => format!("{word}({table})"),
    }
}
