//! `if`, `match` and lazy operators: what a branch assigns becomes a result of the branch.

use super::chosen::Then;
use super::value::{Chooser, Space, Val};
use super::{Elab, Run};
use crate::diag::lowering as say;
use crate::ir::stages::point::PointOp;
use crate::ir::{Lit, SpanId, Type, ValueId};
use crate::lower::effects::{Effects, Path};
use crate::lower::hir::{Arm, Block, Expr, Pattern};
use crate::lower::types::{Set, Ty};
use crate::ops::Prim;

/// What a branch does.
pub(super) type Branch<'f, 'a> = dyn FnMut(&mut Elab<'a>) -> Run<Val<'a>> + 'f;

impl<'a> Elab<'a> {
    /// The paths that a part of the function assigns and that are not accumulators.
    pub(super) fn states_of(&self, visit: impl FnOnce(&mut Effects<'a>)) -> Vec<Path> {
        let mut effects = Effects::new(self.summaries);
        visit(&mut effects);
        let mut written = effects.written();
        written.retain(|(path, _)| !self.accumulates(path));
        let sliced = self.sliced(&mut written);
        let plain = written.into_iter().map(|(path, _)| path);
        plain.chain(sliced).collect()
    }

    /// Takes slices away from what is written, and what is written by way of a slice; gives that.
    pub(super) fn sliced(&self, written: &mut Vec<(Path, bool)>) -> Vec<Path> {
        let mut sliced = Vec::new();
        written.retain(|(path, _)| match self.slice_at(path) {
            Some(path) => {
                sliced.push(path);
                false
            }
            None => true,
        });
        sliced.sort();
        sliced.dedup();
        written.retain(|(path, _)| !sliced.contains(path));
        sliced
    }

    /// Of what a variable is a slice, if it is one of an accumulator with its own operator.
    fn slice_at(&self, path: &Path) -> Option<Path> {
        match self.frame.env.get(path.0.0 as usize) {
            Some(Some(Val::Slice(slice))) => Some(slice.0.clone()),
            _ => None,
        }
    }

    /// Whether an accumulator stands at the path or around it.
    pub(super) fn accumulates(&self, path: &Path) -> bool {
        let Some(Some(val)) = self.frame.env.get(path.0.0 as usize) else {
            return true;
        };
        let mut val = val;
        for k in &path.1 {
            val = match val {
                Val::Tuple(parts) if *k < parts.len() => &parts[*k],
                _ => break,
            };
        }
        matches!(val, Val::Accum(_) | Val::Spent)
    }

    /// The leaves of states.
    pub(super) fn state_leaves(&mut self, states: &[Path], span: SpanId) -> Run<Vec<ValueId>> {
        let mut out = Vec::new();
        for path in states {
            let val = self.read(path, span)?;
            out.extend(self.leaves(&val, span)?);
        }
        Ok(out)
    }

    /// Replaces the leaves of states.
    pub(super) fn set_states(
        &mut self,
        states: &[Path],
        leaves: &[ValueId],
        span: SpanId,
    ) -> Run<()> {
        let mut leaves = leaves.iter().copied();
        for path in states {
            let val = self.read(path, span)?;
            let val = self.rebuild(&val, &mut leaves);
            self.write(path, val, span)?;
        }
        Ok(())
    }

    /// One of two branches; states are what they may assign.
    pub(super) fn branch(
        &mut self,
        cond: ValueId,
        states: &[Path],
        then: &mut Branch<'_, 'a>,
        otherwise: &mut Branch<'_, 'a>,
        span: SpanId,
    ) -> Run<Val<'a>> {
        let before = self.state_leaves(states, span)?;
        let (then_block, shape, types) = self.arm(states, then, span)?;
        self.set_states(states, &before, span)?;
        let (else_block, _, else_types) = self.arm(states, otherwise, span)?;
        if types != else_types {
            let span = self.at(span);
            return self.fail(say::escaping_range(span));
        }
        let results: Vec<ValueId> = types.into_iter().map(|ty| self.fresh(ty, span)).collect();
        let op = PointOp::If {
            cond,
            then: Box::new(then_block),
            otherwise: Box::new(else_block),
        };
        self.emit(results.clone(), op, span);
        let count = results.len() - before.len();
        self.set_states(states, &results[count..], span)?;
        Ok(self.rebuild(&shape, &mut results.into_iter().take(count)))
    }

    /// One branch: its block, the shape of its value, and the types of its results.
    fn arm(
        &mut self,
        states: &[Path],
        run: &mut Branch<'_, 'a>,
        span: SpanId,
    ) -> Run<(
        crate::ir::Block<crate::ir::stages::point::Point>,
        Val<'a>,
        Vec<Type<crate::ir::Extent>>,
    )> {
        self.begin(&[]);
        let val = run(self)?;
        let mut results = self.leaves(&val, span)?;
        results.extend(self.state_leaves(states, span)?);
        let types = results
            .iter()
            .map(|r| self.program.ty(*r).clone())
            .collect();
        let block = self.end(results, say::escaping_range, span)?;
        Ok((block, val, types))
    }

    pub(super) fn if_else(
        &mut self,
        cond: &'a Expr,
        then: &'a Block,
        otherwise: Option<&'a Expr>,
        ty: &Ty,
        span: SpanId,
    ) -> Run<Val<'a>> {
        let cond = self.eval(cond)?;
        let cond = self.leaf(&cond, span)?;
        let chooser = Chooser::If {
            cond,
            then,
            otherwise,
        };
        self.chosen(chooser, ty, span)
    }

    pub(super) fn match_on(
        &mut self,
        x: &'a Expr,
        arms: &'a [Arm],
        ty: &Ty,
        span: SpanId,
    ) -> Run<Val<'a>> {
        let val = self.eval(x)?;
        let chooser = Chooser::Match {
            val,
            ty: &x.ty,
            arms,
        };
        self.chosen(chooser, ty, span)
    }

    /// The first arm that fits; the last one needs no test, inference has seen to that.
    pub(super) fn arms(
        &mut self,
        val: &Val<'a>,
        ty: &'a Ty,
        arms: &'a [Arm],
        then: &mut Then<'_, 'a>,
        span: SpanId,
    ) -> Run<Val<'a>> {
        let Some((arm, rest)) = arms.split_first() else {
            return self.bug(span, "a match without an arm that fits");
        };
        let mut test = None;
        if !rest.is_empty() || arm.guard.is_some() {
            let mut tests = Vec::new();
            for pattern in &arm.patterns {
                tests.push(self.test(pattern, val, ty, span)?);
            }
            // An alternative that takes every value needs no test, nor do those beside it.
            if let Some(tests) = tests.into_iter().collect::<Option<Vec<ValueId>>>() {
                for holds in tests {
                    test = Some(match test {
                        None => holds,
                        Some(before) => self.prim(Prim::Or, &[before, holds], span)?,
                    });
                }
            }
        }
        if let Some(guard) = &arm.guard {
            let states = self.states_of(|effects| effects.expr(guard));
            let mut look = |s: &mut Self| {
                s.bind_alternatives(arm, val, span)?;
                s.eval(guard)
            };
            let holds = match test {
                None => look(self)?,
                Some(test) => {
                    let mut no = |s: &mut Self| Ok(Val::Leaf(s.lit(Lit::Bool(false), span)));
                    self.branch(test, &states, &mut look, &mut no, span)?
                }
            };
            test = Some(self.leaf(&holds, span)?);
        }
        // This arm and the others end with the same, one after the other.
        let then = std::cell::RefCell::new(then);
        let mut body = |s: &mut Self| {
            s.bind_alternatives(arm, val, span)?;
            let val = s.eval(&arm.body)?;
            (then.borrow_mut())(s, val)
        };
        let Some(test) = test else {
            return body(self);
        };
        let states = self.states_of(|effects| {
            for arm in arms {
                if let Some(guard) = &arm.guard {
                    effects.expr(guard);
                }
                effects.expr(&arm.body);
            }
        });
        self.branch(
            test,
            &states,
            &mut body,
            &mut |s| s.arms(val, ty, rest, &mut **then.borrow_mut(), span),
            span,
        )
    }

    /// Binds what an arm's patterns name, where one of them is known to fit.
    fn bind_alternatives(&mut self, arm: &'a Arm, val: &Val<'a>, span: SpanId) -> Run<()> {
        for pattern in &arm.patterns {
            self.bind(pattern, val.clone(), span)?;
        }
        Ok(())
    }

    /// The member of one side of a union that a member of the union is.
    pub(super) fn side_of(
        &mut self,
        right: bool,
        of: &Ty,
        val: &Val<'a>,
        span: SpanId,
    ) -> Run<Val<'a>> {
        let Some(set) = self.set_of(of) else {
            return self.part_of(right, val, of, span);
        };
        let Space::Either(a, b, _) = self.space(&set, span)? else {
            return self.bug(span, "a side of no `Either`");
        };
        let index = self.leaf(val, span)?;
        let mut number = self.cast(index, crate::ir::Scalar::Usize, span)?;
        let space = if right {
            let before = self.total(&a.axes(), span)?;
            number = self.prim(Prim::Sub, &[number, before], span)?;
            *b
        } else {
            *a
        };
        let indices = self.unflatten(number, &space.axes(), span)?;
        self.member(&space, &mut indices.into_iter(), span)
    }

    /// Whether a member of a union is on one side.
    fn is_side(&mut self, right: bool, of: &Ty, val: &Val<'a>, span: SpanId) -> Run<ValueId> {
        let Some(set) = self.set_of(of) else {
            return self.is_kind(right, val, span);
        };
        let Space::Either(a, _, _) = self.space(&set, span)? else {
            return self.bug(span, "a side of no `Either`");
        };
        let index = self.leaf(val, span)?;
        let number = self.cast(index, crate::ir::Scalar::Usize, span)?;
        let before = self.total(&a.axes(), span)?;
        let prim = if right { Prim::Ge } else { Prim::Lt };
        self.prim(prim, &[number, before], span)
    }

    /// Whether what may be there is, and fits the pattern.
    fn fits_inside(
        &mut self,
        here: ValueId,
        inner: &'a Pattern,
        ty: &Ty,
        part: &mut Branch<'_, 'a>,
        span: SpanId,
    ) -> Run<ValueId> {
        if crate::lower::hir::irrefutable(inner) {
            return Ok(here);
        }
        let mut look = |s: &mut Self| {
            let part = part(s)?;
            match s.test(inner, &part, ty, span)? {
                Some(holds) => Ok(Val::Leaf(holds)),
                None => Ok(Val::Leaf(s.lit(Lit::Bool(true), span))),
            }
        };
        let mut no = |s: &mut Self| Ok(Val::Leaf(s.lit(Lit::Bool(false), span)));
        let holds = self.branch(here, &[], &mut look, &mut no, span)?;
        self.leaf(&holds, span)
    }

    /// The type of what is on one side of an `Either`.
    fn side_type(&mut self, right: bool, of: &Ty, span: SpanId) -> Run<Ty> {
        let number = usize::from(right);
        match self.ty(of) {
            Ty::Either(sides) => Ok(sides[number].clone()),
            Ty::Member(Set::Either(left, other)) => {
                Ok(Ty::Member(if right { *other } else { *left }))
            }
            _ => self.bug(span, "a side of no `Either`"),
        }
    }

    /// Whether a value fits a pattern; `None` if every value does.
    fn test(
        &mut self,
        pattern: &'a Pattern,
        val: &Val<'a>,
        ty: &Ty,
        span: SpanId,
    ) -> Run<Option<ValueId>> {
        match pattern {
            Pattern::Bind(_) | Pattern::Wild => Ok(None),
            Pattern::Side(right, of, inner) => {
                let here = self.is_side(*right, of, val, span)?;
                let ty = self.side_type(*right, of, span)?;
                let mut part = |s: &mut Self| s.side_of(*right, of, val, span);
                Ok(Some(self.fits_inside(here, inner, &ty, &mut part, span)?))
            }
            Pattern::Present(_, None) => Ok(Some(self.is_kind(false, val, span)?)),
            Pattern::Present(of, Some(inner)) => {
                let Ty::Option(held) = self.ty(of) else {
                    return self.bug(span, "an `Option` was expected");
                };
                let here = self.is_kind(true, val, span)?;
                let mut part = |s: &mut Self| s.part_of(true, val, of, span);
                Ok(Some(self.fits_inside(here, inner, &held, &mut part, span)?))
            }
            Pattern::Lit(value) => {
                let want = self.literal(*value, ty, span)?;
                let args = [self.leaf(val, span)?, self.leaf(&want, span)?];
                Ok(Some(self.prim(Prim::Eq, &args, span)?))
            }
            Pattern::Member(ordinal) => {
                let index = self.leaf(val, span)?;
                let number = self.cast(index, crate::ir::Scalar::Usize, span)?;
                let want = self.usize(*ordinal, span);
                Ok(Some(self.prim(Prim::Eq, &[number, want], span)?))
            }
            Pattern::Tuple(parts) => {
                let types = match self.ty(ty) {
                    Ty::Tuple(types) | Ty::Struct(_, types) => types,
                    Ty::Member(crate::lower::types::Set::Record(_, sets)) => {
                        let solver = &self.functions[self.frame.function].solver;
                        sets.iter().map(|s| solver.member(s)).collect()
                    }
                    _ => return self.bug(span, "a tuple was expected"),
                };
                let Val::Tuple(vals) = val else {
                    return self.bug(span, "a tuple was expected");
                };
                let mut all = None;
                for ((part, val), ty) in parts.iter().zip(vals).zip(&types) {
                    if let Some(holds) = self.test(part, val, ty, span)? {
                        all = Some(match all {
                            None => holds,
                            Some(before) => self.prim(Prim::And, &[before, holds], span)?,
                        });
                    }
                }
                Ok(all)
            }
        }
    }
}
