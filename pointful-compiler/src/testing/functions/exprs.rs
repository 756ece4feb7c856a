//! Numbers and truth values, as expressions.

use super::Source;
use super::sets::{Elem, Held, Set, Type};

/// Constants that no computed float is near.
const ODD: [&str; 5] = ["0.137193", "-0.613417", "1.371913", "-1.713191", "0.019371"];

impl Source {
    /// An expression of this scalar type. At depth 0 it is something in scope, or a constant.
    pub(super) fn expr(&mut self, elem: &Elem, depth: usize) -> String {
        if depth == 0 || self.rng.chance(15) {
            return self.atom(elem);
        }
        if self.rng.chance(8) {
            return self.choice(elem, depth - 1);
        }
        if self.rng.chance(5) {
            let name = self.fresh("b");
            let inner = self.inner_elem();
            let value = self.expr(&inner, depth - 1);
            let mark = self.open();
            self.declare(name.clone(), Type::scalar(inner), false);
            let result = self.expr(elem, depth - 1);
            self.close(&mark);
            return format!("({{ let {name} = {value}; {result} }})");
        }
        match elem {
            Elem::F64 | Elem::F32 => self.float(elem, depth - 1),
            Elem::I64
            | Elem::I32
            | Elem::I16
            | Elem::Isize
            | Elem::U8
            | Elem::U64
            | Elem::Usize => self.integer(elem, depth - 1),
            Elem::Bool => self.truth(depth - 1),
            Elem::Held(held) => self.held(*held, depth - 1),
            Elem::Member(set) => {
                let set = set.clone();
                self.member(&set, depth - 1)
                    .unwrap_or_else(|| self.atom(elem))
            }
        }
    }

    /// A variable, an element of a table, or a constant.
    fn atom(&mut self, elem: &Elem) -> String {
        if self.rng.chance(45)
            && let Some(name) = self.variable(&Type::scalar(elem.clone()))
        {
            return name;
        }
        if self.rng.chance(75)
            && let Some(read) = self.read(elem)
        {
            return read;
        }
        self.constant(elem)
    }

    /// A variable of exactly this type, the newer the likelier.
    pub(super) fn variable(&mut self, ty: &Type) -> Option<String> {
        let fit: Vec<&str> = (self.scope.iter())
            .filter(|v| v.ty == *ty)
            .map(|v| v.name.as_str())
            .collect();
        let newest = fit.len().checked_sub(1)?;
        let back = self.rng.below(fit.len()).min(self.rng.below(fit.len()));
        Some(fit[newest - back].to_owned())
    }

    pub(super) fn constant(&mut self, elem: &Elem) -> String {
        let eighths = self.rng.between(-16, 16);
        match elem {
            // In parentheses, because a method binds closer than the sign.
            Elem::F64 if eighths < 0 => format!("({:?})", eighths as f64 / 8.0),
            Elem::F64 => format!("{:?}_f64", eighths as f64 / 8.0),
            Elem::F32 => format!("({:?}_f32)", eighths as f64 / 8.0),
            Elem::I64 => format!("({}_i64)", eighths / 2),
            Elem::I32 => format!("({}_i32)", eighths / 2),
            Elem::I16 => format!("({}_i16)", eighths / 2),
            Elem::Isize => format!("({}_isize)", eighths / 2),
            Elem::U8 => format!("{}_u8", eighths.abs() / 2),
            Elem::U64 => format!("{}_u64", eighths.abs() / 2),
            Elem::Usize => format!("{}_usize", eighths.abs() / 4),
            Elem::Bool => (eighths > 0).to_string(),
            Elem::Held(held) => self.plain(*held),
            Elem::Member(set) => {
                let members = set.members().unwrap_or(1).max(1);
                let at = self.rng.below(members);
                self.nth(set, at)
                    .unwrap_or_else(|| unreachable!("members of `{set}` come from loops only"))
            }
        }
    }

    /// `if` or `match`.
    fn choice(&mut self, elem: &Elem, depth: usize) -> String {
        if let Elem::Member(set) = elem
            && !self.has_members(set)
        {
            return self.atom(elem);
        }
        if self.rng.chance(30)
            && let Some((member, set)) = self.some_matched()
        {
            return self.matched(&member, &set, |this| this.expr(elem, depth));
        }
        let cond = self.truth(depth);
        let (then, otherwise) = (self.expr(elem, depth), self.expr(elem, depth));
        format!("(if {cond} {{ {then} }} else {{ {otherwise} }})")
    }

