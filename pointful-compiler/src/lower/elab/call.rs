//! Calls: the body of what is called runs in place.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::monoid::own_of;
use super::value::{Accum, Choice, Closure, Frame, Function, Functions, Maker, Part, Space, Val};
use super::{Elab, Run};
use crate::ir::{Scalar, SpanId, ValueId};
use crate::lower::effects::Path;
use crate::lower::hir::{self, Arg, Call, Instance, LocalId, Origin, Repeat};
use crate::lower::types::{Set, Ty};
use crate::ops::Prim;

impl<'a> Elab<'a> {
    pub(super) fn closure(&mut self, code: &'a hir::Closure) -> Val<'a> {
        Val::Closure(Rc::new(Closure {
            code,
            frame: self.silent(),
        }))
    }

    /// What the generics of a function called are, in terms of the axes of the program.
    fn instantiate(&mut self, position: usize, instance: &Instance, span: SpanId) -> Run<Function> {
        let mut sets: Vec<Option<Space>> = Vec::new();
        for set in &instance.sets {
            sets.push(match set {
                Some(set) => Some(self.space(set, span)?),
                None => None,
            });
        }
        let mut floats: Vec<Option<Scalar>> = Vec::new();
        for float in &instance.floats {
            floats.push(match float {
                Some(float) => Some(self.scalar(float, span)?),
                None => None,
            });
        }
        let mut inner = BTreeMap::new();
        for (theirs, mine) in &instance.inner {
            // Ranges of the function called are known once it has run.
            if let Set::Var(_) = theirs {
                inner.insert(theirs.clone(), self.space(mine, span)?);
            }
        }
        let solver = &self.functions[self.frame.function].solver;
        let ranges = instance.inner.iter();
        let ranges = ranges.filter(|(theirs, _)| matches!(theirs, Set::Range(_) | Set::Row(..)));
        Ok(Function {
            position,
            sets,
            floats,
            inner,
            ranges: ranges
                .map(|(theirs, mine)| (theirs.clone(), solver.set(mine)))
                .collect(),
            home: self.frame.function,
        })
    }

    pub(super) fn function_value(
        &mut self,
        position: usize,
        instance: &'a Instance,
        span: SpanId,
    ) -> Run<Val<'a>> {
        let function = self.instantiate(position, instance, span)?;
        Ok(Val::Function(Rc::new(function)))
    }

