//! How the operations that only Cpu has are parsed.

use super::{ParseOwn, Parsed, Parser};
use crate::ir::stages::cpu::{Cpu, Own};
use crate::ir::{Elem, Type};

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
                let index = p.value()?;
                p.expect(":")?;
                let extent = p.extent()?;
                p.expect("in")?;
                let from = p.value()?;
                p.expect(".")?;
                p.expect(".")?;
                let to = p.value()?;
                p.bind_as(index, Type::scalar(Elem::Index(extent)));
                Own::Range {
                    from,
                    to,
                    body: Box::new(p.block(vec![index])?),
                }
            }
            _ => return Ok(None),
        }))
    }
}
