//! Effects: accumulators, states that loops carry, branches that assign.

use super::sets::{Elem, Set, Type};
use super::tables::member_of;
use super::{Accumulator, Source, Variable, line};

impl Source {
    /// An accumulator, loops that add to it, and what it holds in the end.
    pub(super) fn accumulation(&mut self, out: &mut String, depth: usize) {
        let name = self.fresh("acc");
        let elem = match self.rng.below(10) {
            0..7 => Elem::F64,
            7 | 8 => Elem::I64,
            _ => Elem::Bool,
        };
        let rank = self.rng.pick(&[0, 1, 1, 2]);
        let dims: Vec<Set> = (0..rank).map(|_| self.loop_set()).collect();
        let ty = Type::table(dims, elem.clone());
        let (start, put) = match self.rng.below(8) {
            0..4 if elem == Elem::Bool => ("Accum::any()".to_owned(), true),
            _ if elem == Elem::Bool => ("Accum::all()".to_owned(), true),
            0 => ("Accum::max()".to_owned(), true),
            1 if elem == Elem::F64 && self.rng.chance(50) => {
                let largest = "Accum::monoid(-9.0, |a, b| if b > a { b } else { a })";
                (largest.to_owned(), true)
            }
            1 => ("Accum::min()".to_owned(), true),
            2 | 3 => ("Accum::prod()".to_owned(), true),
            4 | 5 => {
                let zero = self.constant(&elem);
                let table = ty.dims.iter().rev().fold(zero, |value, set| {
                    let index = self.fresh("i");
                    format!(
                        "for {index} in {} {{ let _ = {index}; {value} }}",
                        set.path()
                    )
                });
                (table, false)
            }
            _ => ("Accum::zero()".to_owned(), false),
        };
        let plain = !start.starts_with("Accum");
        line(out, depth, &format!("let mut {name} = {start};"));
        let outer = self.accumulators.len();
        self.accumulators.push(Accumulator {
            name: name.clone(),
            ty: ty.clone(),
            put,
            slices: !plain,
        });
        // The first addition names every index, which says what shape it has.
        self.accumulating(out, depth, outer, true);
        if self.rng.chance(40) {
            self.accumulating(out, depth, outer, false);
        }
        self.accumulators.truncate(outer);
        if plain {
            self.declare(name, ty, false);
            return;
        }
        let got = self.fresh("g");
        line(out, depth, &format!("let {got} = {name}.get();"));
        self.declare(got, ty, false);
    }

    /// A loop that adds to the accumulator with this number.
    fn accumulating(&mut self, out: &mut String, depth: usize, at: usize, whole: bool) {
        let dims = self.accumulators[at].ty.dims.clone();
        let mark = self.open();
        self.loops += 1;
        // Loops over the accumulator's own sets, so that there are members to add at.
        let mut opened = 0;
        let mut own = Vec::new();
        if self.rng.chance(60) || dims.is_empty() {
            let (pattern, range, sets) = self.loop_header();
            line(out, depth, &format!("for {pattern} in {range} {{"));
            opened += 1;
            own.extend(sets);
        }
        let mut indices = Vec::new();
        for (name, set) in &own {
            self.declare(name.clone(), member_of(set), false);
        }
        for set in &dims {
            // Of an accumulator's shape is known what its indices say.
            let place = match (self.rng.chance(60), self.accumulators[at].slices) {
                (true, true) => self.member(set, 1),
                (true, false) => self.place(set),
                (false, _) => None,
            };
            indices.push(place.unwrap_or_else(|| {
                let index = self.fresh("i");
                line(
                    out,
                    depth + opened,
                    &format!("for {index} in {} {{", set.path()),
                );
                opened += 1;
                self.declare(index.clone(), member_of(set), false);
                index
            }));
        }
        if depth < 3 {
            self.statements(out, depth + opened, 2);
        }
        if whole || self.rng.chance(70) {
            self.add(out, depth + opened, at, &indices);
        } else {
            self.accumulate(out, depth + opened);
        }
        for back in (0..opened).rev() {
            line(out, depth + back, "}");
        }
        self.loops -= 1;
        self.close(&mark);
    }

