//! How the operations that only Gpu has are parsed.

use super::{ParseOwn, Parsed, Parser};
use crate::ir::stages::gpu::{Gpu, Lanes, Launch, Own};

impl ParseOwn for Gpu {
    fn parse_own(p: &mut Parser<Self>, word: &str) -> Parsed<Option<Own>> {
        Ok(Some(match word {
            "launch" => Own::Launch(p.launch()?),
            "lanes" => Own::Lanes(p.lanes()?),
            "part" => {
                let (indices, extents) = p.list(Parser::index)?.into_iter().unzip();
                p.expect("of")?;
                let of = p.value()?;
                let in_turns = p.accept("in");
                if in_turns {
                    p.expect("turns")?;
                }
                Own::Part {
                    extents,
                    of,
                    in_turns,
                    body: Box::new(p.block(indices)?),
                }
            }
            _ => return Ok(None),
        }))
    }
}

impl Parser<Gpu> {
    fn launch(&mut self) -> Parsed<Launch> {
        let name = if self.peek_text() {
            self.text()?
        } else {
            String::new()
        };
        let trial = self.accept("trial");
        self.expect("block")?;
        let block = self.number()?.parse();
        let block = block.map_err(|_| "expected how many threads a block has")?;
        let team = match self.accept("team") {
            true => Some(self.value()?),
            false => None,
        };
        let (mut params, extents): (Vec<_>, Vec<_>) = self.list(Self::index)?.into_iter().unzip();
        if self.accept("own") {
            self.expect("(")?;
            self.list_until(Some(")"), |p| {
                let own = p.value()?;
                p.expect(":")?;
                let ty = p.ty()?;
                p.bind_as(own, ty);
                params.push(own);
                Ok(())
            })?;
        }
        Ok(Launch {
            name,
            trial,
            block,
            team,
            extents,
            body: Box::new(self.block(params)?),
        })
    }

    fn lanes(&mut self) -> Parsed<Lanes> {
        let (indices, extents) = self.list(Self::index)?.into_iter().unzip();
        let of = match self.accept("of") {
            true => Some(self.value()?),
            false => None,
        };
        let mut accs = Vec::new();
        if self.accept("(") {
            self.list_until(Some(")"), |p| {
                accs.push((p.monoid()?, p.value()?));
                Ok(())
            })?;
        }
        Ok(Lanes {
            extents,
            of,
            accs,
            body: Box::new(self.block(indices)?),
        })
    }
}
