//! Expressions that are not calls, loops or places.

use std::rc::Rc;

use super::value::{Choice, Space, Val};
use super::{Elab, Run};
use crate::diag::lowering as say;
use crate::ir::stages::point::PointOp;
use crate::ir::{Elem, Extent, Format, Lit, Message, Monoid, Scalar, SpanId, Style, Type, ValueId};
use crate::lower::hir::{Block, Expr, Kind, LocalId, Pattern, Stmt, Value};
use crate::lower::infer::constant::float_constant;
use crate::lower::types::{Set, Ty};
use crate::ops::Prim;
use crate::syntax::tree::{BinaryOp, UnaryOp};

/// Expressions inside each other, calls followed: what the stack of a thread of the compiler holds
/// with room to spare.
const LEVELS: usize = 512;

impl<'a> Elab<'a> {
    /// The value of an expression.
    pub(super) fn eval(&mut self, e: &'a Expr) -> Run<Val<'a>> {
        // Each body is shallow; calls put one into another.
        if self.levels == LEVELS {
            let span = self.at(e.span);
            return self.fail(crate::diag::syntax::too_deep(span));
        }
        self.levels += 1;
        let result = self.eval_kind(e);
        self.levels -= 1;
        result
    }

    fn eval_kind(&mut self, e: &'a Expr) -> Run<Val<'a>> {
        match &e.kind {
            Kind::Lit(value) => self.literal(*value, &e.ty, e.span),
            Kind::Local(local) => self.local(*local, e.span),
            Kind::Constant(k) => self.constant(*k, e.span),
            Kind::Function(position, instance) => self.function_value(*position, instance, e.span),
            Kind::Member(ordinal) => {
                let number = self.usize(*ordinal, e.span);
                let Ty::Member(set) = self.ty(&e.ty) else {
                    return self.bug(e.span, "a member of no set");
                };
                let axes = self.axes(&[set], e.span)?;
                Ok(Val::Leaf(self.prim(
                    Prim::Trust(axes[0]),
                    &[number],
                    e.span,
                )?))
            }
            Kind::Side(right, x) => self.side(*right, x, &e.ty, e.span),
            Kind::OneOf(second, x) => self.one_of(*second, x, &e.ty, e.span),
            Kind::Extent(set) => Ok(Val::Extent(self.space(set, e.span)?)),
            Kind::Size(x) => {
                let mut axes = Vec::new();
                let extents = self.eval(x)?;
                self.extents(&extents, &mut axes, e.span)?;
                self.countable(&axes, e.span)?;
                Ok(Val::Leaf(self.total(&axes, e.span)?))
            }
            Kind::SizeOf(set) => {
                let axes = self.axes(std::slice::from_ref(set), e.span)?;
                self.countable(&axes, e.span)?;
                Ok(Val::Leaf(self.total(&axes, e.span)?))
            }
            Kind::Unary(op, x) => self.unary(*op, x, &e.ty, e.span),
            Kind::Binary(op, x, y) => {
                let left = self.eval(x)?;
                let right = self.eval(y)?;
                self.binary(*op, (&left, &x.ty), (&right, &y.ty), e.span)
            }
            Kind::Lazy(and, x, y) => self.lazy(*and, x, y, e.span),
            Kind::Cast(x) => {
                let (_, cell) = self.split(&e.ty);
                let to = self.scalar(&cell, e.span)?;
                let val = self.eval(x)?;
                let (groups, _) = self.split(&x.ty);
                self.lift(&[groups], &[val], e.span, &mut |s, cells| {
                    let cell = s.leaf(&cells[0], e.span)?;
                    Ok(Val::Leaf(s.cast(cell, to, e.span)?))
                })
            }
            Kind::FloatConstant(float, name) => {
                let float = self.scalar(&Ty::Float(*float), e.span)?;
                match float_constant(float, name) {
                    Some(value) => self.literal(value, &e.ty, e.span),
                    None => self.bug(e.span, "a constant of no float"),
                }
            }
            Kind::FromBits(x) => {
                let val = self.eval(x)?;
                let (groups, _) = self.split(&x.ty);
                self.lift(&[groups], &[val], e.span, &mut |s, cells| {
                    let cell = s.leaf(&cells[0], e.span)?;
                    Ok(Val::Leaf(s.prim(Prim::FromBits, &[cell], e.span)?))
                })
            }
            Kind::Call(call) => self.call(call, e),
            Kind::Apply(f, args, repeat) => {
                let f = self.eval(f)?;
                let mut vals = Vec::new();
                for arg in args {
                    let val = self.eval(arg)?;
                    vals.push(self.settled(val, &arg.ty, arg.span)?);
                }
                self.applied(f, vals, repeat, e)
            }
            Kind::Word(word, table) => self.word(*word, table, e.span),
            Kind::Fold {
                scan,
                init,
                op,
                table,
            } => self.fold(*scan, init, op, table, e.span),
            Kind::Filter {
                set,
                predicate,
                table,
            } => self.filter(set, predicate, table, e.span),
            Kind::Method(method, receiver, args) => {
                self.method(*method, receiver, args, &e.ty, e.span)
            }
            Kind::Field(x, k) => match self.eval(x)? {
                Val::Tuple(mut parts) if *k < parts.len() => Ok(parts.swap_remove(*k)),
                _ => self.bug(e.span, "a field of no tuple"),
            },
            Kind::Index(base, indices) => self.index(base, indices, &e.ty, e.span),
            Kind::Tuple(parts) => {
                let parts: Run<Vec<Val<'a>>> = parts.iter().map(|p| self.eval(p)).collect();
                Ok(Val::Tuple(parts?))
            }
            Kind::Updated(base, fields) => self.updated(base, fields, e.span),
            Kind::Array(parts) => self.array(parts, e.span),
            Kind::Repeat(x) => self.repeat(x, &e.ty, e.span),
            Kind::Block(block) => self.block(block),
            Kind::If(cond, then, otherwise) => {
                self.if_else(cond, then, otherwise.as_deref(), &e.ty, e.span)
            }
            Kind::For(f) => self.for_loop(f, e.span),
            Kind::While { cond, body, bound } => {
                self.while_loop(cond, body, bound.as_deref(), e.span)
            }
            Kind::Match(x, arms) => self.match_on(x, arms, &e.ty, e.span),
            Kind::Transform(transform) => self.transform(transform, e.span),
            Kind::Vector(op, receiver, args) => self.vector(*op, receiver, args, e.span),
            Kind::StopGradient(inner) => {
                let val = self.eval(inner)?;
                self.stop_gradient(&val, e.span)
            }
            Kind::Closure(closure) => Ok(self.closure(closure)),
            Kind::Assign(op, place, value) => self.assign(*op, place, value, e.span),
            Kind::Put(place, value) => self.put(place, value, e.span),
            Kind::PutAt { place, at, value } => self.put_at(e, place, at, value),
            Kind::Slice(place) => self.slice(place),
            Kind::Accum(monoid, extent) => {
                // A set that is made here is known from now on.
                extent.as_deref().map(|of| self.eval(of)).transpose()?;
                self.new_accum(*monoid, &e.ty, e.span)
            }
            Kind::Monoid {
                extent,
                identity,
                op,
            } => {
                extent.as_deref().map(|of| self.eval(of)).transpose()?;
                self.new_own(identity, op, &e.ty, e.span)
            }
            Kind::NewExtent(set, size) => {
                let size = self.eval(size)?;
                Ok(Val::Extent(self.new_space(set, &size, e.span)?))
            }
            Kind::FromOrdinal(set, number) => {
                let number = self.eval(number)?;
                let number = self.leaf(&number, e.span)?;
                self.numbered(number, set, e.span)
            }
            Kind::Assert(cond, message, shown) => self.assertion(cond, message, shown, e.span),
            Kind::Print(print) => self.print(print, e.span),
            Kind::Debug(printed, text, value) => self.debug(*printed, text, value, e.span),
            Kind::Error => self.bug(e.span, "an error was not reported"),
        }
    }

    /// What a message shows is evaluated where the condition does not hold only, as in Rust.
    fn assertion(
        &mut self,
        cond: &'a Expr,
        message: &'a Message,
        shown: &'a [Expr],
        span: SpanId,
    ) -> Run<Val<'a>> {
        let cond = self.eval(cond)?;
        let cond = self.leaf(&cond, span)?;
        let assert = |s: &mut Self, cond, shown| {
            let message = message.clone();
            let op = PointOp::Assert {
                cond,
                message,
                shown,
            };
            s.emit(Vec::new(), op, span);
            Ok(Val::Tuple(Vec::new()))
        };
        if shown.is_empty() {
            return assert(self, cond, Vec::new());
        }
        let states = self.states_of(|effects| shown.iter().for_each(|value| effects.expr(value)));
        let mut fail = |s: &mut Self| {
            let values = shown.iter().zip(message.formats());
            let values: Run<Vec<ValueId>> = values
                .map(|(value, format)| s.shown(value, format))
                .collect();
            let never = s.lit(Lit::Bool(false), span);
            assert(s, never, values?)
        };
        self.branch(
            cond,
            &states,
            &mut |_| Ok(Val::Tuple(Vec::new())),
            &mut fail,
            span,
        )
    }

    /// A value that a message shows.
    fn shown(&mut self, value: &'a Expr, format: Format) -> Run<ValueId> {
        let ty = self.ty(&value.ty);
        let truth = ty == Ty::BOOL;
        match ty {
            Ty::Scalar(_) | Ty::Float(_) if !(truth && format.style == Style::Exponent) => {
                let val = self.eval(value)?;
                self.leaf(&val, value.span)
            }
            other => {
                let found = self.printer().quoted(&other);
                let member = matches!(other, Ty::Member(_));
                let span = self.at(value.span);
                self.fail(say::shown_in_message(span, &found, member, truth))
            }
        }
    }

    /// The axes of an extent, or of a tuple of them.
    fn extents(&mut self, val: &Val<'a>, out: &mut Vec<Extent>, span: SpanId) -> Run<()> {
        match val {
            Val::Extent(space) => {
                out.extend(space.axes());
                Ok(())
            }
            Val::Tuple(parts) => parts.iter().try_for_each(|p| self.extents(p, out, span)),
            _ => self.bug(span, "an extent was expected"),
        }
    }

    /// The value of a block. Its variables stay in the environment, where nothing names them any
    /// more.
    pub(super) fn block(&mut self, block: &'a Block) -> Run<Val<'a>> {
        for stmt in &block.stmts {
            match stmt {
                Stmt::Let(pattern, value) => {
                    let val = self.eval(value)?;
                    let val = match pattern {
                        Pattern::Bind(local) if !self.is_mutable(*local) => val,
                        _ => self.settled(val, &value.ty, value.span)?,
                    };
                    self.bind(pattern, val, value.span)?;
                }
                Stmt::Expr(value) => {
                    self.eval(value)?;
                }
            }
        }
        match &block.value {
            Some(value) => self.eval(value),
            None => Ok(Val::Tuple(Vec::new())),
        }
    }

    fn is_mutable(&self, local: LocalId) -> bool {
        self.functions[self.frame.function].locals[local.0 as usize].mutable
    }

    /// Binds the names of a pattern.
    pub(super) fn bind(&mut self, pattern: &'a Pattern, val: Val<'a>, span: SpanId) -> Run<()> {
        match pattern {
            Pattern::Bind(local) => {
                let name = &self.functions[self.frame.function].locals[local.0 as usize].name;
                if let Val::Leaf(value) = &val
                    && !name.is_empty()
                {
                    let known = &mut self.program.values[value.index()].name;
                    if known.is_none() {
                        *known = Some(name.clone());
                    }
                }
                self.frame.env[local.0 as usize] = Some(val);
                Ok(())
            }
            Pattern::Wild | Pattern::Lit(_) | Pattern::Member(_) => Ok(()),
            Pattern::Side(right, of, inner) => {
                if !names(inner) {
                    return Ok(());
                }
                let part = self.side_of(*right, of, &val, span)?;
                self.bind(inner, part, span)
            }
            Pattern::Present(of, inner) => {
                let Some(inner) = inner.as_deref().filter(|inner| names(inner)) else {
                    return Ok(());
                };
                let element = self.part_of(true, &val, of, span)?;
                self.bind(inner, element, span)
            }
            Pattern::Tuple(parts) => match val {
                Val::Tuple(vals) if vals.len() == parts.len() => {
                    for (part, val) in parts.iter().zip(vals) {
                        self.bind(part, val, span)?;
                    }
                    Ok(())
                }
                _ => self.bug(span, "a tuple was expected"),
            },
        }
    }

    pub(super) fn local(&mut self, local: LocalId, span: SpanId) -> Run<Val<'a>> {
        match &self.frame.env[local.0 as usize] {
            Some(Val::Spent) => {
                let name = self.functions[self.frame.function].locals[local.0 as usize]
                    .name
                    .clone();
                let span = self.at(span);
                self.fail(say::accum_spent(span, &name))
            }
            Some(val) => Ok(val.clone()),
            None => self.bug(span, "a variable has no value"),
        }
    }

    pub(super) fn literal(&mut self, value: Value, ty: &Ty, span: SpanId) -> Run<Val<'a>> {
        let scalar = self.scalar(ty, span)?;
        let lit = match value {
            Value::Int(n) => {
                let smallest = Monoid::Max.identity(scalar);
                let largest = Monoid::Min.identity(scalar);
                if let (Lit::Int(_, lo), Lit::Int(_, hi)) = (smallest, largest)
                    && !(lo..=hi).contains(&n)
                {
                    let span = self.at(span);
                    return self.fail(say::literal_range(span, scalar.name()));
                }
                Lit::Int(scalar, n)
            }
            Value::Float(x) => {
                // A float that is generic takes what it can, as a conversion does.
                let rounded = if scalar == Scalar::F32 {
                    f64::from(x as f32)
                } else {
                    x
                };
                let too_large = x.is_finite() && rounded.is_infinite();
                if too_large && matches!(self.ty(ty), Ty::Scalar(_)) {
                    let span = self.at(span);
                    return self.fail(say::literal_range(span, scalar.name()));
                }
                Lit::of(scalar, x)
            }
            Value::Bool(b) => Lit::Bool(b),
        };
        Ok(Val::Leaf(self.lit(lit, span)))
    }