    /// An addition to one of the accumulators in scope, perhaps under a condition.
    pub(super) fn accumulate(&mut self, out: &mut String, depth: usize) {
        if self.accumulators.is_empty() {
            return;
        }
        let at = self.rng.below(self.accumulators.len());
        let dims = self.accumulators[at].ty.dims.clone();
        let mut indices = Vec::new();
        for set in &dims {
            let Some(place) = self.place(set) else {
                return;
            };
            indices.push(place);
        }
        if self.rng.chance(30) {
            let cond = self.truth(2);
            line(out, depth, &format!("if {cond} {{"));
            self.add(out, depth + 1, at, &indices);
            line(out, depth, "}");
        } else {
            self.add(out, depth, at, &indices);
        }
    }

    fn add(&mut self, out: &mut String, depth: usize, at: usize, indices: &[String]) {
        let Accumulator {
            name,
            ty,
            put,
            slices,
        } = self.accumulators[at].clone();
        let mut value = self.expr(&ty.elem, 2);
        if put && ty.elem == Elem::F64 {
            value = format!("{value}.cos()");
        }
        let (mut target, mut left) = (name, indices);
        if let [first, rest @ ..] = indices
            && !rest.is_empty()
            && slices
            && self.rng.chance(30)
        {
            let row = self.fresh("row");
            line(out, depth, &format!("let {row} = &mut {target}[{first}];"));
            (target, left) = (row, rest);
        }
        let place: String = left.iter().map(|index| format!("[{index}]")).collect();
        if put {
            line(out, depth, &format!("{target}{place}.put({value});"));
        } else {
            let op = self.rng.pick(&["+=", "+=", "-="]);
            line(out, depth, &format!("{target}{place} {op} {value};"));
        }
    }

    /// `let mut`s, and a loop that assigns to them.
    pub(super) fn states(&mut self, out: &mut String, depth: usize) {
        if self.loops > 2 {
            return;
        }
        for _ in 0..1 + self.rng.below(2) {
            self.state(out, depth);
        }
        let mark = self.open();
        self.loops += 1;
        let header = self.state_loop();
        line(out, depth, &header);
        let mut body = String::new();
        self.assign(&mut body, depth + 1);
        self.statements(&mut body, depth + 1, 3);
        self.assign(&mut body, depth + 1);
        out.push_str(&body);
        line(out, depth, "}");
        self.loops -= 1;
        self.close(&mark);
    }

    /// A variable that loops assign to.
    fn state(&mut self, out: &mut String, depth: usize) {
        let name = self.fresh("m");
        if self.rng.chance(40) {
            let tables: Vec<Variable> = (self.scope.iter())
                .filter(|v| !v.ty.dims.is_empty() && !matches!(v.ty.elem, Elem::Member(_)))
                .cloned()
                .collect();
            if !tables.is_empty() {
                let table = &tables[self.rng.below(tables.len())];
                line(out, depth, &format!("let mut {name} = {};", table.value()));
                self.declare(name, table.ty.clone(), true);
                return;
            }
        }
        let elem = self.inner_elem();
        let value = self.expr(&elem, 2);
        line(out, depth, &format!("let mut {name} = {value};"));
        self.declare(name, Type::scalar(elem), true);
    }

    /// The head of a loop that runs in order, one way or the other; its index is in scope.
    fn state_loop(&mut self) -> String {
        let index = self.fresh("i");
        if self.rng.chance(30) {
            let end = self.expr(&Elem::Usize, 1);
            self.declare(index.clone(), Type::scalar(Elem::Usize), false);
            return match self.rng.below(3) {
                0 => format!("for {index} in (0..{end} % 4).rev() {{"),
                1 => format!("for {index} in (1..{end} % 5).skip(1) {{"),
                _ => format!("for {index} in 0..{end} % 4 {{"),
            };
        }
        let set = self.loop_set();
        self.declare(index.clone(), member_of(&set), false);
        let path = set.path();
        match (&set, self.rng.below(5)) {
            (Set::Generic(_) | Set::Fin(_) | Set::Pixel, 0) => {
                format!("for {index} in {path}.rev() {{")
            }
            (Set::Generic(_) | Set::Pixel, 1) => format!("for {index} in {path}.skip(1) {{"),
            _ => format!("for {index} in {path} {{"),
        }
    }

