//! How the operations that only Cpu has are parsed.

use super::{ParseOwn, Parsed, Parser};
use crate::ir::stages::cpu::{Cpu, Own, Tile};
use crate::ir::{Block, Elem, Extent, Type, ValueId};

impl ParseOwn for Cpu {
    fn parse_own(p: &mut Parser<Self>, word: &str) -> Parsed<Option<Own>> {
        Ok(Some(match word {
            "par" => Own::Par(p.par()?),
            "tile" => Own::Tile(p.tile()?),
            "transpose" => {
                let (params, extents): (Vec<_>, Vec<_>) =
                    p.list(Parser::index)?.into_iter().unzip();
                Own::Transpose {
                    extents: extents.try_into().map_err(|_| "expected two indices")?,
                    body: Box::new(p.block(params)?),
                }
            }
            "multiversion" => Own::Multiversion(Box::new(p.block(Vec::new())?)),
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
    fn tile(&mut self) -> Parsed<Tile> {
        let reverse = self.accept("rev");
        let mut step = None;
        if !self.accept("rows") {
            step = Some(self.index()?);
            self.expect("rows")?;
        }
        let (params, steps): (_, Vec<Extent>) = step.into_iter().unzip();
        let extents = std::iter::once(self.extent()?).chain(steps).collect();
        self.expect("reach")?;
        let reach = self.whole()?;
        let writes = match self.accept("writes") {
            true => self.list(|p| Ok((p.value()?, p.whole()?)))?,
            false => Vec::new(),
        };
        let swaps = match self.accept("swap") {
            true => self.list(|p| Ok((p.value()?, p.value()?)))?,
            false => Vec::new(),
        };
        Ok(Tile {
            extents,
            reverse,
            reach,
            writes,
            swaps,
            body: Box::new(self.block(params)?),
        })
    }

    fn whole<N: std::str::FromStr>(&mut self) -> Parsed<N> {
        let number = self.number()?.parse();
        number.map_err(|_| "expected a whole number".into())
    }

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