    fn float(&mut self, elem: &Elem, depth: usize) -> String {
        let double = *elem == Elem::F64;
        let x = |this: &mut Self| this.expr(elem, depth);
        match self.rng.below(29) {
            0..3 => {
                let op = self.rng.pick(&["+", "-"]);
                format!("({} {op} {})", x(self), x(self))
            }
            3..6 => format!("({} * {})", x(self), x(self)),
            6 => {
                let f = self.rng.pick(&["max", "min", "copysign", "hypot", "atan2"]);
                format!("{}.{f}({})", x(self), x(self))
            }
            7 | 8 => {
                let f = self.rng.pick(&["sin", "cos", "tanh", "atan", "abs"]);
                format!("{}.{f}()", x(self))
            }
            9 => format!("{}.sin().exp()", x(self)),
            10 => format!("{}.powi({})", x(self), self.rng.between(0, 3)),
            11 => {
                let f = self.rng.pick(&["sqrt", "ln", "recip", "cbrt", "ln_1p"]);
                format!("({}.powi(2) + 1.0).{f}()", x(self))
            }
            12 => format!("({} / ({}.powi(2) + 1.0))", x(self), x(self)),
            13 => format!("{}.mul_add({}, {})", x(self), x(self), x(self)),
            14 => format!("{}.clamp(-1.0, 1.0)", x(self)),
            15 => format!("(-{})", x(self)),
            16 => {
                let from = self.rng.pick(&[0, 1, 2]);
                let from = [Elem::I64, Elem::Usize, Elem::U8][from].clone();
                format!("(({}) % 7) as {elem}", self.expr(&from, depth)).wrapped()
            }
            17 => {
                let other = if double { Elem::F32 } else { Elem::F64 };
                format!("({} as {elem})", self.expr(&other, depth))
            }
            18 if double && !self.callables.is_empty() => {
                let at = self.rng.below(self.callables.len());
                let callable = self.callables[at].clone();
                let args: Vec<String> = (0..callable.params).map(|_| x(self)).collect();
                format!("{}({})", callable.name, args.join(", "))
            }
            19 if double && !self.folds.is_empty() => self.folded().unwrap_or_else(|| x(self)),
            20 => format!("stop_gradient({})", x(self)),
            // Between 1 and 2.
            21 if double => format!(
                "f64::from_bits((({} % 4096) << 40) | 4607182418800017408)",
                self.expr(&Elem::U64, depth)
            ),
            22 => self.one_of(elem, depth),
            23 | 24 if double => self.taken(depth),
            _ => self.reduction(elem, depth),
        }
    }

    /// A float taken of an `Option` or `Either` that is made here.
    fn one_of(&mut self, elem: &Elem, depth: usize) -> String {
        let cond = self.truth(depth);
        let [x, y] = [0, 1].map(|_| self.expr(elem, depth));
        let name = self.fresh("o");
        let mark = self.open();
        self.declare(name.clone(), Type::scalar(elem.clone()), false);
        let of = self.expr(elem, depth);
        self.close(&mark);
        let option = format!("(if {cond} {{ Some({x}) }} else {{ None }})");
        match self.rng.below(6) {
            0 => format!("{option}.map(|{name}| {of}).unwrap_or({y})"),
            1 => format!("{option}.map_or({y}, |{name}| {of})"),
            2 => format!("{option}.or(Some({y})).unwrap()"),
            3 => format!(
                "{option}.and_then(|{name}| if {name} > 0.0 {{ Some({of}) }} else {{ None }}).unwrap_or({y})"
            ),
            4 => format!("(match {option} {{ Some({name}) => {of}, None => {y} }})"),
            _ => {
                let either = format!(
                    "(if {cond} {{ Either::Left({x}) }} else {{ Either::Right(({y}, 2)) }})"
                );
                let right = self.fresh("o");
                format!(
                    "(match {either} {{ Either::Left({name}) => {of}, Either::Right(({right}, 2)) => {right}.sin(), Either::Right(({right}, _)) => {right} }})"
                )
            }
        }
    }

