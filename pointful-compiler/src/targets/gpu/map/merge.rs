//! Nests whose points combine: by parts, and merged.
//!
//! How many parts there are is computed by the host, from sizes alone. Each has a copy of what is
//! combined: a variable, or a row of a table of copies. Another launch merges these, element by
//! element, in the order of the parts.

use super::host::{Captured, Kernel, captured};
use super::{Map, Missing, Stmts, load, store};
use crate::ir::stages::gpu::{GpuOp, Lanes, Own};
use crate::ir::stages::imperative::{Acc, Fold, Par, identity};
use crate::ir::stages::kernels::Kernels;
use crate::ir::{Block, Elem, Extent, Lit, SpanId, Stmt, Type, ValueId};
use crate::ops::Prim;

/// What parts have copies of.
struct Copied {
    /// What a copy is merged into.
    target: ValueId,
    /// What the block calls a copy.
    private: ValueId,
    /// What a copy holds at first.
    first: Lit,
    /// All copies.
    copies: ValueId,
}

impl Map {
    /// A parallel nest.
    pub(super) fn par(
        &mut self,
        par: Par<Kernels>,
        span: SpanId,
        out: &mut Stmts,
    ) -> Result<(), Missing> {
        let captured = captured(&par.body.stmts);
        let combines = !par.accs.is_empty() || !par.folds.is_empty();
        if combines || par.extents.is_empty() {
            return self.by_parts(par, captured, span, out);
        }
        let body = *par.body;
        let kernel = Kernel {
            name: &par.name,
            extents: &par.extents,
            indices: &body.params,
            captured,
            span,
        };
        self.launch(kernel, out, |map, thread, out| {
            thread.stmts(map, body.stmts, out)
        })
    }

    fn by_parts(
        &mut self,
        par: Par<Kernels>,
        mut captured: Vec<Captured>,
        span: SpanId,
        out: &mut Stmts,
    ) -> Result<(), Missing> {
        let shares_points = self.shares_points(&par);
        let Par {
            name,
            extents,
            accs,
            folds,
            body,
            ..
        } = par;
        // Copies are no variables of the host's.
        let privates = accs.iter().map(|acc| acc.private);
        let privates = privates.chain(folds.iter().flat_map(|fold| fold.privates.clone()));
        let privates: Vec<ValueId> = privates.collect();
        captured.retain(|captured| !privates.contains(&captured.var));
        let targets: Vec<ValueId> = accs
            .iter()
            .map(|acc| acc.target)
            .chain(folds.iter().flat_map(|fold| fold.targets.clone()))
            .collect();
        let parts = self.parts(&extents, &targets, shares_points, span, out);
        let of_accs = accs.iter().map(|acc| {
            let elem = self.program.elem(acc.target);
            (acc.target, acc.private, identity(acc.monoid, elem))
        });
        let of_folds = folds.iter().flat_map(|fold| {
            let places = fold.targets.iter().zip(&fold.privates);
            let places = places.zip(&fold.first);
            places.map(|((&target, &private), &first)| (target, private, first))
        });
        let all: Vec<_> = of_accs.chain(of_folds).collect();
        let copied: Vec<Copied> = all
            .into_iter()
            .map(|(target, private, first)| {
                let Type { elem, mut dims } = self.program.ty(target).clone();
                dims.insert(0, parts);
                let copies = self.buffer(out, Type::table(elem, dims), span);
                Copied {
                    target,
                    private,
                    first,
                    copies,
                }
            })
            .collect();
        let part = self.value(Elem::Index(parts), span);
        let kernel = Kernel {
            name: &name,
            extents: &[parts],
            indices: &[part],
            captured,
            span,
        };
        self.launch(kernel, out, |map, thread, out| {
            let mut vars = Vec::new();
            for copied in &copied {
                if map.program.ty(copied.target).rank() > 0 {
                    thread.fill_all(map, copied.copies, &[part], copied.first, span, out);
                    thread.in_row(copied.private, copied.copies, part);
                    continue;
                }
                let elem = map.program.elem(copied.target);
                let first = map.lit(out, copied.first, elem, span);
                let var = map.bind(out, GpuOp::Var(first), elem, span);
                thread.rename(copied.private, var);
                vars.push((copied.copies, var, elem));
            }
            let body = thread.block(map, *body)?;
            let body = Box::new(body);
            if extents.is_empty() {
                out.extend(body.stmts);
            } else {
                let own = match shares_points {
                    true => Own::Lanes(Lanes {
                        extents,
                        of: Some(part),
                        accs: (accs.iter().zip(&vars))
                            .map(|(acc, &(_, var, _))| (acc.monoid, var))
                            .collect(),
                        body,
                    }),
                    // What is folded is joined to what came before it.
                    false => Own::Part {
                        extents,
                        of: part,
                        in_turns: folds.is_empty(),
                        body,
                    },
                };
                out.push(Stmt::new(Vec::new(), GpuOp::Own(own), span));
            }
            for (copies, var, elem) in vars {
                let value = map.bind(out, GpuOp::Get(var), elem, span);
                out.push(store(copies, vec![part], value, span));
            }
            Ok(())
        })?;
        let mut copied = copied.iter();
        for acc in &accs {
            let copied = copied.next().expect("an accumulator has copies");
            self.merge(acc, copied.copies, parts, span, out)?;
        }
        for fold in folds {
            let copies = copied.by_ref().take(fold.targets.len());
            let copies: Vec<ValueId> = copies.map(|copied| copied.copies).collect();
            self.join(fold, &copies, parts, span, out)?;
        }
        Ok(())
    }

