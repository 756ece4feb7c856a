//! Calls: words of the language, annotated functions, closures.

use proc_macro2::Span;

use super::Infer;
use super::ops::Question;
use super::pattern::side;
use super::reading::Reading;
use crate::diag::lowering as say;
use crate::ir::Monoid;
use crate::lower::hir::{Arg, Call, Expr, Instance, Kind, Origin, Repeat};
use crate::lower::solve::{SetKind, TyKind};
use crate::lower::types::{Len, Set, Ty, drop_atoms};
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
        let ExprKind::Path(path) = &f.kind else {
            return self.apply(f, args, span);
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
        if let Some(kind) = name.strip_prefix("Accum::") {
            return self.accum(kind, f.span, args, span);
        }
        if let Some(position) = self.function_of(&name) {
            return self.call_function(position, f.span, args, span);
        }
        if let Some(right) = side(&name) {
            return self.side(right, &name, f.span, args, span);
        }
        for arg in args {
            self.expr(arg, None);
        }
        self.fail(say::not_pointful(f.span, &name))
    }

    /// `Either::Left(i)`
    fn side(
        &mut self,
        right: bool,
        name: &str,
        at: Span,
        args: &'a [tree::Expr],
        span: Span,
    ) -> Expr {
        if !self.arity(name, 1, args.len(), at) {
            return self.poison(span);
        }
        let inner = self.expr(&args[0], None);
        self.settle();
        let Some(set) = self.solver.set_of(&inner.ty) else {
            if self.solver.shallow(&inner.ty) == Ty::Error {
                return self.poison(span);
            }
            let shown = self.show(&inner.ty);
            return self.fail(say::bad_index(args[0].span, &shown));
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

    // ---- words ----

    fn word(&mut self, word: Word, at: Span, args: &'a [tree::Expr], span: Span) -> Expr {
        let mut inferred: Vec<Expr> = args.iter().map(|a| self.expr(a, None)).collect();
        if args.len() == 2 && matches!(word, Word::Min | Word::Max) {
            return self.fail(say::min_of_two(at, word.name()));
        }
        if inferred.len() != 1 {
            self.arity(word.name(), 1, args.len(), at);
            return self.poison(span);
        }
        let table = inferred.remove(0);
        self.settle();
        let (group, inner) = match self.solver.shallow(&table.ty) {
            Ty::Table(groups, elem) => {
                let groups = self.solver.groups(&groups);
                (groups[0].clone(), Ty::table(groups[1..].to_vec(), *elem))
            }
            Ty::Error => return self.poison(span),
            Ty::Var(_) => return self.fail(say::unknown_operand(args[0].span)),
            other => {
                let shown = self.show(&other);
                return self.fail(say::reduce_scalar(args[0].span, word.name(), &shown));
            }
        };
        let (axes, cell) = self.split(&inner);
        let Some(result) = self.word_cell(word, &group, &cell) else {
            let shown = self.show(&cell);
            return self.fail(say::reduce_elements(args[0].span, word.name(), &shown));
        };
        let ty = match word {
            Word::CumSum | Word::CumProd => Ty::table([vec![group], axes].concat(), result),
            _ => Ty::table(axes, result),
        };
        self.made(Kind::Word(word, Box::new(table)), ty, span)
    }

    /// What a word makes of the elements along an axis; `None` if it does not apply to such elements.
    fn word_cell(&mut self, word: Word, group: &Set, cell: &Ty) -> Option<Ty> {
        let numeric = |s: &Self, float: bool| match cell {
            Ty::Scalar(scalar) => scalar.is_float() || (!float && scalar.is_int()),
            Ty::Float(_) => true,
            Ty::Var(v) => !float || s.solver.kind(*v) != TyKind::Int,
            _ => false,
        };
        if *cell == Ty::Error {
            return Some(Ty::Error);
        }
        match word {
            Word::Sum | Word::Prod | Word::CumSum | Word::CumProd => match cell {
                Ty::Tuple(parts) => {
                    let parts: Option<Vec<Ty>> = parts
                        .iter()
                        .map(|p| {
                            let (axes, cell) = self.split(p);
                            Some(Ty::table(axes, self.word_cell(word, group, &cell)?))
                        })
                        .collect();
                    parts.map(Ty::Tuple)
                }
                _ => numeric(self, false).then(|| cell.clone()),
            },
            Word::Min | Word::Max => numeric(self, false).then(|| cell.clone()),
            Word::ArgMin | Word::ArgMax => {
                let ordered = numeric(self, false) || self.all_members(std::slice::from_ref(cell));
                ordered.then(|| self.solver.member(group))
            }
            Word::Mean => numeric(self, true).then(|| cell.clone()),
            Word::Any | Word::All => self.solver.unify(cell, &Ty::BOOL).ok().map(|()| Ty::BOOL),
            Word::Count => self.solver.unify(cell, &Ty::BOOL).ok().map(|()| Ty::USIZE),
        }
    }

    fn fold(&mut self, scan: bool, at: Span, args: &'a [tree::Expr], span: Span) -> Expr {
        let name = if scan { "scan" } else { "reduce" };
        if !self.arity(name, 3, args.len(), at) {
            for arg in args {
                self.expr(arg, None);
            }
            return self.poison(span);
        }
        let init = self.expr(&args[0], None);
        let table = self.expr(&args[2], None);
        self.settle();
        let (group, inner) = match self.solver.shallow(&table.ty) {
            Ty::Table(groups, elem) => {
                let groups = self.solver.groups(&groups);
                (groups[0].clone(), Ty::table(groups[1..].to_vec(), *elem))
            }
            Ty::Error => return self.poison(span),
            other => {
                let shown = self.show(&other);
                return self.fail(say::reduce_scalar(args[2].span, name, &shown));
            }
        };
        self.expect(&inner, &init.ty, args[0].span, || {
            format!("`{name}` begins with a value of the table's elements' type")
        });
        let want = Ty::Function(vec![inner.clone(), inner.clone()], Box::new(inner.clone()));
        let op = self.expr(&args[1], Some(&want));
        self.expect(&want, &op.ty, args[1].span, || {
            format!("`{name}` combines two elements into one")
        });
        let ty = if scan {
            Ty::table(vec![group], inner)
        } else {
            inner
        };
        let kind = Kind::Fold {
            scan,
            init: Box::new(init),
            op: Box::new(op),
            table: Box::new(table),
        };
        self.made(kind, ty, span)
    }

    fn size(&mut self, at: Span, args: &'a [tree::Expr], span: Span) -> Expr {
        if args.len() != 1 {
            return self.fail(say::size_arguments(at, args.len()));
        }
        let extent = self.expr(&args[0], None);
        match self.extent_of(&extent.ty) {
            Some(Set::Error) => self.poison(span),
            Some(_) => self.made(Kind::Size(Box::new(extent)), Ty::USIZE, span),
            None => {
                let shown = self.show(&extent.ty);
                self.fail(say::size_of(args[0].span, &shown))
            }
        }
    }

    /// The set whose extent is of this type: that of a tuple of extents is a product.
    fn extent_of(&self, ty: &Ty) -> Option<Set> {
        match self.solver.shallow(ty) {
            Ty::Extent(set) => Some(self.solver.set(&set)),
            Ty::Tuple(parts) => {
                let parts: Option<Vec<Set>> = parts.iter().map(|p| self.extent_of(p)).collect();
                parts.map(Set::Product)
            }
            Ty::Error => Some(Set::Error),
            _ => None,
        }
    }

    /// `N::from_ordinal(k, n)`; the extent may be left out, for the set says how large it is.
    pub(super) fn numbered(
        &mut self,
        set: &'a tree::Set,
        args: &'a [tree::Expr],
        span: Span,
    ) -> Expr {
        let at = set.span;
        let set = self.written_set(set, SetKind::Dyn);
        let Some((number, extent)) = args.split_first().filter(|(_, rest)| rest.len() < 2) else {
            return self.fail(say::from_ordinal_arguments(span, args.len()));
        };
        let value = self.expr(number, Some(&Ty::USIZE));
        self.expect(&Ty::USIZE, &value.ty, number.span, || {
            "the number of a member is a `usize`".into()
        });
        if let [extent] = extent {
            let want = Ty::Extent(set.clone());
            let found = self.expr(extent, Some(&want));
            let found = match self.extent_of(&found.ty) {
                Some(set) => Ty::Extent(set),
                None => found.ty,
            };
            self.expect(&want, &found, extent.span, || {
                "the extent is that of the member's set".into()
            });
        }
        if matches!(set, Set::Var(_)) {
            return self.fail(say::undetermined_set(at));
        }
        let ty = self.solver.member(&set);
        self.made(Kind::FromOrdinal(set, Box::new(value)), ty, span)
    }

    fn accum(&mut self, kind: &str, at: Span, args: &'a [tree::Expr], span: Span) -> Expr {
        let name = format!("Accum::{kind}");
        let monoid = match kind {
            "zero" | "zeros" => Monoid::Add,
            "prod" => Monoid::Mul,
            "min" => Monoid::Min,
            "max" => Monoid::Max,
            "any" => Monoid::Or,
            "all" => Monoid::And,
            "monoid" => return self.own_accum(&name, at, args, span),
            _ => {
                return self.fail(say::unknown_method(at, &name, "an accumulator"));
            }
        };
        let takes = usize::from(kind == "zeros");
        if !self.arity(&name, takes, args.len(), at) {
            return self.poison(span);
        }
        let content = self.unknown(at);
        if let Some(arg) = args.first() {
            let extent = self.expr(arg, None);
            let Some(set) = self.extent_of(&extent.ty) else {
                let shown = self.show(&extent.ty);
                return self.fail(say::size_of(arg.span, &shown));
            };
            let elem = self.unknown(at);
            let _ = self
                .solver
                .unify(&content, &Ty::Table(vec![set], Box::new(elem)));
        }
        self.made(Kind::Accum(monoid), Ty::Accum(Box::new(content)), span)
    }

    /// `Accum::monoid(identity, op)`
    fn own_accum(&mut self, name: &str, at: Span, args: &'a [tree::Expr], span: Span) -> Expr {
        if !self.arity(name, 2, args.len(), at) {
            self.uncalled(args);
            return self.poison(span);
        }
        let identity = self.expr(&args[0], None);
        let cell = identity.ty.clone();
        let want = Ty::Function(vec![cell.clone(), cell.clone()], Box::new(cell.clone()));
        let op = self.expr(&args[1], Some(&want));
        let fits = self.expect(&want, &op.ty, args[1].span, || {
            format!("`{name}` combines two values of the identity's type into one")
        });
        if !fits {
            return self.poison(span);
        }
        let content = self.unknown(at);
        self.ask(Question::Cells(content.clone(), cell), args[0].span);
        let kind = Kind::Monoid {
            identity: Box::new(identity),
            op: Box::new(op),
        };
        self.made(kind, Ty::Accum(Box::new(content)), span)
    }

    // ---- closures ----

    fn apply(&mut self, f: &'a tree::Expr, args: &'a [tree::Expr], span: Span) -> Expr {
        let f_expr = self.expr(f, None);
        self.settle();
        let (params, result) = match self.solver.shallow(&f_expr.ty) {
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
                let shown = self.show(&other);
                return self.fail(say::not_callable(f.span, &shown));
            }
        };
        let name = match &f.kind {
            ExprKind::Transform(transform) => format!("{}!(…)", transform.name),
            _ => "this function".to_owned(),
        };
        if !self.arity(&name, params.len(), args.len(), f.span) {
            return self.poison(span);
        }
        let mut inferred = Vec::new();
        let mut frames = Vec::new();
        let mut ok = true;
        for (arg, want) in args.iter().zip(&params) {
            let found = self.expr(arg, Some(want));
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
    fn uncalled(&mut self, args: &'a [tree::Expr]) {
        for arg in args {
            // `&mut` stands only for an argument, which this may well be.
            if !matches!(arg.kind, ExprKind::Ref { mutable: true, .. }) {
                self.expr(arg, None);
            }
        }
    }

    /// The axes over which something is repeated for arguments with these frames, one of which is the whole.
    fn repeat_over(&self, frames: &[Vec<Set>], whole: &[Set]) -> Repeat {
        let resolved: Vec<Vec<Set>> = frames.iter().map(|g| self.solver.atoms(g)).collect();
        Repeat {
            frame: self.solver.atoms(whole),
            lifted: crate::lower::frames::align(&resolved, |a, b| a == b)
                .map(|a| a.positions)
                .unwrap_or_default(),
        }
    }

    /// The surplus axes in front of an argument, in groups, and what it is at a point of them.
    fn frame_and_cell(&self, want: &Ty, found: &Ty) -> (Vec<Set>, Ty) {
        if let Some(tuples) = self.frame_of_tuples(want, found) {
            return tuples;
        }
        let (groups, elem) = self.split(found);
        let (declared, _) = self.split(want);
        let atoms = self.solver.atoms(&groups);
        let need = self.solver.atoms(&declared).len();
        let liftable = matches!(
            self.solver.shallow(want),
            Ty::Table(..) | Ty::Scalar(_) | Ty::Float(_) | Ty::Var(_) | Ty::Member(_)
        );
        if !liftable || atoms.len() <= need {
            return (Vec::new(), found.clone());
        }
        let surplus = atoms.len() - need;
        let frame = if need == 0 {
            groups.clone()
        } else {
            vec![Set::product(atoms[..surplus].to_vec())]
        };
        (frame, Ty::table(drop_atoms(&groups, surplus), elem))
    }

    /// As [`Self::frame_and_cell`], for a table of tuples, or a tuple of tables, where a tuple is wanted.
    fn frame_of_tuples(&self, want: &Ty, found: &Ty) -> Option<(Vec<Set>, Ty)> {
        let (Ty::Tuple(wanted) | Ty::Struct(_, wanted)) = self.solver.shallow(want) else {
            return None;
        };
        let first = self.split(wanted.first()?).0;
        let need = self.solver.atoms(&first).len();
        match self.solver.shallow(found) {
            Ty::Table(groups, elem) => {
                let (Ty::Tuple(parts) | Ty::Struct(_, parts)) = self.solver.shallow(&elem) else {
                    return None;
                };
                let inner = self.split(parts.first()?).0;
                (self.solver.atoms(&inner).len() == need)
                    .then(|| (self.solver.groups(&groups), *elem))
            }
            Ty::Tuple(parts) if parts.len() == wanted.len() => {
                let around = self.split(parts.first()?).0;
                let around = self.solver.atoms(&around);
                let surplus = around.len().checked_sub(need).filter(|n| *n > 0)?;
                let mut cells = Vec::new();
                for part in &parts {
                    let (groups, elem) = self.split(part);
                    if self.solver.atoms(&groups).get(..surplus)? != &around[..surplus] {
                        return None;
                    }
                    cells.push(Ty::table(drop_atoms(&groups, surplus), elem));
                }
                let frame = vec![Set::product(around[..surplus].to_vec())];
                Some((frame, Ty::Tuple(cells)))
            }
            _ => None,
        }
    }

    /// A bare generic takes the whole index set of its argument.
    pub(super) fn whole_set(&mut self, want: &Ty, found: &Ty) {
        let ((declared, _), (groups, _)) = (self.split(want), self.split(found));
        if let [set] = declared.as_slice()
            && let var @ Set::Var(_) = self.solver.set(set)
            && !groups.is_empty()
        {
            let whole = Set::product(self.solver.atoms(&groups));
            let _ = self.solver.unify_sets(&var, &whole);
        }
    }

    // ---- annotated functions ----

    /// A function as a value.
    pub(super) fn function_value(&mut self, position: usize, span: Span) -> Expr {
        let callee = &self.shared.done[position];
        let mut params = callee.params.iter().zip(&callee.tree.params);
        let exclusive =
            |id: &super::LocalId| callee.locals[id.0 as usize].origin == Origin::Exclusive;
        if let Some((_, param)) = params.find(|(id, _)| exclusive(id)) {
            let (name, param) = (callee.tree.name.to_string(), param.name.to_string());
            return self.fail(say::changing_function(span, &name, &param));
        }
        let mut instance = self.instance(position);
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

    fn instance(&self, position: usize) -> Instance {
        let generics = self.shared.done[position].generics.len();
        Instance {
            sets: vec![None; generics],
            floats: vec![None; generics],
            inner: Vec::new(),
        }
    }

    pub(super) fn parameter_types(&self, position: usize) -> Vec<Ty> {
        let callee = &self.shared.done[position];
        let ty = |id: &super::LocalId| callee.solver.ty(&callee.locals[id.0 as usize].ty);
        callee.params.iter().map(ty).collect()
    }

    pub(super) fn result_type(&self, position: usize) -> Ty {
        let callee = &self.shared.done[position];
        callee.solver.ty(&callee.result)
    }

    fn call_function(
        &mut self,
        position: usize,
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
                    .is_some_and(|id| self.locals[id.0 as usize].origin == Origin::Exclusive) =>
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

    /// Fits an argument to its parameter: gives the groups of axes over which the call is repeated for it, `None` if it does not fit.
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

    /// A type of a callee's signature in terms of the caller.
    pub(super) fn import(&mut self, ty: &Ty, instance: &mut Instance, at: Span) -> Ty {
        match ty {
            Ty::Var(_) | Ty::Scalar(_) | Ty::Error => ty.clone(),
            Ty::Float(k) => {
                if instance.floats[*k].is_none() {
                    instance.floats[*k] = Some(self.solver.fresh(TyKind::Float, at));
                }
                instance.floats[*k].clone().unwrap_or(Ty::Error)
            }
            Ty::Member(set) => {
                let set = self.import_set(set, instance, at);
                Ty::Member(set)
            }
            Ty::Offset(set) => Ty::Offset(self.import_set(set, instance, at)),
            Ty::Extent(set) => Ty::Extent(self.import_set(set, instance, at)),
            Ty::Table(groups, elem) => {
                let groups = groups
                    .iter()
                    .map(|g| self.import_set(g, instance, at))
                    .collect();
                let elem = self.import(elem, instance, at);
                Ty::table(groups, elem)
            }
            Ty::Tuple(parts) => {
                Ty::Tuple(parts.iter().map(|p| self.import(p, instance, at)).collect())
            }
            Ty::Struct(id, parts) => Ty::Struct(
                *id,
                parts.iter().map(|p| self.import(p, instance, at)).collect(),
            ),
            Ty::Function(params, result) => {
                let params = params
                    .iter()
                    .map(|p| self.import(p, instance, at))
                    .collect();
                Ty::Function(params, Box::new(self.import(result, instance, at)))
            }
            Ty::Accum(inner) => Ty::Accum(Box::new(self.import(inner, instance, at))),
            Ty::Option(inner) => Ty::Option(Box::new(self.import(inner, instance, at))),
        }
    }

    fn import_set(&mut self, set: &Set, instance: &mut Instance, at: Span) -> Set {
        match set {
            Set::Param(k) | Set::Fin(Len::Param(k)) => {
                if instance.sets[*k].is_none() {
                    instance.sets[*k] = Some(self.solver.fresh_set(SetKind::Free, at));
                }
                instance.sets[*k].clone().unwrap_or(Set::Error)
            }
            Set::Var(_) | Set::Range(_) => {
                if let Some((_, mine)) = instance.inner.iter().find(|(theirs, _)| theirs == set) {
                    return mine.clone();
                }
                let mine = match set {
                    Set::Var(_) => self.solver.fresh_set(SetKind::DynResult, at),
                    _ => self.range(),
                };
                instance.inner.push((set.clone(), mine.clone()));
                mine
            }
            Set::Product(parts) => Set::Product(
                parts
                    .iter()
                    .map(|p| self.import_set(p, instance, at))
                    .collect(),
            ),
            Set::Record(id, parts) => Set::Record(
                *id,
                parts
                    .iter()
                    .map(|p| self.import_set(p, instance, at))
                    .collect(),
            ),
            Set::Either(a, b) => Set::Either(
                Box::new(self.import_set(a, instance, at)),
                Box::new(self.import_set(b, instance, at)),
            ),
            Set::Named(_) | Set::Fin(_) | Set::Bool | Set::Error => set.clone(),
        }
    }

    /// A new set for a range.
    pub(super) fn range(&mut self) -> Set {
        self.ranges += 1;
        Set::Range(self.ranges - 1)
    }
}
