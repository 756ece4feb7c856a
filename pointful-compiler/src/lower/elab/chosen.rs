//! Functions that a branch chooses.
//!
//! A program has no functions, so none can be the result of a branch. Where one is called, the
//! branch is run again, for its value alone, and what it gives is called inside of it; what is the
//! same in several calls is then computed once, as everything is. What else the branch does, it
//! does where it stands.

use std::rc::Rc;

use super::branch::Branch;
use super::value::{Chooser, Chosen, Val};
use super::{Elab, Run};
use crate::diag::lowering as say;
use crate::ir::SpanId;
use crate::lower::effects::{Effects, Path};
use crate::lower::types::Ty;

/// What is done with the value of a branch, inside of it.
pub(super) type Then<'f, 'a> = dyn FnMut(&mut Elab<'a>, Val<'a>) -> Run<Val<'a>> + 'f;

impl<'a> Elab<'a> {
    /// The value of branches; functions in it are chosen where they are called.
    pub(super) fn chosen(&mut self, chooser: Chooser<'a>, ty: &Ty, span: SpanId) -> Run<Val<'a>> {
        let ty = self.ty(ty);
        if !holds_function(&ty) {
            return self.branches(&chooser, &mut |s, val| s.settled(val, &ty, span), span);
        }
        if self.accumulates_in(&chooser) {
            let span = self.at(span);
            return self.fail(say::chosen_beside_accumulation(span));
        }
        let frame = self.silent();
        let data = self.branches(&chooser, &mut |_, val| Ok(without_functions(val)), span)?;
        let chosen = Chosen {
            chooser,
            frame,
            parts: Vec::new(),
            indices: Vec::new(),
        };
        Ok(with_functions(&ty, data, &chosen))
    }

    /// Whether something is accumulated in a branch, which must not happen again.
    fn accumulates_in(&self, chooser: &Chooser<'a>) -> bool {
        let mut effects = Effects::new(self.summaries);
        match chooser {
            Chooser::If {
                then, otherwise, ..
            } => {
                effects.block(then);
                otherwise.iter().for_each(|e| effects.expr(e));
            }
            Chooser::Match { arms, .. } => {
                for arm in *arms {
                    arm.guard.iter().for_each(|guard| effects.expr(guard));
                    effects.expr(&arm.body);
                }
            }
        }
        let written = effects.written();
        written
            .iter()
            .any(|(path, _)| self.accumulates(path) && !self.is_printed(path))
    }

    fn branches(
        &mut self,
        chooser: &Chooser<'a>,
        then: &mut Then<'_, 'a>,
        span: SpanId,
    ) -> Run<Val<'a>> {
        match chooser {
            Chooser::If {
                cond,
                then: yes,
                otherwise: no,
            } => {
                let states: Vec<Path> = self.states_of(|effects| {
                    effects.block(yes);
                    no.iter().for_each(|e| effects.expr(e));
                });
                // Both branches end with the same, one after the other.
                let then = std::cell::RefCell::new(then);
                let yes: &mut Branch<'_, 'a> = &mut |s| {
                    let val = s.block(yes)?;
                    (then.borrow_mut())(s, val)
                };
                let no: &mut Branch<'_, 'a> = &mut |s| {
                    let val = match no {
                        Some(e) => s.eval(e)?,
                        None => Val::Tuple(Vec::new()),
                    };
                    (then.borrow_mut())(s, val)
                };
                self.branch(*cond, &states, yes, no, span)
            }
            Chooser::Match { val, ty, arms } => self.arms(val, ty, arms, then, span),
        }
    }

    /// Calls the function that is chosen.
    pub(super) fn call_of_chosen(
        &mut self,
        chosen: &Chosen<'a>,
        args: &[Val<'a>],
        span: SpanId,
    ) -> Run<Val<'a>> {
        let outer = std::mem::replace(&mut self.frame, chosen.frame.clone());
        let mut then = |s: &mut Self, mut val: Val<'a>| {
            for part in &chosen.parts {
                val = match val {
                    Val::Tuple(mut parts) if *part < parts.len() => parts.swap_remove(*part),
                    _ => return s.bug(span, "a tuple was expected"),
                };
            }
            let function = s.select(&val, &chosen.indices, span)?;
            s.apply(&function, args.to_vec(), span)
        };
        let result = self.branches(&chosen.chooser, &mut then, span);
        self.frame = outer;
        result
    }
}

/// Whether a value of the type is a function or has one in it.
fn holds_function(ty: &Ty) -> bool {
    match ty {
        Ty::Function(..) => true,
        Ty::Table(_, inner) | Ty::Option(inner) => holds_function(inner),
        Ty::Tuple(parts) | Ty::Struct(_, parts) => parts.iter().any(holds_function),
        Ty::Either(sides) => sides.iter().any(holds_function),
        Ty::Var(_)
        | Ty::Scalar(_)
        | Ty::Float(_)
        | Ty::Member(_)
        | Ty::Offset(_)
        | Ty::Extent(_)
        | Ty::Accum(_)
        | Ty::Error => false,
    }
}

/// The value with nothing where functions are.
fn without_functions(val: Val<'_>) -> Val<'_> {
    match val {
        Val::Tuple(parts) => Val::Tuple(parts.into_iter().map(without_functions).collect()),
        val if super::expr::is_function(&val) => Val::Tuple(Vec::new()),
        val => val,
    }
}

/// The value with functions where its type says so: those that the branches choose.
fn with_functions<'a>(ty: &Ty, val: Val<'a>, chosen: &Chosen<'a>) -> Val<'a> {
    match (ty, val) {
        (Ty::Function(..) | Ty::Table(..), _) if holds_function(ty) => {
            Val::Chosen(Rc::new(chosen.clone()))
        }
        (Ty::Tuple(types) | Ty::Struct(_, types), Val::Tuple(parts)) => {
            let parts = types.iter().zip(parts).enumerate().map(|(k, (ty, part))| {
                let mut inner = chosen.clone();
                inner.parts.push(k);
                with_functions(ty, part, &inner)
            });
            Val::Tuple(parts.collect())
        }
        (_, val) => val,
    }
}
