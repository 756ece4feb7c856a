//! Whether a table can be read and written at the same place.
//!
//! # The idea
//!
//! Two accesses to a table in the body of a loop, in the same iteration or one later than the
//! other. What each of them may have of its own (an inner loop's index, the point of an axis,
//! something read) is a variable of its own; what they have in common is one. Indices are
//! [affine](super::affine) in the variables, types and guards say how large these are, and *the
//! same place* is one equation for each axis of the table. If that is impossible, the accesses
//! never meet.
//!
//! # Why it is sound
//!
//! Integers wrap, so a form says what an index is up to multiples of 2⁶⁴. It is taken at its word
//! where all of its variables are *narrow*, indices and sizes: these are far from that large in
//! loops that end, and their small multiples are, too. Numbers of the author's are wide, and are
//! believed where they stand alone, or have cancelled out. Where iterations are to run in any order
//! it is not enough that a loop would not end: an index is narrow if its length is made of sizes.

use std::collections::{BTreeMap, BTreeSet};

use super::affine::{Affine, System};
use super::indices::{FAR, Indices, Made, is_known};
use crate::ir::{AxisId, Elem, Extent, Lit, Operation, Scalar, SizeId, Stage, Stmt, ValueId};
use crate::ops::Prim;

/// How many operations are looked through for one question.
const FUEL: u32 = 200;

/// How many minima and maxima are taken for one of what they are of: each makes two questions of one,
/// or three.
const EITHER: usize = 4;

/// The largest multiple of an index that is far from 2⁶⁴.
const SMALL: i128 = 1 << 16;

/// Where a table is accessed.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) at: Vec<(AxisId, ValueId)>,
    /// What is true where it is.
    pub(crate) holds: Vec<ValueId>,
}

/// Whose a variable is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Side {
    Both,
    Read,
    Write,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Var {
    Size(SizeId),
    Axis(AxisId, Side),
    Value(ValueId, Side),
}

type Form = Affine<Var>;

/// When the write is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum When {
    SameIteration,
    LaterIteration,
}

/// The body of a loop.
pub(crate) struct Scope {
    index: ValueId,
    reverse: bool,
    /// What the body binds, and whether in a block of its own.
    bound: BTreeMap<ValueId, bool>,
}

impl Scope {
    pub(crate) fn new(index: ValueId, reverse: bool) -> Self {
        Self {
            index,
            reverse,
            bound: BTreeMap::new(),
        }
    }

    /// Notes what statements bind.
    pub(crate) fn bind<S: Stage>(&mut self, stmts: &[Stmt<S>], nested: bool) {
        for stmt in stmts {
            self.bind_values(&stmt.results, nested);
            for inner in stmt.op.blocks() {
                self.bind_values(&inner.params, true);
                self.bind(&inner.stmts, true);
            }
        }
    }

    pub(crate) fn bind_values(&mut self, values: &[ValueId], nested: bool) {
        self.bound
            .extend(values.iter().map(|&value| (value, nested)));
    }

    pub(crate) fn binds(&self, value: ValueId) -> bool {
        self.bound.contains_key(&value)
    }

    /// Whether a table with these axes can be read where it is written.
    pub(crate) fn may_meet(
        &self,
        b: &dyn Indices,
        dims: &[AxisId],
        read: &Access,
        write: &Access,
        when: When,
    ) -> bool {
        let addressed = |access: &Access, axis| access.at.iter().any(|&(a, _)| a == axis);
        let common = dims
            .iter()
            .copied()
            .filter(|&axis| !addressed(read, axis) && !addressed(write, axis));
        let mut meeting = Meeting {
            b,
            scope: self,
            when,
            common: common.collect(),
            system: System::new(),
            narrow: BTreeSet::new(),
            either: Vec::new(),
            seen: BTreeSet::new(),
            fuel: FUEL,
        };
        for &axis in dims {
            let coordinates = [(read, Side::Read), (write, Side::Write)].map(|(access, side)| {
                let at = access.at.iter().find(|&&(a, _)| a == axis);
                match at {
                    Some(&(_, index)) => meeting.form(index, side),
                    None => meeting.axis(axis, side),
                }
            });
            let [read, write] = coordinates;
            if let Some(difference) = read.plus(-1, &write)
                && meeting.is_narrow(&difference)
            {
                meeting.system.equal(difference);
            }
        }
        if when == When::LaterIteration {
            let [read, write] =
                [Side::Read, Side::Write].map(|side| meeting.form(self.index, side));
            let (first, last) = if self.reverse {
                (write, read)
            } else {
                (read, write)
            };
            let one = Form::number(1);
            let between = last.plus(-1, &first).and_then(|by| by.plus(-1, &one));
            between
                .into_iter()
                .for_each(|by| meeting.system.at_least(by));
        }
        for (access, side) in [(read, Side::Read), (write, Side::Write)] {
            for &condition in &access.holds {
                meeting.assume(condition, true, side);
            }
        }
        !impossible(&meeting.system, &meeting.either)
    }
}

