//! How the operations of imperative stages are parsed.

use super::{Parse, Parsed, Parser};
use crate::ir::stages::imperative::{Acc, Along, Fold, ImperativeOp, Mask, Par};
use crate::ir::stages::kernels::Kernels;
use crate::ir::verify::VerifyOwn;
use crate::ir::{Block, Elem, Extent, Type, ValueId};

/// An imperative stage whose own operations can be read.
pub trait ParseOwn: VerifyOwn {
    /// An operation of its own that begins with this word; `None` if there is none.
    fn parse_own(p: &mut Parser<Self>, word: &str) -> Parsed<Option<Self::Own>>;
}

impl ParseOwn for Kernels {
    fn parse_own(p: &mut Parser<Self>, word: &str) -> Parsed<Option<Par>> {
        match word {
            "par" => p.par().map(Some),
            _ => Ok(None),
        }
    }
}

impl<S: ParseOwn> Parse for S {
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

    fn parse_op(p: &mut Parser<Self>, word: &str) -> Parsed<ImperativeOp<S>> {
        Ok(match word {
            "const" => ImperativeOp::Const(p.lit()?),
            "size" => ImperativeOp::Size(p.extent()?),
            "select" => match p.values()?[..] {
                [cond, then, otherwise] => ImperativeOp::Select(cond, then, otherwise),
                _ => return Err("`select` takes three values".into()),
            },
            "alloc" => {
                p.declared = Some(p.ty()?);
                ImperativeOp::Alloc {
                    fill: if p.accept("fill") {
                        Some(p.lit()?)
                    } else {
                        None
                    },
                }
            }
            "copy" => ImperativeOp::Copy(p.value()?),
            "load" => {
                let (buffer, indices) = p.place()?;
                ImperativeOp::Load { buffer, indices }
            }
            "store" => {
                let (buffer, indices) = p.place()?;
                p.expect(",")?;
                ImperativeOp::Store {
                    buffer,
                    indices,
                    value: p.value()?,
                }
            }
            "combine" => {
                let monoid = p.monoid()?;
                let (place, indices) = p.place()?;
                p.expect(",")?;
                ImperativeOp::Combine {
                    monoid,
                    place,
                    indices,
                    value: p.value()?,
                }
            }
            "var" => ImperativeOp::Var(p.value()?),
            "get" => ImperativeOp::Get(p.value()?),
            "set" => match p.values()?[..] {
                [place, value] => ImperativeOp::Set { place, value },
                _ => return Err("`set` takes a place and a value".into()),
            },
            "swap" => match p.values()?[..] {
                [a, b] => ImperativeOp::Swap(a, b),
                _ => return Err("`swap` takes two buffers".into()),
            },
            "contract" => {
                let absorb = p.accept("absorb");
                let add = p.accept("add");
                let (out, own) = p.numbered()?;
                p.expect("=")?;
                let (left, first) = p.numbered()?;
                p.expect(",")?;
                let (right, second) = p.numbered()?;
                let mask = match p.accept("where") {
                    true => {
                        let (buffer, along) = p.numbered()?;
                        Some(Mask { buffer, along })
                    }
                    false => None,
                };
                ImperativeOp::Contract {
                    out,
                    factors: [left, right],
                    along: [own, first, second],
                    add,
                    absorb,
                    mask,
                }
            }
            "for" => {
                let reverse = p.accept("rev");
                let (index, extent) = p.index()?;
                ImperativeOp::For {
                    extent,
                    reverse,
                    body: Box::new(p.block(vec![index])?),
                }
            }
            "while" => {
                let cond = p.block(Vec::new())?;
                p.expect("do")?;
                ImperativeOp::While {
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
                ImperativeOp::If {
                    cond,
                    then: Box::new(then),
                    otherwise: Box::new(otherwise),
                }
            }
            "assert" => {
                let (cond, message, shown) = p.assertion()?;
                ImperativeOp::Assert {
                    cond,
                    message,
                    shown,
                }
            }
            word => match p.prim(word)? {
                Some((prim, operands)) => ImperativeOp::Prim(prim, operands.into()),
                None => match S::parse_own(p, word)? {
                    Some(own) => ImperativeOp::Own(own),
                    None => p.unknown(word)?,
                },
            },
        })
    }
}

impl<S: ParseOwn> Parser<S> {
    /// A parallel nest.
    pub(super) fn par(&mut self) -> Parsed<Par<S>> {
        let name = if self.peek_text() {
            self.text()?
        } else {
            String::new()
        };
        let by_columns = self.accept("by");
        if by_columns {
            self.expect("columns")?;
        }
        let speculates = self.accept("speculate");
        let (indices, extents) = self.par_indices()?;
        let mut accs = Vec::new();
        if self.accept("(") {
            self.list_until(Some(")"), |p| {
                let monoid = p.monoid()?;
                let private = p.value()?;
                p.expect("=")?;
                let target = p.value()?;
                let ty = p.program.ty(target).clone();
                p.bind_as(private, ty);
                accs.push(Acc {
                    notes: p.accept("notes"),
                    becomes: p.accept("becomes"),
                    ..Acc::new(monoid, target, private)
                });
                Ok(())
            })?;
        }
        let mut folds = Vec::new();
        while self.accept("fold") {
            folds.push(self.fold()?);
        }
        let body = self.block(indices)?;
        for fold in &mut folds {
            fold.join = self.join(&fold.targets)?;
        }
        Ok(Par {
            name,
            number: 0,
            by_columns,
            speculates,
            extents,
            accs,
            folds,
            body: Box::new(body),
        })
    }

    /// What the block of a nest binds, and the extents.
    fn par_indices(&mut self) -> Parsed<(Vec<ValueId>, Vec<Extent>)> {
        let (mut indices, mut extents) = (Vec::new(), Vec::new());
        self.list(|p| {
            let first = p.value()?;
            if S::ROWS && p.accept(".") {
                p.expect(".")?;
                let to = p.value()?;
                p.expect(":")?;
                let extent = p.extent()?;
                for bound in [first, to] {
                    p.bind_as(bound, Type::scalar(Elem::Bound(extent)));
                    indices.push(bound);
                }
                extents.push(extent);
            } else {
                p.expect(":")?;
                let extent = p.extent()?;
                p.bind_as(first, Type::scalar(Elem::Index(extent)));
                indices.push(first);
                extents.push(extent);
            }
            Ok(())
        })?;
        Ok((indices, extents))
    }

    /// `(%2 = %0 from false, …)`: the copies of a fold, whose join comes later.
    fn fold(&mut self) -> Parsed<Fold<S>> {
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
    fn join(&mut self, targets: &[ValueId]) -> Parsed<Block<S>> {
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