    /// Calls a closure or function value.
    pub(super) fn apply(&mut self, f: &Val<'a>, args: Vec<Val<'a>>, span: SpanId) -> Run<Val<'a>> {
        match f {
            Val::Closure(closure) => {
                let outer = std::mem::replace(&mut self.frame, closure.frame.clone());
                let mut result = Ok(());
                for (param, arg) in closure.code.params.iter().zip(args) {
                    result = result.and_then(|()| self.bind(param, arg, span));
                }
                let result = result.and_then(|()| self.eval(&closure.code.body));
                self.frame = outer;
                result
            }
            Val::Function(function) => {
                let (val, inner) = self.run(function, args, None, span)?;
                self.learn(function, &inner);
                Ok(val)
            }
            Val::Unknown(function) => self.call_unknown(function, &args, span),
            Val::Transformed(transformed) => self.call_transformed(transformed, args, span),
            Val::Linear(map) => self.call_linear(map, &args, span),
            Val::Choice(choice) => self.call_chosen(choice, 0, &args, span),
            Val::Chosen(chosen) => self.call_of_chosen(chosen, &args, span),
            _ => self.bug(span, "a function was expected"),
        }
    }

    /// Calls the function of an array that its index chooses, which is none before this one.
    fn call_chosen(
        &mut self,
        choice: &Choice<'a>,
        at: usize,
        args: &[Val<'a>],
        span: SpanId,
    ) -> Run<Val<'a>> {
        let (Some(function), Some((&index, rest))) =
            (choice.functions.get(at), choice.indices.split_first())
        else {
            return self.bug(span, "a function that nothing chooses");
        };
        let mut this = |s: &mut Self| {
            let function = s.select(function, rest, span)?;
            s.apply(&function, args.to_vec(), span)
        };
        if at + 1 == choice.functions.len() {
            return this(self);
        }
        let number = self.cast(index, Scalar::Usize, span)?;
        let own = self.usize(at as u64, span);
        let chosen = self.prim(Prim::Eq, &[number, own], span)?;
        let mut other = |s: &mut Self| s.call_chosen(choice, at + 1, args, span);
        self.branch(chosen, &[], &mut this, &mut other, span)
    }

    /// Runs the body of a function; gives its value and its frame as it is at the end.
    fn run(
        &mut self,
        function: &Function,
        args: Vec<Val<'a>>,
        printed: Option<Val<'a>>,
        span: SpanId,
    ) -> Run<(Val<'a>, Frame<'a>)> {
        let code = &self.functions[function.position];
        let frame = Frame {
            function: function.position,
            sets: function.sets.clone(),
            floats: function.floats.clone(),
            inner: function.inner.clone(),
            begins: BTreeMap::new(),
            env: vec![None; code.locals.len()],
        };
        if args.len() != code.params.len() {
            return self.bug(span, "a call with a wrong number of arguments");
        }
        let outer = std::mem::replace(&mut self.frame, frame);
        for (param, arg) in code.params.iter().zip(args) {
            self.frame.env[param.0 as usize] = Some(arg);
        }
        if let Some(local) = code.printed {
            self.frame.env[local.0 as usize] = printed;
        }
        let result = self.function_body(code, span);
        let result = result.and_then(|val| self.settled(val, &code.result, span));
        let result = result.and_then(|val| {
            self.name_rows(function.ranges.iter().map(|(theirs, _)| theirs), span)?;
            Ok(val)
        });
        let inner = std::mem::replace(&mut self.frame, outer);
        result.map(|val| (val, inner))
    }

    /// A call of an annotated function, repeated over the frame of its arguments.
    pub(super) fn call(&mut self, call: &'a Call, e: &'a hir::Expr) -> Run<Val<'a>> {
        let span = e.span;
        let mut args = Vec::new();
        let mut places = Vec::new();
        for (k, arg) in call.args.iter().enumerate() {
            match arg {
                Arg::Value(value) => args.push(self.eval(value)?),
                Arg::Place(place) => {
                    let (path, indices) = self.reach(place)?;
                    let target = self.read(&path, span)?;
                    let given = self.given(&target, &indices, span)?;
                    args.push(self.entered(call, given));
                    let code = &self.functions[call.callee];
                    let param = &code.locals[code.params[k].0 as usize];
                    if param.origin == Origin::Exclusive {
                        places.push((k, path, indices));
                    }
                }
            }
        }
        let function = self.instantiate(call.callee, &call.instance, span)?;
        if call.repeat.frame.is_empty() {
            let printed = self.printed_before(call);
            let (val, inner) = self.run(&function, args, printed, span)?;
            self.learn(&function, &inner);
            self.printed_in(call, &inner);
            for (k, path, indices) in &places {
                self.put_back(call.callee, *k, path, indices, &inner, span)?;
            }
            return Ok(val);
        }
        if gives_functions(&self.ty(&e.ty)) && places.is_empty() {
            let of = Val::Function(Rc::new(function));
            return self.functions(Some(of), &call.repeat, args, span);
        }
        let (frame, states) = (self.resolved(&call.repeat.frame), self.printed_states(call));
        let lifted = &call.repeat.lifted;
        let made = self.lift_in_order(&frame, lifted, &args, &states, span, &mut |s, cells| {
            let printed = s.printed_before(call);
            let (val, inner) = s.run(&function, cells.to_vec(), printed, span)?;
            s.learn(&function, &inner);
            s.printed_in(call, &inner);
            let mut all = vec![val];
            for (k, ..) in &places {
                all.push(s.changed(call.callee, *k, &inner, span)?);
            }
            Ok(Val::Tuple(all))
        })?;
        let Val::Tuple(all) = made else {
            return self.bug(span, "a tuple was expected");
        };
        let mut all = all.into_iter();
        let val = all.next();
        for ((_, path, indices), changed) in places.iter().zip(all) {
            let target = self.read(path, span)?;
            self.store(path, &target, indices, changed, span)?;
        }
        match val {
            Some(val) => Ok(val),
            None => self.bug(span, "a call without a result"),
        }
    }

    /// A call of a value. Of a table of functions each is applied to its own cells.
    pub(super) fn applied(
        &mut self,
        f: Val<'a>,
        mut args: Vec<Val<'a>>,
        repeat: &'a Repeat,
        e: &'a hir::Expr,
    ) -> Run<Val<'a>> {
        let span = e.span;
        if repeat.frame.is_empty() {
            return self.apply(&f, args, span);
        }
        let of = if repeat.lifted.len() > args.len() {
            args.insert(0, f);
            None
        } else {
            Some(f)
        };
        if gives_functions(&self.ty(&e.ty)) {
            return self.functions(of, repeat, args, span);
        }
        self.repeated(repeat, args, span, &mut |s, cells| {
            s.apply_cells(of.as_ref(), cells, span)
        })
    }

    /// Calls a function, or the one that stands in front of what it is applied to.
    fn apply_cells(
        &mut self,
        f: Option<&Val<'a>>,
        mut cells: Vec<Val<'a>>,
        span: SpanId,
    ) -> Run<Val<'a>> {
        match f {
            Some(f) => self.apply(f, cells, span),
            None => {
                let f = cells.remove(0);
                self.apply(&f, cells, span)
            }
        }
    }

    /// The table of what a repeated call gives, if that is functions.
    fn functions(
        &mut self,
        of: Option<Val<'a>>,
        repeat: &'a Repeat,
        args: Vec<Val<'a>>,
        span: SpanId,
    ) -> Run<Val<'a>> {
        let mut axes = 0;
        for set in &repeat.frame {
            axes += self.space(set, span)?.axes().len();
        }
        Ok(Val::Functions(Rc::new(Functions {
            maker: Maker::Call { of, repeat, args },
            frame: self.silent(),
            axes,
            indices: Vec::new(),
        })))
    }

    /// A repeated call at one place of its frame.
    pub(super) fn call_at(
        &mut self,
        of: Option<&Val<'a>>,
        repeat: &'a Repeat,
        args: &[Val<'a>],
        at: &[ValueId],
        span: SpanId,
    ) -> Run<Val<'a>> {
        let frame = self.resolved(&repeat.frame);
        let cells = self.cells_at(&frame, &repeat.lifted, args, at, span)?;
        self.apply_cells(of, cells, span)
    }

    fn resolved(&self, frame: &[Set]) -> Vec<Set> {
        let solver = &self.functions[self.frame.function].solver;
        frame.iter().map(|set| solver.set(set)).collect()
    }

    /// A call, at each cell of what it is repeated over.
    pub(super) fn repeated(
        &mut self,
        repeat: &Repeat,
        args: Vec<Val<'a>>,
        span: SpanId,
        call: &mut dyn FnMut(&mut Self, Vec<Val<'a>>) -> Run<Val<'a>>,
    ) -> Run<Val<'a>> {
        if repeat.frame.is_empty() {
            return call(self, args);
        }
        let frame = self.resolved(&repeat.frame);
        self.lift_aligned(&frame, &repeat.lifted, &args, span, &mut |s, cells| {
            call(s, cells.to_vec())
        })
    }

    /// Takes over the lengths of ranges that the result has.
    fn learn(&mut self, function: &Function, inner: &Frame<'a>) {
        if function.home != self.frame.function {
            return;
        }
        for (theirs, mine) in &function.ranges {
            if let Some(space) = inner.inner.get(theirs) {
                self.frame.inner.insert(mine.clone(), space.clone());
            }
        }
    }

    /// What a parameter is at the end of a call.
    fn changed(
        &mut self,
        callee: usize,
        k: usize,
        inner: &Frame<'a>,
        span: SpanId,
    ) -> Run<Val<'a>> {
        let param = self.functions[callee].params[k];
        match inner.env[param.0 as usize].clone() {
            Some(val) => Ok(val),
            None => self.bug(span, "a parameter has no value"),
        }
    }

    /// What a `&mut` parameter is at the end goes back to where the argument came from.
    fn put_back(
        &mut self,
        callee: usize,
        k: usize,
        path: &Path,
        indices: &[ValueId],
        inner: &Frame<'a>,
        span: SpanId,
    ) -> Run<()> {
        let val = self.changed(callee, k, inner, span)?;
        match self.read(path, span)? {
            // What was put to it is there.
            Val::Accum(_) => Ok(()),
            Val::Slice(slice) => {
                let (path, around) = &*slice;
                let indices = [around.as_slice(), indices].concat();
                self.put_part(path, &indices, val, span)
            }
            target if own_of(&target).is_some() => self.put_part(path, indices, val, span),
            target => {
                let val = left(&target, val);
                self.store(path, &target, indices, val, span)
            }
        }
    }

    /// The part of a table that an iteration has to itself, as the function called sees it: what
    /// leads its indices are parameters there.
    fn entered(&self, call: &Call, given: Val<'a>) -> Val<'a> {
        let Val::Part(part) = given else {
            return given;
        };
        let params = &self.functions[call.callee].params;
        let inside = |member: &LocalId| {
            let is_member = |arg: &Arg| matches!(arg, Arg::Value(value) if matches!(value.kind, hir::Kind::Local(local) if local == *member));
            let k = call.args.iter().position(is_member)?;
            params.get(k).copied()
        };
        let members: Option<Vec<LocalId>> = part.members.iter().map(inside).collect();
        // Members of which the function knows nothing lead no indices there.
        let members = members.unwrap_or_default();
        Val::Part(Rc::new(Part {
            members,
            ..(*part).clone()
        }))
    }

    /// What stands at a place, for a function that changes it.
    fn given(&mut self, target: &Val<'a>, indices: &[ValueId], span: SpanId) -> Run<Val<'a>> {
        match target {
            Val::Accum(accum) => Ok(Val::Accum(Rc::new(Accum {
                indices: [accum.indices.as_slice(), indices].concat(),
                ..(**accum).clone()
            }))),
            Val::Slice(slice) => {
                let (path, around) = &**slice;
                let whole = self.read(path, span)?;
                self.select(&whole, &[around.as_slice(), indices].concat(), span)
            }
            _ => self.select(target, indices, span),
        }
    }
}

/// Whether a type is one of functions, or of tables of them.
fn gives_functions(ty: &Ty) -> bool {
    match ty {
        Ty::Function(..) => true,
        Ty::Table(_, elem) => gives_functions(elem),
        _ => false,
    }
}

/// The part of a table as the caller has it, of what a function made of it.
fn left<'a>(target: &Val<'a>, val: Val<'a>) -> Val<'a> {
    match (target, val) {
        (Val::Part(target), Val::Part(part)) => Val::Part(Rc::new(Part {
            members: target.members.clone(),
            ..(*part).clone()
        })),
        (_, val) => val,
    }
}