/// What one of several cases says: that a number is zero, and another one is not negative.
struct Case {
    zero: Form,
    least: Option<Form>,
}

/// Whether a system has no solution, whichever of each several cases holds.
fn impossible(system: &System<Var>, either: &[Vec<Case>]) -> bool {
    if system.clone().impossible() {
        return true;
    }
    let Some((first, rest)) = either.split_first() else {
        return false;
    };
    first.iter().all(|case| {
        let mut system = system.clone();
        system.equal(case.zero.clone());
        case.least
            .iter()
            .for_each(|least| system.at_least(least.clone()));
        impossible(&system, rest)
    })
}

struct Meeting<'a> {
    b: &'a dyn Indices,
    scope: &'a Scope,
    when: When,
    /// Axes at whose same point both are.
    common: Vec<AxisId>,
    system: System<Var>,
    /// Numbers that are computed from narrow ones.
    narrow: BTreeSet<Var>,
    /// One of each several cases holds: a minimum or maximum is one of what it is of.
    either: Vec<Vec<Case>>,
    seen: BTreeSet<Var>,
    fuel: u32,
}

impl Meeting<'_> {
    fn elem(&self, value: ValueId) -> Elem {
        self.b.elem(value)
    }

    // ---- Variables

    fn axis(&mut self, axis: AxisId, side: Side) -> Form {
        let side = if self.common.contains(&axis) {
            Side::Both
        } else {
            side
        };
        let form = Form::variable(Var::Axis(axis, side));
        if self.seen.insert(Var::Axis(axis, side)) {
            let extent = self.b.extent(axis);
            self.inside(&form, extent, side);
        }
        form
    }

    /// A value of which no more is known than its type.
    fn leaf(&mut self, value: ValueId, side: Side) -> Form {
        let own = match self.scope.bound.get(&value) {
            Some(true) => true,
            Some(false) => self.when == When::LaterIteration,
            None => false,
        };
        let dims = self.b.dims(value);
        let side = if own || !dims.iter().all(|axis| self.common.contains(axis)) {
            side
        } else {
            Side::Both
        };
        let variable = Var::Value(value, side);
        let form = Form::variable(variable);
        if self.seen.insert(variable) {
            match self.elem(value) {
                Elem::Index(extent) => self.inside(&form, extent, side),
                Elem::Scalar(Scalar::Usize) => self.system.at_least(form.clone()),
                Elem::Scalar(_) | Elem::Bound(_) => {}
            }
        }
        form
    }

    /// Notes that an index is in range.
    fn inside(&mut self, form: &Form, extent: Extent, side: Side) {
        self.system.at_least(form.clone());
        // A loop as long as a number that has wrapped does not end.
        if let Some(extent) = self.extent(extent, side)
            && let Some(left) = extent.plus(-1, form)
            && let Some(left) = left.plus(-1, &Form::number(1))
        {
            self.system.at_least(left);
        }
    }

    fn extent(&mut self, extent: Extent, side: Side) -> Option<Form> {
        match extent {
            Extent::Const(n) => {
                let n = i128::from(n);
                (n <= FAR).then(|| Form::number(n))
            }
            Extent::Size(size) => {
                let form = Form::variable(Var::Size(size));
                if self.seen.insert(Var::Size(size)) {
                    self.system.at_least(form.clone());
                }
                Some(form)
            }
            Extent::Value(value) => {
                let form = self.form(value, side);
                let is_it = self.is_exact(value, &form)
                    || self.is_narrow(&form)
                        && (self.b.believes(value) || self.never_above(&Form::number(0), &form));
                is_it.then_some(form)
            }
        }
    }

    // ---- Numbers

    /// What an integer is, up to multiples of 2⁶⁴.
    fn form(&mut self, value: ValueId, side: Side) -> Form {
        self.looked_through(value, side)
            .unwrap_or_else(|| self.leaf(value, side))
    }

    fn looked_through(&mut self, value: ValueId, side: Side) -> Option<Form> {
        self.fuel = self.fuel.checked_sub(1)?;
        let wide = |elem| matches!(elem, Elem::Scalar(Scalar::Usize | Scalar::I64));
        let integer = |elem| wide(elem) || matches!(elem, Elem::Index(_));
        match self.b.made(value)? {
            Made::Const(Lit::Int(_, n)) => (n.abs() <= FAR).then(|| Form::number(n)),
            Made::Size(extent) => self.extent(extent, side),
            Made::Iota(axis) => Some(self.axis(axis, side)),
            Made::Prim(Prim::Cast(Scalar::Usize | Scalar::I64), args) => {
                integer(self.elem(args[0])).then(|| self.form(args[0], side))
            }
            Made::Prim(Prim::Trust(extent) | Prim::Check(extent), args) => {
                let form = self.form(args[0], side);
                // A number that stands alone is what is in range.
                let alone = form.single().is_some() && self.is_exact(args[0], &form);
                if alone {
                    self.narrow.extend(form.variables());
                }
                if alone || self.is_narrow(&form) {
                    self.inside(&form, extent, side);
                }
                Some(form)
            }
            Made::Prim(prim @ (Prim::Add | Prim::Sub), args) if wide(self.elem(value)) => {
                let [x, y] = [args[0], args[1]].map(|arg| self.form(arg, side));
                x.plus(if prim == Prim::Add { 1 } else { -1 }, &y)
            }
            Made::Prim(Prim::Mul, args) if wide(self.elem(value)) => {
                let [x, y] = [args[0], args[1]].map(|arg| self.form(arg, side));
                match (x.known(), y.known()) {
                    (Some(times), _) => y.times(times),
                    (_, Some(times)) => x.times(times),
                    (None, None) => None,
                }
            }
            Made::Prim(prim @ (Prim::Min | Prim::Max), args) if wide(self.elem(value)) => {
                let forms = [args[0], args[1]].map(|arg| (arg, self.form(arg, side)));
                let exact = forms.iter().filter(|(arg, form)| self.is_exact(*arg, form));
                let exact: Vec<&Form> = exact.map(|(_, form)| form).collect();
                if let [x, y] = exact[..] {
                    for (less, more) in [(x, y), (y, x)] {
                        if self.never_above(less, more) {
                            let result = if prim == Prim::Min { less } else { more };
                            return Some(result.clone());
                        }
                    }
                }
                let narrow = exact.iter().filter(|form| self.is_narrow(form)).count();
                // What is not negative and at most something narrow is narrow.
                let least = prim == Prim::Min && self.elem(value) == Elem::USIZE;
                let result = self.leaf(value, side);
                if narrow == 2 || narrow == 1 && least {
                    self.narrow.extend(result.variables());
                }
                let above = exact.iter().filter_map(|form| match prim {
                    Prim::Max => result.plus(-1, form),
                    _ => form.plus(-1, &result),
                });
                let above: Vec<Form> = above.collect();
                for more in &above {
                    self.system.at_least(more.clone());
                }
                if above.len() == 2 {
                    let cases = above.into_iter().map(|zero| Case { zero, least: None });
                    self.one_of(cases.collect());
                }
                Some(result)
            }
            Made::Prim(Prim::ClampTo(extent), args) => {
                let of = self.form(args[0], side);
                let size = self.extent(extent, side)?;
                let last = size.plus(-1, &Form::number(1))?;
                if !self.is_exact(args[0], &of) {
                    return None;
                }
                let zero = Form::number(0);
                if self.never_above(&zero, &of) && self.never_above(&of, &last) {
                    return Some(of);
                }
                let result = self.leaf(value, side);
                let case = |is: &Form, least: Option<Form>| {
                    Some(Case {
                        zero: result.plus(-1, is)?,
                        least,
                    })
                };
                let below = zero.plus(-1, &of)?.plus(-1, &Form::number(1))?;
                let beyond = of.plus(-1, &size)?;
                self.one_of(vec![
                    case(&of, None)?,
                    case(&zero, Some(below))?,
                    case(&last, Some(beyond))?,
                ]);
                Some(result)
            }
            _ => None,
        }
    }

    /// Notes that one of several cases holds.
    fn one_of(&mut self, cases: Vec<Case>) {
        if self.either.len() < EITHER {
            self.either.push(cases);
        }
    }

    /// Whether one number cannot be above another.
    fn never_above(&self, x: &Form, y: &Form) -> bool {
        let above = x.plus(-1, y).and_then(|by| by.plus(-1, &Form::number(1)));
        above.is_some_and(|above| {
            let mut system = self.system.clone();
            system.at_least(above);
            system.impossible()
        })
    }

    fn is_narrow(&self, form: &Form) -> bool {
        let known = |variable| match variable {
            Var::Size(_) | Var::Axis(..) => true,
            Var::Value(value, _) => match self.elem(value) {
                Elem::Index(extent) => value != self.scope.index || is_known(self.b, extent),
                _ => self.narrow.contains(&variable),
            },
        };
        form.variables().all(known) && form.factors().all(|factor| factor.abs() <= SMALL)
    }

    /// Whether a value is its form, and not just up to multiples of 2⁶⁴.
    fn is_exact(&self, value: ValueId, form: &Form) -> bool {
        let elem = self.elem(value);
        if elem.is_float() {
            return false;
        }
        if let Some(Var::Value(other, _)) = form.single()
            && self.elem(other) == elem
        {
            return true;
        }
        let positive = |variable| match variable {
            Var::Size(_) | Var::Axis(..) => true,
            Var::Value(value, _) => self.elem(value) != Elem::Scalar(Scalar::I64),
        };
        self.is_narrow(form)
            && match elem {
                Elem::Index(_) | Elem::Scalar(Scalar::I64) => true,
                Elem::Scalar(Scalar::Usize) => form.is_positive() && form.variables().all(positive),
                Elem::Scalar(_) | Elem::Bound(_) => false,
            }
    }

    // ---- Conditions

    /// Notes that a condition holds, or does not.
    fn assume(&mut self, condition: ValueId, holds: bool, side: Side) {
        let Some(fuel) = self.fuel.checked_sub(1) else {
            return;
        };
        self.fuel = fuel;
        let Some(made) = self.b.made(condition) else {
            return;
        };
        match made {
            Made::Prim(Prim::Not, args) => self.assume(args[0], !holds, side),
            Made::Prim(Prim::And, args) if holds => {
                args.iter().for_each(|&arg| self.assume(arg, true, side));
            }
            Made::Prim(Prim::Or, args) if !holds => {
                args.iter().for_each(|&arg| self.assume(arg, false, side));
            }
            // Both, of which the second may be unspecified where the first is false.
            Made::Select(first, second, otherwise) if holds => {
                if let Some(Made::Const(Lit::Bool(false))) = self.b.made(otherwise) {
                    self.assume(first, true, side);
                    self.assume(second, true, side);
                }
            }
            Made::Prim(Prim::InRange(extent), args) if holds => {
                let form = self.form(args[0], side);
                if self.is_exact(args[0], &form) {
                    self.inside(&form, extent, side);
                }
            }
            Made::Prim(prim, args) if args.len() == 2 => {
                let forms = [args[0], args[1]].map(|arg| (arg, self.form(arg, side)));
                if forms.iter().all(|(arg, form)| self.is_exact(*arg, form)) {
                    let [(_, x), (_, y)] = forms;
                    self.compare(prim, holds, &x, &y);
                }
            }
            _ => {}
        }
    }

    fn compare(&mut self, prim: Prim, holds: bool, x: &Form, y: &Form) {
        // By how much at least the first is more than the second.
        let mut more = |x: &Form, y: &Form, by: i128| {
            let left = x.plus(-1, y).and_then(|d| d.plus(-by, &Form::number(1)));
            left.into_iter().for_each(|left| self.system.at_least(left));
        };
        match (prim, holds) {
            (Prim::Lt, true) | (Prim::Ge, false) => more(y, x, 1),
            (Prim::Le, true) | (Prim::Gt, false) => more(y, x, 0),
            (Prim::Gt, true) | (Prim::Le, false) => more(x, y, 1),
            (Prim::Ge, true) | (Prim::Lt, false) => more(x, y, 0),
            (Prim::Eq, true) | (Prim::Ne, false) => {
                more(x, y, 0);
                more(y, x, 0);
            }
            (Prim::Ne, true) | (Prim::Eq, false) => self.differ(x, y),
            _ => {}
        }
    }

    /// Notes that one number is above the other, or below.
    fn differ(&mut self, x: &Form, y: &Form) {
        let above = |x: &Form, y: &Form| {
            let least = x.plus(-1, y)?.plus(-1, &Form::number(1))?;
            Some(Case {
                zero: Form::number(0),
                least: Some(least),
            })
        };
        if let (Some(above), Some(below)) = (above(x, y), above(y, x)) {
            #[cfg(test)]
            crate::testing::entered::enter(&crate::testing::entered::DIFFER);
            self.one_of(vec![above, below]);
        }
    }
}
