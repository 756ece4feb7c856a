//! How the operations that only Cpu has are parsed.

use super::{ParseOwn, Parsed, Parser};
use crate::ir::stages::cpu::{Cpu, Own};
use crate::ir::{Block, Elem, Type, ValueId};

impl ParseOwn for Cpu {
    fn parse_own(p: &mut Parser<Self>, word: &str) -> Parsed<Option<Own>> {
        Ok(Some(match word {
            "par" => Own::Par(p.par()?),
            "bound" => {
                let extent = p.extent()?;
                let minus = p.accept("-");
                let number = p.number()?.parse::<i64>();
                let number = number.map_err(|_| "expected a whole number")?;
                let mut terms = Vec::new();
                loop {
                    let minus = p.accept("-");
                    if !minus && !p.accept("+") {
                        break;
                    }
                    terms.push((p.value()?, minus));
                }
                Own::Bound {
                    extent,
                    number: if minus { -number } else { number },
                    terms,
                }
            }
            "range" => {
                let cold = p.accept("cold");
                let (from, to, body) = p.range()?;
                Own::Range {
                    cold,
                    from,
                    to,
                    body,
                }
            }
            "strips" => {
                let width = p.number()?.parse();
                let width = width.map_err(|_| "expected the width of a strip")?;
                let chained = p.accept("chained");
                let overlapping = p.accept("overlapping");
                let (from, to, body) = p.range()?;
                Own::Strips {
                    width,
                    chained,
                    overlapping,
                    from,
                    to,
                    body,
                }
            }
            "lanes" => {
                let in_order = p.accept("in");
                if in_order {
                    p.expect("order")?;
                }
                let params = p.list(Parser::index)?.into_iter().map(|(index, _)| index);
                let params = params.collect();
                p.expect("of")?;
                Own::Lanes {
                    strip: p.value()?,
                    in_order,
                    body: Box::new(p.block(params)?),
                }
            }
            "fold" => {
                let monoid = p.monoid()?;
                match p.values()?[..] {
                    [place, lanes] => Own::Fold {
                        monoid,
                        place,
                        lanes,
                    },
                    _ => return Err("`fold` takes a place and an array".into()),
                }
            }
            "argcombine" => {
                let monoid = p.monoid()?;
                match p.values()?[..] {
                    [best, at, lane, value, place] => Own::ArgCombine {
                        monoid,
                        best,
                        at,
                        lane,
                        value,
                        place,
                    },
                    _ => {
                        return Err(
                            "`argcombine` takes two arrays, where, an element and its place".into(),
                        );
                    }
                }
            }
            "argfold" => {
                let monoid = p.monoid()?;
                match p.values()?[..] {
                    [best, at, best_lanes, at_lanes] => Own::ArgFold {
                        monoid,
                        best,
                        at,
                        lanes: [best_lanes, at_lanes],
                    },
                    _ => return Err("`argfold` takes two places and two arrays".into()),
                }
            }
            _ => return Ok(None),
        }))
    }
}

impl Parser<Cpu> {
    /// `%i: K in %a..%b { … }`
    fn range(&mut self) -> Parsed<(ValueId, ValueId, Box<Block<Cpu>>)> {
        let index = self.value()?;
        self.expect(":")?;
        let extent = self.extent()?;
        self.expect("in")?;
        let from = self.value()?;
        self.expect(".")?;
        self.expect(".")?;
        let to = self.value()?;
        self.bind_as(index, Type::scalar(Elem::Index(extent)));
        Ok((from, to, Box::new(self.block(vec![index])?)))
    }
}
