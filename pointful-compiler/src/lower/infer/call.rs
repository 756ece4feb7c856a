//! Calls: words of the language, annotated functions, closures.

pub(super) mod accumulator;
mod filter;
mod fold;
mod frame;
mod instance;
mod word;
mod written;

use proc_macro2::Span;

use self::written::transform_in;
use super::Infer;
use super::pattern::side;
use super::reading::Reading;
use crate::diag::lowering as say;
use crate::ir::Scalar;
use crate::lower::hir::{Arg, Call, Expr, Instance, Kind, Origin};
use crate::lower::solve::{SetKind, TyKind};
use crate::lower::types::{Set, Ty};
use crate::lower::words::Word;
use crate::syntax::tree::path_key;
use crate::syntax::tree::{self, ExprKind};

impl<'a> Infer<'_, 'a> {
    pub(super) fn call(
        &mut self,
        f: &'a tree::Expr,
        args: &'a [tree::Expr],
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let path = match &f.kind {
            ExprKind::Path(path) => path,
            ExprKind::Instance(path, given) => {
                let Some(position) = self.function_of(&path_key(path)) else {
                    self.uncalled(args);
                    return self.no_instance(path, f.span);
                };
                return self.call_function(position, given, f.span, args, span);
            }
            _ => return self.apply(f, args, span),
        };
        let name = path_key(path);
        if self.lookup(&name).is_some() {
            return self.apply(f, args, span);
        }
        if let Some(word) = Word::from_name(&name) {
            return self.word(word, f.span, args, span);
        }
        match name.as_str() {
            "reduce" => return self.fold(false, f.span, args, span),
            "scan" => return self.fold(true, f.span, args, span),
            "filter" => return self.filter(f.span, args, span),
            "size" => return self.size(f.span, args, span),
            "stop_gradient" => {
                if !self.arity(&name, 1, args.len(), f.span) {
                    return self.poison(span);
                }
                let inner = self.expr(&args[0], want);
                let ty = inner.ty.clone();
                return self.made(Kind::StopGradient(Box::new(inner)), ty, span);
            }
            _ => {}
        }
        if let Some(float) = name.strip_suffix("::from_bits").and_then(Scalar::from_name)
            && float.is_float()
        {
            return self.float_of_bits(float, f.span, args, span);
        }
        if let Some(owner) = name.strip_suffix("::from_f64")
            && let Some((k, tree::GenericKind::Float)) = self.generic(owner)
        {
            return self.float_of(Ty::Float(k), f.span, args, span);
        }
        if let Some(kind) = name.strip_prefix("Accum::") {
            return self.accum(kind, f.span, args, span);
        }
        if let Some(position) = self.function_of(&name) {
            return self.call_function(position, &[], f.span, args, span);
        }
        if self.is_variant(path) {
            return self.variant_value(path, args, span);
        }
        let is_some = matches!(name.as_str(), "Some" | "Option::Some");
        let side = side(&name);
        if is_some || side.is_some() {
            if !self.arity(&name, 1, args.len(), f.span) {
                return self.poison(span);
            }
            return match side {
                Some(right) => self.side(right, &args[0], want, span),
                None => self.some(&args[0], want, span),
            };
        }
        self.uncalled(args);
        self.fail(say::not_pointful(f.span, &name))
    }

    /// `f64::from_bits(x)`
    fn float_of_bits(
        &mut self,
        float: Scalar,
        at: Span,
        args: &'a [tree::Expr],
        span: Span,
    ) -> Expr {
        if !self.arity("from_bits", 1, args.len(), at) {
            return self.poison(span);
        }
        let bits = Ty::Scalar(float.unsigned());
        let value = self.expr(&args[0], Some(&bits));
        self.settle();
        let (groups, cell) = self.split(&value.ty);
        self.expect(&bits, &cell, args[0].span, || {
            format!("the bits of an `{}` are that", float.name())
        });
        let ty = Ty::table(groups, Ty::Scalar(float));
        self.made(Kind::FromBits(Box::new(value)), ty, span)
    }

    /// `T::from_f64(x)`
    fn float_of(&mut self, to: Ty, at: Span, args: &'a [tree::Expr], span: Span) -> Expr {
        if !self.arity("from_f64", 1, args.len(), at) {
            return self.poison(span);
        }
        let wide = Ty::Scalar(Scalar::F64);
        let value = self.expr(&args[0], Some(&wide));
        self.settle();
        let (groups, cell) = self.split(&value.ty);
        self.expect(&wide, &cell, args[0].span, || {
            "`from_f64` takes an `f64`; of any number it is `x as T`".into()
        });
        self.made(Kind::Cast(Box::new(value)), Ty::table(groups, to), span)
    }

    /// `Some(x)`
    fn some(&mut self, held: &'a tree::Expr, want: Option<&Ty>, span: Span) -> Expr {
        let want = match want.map(|want| self.solver.shallow(want)) {
            Some(Ty::Option(held)) => Some(*held),
            _ => None,
        };
        let inner = self.expr(held, want.as_ref());
        let ty = Ty::Option(Box::new(inner.ty.clone()));
        self.made(Kind::OneOf(true, Box::new(inner)), ty, span)
    }

    /// `Either::Left(i)`: a member if `i` is one, unless another type is hoped for.
    fn side(&mut self, right: bool, held: &'a tree::Expr, want: Option<&Ty>, span: Span) -> Expr {
        let want = match want.map(|want| self.solver.shallow(want)) {
            Some(Ty::Either(sides)) => Some(*sides),
            _ => None,
        };
        let own = usize::from(right);
        let inner = self.expr(held, want.as_ref().map(|sides| &sides[own]));
        self.settle();
        let set = self.solver.set_of(&inner.ty).filter(|_| want.is_none());
        let Some(set) = set else {
            if self.solver.shallow(&inner.ty) == Ty::Error {
                return self.poison(span);
            }
            let mut sides = want.unwrap_or_else(|| [0, 1].map(|_| self.unknown(span)));
            sides[own] = inner.ty.clone();
            let ty = Ty::Either(Box::new(sides));
            return self.made(Kind::OneOf(right, Box::new(inner)), ty, span);
        };
        let other = self.solver.fresh_set(SetKind::Free, span);
        let (a, b) = if right { (other, set) } else { (set, other) };
        let ty = Ty::Member(Set::Either(Box::new(a), Box::new(b)));
        self.made(Kind::Side(right, Box::new(inner)), ty, span)
    }

    /// The position among the functions inferred that a path means.
    pub(super) fn function_of(&self, name: &str) -> Option<usize> {
        let id = self.tree.scope.functions.iter().find(|(n, _)| n == name)?.1;
        self.shared
            .position
            .iter()
            .find(|(callee, _)| *callee == id)
            .map(|(_, at)| *at)
    }

    // ---- closures ----

    fn apply(&mut self, f: &'a tree::Expr, args: &'a [tree::Expr], span: Span) -> Expr {
        let (f_expr, given) = self.applied(f, args);
        let mut given = given.into_iter();
        self.settle();
        // A table of functions is applied cell by cell.
        let (own, cell) = match self.split(&f_expr.ty) {
            (own, cell @ Ty::Function(..)) => (own, cell),
            _ => (Vec::new(), self.solver.shallow(&f_expr.ty)),
        };
        let (params, result) = match cell {
            Ty::Function(params, result) => (params, *result),
            Ty::Var(v) if self.solver.kind(v) == TyKind::Any => {
                let params: Vec<Ty> = args.iter().map(|a| self.unknown(a.span)).collect();
                let result = self.unknown(span);
                let _ = self.solver.unify(
                    &f_expr.ty,
                    &Ty::Function(params.clone(), Box::new(result.clone())),
                );
                (params, result)
            }
            Ty::Error => {
                self.uncalled(args);
                return self.poison(span);
            }
            other => {
                let hides = match &f.kind {
                    ExprKind::Path(path) => path_key(path),
                    _ => String::new(),
                };
                let shown = self.show(&other);
                return self.fail(say::not_callable(f.span, &shown, &hides));
            }
        };
        let name = match transform_in(f) {
            Some(transform) => format!("{}!(…)", transform.name),
            None => "this function".to_owned(),
        };
        if !self.arity(&name, params.len(), args.len(), f.span) {
            return self.poison(span);
        }
        let mut inferred = Vec::new();
        let mut frames = Vec::new();
        if !own.is_empty() {
            frames.push(own);
        }
        let mut ok = true;
        for (arg, want) in args.iter().zip(&params) {
            let found = match given.next() {
                Some(found) => found,
                None => self.expr(arg, Some(want)),
            };
            self.whole_set(want, &found.ty);
            // What nothing is known of takes tables as they are.
            let (frame, cell) = match self.solver.shallow(want) {
                Ty::Var(v) if self.solver.kind(v) == TyKind::Any => (Vec::new(), found.ty.clone()),
                _ => self.frame_and_cell(want, &found.ty),
            };
            ok &= self.expect(want, &cell, arg.span, || {
                "the function takes that here".into()
            });
            inferred.push(found);
            frames.push(frame);
        }
        self.settle();
        if !ok {
            return Expr {
                ty: result,
                ..self.poison(span)
            };
        }
        let Some(frame) = self.frame(&frames, f.span) else {
            return self.poison(span);
        };
        let repeat = self.repeat_over(&frames, &frame);
        let ty = Ty::table(frame, result);
        self.made(Kind::Apply(Box::new(f_expr), inferred, repeat), ty, span)
    }

    /// The arguments of a call that is an error, for errors of their own.
    pub(super) fn uncalled(&mut self, args: &'a [tree::Expr]) {
        for arg in args {
            match &arg.kind {
                // `&mut` stands only for an argument, which this may well be.
                ExprKind::Ref { mutable: true, .. } => {}
                // Nothing says what a closure is called with, which is no further mistake.
                ExprKind::Closure { params, .. } => {
                    let result = self.unknown(arg.span);
                    let ty = Ty::Function(vec![Ty::Error; params.len()], Box::new(result));
                    self.expr(arg, Some(&ty));
                }
                _ => {
                    self.expr(arg, None);
                }
            }
        }
    }

    // ---- annotated functions ----

    /// A function as a value.
    pub(super) fn function_value(
        &mut self,
        position: usize,
        given: &'a [tree::TypeArg],
        span: Span,
    ) -> Expr {
        let callee = &self.shared.done[position];
        let mut params = callee.params.iter().zip(&callee.tree.params);
        let exclusive =
            |id: &super::LocalId| callee.locals[id.0 as usize].origin == Origin::Exclusive;
        if let Some((_, param)) = params.find(|(id, _)| exclusive(id)) {
            let (name, param) = (callee.tree.name.to_string(), param.name.to_string());
            return self.fail(say::changing_function(span, &name, &param));
        }
        let mut instance = self.instance(position);
        self.give(position, given, &mut instance, span);
        let params = self.parameter_types(position);
        let params = params
            .iter()
            .map(|p| self.import(p, &mut instance, span))
            .collect();
        let result = self.result_type(position);
        let result = self.import(&result, &mut instance, span);
        let ty = Ty::Function(params, Box::new(result));
        self.made(Kind::Function(position, instance), ty, span)
    }

    fn call_function(
        &mut self,
        position: usize,
        given: &'a [tree::TypeArg],
        at: Span,
        args: &'a [tree::Expr],
        span: Span,
    ) -> Expr {
        let params = self.parameter_types(position);
        let name = self.shared.done[position].tree.name.to_string();
        if !self.arity(&name, params.len(), args.len(), at) {
            self.uncalled(args);
            return self.poison(span);
        }
        let mut instance = self.instance(position);
        self.give(position, given, &mut instance, at);
        let mut inferred: Vec<Option<Arg>> = Vec::new();
        for (k, (arg, param)) in args.iter().zip(&params).enumerate() {
            let callee = &self.shared.done[position];
            let changes = callee.locals[callee.params[k].0 as usize].origin == Origin::Exclusive;
            let arg = if changes {
                self.changed_argument(arg, &name, &callee.tree.params[k].name)
            } else {
                self.argument(arg, param)
            };
            inferred.push(arg);
        }
        self.settle();
        let found: Vec<Option<Ty>> = inferred
            .iter()
            .map(|arg| arg.as_ref().map(|arg| arg.ty().clone()))
            .collect();
        if let Err(readings) = self.read_call(&params, &found, &mut instance) {
            let shown = readings.map(|reading| self.show_reading(position, &reading));
            return self.fail(say::ambiguous_call(at, &name, &shown));
        }
        // Tables say what generics are; other arguments and functions, which come last, have to fit.
        let mut groups = vec![Vec::new(); args.len()];
        let mut ok = true;
        for pass in 0..3 {
            for k in 0..args.len() {
                let turn = match &params[k] {
                    Ty::Table(..) => 0,
                    Ty::Function(..) => 2,
                    _ => 1,
                };
                if turn != pass {
                    continue;
                }
                if turn == 2 && inferred[k].is_none() {
                    let want = self.import(&params[k], &mut instance, at);
                    inferred[k] = Some(Arg::Value(self.expr(&args[k], Some(&want))));
                }
                match &inferred[k] {
                    Some(arg) => {
                        let found = arg.ty().clone();
                        match self.pass_argument(
                            position,
                            k,
                            &params[k],
                            &found,
                            &mut instance,
                            args[k].span,
                        ) {
                            Some(frame) => groups[k] = frame,
                            None => ok = false,
                        }
                    }
                    None => ok = false,
                }
            }
        }
        let result = self.result_type(position);
        let result = self.import(&result, &mut instance, span);
        if !ok {
            return Expr {
                ty: result,
                ..self.poison(span)
            };
        }
        let Some(frame) = self.frame(&groups, at) else {
            return self.poison(span);
        };
        let repeat = self.repeat_over(&groups, &frame);
        for (k, arg) in inferred.iter().enumerate() {
            let own = || {
                let mut axes = repeat.lifted[k].clone();
                axes.sort_unstable();
                axes.into_iter().eq(0..repeat.frame.len())
            };
            if !repeat.frame.is_empty() && matches!(arg, Some(Arg::Place(_))) && !own() {
                return self.fail(say::shared_place(args[k].span, &name));
            }
        }
        let call = Call {
            callee: position,
            instance,
            args: inferred.into_iter().flatten().collect(),
            repeat,
            printed: self.printed_by(position, span),
        };
        let ty = Ty::table(frame, result);
        self.made(Kind::Call(Box::new(call)), ty, span)
    }

    /// A reading as a message shows it.
    fn show_reading(&self, position: usize, reading: &Reading) -> String {
        let list = |sets: &[Set]| {
            let sets: Vec<String> = sets.iter().map(|s| self.show_set(s)).collect();
            sets.join(", ")
        };
        let generics = &self.shared.done[position].generics;
        let sets: Vec<String> = reading
            .sets
            .iter()
            .map(|(g, set)| {
                let set = self.show_set(&Set::product(set.clone()));
                format!("`{}` is {set}", generics[*g])
            })
            .collect();
        format!(
            "{}, repeated over {}",
            sets.join(", "),
            list(&reading.frame)
        )
    }

    /// An argument that the function changes: `&mut place`, or a parameter that is one.
    fn changed_argument(
        &mut self,
        arg: &'a tree::Expr,
        function: &str,
        param: &proc_macro2::Ident,
    ) -> Option<Arg> {
        let inner = match &arg.kind {
            ExprKind::Ref {
                mutable: true,
                inner,
            } => inner,
            ExprKind::Paren(inner) => return self.changed_argument(inner, function, param),
            ExprKind::Path(path)
                if self
                    .lookup(&path_key(path))
                    .is_some_and(|id| self.is_passed_on(id)) =>
            {
                arg
            }
            _ => {
                self.expr(arg, None);
                self.report(say::changed_argument(
                    arg.span,
                    function,
                    &param.to_string(),
                ));
                return None;
            }
        };
        self.argument_place(inner).map(Arg::Place)
    }

    /// Whether a variable is something behind `&mut`.
    fn is_passed_on(&self, id: super::LocalId) -> bool {
        matches!(self.local(id).origin, Origin::Exclusive | Origin::Slice)
    }

    /// An argument; closures wait until their parameter's type is known.
    fn argument(&mut self, arg: &'a tree::Expr, param: &Ty) -> Option<Arg> {
        match (&arg.kind, param) {
            (_, Ty::Function(..)) => None,
            (
                ExprKind::Ref {
                    mutable: true,
                    inner,
                },
                _,
            ) => self.argument_place(inner).map(Arg::Place),
            _ => {
                let hint = matches!(param, Ty::Scalar(_)).then_some(param);
                Some(Arg::Value(self.expr(arg, hint)))
            }
        }
    }

    /// Fits an argument to its parameter: gives the groups of axes over which the call is repeated
    /// for it, `None` if it does not fit.
    fn pass_argument(
        &mut self,
        position: usize,
        k: usize,
        param: &Ty,
        found: &Ty,
        instance: &mut Instance,
        at: Span,
    ) -> Option<Vec<Set>> {
        let (groups, _) = self.split(found);
        // A bare generic takes the whole index set of its argument.
        if let Ty::Table(declared, _) = param
            && let [Set::Param(g)] = declared.as_slice()
            && !groups.is_empty()
        {
            let whole = Set::product(self.solver.atoms(&groups));
            let known = instance.sets[*g].as_ref().map(|s| self.solver.set(s));
            match known {
                None => instance.sets[*g] = Some(whole),
                Some(var @ Set::Var(_)) => {
                    let _ = self.solver.unify_sets(&var, &whole);
                }
                Some(_) => {}
            }
        }
        let want = self.import(param, instance, at);
        let (frame, cell) = self.frame_and_cell(&want, found);
        let name = self.shared.done[position].tree.name.to_string();
        let param_name = self.shared.done[position].tree.params[k].name.to_string();
        let shown = self.show(&want);
        let fits = self.expect(&want, &cell, at, || {
            format!("the parameter `{param_name}` of `{name}` is {shown}")
        });
        fits.then_some(frame)
    }
}