    fn integer(&mut self, elem: &Elem, depth: usize) -> String {
        let signed = matches!(elem, Elem::I64 | Elem::I32 | Elem::I16 | Elem::Isize);
        let x = |this: &mut Self| this.expr(elem, depth);
        match self.rng.below(20) {
            0..3 if signed => {
                let op = self.rng.pick(&["+", "-", "*"]);
                format!("({} {op} {})", x(self), x(self))
            }
            0..3 => format!("({} % 5 + {} % 3)", x(self), x(self)),
            3 => {
                let op = self.rng.pick(&["&", "|", "^"]);
                format!("({} {op} {})", x(self), x(self))
            }
            4 => {
                let f = self.rng.pick(&["min", "max", "abs_diff"]);
                let cast = if f == "abs_diff" && signed {
                    format!(" as {elem}")
                } else {
                    String::new()
                };
                format!("({}.{f}({}){cast})", x(self), x(self))
            }
            5 if signed => {
                let f = self.rng.pick(&["abs", "signum"]);
                format!("({} % 100).{f}()", x(self))
            }
            6 => {
                let f = self.rng.pick(&["div_euclid", "rem_euclid"]);
                format!("{}.{f}({})", x(self), self.rng.between(2, 5))
            }
            7 => {
                let op = self.rng.pick(&["/", "%"]);
                format!("({} {op} {})", x(self), self.rng.between(2, 5))
            }
            8 => {
                let op = self.rng.pick(&["<<", ">>"]);
                format!("(({} % 9) {op} {})", x(self), self.rng.between(0, 3))
            }
            9 => format!("({} % 4).pow({})", x(self), self.rng.between(0, 3)),
            18 if *elem == Elem::U64 => format!("f64::from_bits({} % 1000).to_bits()", x(self)),
            18 => {
                let f = self.rng.pick(&[
                    "count_ones",
                    "leading_zeros",
                    "trailing_ones",
                    "count_zeros",
                ]);
                format!("({}.{f}() as {elem})", x(self))
            }
            19 => {
                let f = self.rng.pick(&[
                    "rotate_left(3)",
                    "rotate_right(9)",
                    "reverse_bits()",
                    "swap_bytes()",
                    "saturating_sub(2)",
                    "saturating_add(1)",
                ]);
                format!("({}.{f} % 100)", x(self))
            }
            10 => format!("({} as {elem})", self.expr(&Elem::Bool, depth)),
            11 => {
                // Of sets that have a name of their own.
                let set = match self.loop_set() {
                    named @ (Set::Generic(_) | Set::Hue | Set::Pixel) => named,
                    Set::Fin(_) | Set::Bool | Set::Unit | Set::Either(..) => Set::Hue,
                };
                format!("(size({set}) as {elem})")
            }
            12 => {
                let table = self.table_for(&Elem::Bool, depth);
                format!("(count({table}) as {elem})")
            }
            13 | 14 => match self.some_index() {
                Some((index, _)) => format!("({index}.ordinal() as {elem})"),
                None => x(self),
            },
            15 => {
                let other = if *elem == Elem::I64 {
                    Elem::Usize
                } else {
                    Elem::I64
                };
                format!("({} as {elem})", self.expr(&other, depth))
            }
            _ => self.reduction(elem, depth),
        }
    }

    /// A truth value that rounding cannot change, where floats are tame.
    pub(super) fn truth(&mut self, depth: usize) -> String {
        let depth = depth.saturating_sub(1);
        let compare = self.rng.pick(&["<", "<=", ">", ">="]);
        match self.rng.below(12) {
            0..4 => {
                let odd = self.rng.pick(&ODD);
                format!("({} {compare} {odd})", self.expr(&Elem::F64, depth))
            }
            4..6 => {
                let elem = self.rng.pick(&[0, 1]);
                let elem = [Elem::I64, Elem::Usize][elem].clone();
                let compare = self.rng.pick(&["==", "!=", compare]);
                let (x, y) = (self.expr(&elem, depth), self.expr(&elem, depth));
                format!("({x} {compare} {y})")
            }
            6 => {
                let op = self.rng.pick(&["&&", "||", "^", "&", "|", "=="]);
                format!("({} {op} {})", self.truth(depth), self.truth(depth))
            }
            7 => format!("(!{})", self.truth(depth)),
            8 | 9 => match self.two_indices() {
                Some((a, b)) => {
                    let compare = self.rng.pick(&["==", "!=", compare]);
                    format!("({a} {compare} {b})")
                }
                None => self.atom(&Elem::Bool),
            },
            10 => {
                let f = self.rng.pick(&["any", "all"]);
                let table = self.table_for(&Elem::Bool, depth);
                format!("{f}({table})")
            }
            _ if self.rng.chance(30) => {
                let option = self.expr(&Elem::Held(Held::Option), depth.min(1));
                let ask = self.rng.pick(&["is_some", "is_none"]);
                format!("{option}.{ask}()")
            }
            _ => self.atom(&Elem::Bool),
        }
    }

    /// A value taken of members of a set of few, one arm for each.
    pub(super) fn matched(
        &mut self,
        member: &str,
        set: &Set,
        mut arm: impl FnMut(&mut Self) -> String,
    ) -> String {
        match set {
            Set::Bool => {
                let (a, b) = (arm(self), arm(self));
                format!("(match {member} {{ true => {a}, false => {b} }})")
            }
            Set::Either(left, right) => {
                let mut side = |this: &mut Self, set: &Set, name: &str| {
                    let mark = this.open();
                    let bound = this.fresh("e");
                    let ty = Type::scalar(Elem::Member(set.clone()));
                    this.declare(bound.clone(), ty, false);
                    let value = arm(this);
                    this.close(&mark);
                    format!("Either::{name}({bound}) => {{ let _ = {bound}; {value} }}")
                };
                let (a, b) = (side(self, left, "Left"), side(self, right, "Right"));
                format!("(match {member} {{ {a}, {b} }})")
            }
            Set::Hue => {
                let (a, b) = (arm(self), arm(self));
                if self.rng.chance(50) {
                    format!("(match {member} {{ Hue::Red => {a}, Hue::Green | Hue::Blue => {b} }})")
                } else {
                    format!("(match {member} {{ Hue::Blue => {a}, _ => {b} }})")
                }
            }
            Set::Generic(_) | Set::Fin(_) | Set::Unit | Set::Pixel => arm(self),
        }
    }
}

/// Text in parentheses.
trait Wrapped {
    fn wrapped(self) -> String;
}

impl Wrapped for String {
    fn wrapped(self) -> String {
        format!("({self})")
    }
}
