//! How the operations of Point are parsed.

use super::{Parse, Parsed, Parser};
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{Extent, Mode};

impl Parse for Point {
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

    fn parse_op(p: &mut Parser<Self>, word: &str) -> Parsed<PointOp> {
        Ok(match word {
            "const" => PointOp::Const(p.lit()?),
            "size" => PointOp::Size(p.extent()?),
            "index" => {
                let (table, indices) = p.place()?;
                PointOp::Index { table, indices }
            }
            "array" => {
                let values = p.bracketed("[", "]")?;
                PointOp::Array(values)
            }
            "for" => {
                let (index, extent) = p.index()?;
                PointOp::For {
                    extent,
                    body: Box::new(p.block(vec![index])?),
                }
            }
            "reduce" => PointOp::Reduce {
                monoid: p.monoid()?,
                table: p.value()?,
            },
            "argmin" | "argmax" => PointOp::ArgReduce {
                max: word == "argmax",
                table: p.value()?,
            },
            "fold" | "scan" => {
                let init = p.bracketed("(", ")")?;
                let tables = p.values()?;
                let op = p.block_like(&init)?;
                if word == "fold" {
                    PointOp::Fold {
                        init,
                        tables,
                        op: Box::new(op),
                    }
                } else {
                    PointOp::Scan {
                        init,
                        tables,
                        op: Box::new(op),
                    }
                }
            }
            "loop" => {
                let reverse = p.accept("rev");
                let checkpoint = p.checkpoint()?;
                let (index, extent) = p.index()?;
                let (states, init) = p.states()?;
                let body = p.block([vec![index], states].concat())?;
                PointOp::Loop {
                    extent,
                    reverse,
                    checkpoint,
                    init,
                    body: Box::new(body),
                }
            }
            "while" => {
                let bound = if p.accept("bound") {
                    Some(p.value()?)
                } else {
                    None
                };
                let (states, init) = p.states()?;
                let cond = p.block(states)?;
                p.expect("do")?;
                let body = p.block_like(&init)?;
                PointOp::While {
                    init,
                    cond: Box::new(cond),
                    body: Box::new(body),
                    bound,
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
                PointOp::If {
                    cond,
                    then: Box::new(then),
                    otherwise: Box::new(otherwise),
                }
            }
            "accum" => PointOp::Accum {
                monoid: p.monoid()?,
                base: p.value()?,
            },
            "accumulate" => {
                let (acc, indices) = p.place()?;
                p.expect(",")?;
                PointOp::Accumulate {
                    acc,
                    indices,
                    value: p.value()?,
                }
            }
            "get" => PointOp::Get { acc: p.value()? },
            "vjp" | "jvp" => {
                let (params, args) = p.states()?;
                let seeds = p.bracketed("(", ")")?;
                let body = p.block(params)?;
                PointOp::Derive {
                    mode: p.mode(word)?,
                    args,
                    seeds,
                    body: Box::new(body),
                }
            }
            "rule" => {
                let word = p.word()?;
                let (params, args) = p.states()?;
                let body = p.block(params)?;
                p.expect("by")?;
                let mode = p.mode(&word)?;
                let seeds = match mode {
                    Mode::Tangent => args.clone(),
                    Mode::Cotangent => p.floats(&body),
                };
                let like = [args.as_slice(), &seeds].concat();
                let rule = p.block_like(&like)?;
                PointOp::Rule {
                    mode,
                    args,
                    body: Box::new(body),
                    rule: Box::new(rule),
                }
            }
            "assert" => {
                let (cond, message, shown) = p.assertion()?;
                PointOp::Assert {
                    cond,
                    message,
                    shown,
                }
            }
            "update" => {
                let (table, indices) = p.place()?;
                p.expect(",")?;
                PointOp::Update {
                    table,
                    indices,
                    value: p.value()?,
                }
            }
            word => match p.prim(word)? {
                Some((prim, operands)) => PointOp::Prim(prim, operands.into()),
                None => p.unknown(word)?,
            },
        })
    }
}
