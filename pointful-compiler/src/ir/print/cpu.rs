//! How the operations that only Cpu has are printed.

use super::{PrintOwn, Printer};
use crate::ir::stages::cpu::{Cpu, Own, Tile};
use crate::ir::{Block, ValueId};

impl PrintOwn for Cpu {
    fn print_own(p: &mut Printer<'_, Self>, own: &Own) {
        match own {
            Own::Par(par) => p.par(par),
            Own::Tile(tile) => p.tile(tile),
            Own::Multiversion(body) => {
                p.word("multiversion ");
                p.block(body);
            }
            Own::Transpose { extents, body } => {
                p.word("transpose ");
                p.bind_indices(&body.params, extents);
                p.word(" ");
                p.block(body);
            }
            Own::Bound {
                extent,
                number,
                terms,
            } => {
                p.word("bound ");
                p.extent(*extent);
                p.word(&format!(" {number}"));
                for &(term, minus) in terms {
                    p.word(if minus { " - " } else { " + " });
                    p.value(term);
                }
            }
            Own::Range {
                cold,
                from,
                to,
                body,
            } => {
                p.word(if *cold { "range cold " } else { "range " });
                p.range(*from, *to, body);
            }
            Own::Strips {
                width,
                chained,
                overlapping,
                from,
                to,
                body,
            } => {
                p.word(&format!("strips {width} "));
                p.word(if *chained { "chained " } else { "" });
                p.word(if *overlapping { "overlapping " } else { "" });
                p.range(*from, *to, body);
            }
            Own::Lanes {
                strip,
                in_order,
                body,
            } => {
                p.word(if *in_order {
                    "lanes in order "
                } else {
                    "lanes "
                });
                p.list(&body.params, |p, &param| p.bind_own(param));
                p.word(" of ");
                p.value(*strip);
                p.word(" ");
                p.block(body);
            }
            Own::Fold {
                monoid,
                place,
                lanes,
            } => {
                p.word("fold ");
                p.word(monoid.name());
                p.word(" ");
                p.values(&[*place, *lanes]);
            }
            Own::ArgCombine {
                monoid,
                best,
                at,
                lane,
                value,
                place,
            } => {
                p.word("argcombine ");
                p.word(monoid.name());
                p.word(" ");
                p.values(&[*best, *at, *lane, *value, *place]);
            }
            Own::ArgFold {
                monoid,
                best,
                at,
                lanes: [best_lanes, at_lanes],
            } => {
                p.word("argfold ");
                p.word(monoid.name());
                p.word(" ");
                p.values(&[*best, *at, *best_lanes, *at_lanes]);
            }
        }
    }
}

impl Printer<'_, Cpu> {
    fn tile(&mut self, tile: &Tile) {
        self.word(if tile.reverse { "tile rev " } else { "tile " });
        if let Some((extent, step)) = tile.steps() {
            self.bind_index(step, extent);
            self.word(" ");
        }
        self.word("rows ");
        self.extent(tile.rows());
        self.word(&format!(" reach {}", tile.reach));
        self.word(if tile.writes.is_empty() {
            ""
        } else {
            " writes "
        });
        self.list(&tile.writes, |p, &(buffer, axis)| {
            p.value(buffer);
            p.word(&format!(" {axis}"));
        });
        if !tile.swaps.is_empty() {
            self.word(" swap ");
            self.list(&tile.swaps, |p, &(a, b)| {
                p.value(a);
                p.word(" ");
                p.value(b);
            });
        }
        self.word(" ");
        self.block(&tile.body);
    }

    /// `%i: K in %a..%b { … }`
    fn range(&mut self, from: ValueId, to: ValueId, body: &Block<Cpu>) {
        self.list(&body.params, |p, &param| p.bind_own(param));
        self.word(" in ");
        self.value(from);
        self.word("..");
        self.value(to);
        self.word(" ");
        self.block(body);
    }

    /// An index where it is bound, with the extent that it is of.
    fn bind_own(&mut self, index: ValueId) {
        match self.program.elem(index).extent() {
            Some(extent) => self.bind_index(index, extent),
            None => self.bind(index),
        }
    }
}
