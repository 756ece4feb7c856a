//! Assignment.

use std::rc::Rc;

use super::monoid::own_of;
use super::site::{Indexed, Site};
use super::value::{Accum, Part, Val};
use super::{Elab, Run};
use crate::diag::lowering as say;
use crate::ir::stages::point::PointOp;
use crate::ir::{Monoid, SpanId, ValueId};
use crate::lower::effects::Path;
use crate::lower::frames::align;
use crate::lower::hir::{Expr, LocalId, Place, Step};
use crate::lower::types::{Ty, atoms};
use crate::ops::Prim;
use crate::syntax::tree::BinaryOp;

impl<'a> Elab<'a> {
    /// A place as a path to a value and indices into it. A table of tuples is a tuple of tables, so
    /// fields come first.
    pub(super) fn reach(&mut self, place: &'a Place) -> Run<(Path, Vec<ValueId>)> {
        let mut fields = Vec::new();
        let mut indices = Vec::new();
        for step in &place.steps {
            match step {
                Step::Field(k) => fields.push(*k),
                Step::Index(base, parts) => {
                    let site = Site {
                        at: place.span,
                        of: Indexed::Place(place),
                    };
                    indices.extend(self.indices(base, parts, site)?);
                }
            }
        }
        Ok(((place.local, fields), indices))
    }

    /// What stands at a path.
    pub(super) fn read(&mut self, path: &Path, span: SpanId) -> Run<Val<'a>> {
        let Some(mut val) = self.frame.env[path.0.0 as usize].clone() else {
            return self.bug(span, "a variable has no value");
        };
        for k in &path.1 {
            val = match val {
                Val::Tuple(mut parts) if *k < parts.len() => parts.swap_remove(*k),
                Val::Accum(accum) => match &accum.parts {
                    Val::Tuple(parts) if *k < parts.len() => Val::Accum(std::rc::Rc::new(Accum {
                        parts: parts[*k].clone(),
                        ..(*accum).clone()
                    })),
                    _ => return self.bug(span, "a field of no tuple"),
                },
                Val::Own(_) => {
                    let span = self.at(span);
                    return self.fail(say::not_available(
                        span,
                        "a part of the tuples that an accumulator with its own operator holds",
                    ));
                }
                Val::Spent => {
                    let name = self.name_of(path.0);
                    let span = self.at(span);
                    return self.fail(say::accum_spent(span, &name));
                }
                _ => return self.bug(span, "a field of no tuple"),
            };
        }
        Ok(val)
    }

    pub(super) fn name_of(&self, local: LocalId) -> String {
        self.functions[self.frame.function].locals[local.0 as usize]
            .name
            .clone()
    }

    /// Replaces what stands at a path.
    pub(super) fn write(&mut self, path: &Path, val: Val<'a>, span: SpanId) -> Run<()> {
        fn put<'a>(slot: &mut Val<'a>, fields: &[usize], val: Val<'a>) -> bool {
            match (fields.split_first(), slot) {
                (None, slot) => {
                    *slot = val;
                    true
                }
                (Some((k, rest)), Val::Tuple(parts)) => {
                    parts.get_mut(*k).is_some_and(|part| put(part, rest, val))
                }
                (Some(_), _) => false,
            }
        }
        let done = match &mut self.frame.env[path.0.0 as usize] {
            Some(slot) => put(slot, &path.1, val),
            None => false,
        };
        if done {
            Ok(())
        } else {
            self.bug(span, "a place that is not there")
        }
    }

    /// `p = e`, `p op= e`
    pub(super) fn assign(
        &mut self,
        op: Option<BinaryOp>,
        place: &'a Place,
        value: &'a Expr,
        span: SpanId,
    ) -> Run<Val<'a>> {
        let unit = Ok(Val::Tuple(Vec::new()));
        let val = self.eval(value)?;
        let val = self.settled(val, &value.ty, span)?;
        let (path, indices) = self.reach(place)?;
        let target = self.read(&path, span)?;
        if let Val::Accum(accum) = &target {
            return self.add_to(accum, op, place, (val, &value.ty), indices, span);
        }
        if matches!(target, Val::Slice(_)) || own_of(&target).is_some() {
            let span = self.at(span);
            return self.fail(say::accum_operation(span));
        }
        if let Val::Spent = target {
            let name = self.name_of(path.0);
            let span = self.at(span);
            return self.fail(say::accum_spent(span, &name));
        }
        let new = match op {
            None => val,
            Some(op) => {
                let now = self.select(&target, &indices, span)?;
                self.binary(op, (&now, &place.ty), (&val, &value.ty), span)?
            }
        };
        self.store(&path, &target, &indices, new, span)?;
        unit
    }

    /// Puts a value at an element or sub-table of what stands at a path.
    pub(super) fn store(
        &mut self,
        path: &Path,
        target: &Val<'a>,
        indices: &[ValueId],
        new: Val<'a>,
        span: SpanId,
    ) -> Run<()> {
        if indices.is_empty() {
            return self.write(path, new, span);
        }
        if let Val::Part(part) = target {
            let rest = indices.get(part.axes..).unwrap_or_default();
            let val = self.replaced(&part.val, rest, new, span)?;
            let part = Part {
                val,
                ..(**part).clone()
            };
            return self.write(path, Val::Part(Rc::new(part)), span);
        }
        let val = self.replaced(target, indices, new, span)?;
        self.write(path, val, span)
    }

    /// Tables in which an element or sub-table is replaced.
    pub(super) fn replaced(
        &mut self,
        target: &Val<'a>,
        indices: &[ValueId],
        new: Val<'a>,
        span: SpanId,
    ) -> Run<Val<'a>> {
        if indices.is_empty() {
            return Ok(new);
        }
        let before = self.leaves(target, span)?;
        let values = self.leaves(&new, span)?;
        let mut after = Vec::new();
        for (table, value) in before.into_iter().zip(values) {
            let ty = self.program.ty(table).clone();
            let op = PointOp::Update {
                table,
                indices: indices.to_vec(),
                value,
            };
            after.push(self.op(op, ty, span));
        }
        Ok(self.rebuild(target, &mut after.into_iter()))
    }

    fn add_to(
        &mut self,
        accum: &Accum<'a>,
        op: Option<BinaryOp>,
        place: &'a Place,
        (val, ty): (Val<'a>, &Ty),
        indices: Vec<ValueId>,
        span: SpanId,
    ) -> Run<Val<'a>> {
        if accum.monoid != Monoid::Add {
            let span = self.at(span);
            return self.fail(say::accum_operation(span));
        }
        let subtract = op == Some(BinaryOp::Sub);
        let (groups, _) = self.split(&place.ty);
        let (found, _) = self.split(ty);
        // A value of lower rank is added to every cell.
        let frames = [atoms(&groups), atoms(&found)];
        let val = if subtract || frames[0].len() > frames[1].len() {
            let Ok(alignment) = align(&frames, |a, b| a == b) else {
                return self.bug(span, "frames do not agree");
            };
            let positions = &alignment.positions[1..];
            self.lift_aligned(
                &frames[alignment.longest],
                positions,
                &[val],
                span,
                &mut |s, cells| {
                    let cell = s.leaf(&cells[0], span)?;
                    if subtract {
                        Ok(Val::Leaf(s.prim(Prim::Neg, &[cell], span)?))
                    } else {
                        Ok(Val::Leaf(cell))
                    }
                },
            )?
        } else {
            val
        };
        self.accumulate(accum, &indices, &val, span)?;
        Ok(Val::Tuple(Vec::new()))
    }
}