    fn unary(&mut self, op: UnaryOp, x: &'a Expr, ty: &Ty, span: SpanId) -> Run<Val<'a>> {
        // The smallest integer of a type is written as a negated literal that does not fit by itself.
        if let (UnaryOp::Neg, Kind::Lit(Value::Int(n))) = (op, &x.kind) {
            return self.literal(Value::Int(-n), ty, span);
        }
        if let (UnaryOp::Neg, Kind::Lit(Value::Float(v))) = (op, &x.kind) {
            return self.literal(Value::Float(-v), ty, span);
        }
        let val = self.eval(x)?;
        let (groups, _) = self.split(&x.ty);
        let prim = match op {
            UnaryOp::Neg => Prim::Neg,
            UnaryOp::Not => Prim::Not,
        };
        self.lift(&[groups], &[val], span, &mut |s, cells| {
            let cell = s.leaf(&cells[0], span)?;
            Ok(Val::Leaf(s.prim(prim, &[cell], span)?))
        })
    }

    fn lazy(&mut self, and: bool, x: &'a Expr, y: &'a Expr, span: SpanId) -> Run<Val<'a>> {
        let left = self.eval(x)?;
        let cond = self.leaf(&left, span)?;
        let decided = |s: &mut Self| Ok(Val::Leaf(s.lit(Lit::Bool(!and), span)));
        let states = self.states_of(|effects| effects.expr(y));
        if and {
            self.branch(cond, &states, &mut |s| s.eval(y), &mut |s| decided(s), span)
        } else {
            self.branch(cond, &states, &mut |s| decided(s), &mut |s| s.eval(y), span)
        }
    }

