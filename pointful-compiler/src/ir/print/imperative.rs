//! How the operations of imperative stages are printed.

use super::{Print, Printer};
use crate::ir::stages::imperative::{Acc, Along, Fold, Imperative, ImperativeOp, Mask, Par};
use crate::ir::stages::kernels::Kernels;
use crate::ir::{Extent, Program, Type, ValueId};

/// An imperative stage whose own operations can be printed.
pub trait PrintOwn: Imperative {
    /// An operation of its own with its operands and blocks.
    fn print_own(p: &mut Printer<'_, Self>, own: &Self::Own);
}

impl PrintOwn for Kernels {
    fn print_own(p: &mut Printer<'_, Self>, own: &Par) {
        p.par(own);
    }
}

impl<S: PrintOwn> Print for S {
    fn dim(p: &mut Printer<'_, Self>, dim: Extent) {
        p.extent(dim);
    }

    fn binding(_: &mut Printer<'_, Self>, _: ValueId) {}

    fn decls(_: &mut Printer<'_, Self>) {}

    fn result_type(program: &Program<Self>, index: usize) -> Type<Extent> {
        program.ty(program.body.results[index]).clone()
    }

    fn returned(_: &mut Printer<'_, Self>, _: usize) {}

    fn op(p: &mut Printer<'_, Self>, op: &ImperativeOp<S>) {
        match op {
            ImperativeOp::Const(lit) => {
                p.word("const ");
                p.lit(*lit);
            }
            ImperativeOp::Size(extent) => {
                p.word("size ");
                p.extent(*extent);
            }
            ImperativeOp::Prim(prim, operands) => p.prim(*prim, operands),
            ImperativeOp::Select(cond, then, otherwise) => {
                p.word("select ");
                p.values(&[*cond, *then, *otherwise]);
            }
            ImperativeOp::Alloc { fill } => {
                // The type is that of the result, which only this operation cannot derive from its operands.
                p.word("alloc ");
                if let Some(buffer) = p.result {
                    let ty = p.program.ty(buffer).clone();
                    p.ty(&ty);
                }
                if let Some(fill) = fill {
                    p.word(" fill ");
                    p.lit(*fill);
                }
            }
            ImperativeOp::Copy(buffer) => {
                p.word("copy ");
                p.value(*buffer);
            }
            ImperativeOp::Load { buffer, indices } => {
                p.word("load ");
                p.place(*buffer, indices);
            }
            ImperativeOp::Store {
                buffer,
                indices,
                value,
            } => {
                p.word("store ");
                p.place(*buffer, indices);
                p.word(", ");
                p.value(*value);
            }
            ImperativeOp::Combine {
                monoid,
                place,
                indices,
                value,
            } => {
                p.word("combine ");
                p.word(monoid.name());
                p.word(" ");
                p.place(*place, indices);
                p.word(", ");
                p.value(*value);
            }
            ImperativeOp::Var(value) => {
                p.word("var ");
                p.value(*value);
            }
            ImperativeOp::Get(place) => {
                p.word("get ");
                p.value(*place);
            }
            ImperativeOp::Set { place, value } => {
                p.word("set ");
                p.values(&[*place, *value]);
            }
            ImperativeOp::Contract {
                out,
                factors,
                along,
                add,
                absorb,
                mask,
            } => {
                p.word("contract ");
                p.word(if *absorb { "absorb " } else { "" });
                p.word(if *add { "add " } else { "" });
                let arrays = [out, &factors[0], &factors[1]].into_iter().zip(along);
                let mask = mask.iter().map(|Mask { buffer, along }| (buffer, along));
                for (k, (buffer, along)) in arrays.chain(mask).enumerate() {
                    p.word(["", " = ", ", ", " where "][k]);
                    p.value(*buffer);
                    p.word("[");
                    for (k, along) in along.iter().enumerate() {
                        if k > 0 {
                            p.word(", ");
                        }
                        match along {
                            Along::Axis(number) => p.word(&number.to_string()),
                            Along::At(index) => p.value(*index),
                        }
                    }
                    p.word("]");
                }
            }
            ImperativeOp::Swap(a, b) => {
                p.word("swap ");
                p.values(&[*a, *b]);
            }
            ImperativeOp::For {
                extent,
                reverse,
                body,
            } => {
                p.word(if *reverse { "for rev " } else { "for " });
                p.bind_indices(&body.params, &[*extent]);
                p.word(" ");
                p.block(body);
            }
            ImperativeOp::Assert {
                cond,
                message,
                shown,
            } => p.assert(*cond, message, shown),
            ImperativeOp::While { cond, body } => {
                p.word("while ");
                p.block(cond);
                p.word(" do ");
                p.block(body);
            }
            ImperativeOp::If {
                cond,
                then,
                otherwise,
            } => p.if_else(*cond, then, otherwise),
            ImperativeOp::Own(own) => S::print_own(p, own),
        }
    }
}

impl<S: PrintOwn> Printer<'_, S> {
    /// A parallel nest.
    pub(super) fn par(&mut self, par: &Par<S>) {
        self.word("par ");
        if !par.name.is_empty() {
            self.word(&super::literal::quote(&par.name));
            self.word(" ");
        }
        self.word(if par.by_columns { "by columns " } else { "" });
        self.word(if par.speculates { "speculate " } else { "" });
        self.par_indices(par);
        self.accs(&par.accs);
        par.folds.iter().for_each(|fold| self.fold(fold));
        self.word(" ");
        self.block(&par.body);
        par.folds.iter().for_each(|fold| self.join(fold));
    }

    /// What the block of a nest binds: `%1: I, %2: J`, or of rows `%1: I, %2..%3: J`.
    fn par_indices(&mut self, par: &Par<S>) {
        let indices = &par.body.params;
        let Some((&row, outer)) = par.extents.split_last().filter(|_| S::ROWS) else {
            return self.bind_indices(indices, &par.extents);
        };
        self.bind_indices(&indices[..outer.len()], outer);
        self.word(if outer.is_empty() { "" } else { ", " });
        if let [from, to] = indices[outer.len()..] {
            self.bind(from);
            self.word("..");
            self.bind_index(to, row);
        }
    }

    /// ` (add %2 = %0, …)`: the private copies and their targets.
    fn accs(&mut self, accs: &[Acc]) {
        if accs.is_empty() {
            return;
        }
        self.word(" (");
        self.list(accs, |p, acc| {
            p.word(acc.monoid.name());
            p.word(" ");
            p.bind(acc.private);
            p.word(" = ");
            p.value(acc.target);
            p.word(if acc.notes { " notes" } else { "" });
            p.word(if acc.becomes { " becomes" } else { "" });
        });
        self.word(")");
    }

    /// ` fold (%2 = %0 from false, …)`: the private copies, their targets, and what the copies
    /// begin as.
    fn fold(&mut self, fold: &Fold<S>) {
        self.word(" fold (");
        let copies = fold.privates.iter().zip(&fold.targets).zip(&fold.first);
        let copies: Vec<_> = copies.collect();
        self.list(&copies, |p, &((&private, &target), &first)| {
            p.bind(private);
            p.word(" = ");
            p.value(target);
            p.word(" from ");
            p.lit(first);
        });
        self.word(")");
    }

    /// ` join (%3: K) { |%4, …| … }`: how two copies become one.
    fn join(&mut self, fold: &Fold<S>) {
        self.word(" join ");
        let dims = fold
            .targets
            .first()
            .map_or(&[][..], |&target| &self.program.ty(target).dims);
        let (indices, _) = fold
            .join
            .params
            .split_at(dims.len().min(fold.join.params.len()));
        if !indices.is_empty() {
            self.word("(");
            self.bind_indices(indices, dims);
            self.word(") ");
        }
        self.block_of_elements(&fold.join, indices.len());
    }
}