    /// A loop that counts down, perhaps ending sooner.
    pub(super) fn while_loop(&mut self, out: &mut String, depth: usize) {
        if self.loops > 2 {
            return;
        }
        let counter = self.fresh("n");
        let start = self.expr(&Elem::I64, 1);
        line(
            out,
            depth,
            &format!("let mut {counter} = {start}.rem_euclid(4);"),
        );
        self.state(out, depth);
        let mark = self.open();
        self.loops += 1;
        let also = if self.rng.chance(40) {
            format!(" && {}", self.truth(1))
        } else {
            String::new()
        };
        if self.rng.chance(30) {
            line(out, depth, "#[bound(4)]");
        }
        line(out, depth, &format!("while {counter} > 0{also} {{"));
        line(out, depth + 1, &format!("{counter} -= 1;"));
        self.statements(out, depth + 1, 2);
        self.assign(out, depth + 1);
        line(out, depth, "}");
        self.loops -= 1;
        self.close(&mark);
    }

    /// The variables that may be assigned to here.
    pub(super) fn assignable_here(&self) -> Vec<Variable> {
        let from = self.assignable.min(self.scope.len());
        let own = self.scope[from..].iter();
        own.filter(|v| v.mutable).cloned().collect()
    }

    /// An assignment to a variable of a loop around, whole or in place.
    pub(super) fn assign(&mut self, out: &mut String, depth: usize) {
        let states = self.assignable_here();
        if states.is_empty() {
            return;
        }
        let Variable { name, ty, .. } = states[self.rng.below(states.len())].clone();
        let float = ty.elem == Elem::F64 || ty.elem == Elem::F32;
        let mut target = name.clone();
        if !ty.dims.is_empty() {
            if self.rng.chance(15)
                && let Some(other) = self.variable(&ty)
            {
                line(out, depth, &format!("{name} = {other}.clone();"));
                return;
            }
            if self.rng.chance(10) && ty.elem == Elem::F64 {
                line(out, depth, &format!("{name} = ({name} * 0.5).sin();"));
                return;
            }
            for set in &ty.dims {
                let Some(place) = self.place(set) else {
                    return;
                };
                target.push_str(&format!("[{place}]"));
            }
        }
        let value = self.expr(&ty.elem, 2);
        let text = match (&ty.elem, self.rng.below(4)) {
            (Elem::Bool | Elem::Held(_), _) => format!("{target} = {value};"),
            (_, 0) if float => format!("{target} += {value}.sin();"),
            (_, 0) => format!("{target} = ({target} % 100) ^ {value};"),
            (_, 1) if float => format!("{target} *= 0.5;"),
            (_, 1 | 2) if float => format!("{target} = 0.5 * {target} + {value}.sin();"),
            _ => format!("{target} = {value};"),
        };
        line(out, depth, &text);
    }

    /// `if` and `else`: with a value, or with statements.
    pub(super) fn branches(&mut self, out: &mut String, depth: usize) {
        let cond = self.truth(2);
        let elem = self.inner_elem();
        let name = self.fresh("v");
        let assigns = self.rng.chance(40) && !self.assignable_here().is_empty();
        let head = if assigns {
            format!("if {cond} {{")
        } else {
            format!("let {name} = if {cond} {{")
        };
        line(out, depth, &head);
        for last in [false, true] {
            let mark = self.open();
            self.statements(out, depth + 1, 2);
            if assigns {
                self.assign(out, depth + 1);
            } else {
                let value = self.expr(&elem, 2);
                line(out, depth + 1, &value);
            }
            self.close(&mark);
            let end = match (last, assigns) {
                (false, _) => "} else {",
                (true, true) => "}",
                (true, false) => "};",
            };
            line(out, depth, end);
        }
        if !assigns {
            self.declare(name, Type::scalar(elem), false);
        }
    }
}
