//! How the operations of Kernels are parsed.

use super::{Parse, Parsed, Parser};
use crate::ir::stages::kernels::{Acc, Along, Fold, KernelOp, Kernels};
use crate::ir::{Block, Extent, Type, ValueId};

impl Parse for Kernels {
    fn parse_dim(p: &mut Parser<Self>) -> Parsed<Extent> {
        p.extent()
    }

    fn parse_binding(_: &mut Parser<Self>) -> Parsed<Vec<Extent>> {
        Ok(Vec::new())
    }

    fn parse_decls(_: &mut Parser<Self>) -> Parsed<()> {
        Ok(())
    }

    fn parse_returned(_: &mut Parser<Self>) -> Parsed<()> {
        Ok(())
    }

    fn parse_op(p: &mut Parser<Self>, word: &str) -> Parsed<KernelOp> {
        Ok(match word {
            "const" => KernelOp::Const(p.lit()?),
            "size" => KernelOp::Size(p.extent()?),
            "select" => match p.values()?[..] {
                [cond, then, otherwise] => KernelOp::Select(cond, then, otherwise),
                _ => return Err("`select` takes three values".into()),
            },
            "alloc" => {
                p.declared = Some(p.ty()?);
                KernelOp::Alloc {
                    fill: if p.accept("fill") {
                        Some(p.lit()?)
                    } else {
                        None
                    },
                }
            }
            "copy" => KernelOp::Copy(p.value()?),
            "load" => {
                let (buffer, indices) = p.place()?;
                KernelOp::Load { buffer, indices }
            }
            "store" => {
                let (buffer, indices) = p.place()?;
                p.expect(",")?;
                KernelOp::Store {
                    buffer,
                    indices,
                    value: p.value()?,
                }
            }
            "combine" => {
                let monoid = p.monoid()?;
                let (place, indices) = p.place()?;
                p.expect(",")?;
                KernelOp::Combine {
                    monoid,
                    place,
                    indices,
                    value: p.value()?,
                }
            }
            "var" => KernelOp::Var(p.value()?),
            "get" => KernelOp::Get(p.value()?),
            "set" => match p.values()?[..] {
                [place, value] => KernelOp::Set { place, value },
                _ => return Err("`set` takes a place and a value".into()),
            },
            "swap" => match p.values()?[..] {
                [a, b] => KernelOp::Swap(a, b),
                _ => return Err("`swap` takes two buffers".into()),
            },
            "contract" => {
                let add = p.accept("add");
                let (out, own) = p.numbered()?;
                p.expect("=")?;
                let (left, first) = p.numbered()?;
                p.expect(",")?;
                let (right, second) = p.numbered()?;
                KernelOp::Contract {
                    out,
                    factors: [left, right],
                    along: [own, first, second],
                    add,
                }
            }
            "for" => {
                let reverse = p.accept("rev");
                let (index, extent) = p.index()?;
                KernelOp::For {
                    extent,
                    reverse,
                    body: Box::new(p.block(vec![index])?),
                }
            }
            "par" => {
                let name = if p.peek_text() {
                    p.text()?
                } else {
                    String::new()
                };
                let (indices, extents) = p.list(Self::parse_index)?.into_iter().unzip();
                let mut accs = Vec::new();
                if p.accept("(") {
                    p.list_until(Some(")"), |p| {
                        let monoid = p.monoid()?;
                        let private = p.value()?;
                        p.expect("=")?;
                        let target = p.value()?;
                        let ty = p.program.ty(target).clone();
                        p.bind_as(private, ty);
                        accs.push(Acc {
                            monoid,
                            target,
                            private,
                        });
                        Ok(())
                    })?;
                }
                let mut folds = Vec::new();
                while p.accept("fold") {
                    folds.push(p.fold()?);
                }
                let body = p.block(indices)?;
                for fold in &mut folds {
                    fold.join = p.join(&fold.targets)?;
                }
                KernelOp::Par {
                    name,
                    extents,
                    accs,
                    folds,
                    body: Box::new(body),
                }
            }
            "while" => {
                let cond = p.block(Vec::new())?;
                p.expect("do")?;
                KernelOp::While {
                    cond: Box::new(cond),
                    body: Box::new(p.block(Vec::new())?),
                }
            }
            "if" => {
                let cond = p.value()?;
                let then = p.block(Vec::new())?;
                let otherwise = if p.accept("else") {
                    p.block(Vec::new())?
                } else {
                    Default::default()
                };
                KernelOp::If {
                    cond,
                    then: Box::new(then),
                    otherwise: Box::new(otherwise),
                }
            }
            "assert" => {
                let (cond, message, shown) = p.assertion()?;
                KernelOp::Assert {
                    cond,
                    message,
                    shown,
                }
            }
            word => match p.prim(word)? {
                Some((prim, operands)) => KernelOp::Prim(prim, operands.into()),
                None => p.unknown(word)?,
            },
        })
    }
}

impl Kernels {
    fn parse_index(p: &mut Parser<Self>) -> Parsed<(crate::ir::ValueId, Extent)> {
        p.index()
    }
}

impl Parser<Kernels> {
    /// `(%2 = %0 from false, …)`: the copies of a fold, whose join comes later.
    fn fold(&mut self) -> Parsed<Fold> {
        let mut fold = Fold {
            targets: Vec::new(),
            privates: Vec::new(),
            first: Vec::new(),
            join: Block::default(),
        };
        self.expect("(")?;
        self.list_until(Some(")"), |p| {
            let private = p.value()?;
            p.expect("=")?;
            let target = p.value()?;
            p.expect("from")?;
            fold.first.push(p.lit()?);
            let ty = p.program.ty(target).clone();
            p.bind_as(private, ty);
            fold.privates.push(private);
            fold.targets.push(target);
            Ok(())
        })?;
        Ok(fold)
    }

    /// `join (%3: K) { |%4, …| … }`, of elements of these places.
    fn join(&mut self, targets: &[ValueId]) -> Parsed<Block<Kernels>> {
        self.expect("join")?;
        let mut params = Vec::new();
        if self.accept("(") {
            self.list_until(Some(")"), |p| {
                params.push(p.index()?.0);
                Ok(())
            })?;
        }
        self.expect("{")?;
        self.expect("|")?;
        let elements = self.list(Self::value)?;
        self.expect("|")?;
        for (k, &element) in elements.iter().enumerate() {
            let target = targets[k % targets.len().max(1)];
            let elem = self.program.elem(target);
            self.bind_as(element, Type::scalar(elem));
        }
        params.extend(elements);
        let mut block = self.statements("yield")?;
        block.params = params;
        Ok(block)
    }
}

impl Parser<Kernels> {
    /// A buffer and the numbers of its axes, or where it is taken along them.
    fn numbered(&mut self) -> Parsed<(ValueId, Vec<Along>)> {
        let buffer = self.value()?;
        self.expect("[")?;
        let mut along = Vec::new();
        self.list_until(Some("]"), |p| {
            along.push(if p.peek_number() {
                let number = p.number()?.parse();
                Along::Axis(number.map_err(|_| "expected the number of an axis")?)
            } else {
                Along::At(p.value()?)
            });
            Ok(())
        })?;
        Ok((buffer, along))
    }
}