    /// How many parts the points of these extents are cut into, if each has copies of these.
    fn parts(
        &mut self,
        extents: &[Extent],
        targets: &[ValueId],
        shares_points: bool,
        span: SpanId,
        out: &mut Stmts,
    ) -> Extent {
        let one = self.number(out, 1, span);
        let mut most = self.number(out, self.sizes.parts, span);
        let tables: Vec<Vec<Extent>> = targets
            .iter()
            .map(|&target| self.program.ty(target).dims.clone())
            .filter(|dims| !dims.is_empty())
            .collect();
        if !tables.is_empty() {
            // At least one, so that it may be divided by.
            let mut elements = one;
            for dims in tables {
                let length = self.product(out, &dims, span);
                elements = self.of_numbers(out, Prim::Add, [elements, length], span);
            }
            let copied = self.number(out, self.sizes.copied, span);
            let fit = self.of_numbers(out, Prim::Div, [copied, elements], span);
            most = self.of_numbers(out, Prim::Min, [most, fit], span);
        }
        let mut points = self.product(out, extents, span);
        if shares_points {
            let least = self.number(out, self.sizes.part, span);
            points = self.of_numbers(out, Prim::Div, [points, least], span);
        }
        let parts = self.of_numbers(out, Prim::Min, [most, points], span);
        Extent::Value(self.of_numbers(out, Prim::Max, [parts, one], span))
    }

    /// Combines copies, one after the other, and with what the target holds.
    fn merge(
        &mut self,
        acc: &Acc,
        copies: ValueId,
        parts: Extent,
        span: SpanId,
        out: &mut Stmts,
    ) -> Result<(), Missing> {
        let Type { elem, dims } = self.program.ty(acc.target).clone();
        let is_var = dims.is_empty();
        let extents = if is_var { vec![Extent::Const(1)] } else { dims };
        let indices = self.indices(&extents, span);
        let own: &[ValueId] = if is_var { &[] } else { &indices };
        let kernel = Kernel {
            name: "merge",
            extents: &extents,
            indices: &indices,
            captured: match is_var {
                true => vec![Captured {
                    var: acc.target,
                    changed: true,
                }],
                false => Vec::new(),
            },
            span,
        };
        self.launch(kernel, out, |map, thread, out| {
            let first = map.lit(out, identity(acc.monoid, elem), elem, span);
            let merged = map.bind(out, GpuOp::Var(first), elem, span);
            map.nest(out, &[parts], span, |map, part, out| {
                let copy = load(copies, [part, own].concat());
                let value = map.bind(out, copy, elem, span);
                let combine = GpuOp::Combine {
                    monoid: acc.monoid,
                    place: merged,
                    indices: Vec::new(),
                    value,
                };
                out.push(Stmt::new(Vec::new(), combine, span));
            });
            let value = map.bind(out, GpuOp::Get(merged), elem, span);
            thread.combine_into(map, acc.monoid, acc.target, own, value, span, out);
            Ok(())
        })
    }

    /// Joins copies to what the targets hold, one after the other.
    fn join(
        &mut self,
        fold: Fold<Kernels>,
        copies: &[ValueId],
        parts: Extent,
        span: SpanId,
        out: &mut Stmts,
    ) -> Result<(), Missing> {
        let Fold { targets, join, .. } = fold;
        let dims = self.program.ty(targets[0]).dims.clone();
        let elems: Vec<Elem> = targets.iter().map(|&t| self.program.elem(t)).collect();
        let is_var = dims.is_empty();
        let (indices, elements) = join.params.split_at(dims.len());
        let (earlier, later) = elements.split_at(targets.len());
        let of_one = self.indices(&[Extent::Const(1)], span);
        let mut captured = captured(&join.stmts);
        if is_var {
            captured.extend(targets.iter().map(|&var| Captured { var, changed: true }));
        }
        let kernel = Kernel {
            name: "merge",
            extents: if is_var { &[Extent::Const(1)] } else { &dims },
            indices: if is_var { &of_one } else { indices },
            captured,
            span,
        };
        let part = self.value(Elem::Index(parts), span);
        self.launch(kernel, out, |map, thread, out| {
            thread.binds(&join.params);
            let mut vars = Vec::new();
            for (&target, &elem) in targets.iter().zip(&elems) {
                vars.push(match is_var {
                    true => thread.var(target),
                    false => {
                        let first = map.bind(out, load(target, indices.to_vec()), elem, span);
                        map.bind(out, GpuOp::Var(first), elem, span)
                    }
                });
            }
            let mut stmts = Stmts::new();
            for ((&earlier, &later), (&var, &copies)) in
                earlier.iter().zip(later).zip(vars.iter().zip(copies))
            {
                stmts.push(Stmt::new(vec![earlier], GpuOp::Get(var), span));
                let copy = load(copies, [&[part], indices].concat());
                stmts.push(Stmt::new(vec![later], copy, span));
            }
            thread.stmts(map, join.stmts, &mut stmts)?;
            for (&place, &value) in vars.iter().zip(&join.results) {
                let set = GpuOp::Set { place, value };
                stmts.push(Stmt::new(Vec::new(), set, span));
            }
            let each = GpuOp::For {
                extent: parts,
                reverse: false,
                body: Box::new(Block {
                    params: vec![part],
                    stmts,
                    results: Vec::new(),
                }),
            };
            out.push(Stmt::new(Vec::new(), each, span));
            if !is_var {
                for ((&target, &var), &elem) in targets.iter().zip(&vars).zip(&elems) {
                    let value = map.bind(out, GpuOp::Get(var), elem, span);
                    out.push(store(target, indices.to_vec(), value, span));
                }
            }
            Ok(())
        })
    }
}
