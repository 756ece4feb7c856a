//! Values of several kinds, that hold others: of an enum, `Option` and `Either`.

use super::Source;
use super::sets::{Elem, Held, Type};

impl Source {
    /// A value of such a type.
    pub(super) fn held(&mut self, held: Held, depth: usize) -> String {
        let elem = Elem::Held(held);
        if self.rng.chance(30) {
            return self.changed(held, depth);
        }
        match (held, self.rng.below(4)) {
            (Held::Form, 0) => format!("Form::Round({})", self.expr(&Elem::F64, depth)),
            (Held::Form, 1) => {
                let (a, n) = (self.expr(&Elem::F64, depth), self.expr(&Elem::I64, depth));
                format!("Form::Long({a}, {n})")
            }
            (Held::Option, 0) => format!("Some({})", self.expr(&Elem::F64, depth)),
            (Held::Option, 1) => {
                let (a, b) = (self.expr(&elem, depth), self.expr(&elem, depth));
                format!("{a}.or({b})")
            }
            (Held::Option, 2) => {
                let cond = self.truth(depth);
                format!(
                    "(if {cond} {{ Some({}) }} else {{ None }})",
                    self.expr(&Elem::F64, depth)
                )
            }
            (Held::Either, 0 | 1) => {
                let cond = self.truth(depth);
                self.sides(&cond, depth)
            }
            _ => {
                let cond = self.truth(depth);
                let (a, b) = (self.expr(&elem, depth), self.expr(&elem, depth));
                format!("(if {cond} {{ {a} }} else {{ {b} }})")
            }
        }
    }

    /// One that is written down.
    pub(super) fn plain(&mut self, held: Held) -> String {
        let number = self.constant(&Elem::F64);
        match held {
            Held::Form => match self.rng.below(3) {
                0 => "Form::Flat".to_owned(),
                1 => format!("Form::Round({number})"),
                _ => format!("Form::Long({number}, {})", self.constant(&Elem::I64)),
            },
            Held::Option => format!("Some({number})"),
            Held::Either => {
                let cond = self.constant(&Elem::Bool);
                self.sides(&cond, 0)
            }
        }
    }

    /// An `Either` of which the condition says the side.
    fn sides(&mut self, cond: &str, depth: usize) -> String {
        let (a, n) = (self.expr(&Elem::F64, depth), self.expr(&Elem::I64, depth));
        format!("(if {cond} {{ Either::Left({a}) }} else {{ Either::Right({n}) }})")
    }

    /// What another value of the type becomes, for each kind of it.
    fn changed(&mut self, held: Held, depth: usize) -> String {
        let of = self.expr(&Elem::Held(held), depth);
        let (a, n) = (self.fresh("o"), self.fresh("o"));
        match held {
            Held::Form => {
                let round = self.with(&[(&a, Elem::F64)], |this| this.expr(&Elem::F64, depth));
                let long = self.with(&[(&a, Elem::F64), (&n, Elem::I64)], |this| {
                    this.held(held, depth.saturating_sub(1))
                });
                format!(
                    "(match {of} {{ Form::Round({a}) => Form::Long({round}, 2), Form::Long({a}, {n}) => {{ let _ = ({a}, {n}); {long} }}, other => other }})"
                )
            }
            Held::Option => {
                let value = self.with(&[(&a, Elem::F64)], |this| this.expr(&Elem::F64, depth));
                match self.rng.below(2) {
                    0 => format!("{of}.map(|{a}| {value})"),
                    _ => format!(
                        "{of}.and_then(|{a}| if {a} > 0.019371 {{ Some({value}) }} else {{ None }})"
                    ),
                }
            }
            Held::Either => {
                let left = self.with(&[(&a, Elem::F64)], |this| this.expr(&Elem::I64, depth));
                let right = self.with(&[(&n, Elem::I64)], |this| this.expr(&Elem::F64, depth));
                format!(
                    "(match {of} {{ Either::Left({a}) => {{ let _ = {a}; Either::Right({left}) }}, Either::Right({n}) => {{ let _ = {n}; Either::Left({right}) }} }})"
                )
            }
        }
    }

    /// A number that is taken of such a value.
    pub(super) fn taken(&mut self, depth: usize) -> String {
        let held = self
            .rng
            .pick(&[Held::Form, Held::Form, Held::Option, Held::Either]);
        let of = self.expr(&Elem::Held(held), depth);
        let (a, n) = (self.fresh("o"), self.fresh("o"));
        let other = self.expr(&Elem::F64, depth);
        let of_float = self.with(&[(&a, Elem::F64)], |this| this.expr(&Elem::F64, depth));
        match held {
            Held::Form => {
                let both = self.with(&[(&a, Elem::F64), (&n, Elem::I64)], |this| {
                    this.expr(&Elem::F64, depth)
                });
                format!(
                    "(match {of} {{ Form::Round({a}) => {of_float}, Form::Long({a}, {n}) => {{ let _ = ({a}, {n}); {both} }}, Form::Flat => {other} }})"
                )
            }
            Held::Option => match self.rng.below(3) {
                0 => format!("{of}.unwrap_or({other})"),
                1 => format!("{of}.map_or({other}, |{a}| {of_float})"),
                _ => format!("(match {of} {{ Some({a}) => {of_float}, None => {other} }})"),
            },
            Held::Either => {
                let of_number = self.with(&[(&n, Elem::I64)], |this| this.expr(&Elem::F64, depth));
                format!(
                    "(match {of} {{ Either::Left({a}) => {of_float}, Either::Right({n}) => {{ let _ = {n}; {of_number} }} }})"
                )
            }
        }
    }

    /// Something written where these names are bound.
    fn with(
        &mut self,
        names: &[(&String, Elem)],
        write: impl FnOnce(&mut Self) -> String,
    ) -> String {
        let mark = self.open();
        for (name, elem) in names {
            self.declare((*name).clone(), Type::scalar(elem.clone()), false);
        }
        let text = write(self);
        self.close(&mark);
        text
    }
}
