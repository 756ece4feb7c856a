//! How the operations of Kernels are parsed.

use super::{Parse, Parsed, Parser};
use crate::ir::Extent;
use crate::ir::stages::kernels::{Acc, KernelOp, Kernels};

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
            "for" => {
                let reverse = p.accept("rev");
                let (index, extent) = p.index()?;
                KernelOp::For {
                    extent,
                    reverse,
                    body: p.block(vec![index])?,
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
                KernelOp::Par {
                    name,
                    extents,
                    accs,
                    body: p.block(indices)?,
                }
            }
            "while" => {
                let cond = p.block(Vec::new())?;
                p.expect("do")?;
                KernelOp::While {
                    cond,
                    body: p.block(Vec::new())?,
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
                    then,
                    otherwise,
                }
            }
            "assert" => {
                let (cond, message) = p.assertion()?;
                KernelOp::Assert { cond, message }
            }
            word => match p.prim(word)? {
                Some((prim, operands)) => KernelOp::Prim(prim, operands),
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
