//! Calls: the body of what is called runs in place.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::value::{Choice, Closure, Frame, Function, Space, Val};
use super::{Elab, Run};
use crate::ir::{Scalar, SpanId};
use crate::lower::effects::Path;
use crate::lower::hir::{self, Arg, Call, Instance, Origin, Repeat};
use crate::lower::types::Set;
use crate::ops::Prim;

impl<'a> Elab<'a> {
    pub(super) fn closure(&mut self, code: &'a hir::Closure) -> Val<'a> {
        Val::Closure(Rc::new(Closure {
            code,
            frame: self.frame.clone(),
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
        Ok(Function {
            position,
            sets,
            floats,
            inner,
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
            Val::Function(function) => self.run(function, args, span).map(|(val, _)| val),
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
        span: SpanId,
    ) -> Run<(Val<'a>, Frame<'a>)> {
        let code = &self.functions[function.position];
        let frame = Frame {
            function: function.position,
            sets: function.sets.clone(),
            floats: function.floats.clone(),
            inner: function.inner.clone(),
            env: vec![None; code.locals.len()],
        };
        if args.len() != code.params.len() {
            return self.bug(span, "a call with a wrong number of arguments");
        }
        let outer = std::mem::replace(&mut self.frame, frame);
        for (param, arg) in code.params.iter().zip(args) {
            self.frame.env[param.0 as usize] = Some(arg);
        }
        let result = self.function_body(code, span);
        let inner = std::mem::replace(&mut self.frame, outer);
        result.map(|val| (val, inner))
    }

    /// A call of an annotated function, repeated over the frame of its arguments.
    pub(super) fn call(&mut self, call: &'a Call, span: SpanId) -> Run<Val<'a>> {
        let mut args = Vec::new();
        let mut places = Vec::new();
        for (k, arg) in call.args.iter().enumerate() {
            match arg {
                Arg::Value(value) => args.push(self.eval(value)?),
                Arg::Place(place) => {
                    let (path, indices) = self.reach(place)?;
                    let target = self.read(&path, span)?;
                    args.push(self.select(&target, &indices, span)?);
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
            let (val, inner) = self.run(&function, args, span)?;
            self.learn(call, &inner);
            for (k, path, indices) in &places {
                self.put_back(call.callee, *k, path, indices, &inner, span)?;
            }
            return Ok(val);
        }
        let made = self.repeated(&call.repeat, args, span, &mut |s, cells| {
            let (val, inner) = s.run(&function, cells, span)?;
            s.learn(call, &inner);
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
        let solver = &self.functions[self.frame.function].solver;
        let frame: Vec<Set> = repeat.frame.iter().map(|s| solver.set(s)).collect();
        self.lift_aligned(&frame, &repeat.lifted, &args, span, &mut |s, cells| {
            call(s, cells.to_vec())
        })
    }

    /// Takes over the lengths of ranges that the result has.
    fn learn(&mut self, call: &Call, inner: &Frame<'a>) {
        for (theirs, mine) in &call.instance.inner {
            if let (Set::Range(_), Some(space)) = (theirs, inner.inner.get(theirs)) {
                let mine = self.functions[self.frame.function].solver.set(mine);
                self.frame.inner.insert(mine, space.clone());
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
        indices: &[crate::ir::ValueId],
        inner: &Frame<'a>,
        span: SpanId,
    ) -> Run<()> {
        let val = self.changed(callee, k, inner, span)?;
        let target = self.read(path, span)?;
        self.store(path, &target, indices, val, span)
    }
}
