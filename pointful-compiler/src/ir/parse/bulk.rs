//! How the operations of Bulk are parsed.

use super::{Parse, Parsed, Parser};
use crate::ir::stages::bulk::{Axis, Bulk, BulkOp, Combine};
use crate::ir::{AxisId, Elem, Mode, Type, ValueId};

impl Parse for Bulk {
    fn parse_dim(p: &mut Parser<Self>) -> Parsed<AxisId> {
        p.axis()
    }

    fn parse_binding(p: &mut Parser<Self>) -> Parsed<Vec<AxisId>> {
        if p.peek() == Some("[") {
            p.axis_list()
        } else {
            Ok(Vec::new())
        }
    }

    fn parse_decls(p: &mut Parser<Self>) -> Parsed<()> {
        if p.accept("axes") {
            p.list_until(None, |p| {
                let name = p.word()?;
                p.expect(":")?;
                let extent = p.extent()?;
                let id = AxisId(p.program.decls.axes.len() as u32);
                p.axes.insert(name.clone(), id);
                p.program.decls.axes.push(Axis { name, extent });
                Ok(())
            })?;
        }
        Ok(())
    }

    fn parse_returned(p: &mut Parser<Self>) -> Parsed<()> {
        let order = Self::parse_binding(p)?;
        p.program.decls.results.push(order);
        Ok(())
    }

    fn parse_op(p: &mut Parser<Self>, word: &str) -> Parsed<BulkOp> {
        Ok(match word {
            "const" => BulkOp::Const(p.lit()?),
            "size" => BulkOp::Size(p.extent()?),
            "iota" => BulkOp::Iota(p.axis()?),
            "select" => match p.values()?[..] {
                [cond, then, otherwise] => BulkOp::Select(cond, then, otherwise),
                _ => return Err("`select` takes three values".into()),
            },
            "gather" => BulkOp::Gather {
                table: p.value()?,
                at: p.at()?,
            },
            "pack" => {
                let axis = p.axis()?;
                let values = p.bracketed("[", "]")?;
                BulkOp::Pack { axis, values }
            }
            "reduce" => {
                if p.accept("(") {
                    let init = p.values()?;
                    p.expect(")")?;
                    let (axes, operands) = (p.axis_list()?, p.values()?);
                    let op = p.block_like(&init)?;
                    BulkOp::Reduce {
                        combine: Combine::Custom {
                            init,
                            op: Box::new(op),
                        },
                        axes,
                        operands,
                    }
                } else {
                    let combine = if p.accept("argmin") {
                        Combine::ArgMin
                    } else if p.accept("argmax") {
                        Combine::ArgMax
                    } else {
                        Combine::Monoid(p.monoid()?)
                    };
                    BulkOp::Reduce {
                        combine,
                        axes: p.axis_list()?,
                        operands: p.values()?,
                    }
                }
            }
            "scan" => {
                let reverse = p.accept("rev");
                let full = p.accept("full");
                let init = p.bracketed("(", ")")?;
                let axes = p.axis_list()?;
                let [axis] = axes[..] else {
                    return Err("`scan` is along one axis".into());
                };
                let operands = p.values()?;
                let op = p.block_like(&init)?;
                BulkOp::Scan {
                    init,
                    axis,
                    reverse,
                    full,
                    operands,
                    op: Box::new(op),
                }
            }
            "scatter" => {
                let monoid = p.monoid()?;
                let (base, at) = (p.value()?, p.at()?);
                p.expect("over")?;
                let (over, value) = (p.axis_list()?, p.value()?);
                let mask = p.mask()?;
                BulkOp::Scatter {
                    monoid,
                    base,
                    at,
                    over,
                    value,
                    mask,
                }
            }
            "update" => BulkOp::Update {
                table: p.value()?,
                at: p.at()?,
                value: p.value()?,
                mask: p.mask()?,
            },
            "vjp" | "jvp" => {
                let lanes = p.lanes()?;
                let (params, args) = p.states()?;
                let (mut seeds, mut shapes) = (Vec::new(), Vec::new());
                p.expect("(")?;
                p.list_until(Some(")"), |p| {
                    seeds.push(p.value()?);
                    shapes.push(Self::parse_binding(p)?);
                    Ok(())
                })?;
                let body = p.block(params)?;
                BulkOp::Derive {
                    mode: p.mode(word)?,
                    args,
                    seeds,
                    shapes,
                    lanes,
                    body: Box::new(body),
                }
            }
            "rule" => {
                let word = p.word()?;
                let lanes = p.lanes()?;
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
                BulkOp::Rule {
                    mode,
                    args,
                    lanes,
                    body: Box::new(body),
                    rule: Box::new(rule),
                }
            }
            "assert" => {
                let (cond, message, shown) = p.assertion()?;
                BulkOp::Assert {
                    cond,
                    message,
                    shown,
                }
            }
            "loop" => {
                let reverse = p.accept("rev");
                let checkpoint = p.checkpoint()?;
                let index = p.value()?;
                p.expect(":")?;
                let axis = p.axis()?;
                let extent = p.program.decls.axes[axis.0 as usize].extent;
                p.bind_as(index, Type::scalar(Elem::Index(extent)));
                let lanes = p.lanes()?;
                let (states, init) = p.states()?;
                let body = p.block([vec![index], states].concat())?;
                BulkOp::Loop {
                    axis,
                    reverse,
                    checkpoint,
                    lanes,
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
                let lanes = p.lanes()?;
                let (states, init) = p.states()?;
                let cond = p.block(states)?;
                p.expect("do")?;
                let body = p.block_like(&init)?;
                BulkOp::While {
                    lanes,
                    init,
                    cond: Box::new(cond),
                    body: Box::new(body),
                    bound,
                }
            }
            word => match p.prim(word)? {
                Some((prim, operands)) => BulkOp::Map(prim, operands.into()),
                None => p.unknown(word)?,
            },
        })
    }
}

impl Parser<Bulk> {
    fn axis(&mut self) -> Parsed<AxisId> {
        let name = self.word()?;
        self.axes
            .get(&name)
            .copied()
            .ok_or_else(|| format!("no axis is called `{name}`"))
    }

    fn axis_list(&mut self) -> Parsed<Vec<AxisId>> {
        self.expect("[")?;
        let mut axes = Vec::new();
        self.list_until(Some("]"), |p| {
            axes.push(p.axis()?);
            Ok(())
        })?;
        Ok(axes)
    }

    fn at(&mut self) -> Parsed<Vec<(AxisId, ValueId)>> {
        self.expect("[")?;
        let mut at = Vec::new();
        self.list_until(Some("]"), |p| {
            let axis = p.axis()?;
            p.expect(":=")?;
            at.push((axis, p.value()?));
            Ok(())
        })?;
        Ok(at)
    }

    /// `where %c`, or nothing.
    fn mask(&mut self) -> Parsed<Option<ValueId>> {
        if self.accept("where") {
            self.value().map(Some)
        } else {
            Ok(None)
        }
    }

    fn lanes(&mut self) -> Parsed<Vec<AxisId>> {
        if self.accept("lanes") {
            self.axis_list()
        } else {
            Ok(Vec::new())
        }
    }
}