    fn updated(
        &mut self,
        base: &'a Expr,
        fields: &'a [(usize, Expr)],
        span: SpanId,
    ) -> Run<Val<'a>> {
        let mut given = Vec::new();
        for (k, value) in fields {
            given.push((*k, self.eval(value)?));
        }
        let Val::Tuple(mut parts) = self.eval(base)? else {
            return self.bug(span, "a struct was expected");
        };
        for (k, val) in given {
            parts[k] = val;
        }
        Ok(Val::Tuple(parts))
    }

    fn array(&mut self, parts: &'a [Expr], span: SpanId) -> Run<Val<'a>> {
        let vals: Run<Vec<Val<'a>>> = parts.iter().map(|p| self.eval(p)).collect();
        let vals = vals?;
        if vals.iter().any(is_function) {
            return Ok(Val::Choice(Rc::new(Choice {
                functions: vals,
                indices: Vec::new(),
            })));
        }
        let mut columns: Vec<Vec<ValueId>> = Vec::new();
        for val in &vals {
            for (k, leaf) in self.leaves(val, span)?.into_iter().enumerate() {
                if columns.len() <= k {
                    columns.push(Vec::new());
                }
                columns[k].push(leaf);
            }
        }
        let mut out = Vec::new();
        for column in columns {
            let ty = self.program.ty(column[0]).clone();
            let mut dims = vec![Extent::Const(column.len() as u64)];
            dims.extend(ty.dims);
            out.push(self.op(PointOp::Array(column), Type::table(ty.elem, dims), span));
        }
        Ok(self.rebuild(&vals[0], &mut out.into_iter()))
    }

    fn repeat(&mut self, x: &'a Expr, ty: &Ty, span: SpanId) -> Run<Val<'a>> {
        let val = self.eval(x)?;
        let (groups, _) = self.split(ty);
        let axes = self.axes(&groups[..1], span)?;
        self.replicate(&val, &axes, span)
    }

    /// The same value along new leading axes.
    pub(super) fn replicate(
        &mut self,
        val: &Val<'a>,
        axes: &[Extent],
        span: SpanId,
    ) -> Run<Val<'a>> {
        let leaves = self.leaves(val, span)?;
        let out = self.tabulate(axes, span, &mut |_, _| Ok(leaves.clone()))?;
        Ok(self.rebuild(val, &mut out.into_iter()))
    }

    // ---- operators ----

    /// `x op y`, cell by cell.
    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        (left, left_ty): (&Val<'a>, &Ty),
        (right, right_ty): (&Val<'a>, &Ty),
        span: SpanId,
    ) -> Run<Val<'a>> {
        let (lg, lc) = self.split(left_ty);
        let (rg, rc) = self.split(right_ty);
        let operands = [left.clone(), right.clone()];
        self.lift(&[lg, rg], &operands, span, &mut |s, cells| {
            s.cell_binary(op, (&cells[0], &lc), (&cells[1], &rc), span)
        })
    }

    fn cell_binary(
        &mut self,
        op: BinaryOp,
        (left, left_ty): (&Val<'a>, &Ty),
        (right, right_ty): (&Val<'a>, &Ty),
        span: SpanId,
    ) -> Run<Val<'a>> {
        let place = |ty: &Ty| matches!(ty, Ty::Member(_) | Ty::Offset(_));
        let prim = super::op::primitive(op);
        if crate::lower::hir::is_additive(op) && (place(left_ty) || place(right_ty)) {
            let left = self.position(left, left_ty, span)?;
            let right = self.position(right, right_ty, span)?;
            return Ok(Val::Leaf(self.prim(prim, &[left, right], span)?));
        }
        let members = place(left_ty) || matches!(left_ty, Ty::Tuple(_));
        if members {
            return self.compare_members(op, (left, left_ty), (right, right_ty), span);
        }
        let args = [self.leaf(left, span)?, self.leaf(right, span)?];
        Ok(Val::Leaf(self.prim(prim, &args, span)?))
    }

    /// A member, an offset or an integer as a signed position.
    pub(super) fn position(&mut self, val: &Val<'a>, ty: &Ty, span: SpanId) -> Run<ValueId> {
        let number = match ty {
            Ty::Member(_) | Ty::Tuple(_) => self.ordinal(val, ty, span)?,
            _ => self.leaf(val, span)?,
        };
        self.cast(number, Scalar::I64, span)
    }

    fn compare_members(
        &mut self,
        op: BinaryOp,
        (left, left_ty): (&Val<'a>, &Ty),
        (right, right_ty): (&Val<'a>, &Ty),
        span: SpanId,
    ) -> Run<Val<'a>> {
        let prim = super::op::primitive(op);
        let (a, b) = (self.leaves(left, span)?, self.leaves(right, span)?);
        let join = match op {
            BinaryOp::Eq => Some(Prim::And),
            BinaryOp::Ne => Some(Prim::Or),
            _ => None,
        };
        let Some(join) = join.or((a.len() == 1).then_some(Prim::And)) else {
            let a = self.ordinal(left, left_ty, span)?;
            let b = self.ordinal(right, right_ty, span)?;
            return Ok(Val::Leaf(self.prim(prim, &[a, b], span)?));
        };
        let mut result = None;
        for (a, b) in a.into_iter().zip(b) {
            let holds = self.prim(prim, &[a, b], span)?;
            result = Some(match result {
                None => holds,
                Some(before) => self.prim(join, &[before, holds], span)?,
            });
        }
        let result = match result {
            Some(result) => result,
            None => self.lit(Lit::Bool(op == BinaryOp::Eq), span),
        };
        Ok(Val::Leaf(result))
    }

    // ---- members ----

    /// The set whose members a type has.
    pub(super) fn set_of(&self, ty: &Ty) -> Option<Set> {
        self.functions[self.frame.function].solver.set_of(ty)
    }

    /// `Either::Left(i)`
    fn side(&mut self, right: bool, x: &'a Expr, ty: &Ty, span: SpanId) -> Run<Val<'a>> {
        let val = self.eval(x)?;
        let mut number = self.ordinal(&val, &x.ty, span)?;
        let space = match self.set_of(ty) {
            Some(set) => self.space(&set, span)?,
            None => return self.bug(span, "a member of no set"),
        };
        let Space::Either(left, _, extent) = space else {
            return self.bug(span, "a side of no `Either`");
        };
        if right {
            let before = self.total(&left.axes(), span)?;
            number = self.prim(Prim::Add, &[before, number], span)?;
        }
        Ok(Val::Leaf(self.trust(number, extent, span)?))
    }

    /// The number of a member, as a `usize`.
    pub(super) fn ordinal(&mut self, val: &Val<'a>, ty: &Ty, span: SpanId) -> Run<ValueId> {
        let Some(set) = self.set_of(ty) else {
            return self.bug(span, "a member of no set");
        };
        let space = self.space(&set, span)?;
        let indices = self.member_indices(&space, val, span)?;
        self.flat_ordinal(&indices, &space.axes(), span)
    }

    /// The row-major number of indices.
    pub(super) fn flat_ordinal(
        &mut self,
        indices: &[ValueId],
        axes: &[Extent],
        span: SpanId,
    ) -> Run<ValueId> {
        let mut result = None;
        for (index, axis) in indices.iter().zip(axes) {
            let number = self.cast(*index, Scalar::Usize, span)?;
            result = Some(match result {
                None => {
                    if axes.len() == 1 && matches!(self.program.elem(*index), Elem::Index(_)) {
                        self.ordinals.insert(number, *index);
                    }
                    number
                }
                Some(before) => {
                    let size = self.size(*axis, span);
                    let scaled = self.prim(Prim::Mul, &[before, size], span)?;
                    self.prim(Prim::Add, &[scaled, number], span)?
                }
            });
        }
        Ok(match result {
            Some(number) => number,
            None => self.usize(0, span),
        })
    }

    /// The indices whose row-major number is this one, which is known to be in range.
    pub(super) fn unflatten(
        &mut self,
        number: ValueId,
        axes: &[Extent],
        span: SpanId,
    ) -> Run<Vec<ValueId>> {
        if let [axis] = axes {
            return Ok(vec![self.trust(number, *axis, span)?]);
        }
        let mut rest = self.cast(number, Scalar::Usize, span)?;
        let mut indices = Vec::new();
        for (k, axis) in axes.iter().enumerate().rev() {
            if k == 0 {
                indices.push(self.trust(rest, *axis, span)?);
                continue;
            }
            let size = self.size(*axis, span);
            let part = self.prim(Prim::Rem, &[rest, size], span)?;
            rest = self.prim(Prim::Div, &[rest, size], span)?;
            indices.push(self.trust(part, *axis, span)?);
        }
        indices.reverse();
        Ok(indices)
    }

    /// An integer that is known to be an index of this extent.
    pub(super) fn trust(&mut self, number: ValueId, axis: Extent, span: SpanId) -> Run<ValueId> {
        if self.program.elem(number) == Elem::Index(axis) {
            return Ok(number);
        }
        self.prim(Prim::Trust(axis), &[number], span)
    }

    /// The member of a set that these indices are.
    pub(super) fn member(
        &mut self,
        space: &Space,
        indices: &mut impl Iterator<Item = ValueId>,
        span: SpanId,
    ) -> Run<Val<'a>> {
        match space {
            Space::Axis(_) | Space::Either(..) | Space::Rows(_) => match indices.next() {
                Some(index) => Ok(Val::Leaf(index)),
                None => self.bug(span, "too few indices"),
            },
            Space::Bool => {
                let Some(index) = indices.next() else {
                    return self.bug(span, "too few indices");
                };
                let number = self.cast(index, Scalar::Usize, span)?;
                let zero = self.usize(0, span);
                let truth = self.prim(Prim::Ne, &[number, zero], span)?;
                self.ordinals.insert(truth, index);
                Ok(Val::Leaf(truth))
            }
            Space::Product(parts) => {
                let mut vals = Vec::new();
                for part in parts {
                    vals.push(self.member(part, indices, span)?);
                }
                Ok(Val::Tuple(vals))
            }
        }
    }
}

/// Whether a pattern binds a name.
fn names(pattern: &Pattern) -> bool {
    match pattern {
        Pattern::Bind(_) => true,
        Pattern::Wild | Pattern::Lit(_) | Pattern::Member(_) => false,
        Pattern::Tuple(parts) => parts.iter().any(names),
        Pattern::Side(_, _, inner) => names(inner),
        Pattern::Present(_, inner) => inner.as_deref().is_some_and(names),
    }
}

/// Whether a value can be called, perhaps after it was indexed.
pub(super) fn is_function(val: &Val<'_>) -> bool {
    match val {
        Val::Closure(_)
        | Val::Function(_)
        | Val::Unknown(_)
        | Val::Transformed(_)
        | Val::Linear(_)
        | Val::Functions(_)
        | Val::Choice(_)
        | Val::Chosen(_) => true,
        Val::Leaf(_)
        | Val::Tuple(_)
        | Val::Extent(_)
        | Val::Accum(_)
        | Val::Own(_)
        | Val::Slice(_)
        | Val::Option(_)
        | Val::Part(_)
        | Val::Spent => false,
    }
}
