//! `fold` and `scan`, with operators that are associative.

use super::{Fact, Random, TAME, UNKNOWN};
use crate::ir::stages::point::PointOp;
use crate::ir::{Elem, Extent, Scalar, Type, ValueId};
use crate::ops::Prim;

/// An associative operator.
#[derive(Clone, Copy, Debug)]
enum Operator {
    /// A primitive on scalars.
    Prim(Scalar, Prim),
    /// The primitive on the elements of tables.
    Tables(Scalar, Prim),
    /// Composition of `x ↦ a x + b`: `(a, b) ⊕ (c, d) = (a c, b c + d)`.
    Affine,
    /// Products of 2 × 2 matrices.
    Matrices,
    /// The larger number, with what belongs to it; of equal ones the first.
    Largest,
}

impl Random {
    /// `fold` or `scan` of new tables.
    pub(super) fn fold_or_scan(&mut self) {
        let exact = |prim| Operator::Prim(Scalar::I64, prim);
        let operator = self.rng.pick(&[
            exact(Prim::Add),
            exact(Prim::Mul),
            exact(Prim::Xor),
            Operator::Prim(Scalar::F64, Prim::Add),
            Operator::Prim(Scalar::F64, Prim::Max),
            Operator::Prim(Scalar::Bool, Prim::And),
            Operator::Tables(Scalar::F64, Prim::Add),
            Operator::Tables(Scalar::I64, Prim::Max),
            Operator::Affine,
            Operator::Affine,
            Operator::Matrices,
            Operator::Largest,
        ]);
        let extent = self.extent();
        let int = Type::scalar(Elem::Scalar(Scalar::I64));
        let types = match operator {
            Operator::Prim(scalar, _) => vec![Type::scalar(Elem::Scalar(scalar))],
            Operator::Tables(scalar, _) => {
                vec![Type::table(Elem::Scalar(scalar), vec![self.extent()])]
            }
            Operator::Affine | Operator::Largest => vec![int.clone(), int],
            Operator::Matrices => vec![Type::table(int.elem, vec![Extent::Const(2); 2])],
        };
        let init: Option<Vec<ValueId>> = types.iter().map(|ty| self.of_type(ty)).collect();
        let tables: Option<Vec<ValueId>> = types
            .iter()
            .map(|ty| {
                let mut dims = vec![extent];
                dims.extend(&ty.dims);
                self.of_type(&Type::table(ty.elem, dims))
            })
            .collect();
        let (Some(init), Some(tables)) = (init, tables) else {
            return;
        };

        let accumulators = std::mem::take(&mut self.accumulators);
        let mark = self.open(self.at_most(extent));
        let params: Vec<ValueId> = types
            .iter()
            .chain(&types)
            .map(|ty| self.block_param(ty.clone(), UNKNOWN))
            .collect();
        let yields = self.apply(operator, &params);
        let op = self.close(mark, params, yields);
        self.accumulators = accumulators;

        let bound = TAME * (1 + self.at_most(extent)) as f64;
        let fact = Fact { bound, ..UNKNOWN };
        if self.rng.chance(50) {
            let results = types
                .iter()
                .map(|ty| self.value(ty.clone(), fact))
                .collect();
            self.push(
                results,
                PointOp::Fold {
                    init,
                    tables,
                    op: Box::new(op),
                },
            );
            return;
        }
        let results = types
            .iter()
            .map(|ty| {
                let mut dims = vec![extent];
                dims.extend(&ty.dims);
                self.value(Type::table(ty.elem, dims), fact)
            })
            .collect();
        self.push(
            results,
            PointOp::Scan {
                init,
                tables,
                op: Box::new(op),
            },
        );
    }

    /// The body of the operator: parameters are the left tuple, then the right one.
    fn apply(&mut self, operator: Operator, params: &[ValueId]) -> Vec<ValueId> {
        match (operator, params) {
            (Operator::Prim(_, prim), &[x, y]) => vec![self.prim(prim, vec![x, y], 0.0)],
            (Operator::Tables(_, prim), &[x, y]) => {
                let ty = self.program.ty(x).clone();
                let extent = ty.dims[0];
                vec![self.tabulate(extent, |this, index| {
                    let (x, y) = (this.element(x, &[index]), this.element(y, &[index]));
                    this.prim(prim, vec![x, y], 0.0)
                })]
            }
            (Operator::Affine, &[a, b, c, d]) => {
                let slope = self.prim(Prim::Mul, vec![a, c], 0.0);
                let scaled = self.prim(Prim::Mul, vec![b, c], 0.0);
                vec![slope, self.prim(Prim::Add, vec![scaled, d], 0.0)]
            }
            (Operator::Matrices, &[x, y]) => {
                let two = Extent::Const(2);
                vec![self.tabulate(two, |this, i| {
                    this.tabulate(two, |this, j| {
                        let products = this.tabulate(two, |this, k| {
                            let (x, y) = (this.element(x, &[i, k]), this.element(y, &[k, j]));
                            this.prim(Prim::Mul, vec![x, y], 0.0)
                        });
                        let op = PointOp::Reduce {
                            monoid: crate::ir::Monoid::Add,
                            table: products,
                        };
                        let ty = Type::scalar(this.program.elem(products));
                        this.emit(op, ty, UNKNOWN)
                    })
                })]
            }
            (Operator::Largest, &[a, b, c, d]) => {
                let cond = self.prim(Prim::Ge, vec![a, c], 0.0);
                let block = |this: &mut Self, results: Vec<ValueId>| {
                    let mark = this.open(1);
                    this.close(mark, Vec::new(), results)
                };
                let then = block(self, vec![a, b]);
                let otherwise = block(self, vec![c, d]);
                let ty = self.program.ty(a).clone();
                let results: Vec<ValueId> =
                    (0..2).map(|_| self.value(ty.clone(), UNKNOWN)).collect();
                let op = PointOp::If {
                    cond,
                    then: Box::new(then),
                    otherwise: Box::new(otherwise),
                };
                self.push(results.clone(), op);
                results
            }
            (operator, params) => unreachable!("{operator:?} takes other than {params:?}"),
        }
    }

    fn element(&mut self, table: ValueId, indices: &[ValueId]) -> ValueId {
        let ty = Type::scalar(self.program.elem(table));
        let indices = indices.to_vec();
        self.emit(PointOp::Index { table, indices }, ty, UNKNOWN)
    }

    fn tabulate(
        &mut self,
        extent: Extent,
        element: impl FnOnce(&mut Self, ValueId) -> ValueId,
    ) -> ValueId {
        let mark = self.open(1);
        let index = self.block_param(Type::scalar(Elem::Index(extent)), UNKNOWN);
        let value = element(self, index);
        let mut ty = self.program.ty(value).clone();
        ty.dims.insert(0, extent);
        let body = self.close(mark, vec![index], vec![value]);
        self.emit(
            PointOp::For {
                extent,
                body: Box::new(body),
            },
            ty,
            UNKNOWN,
        )
    }
}
