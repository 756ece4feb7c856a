//! The step of a loop that looks for the place of an extremal element, as the schedule writes it:
//! what lanes need to know of it.
//!
//! ```text
//! %b = get best
//! %c = ge %v, %b
//! if %c {} else { %n = eq %v, %v; if %n { set best, %v; %k = cast usize %index; set at, %k } }
//! ```
//!
//! Each lane keeps the best of its own elements, and where the first of them was. Of equally good
//! ones in several lanes the first is the one with the smallest index, so what is found is what one
//! loop finds.

use proc_macro2::TokenStream;
use quote::ToTokens;

use super::expr::Word;
use super::unit::{Unit, usize_literal};
use super::{lanes, scalar, tokens};
use crate::ir::stages::cpu::{Cpu, CpuOp};
use crate::ir::{Block, Lit, Monoid, Scalar, Stmt, ValueId};
use crate::ops::Prim;

/// Such a step.
#[derive(PartialEq, Debug)]
pub(super) struct Extremum {
    /// Whether the least or the greatest is looked for.
    pub(super) monoid: Monoid,
    /// The variables that hold the best element so far, and its place.
    pub(super) best: ValueId,
    pub(super) at: ValueId,
    /// The element.
    value: ValueId,
    /// The statements that it consists of, in the loop's body.
    pub(super) stmts: [usize; 3],
}

/// The step that ends with this statement of a loop's body.
pub(super) fn ending_with(unit: &Unit<'_>, body: &Block<Cpu>, last: usize) -> Option<Extremum> {
    let CpuOp::If {
        cond,
        then,
        otherwise,
    } = &body.stmts[last].op
    else {
        return None;
    };
    let bound = |value: ValueId| {
        let mut before = body.stmts[..last].iter();
        before.position(|stmt| stmt.results.first() == Some(&value))
    };
    let compared = bound(*cond)?;
    let CpuOp::Prim(compare, args) = &body.stmts[compared].op else {
        return None;
    };
    let &[value, so_far] = args.as_slice() else {
        return None;
    };
    let fetched = bound(so_far)?;
    let CpuOp::Get(best) = body.stmts[fetched].op else {
        return None;
    };
    let is_float = unit.scalar(best).is_float();
    let (monoid, taken) = match compare {
        Prim::Lt if !is_float && otherwise.stmts.is_empty() => (Monoid::Min, &**then),
        Prim::Gt if !is_float && otherwise.stmts.is_empty() => (Monoid::Max, &**then),
        Prim::Ge if is_float && then.stmts.is_empty() => (Monoid::Min, numbers(otherwise, value)?),
        Prim::Le if is_float && then.stmts.is_empty() => (Monoid::Max, numbers(otherwise, value)?),
        _ => return None,
    };
    let [
        Stmt {
            op: CpuOp::Set { place, value: new },
            ..
        },
        Stmt {
            op: CpuOp::Prim(Prim::Cast(Scalar::Usize), index),
            results,
            ..
        },
        Stmt {
            op: CpuOp::Set {
                place: at,
                value: number,
            },
            ..
        },
    ] = taken.stmts.as_slice()
    else {
        return None;
    };
    let own = *place == best && *new == value && results.first() == Some(number);
    (own && index.first() == body.params.first()).then_some(Extremum {
        monoid,
        best,
        at: *at,
        value,
        stmts: [fetched, compared, last],
    })
}

/// What is done if an element is a number.
fn numbers(block: &Block<Cpu>, value: ValueId) -> Option<&Block<Cpu>> {
    match block.stmts.as_slice() {
        [
            Stmt {
                op: CpuOp::Prim(Prim::Eq, args),
                results,
                ..
            },
            Stmt {
                op:
                    CpuOp::If {
                        cond,
                        then,
                        otherwise,
                    },
                ..
            },
        ] if args[..] == [value, value]
            && results.first() == Some(cond)
            && otherwise.stmts.is_empty() =>
        {
            Some(then)
        }
        _ => None,
    }
}

impl Extremum {
    /// Variables for so many lanes.
    pub(super) fn declared(&self, unit: &Unit<'_>, count: u64) -> TokenStream {
        let [best, at] = [self.best, self.at].map(|place| lanes::name(unit, place));
        let (none, count) = (self.none(unit), usize_literal(count));
        tokens! {
            let mut #best = [#none; #count];
            let mut #at = [0usize; #count];
        }
    }

    /// What the best is before there was one: what no element is worse than.
    fn none(&self, unit: &Unit<'_>) -> Word {
        let elem = unit.scalar(self.best);
        scalar::literal(match elem.is_float() {
            true => Lit::of(elem, f64::NAN),
            false => self.monoid.identity(elem),
        })
    }

    /// Whether `x` is better than `y`. Both questions are asked at once: where the second waits for
    /// the first, the optimiser makes branches of the lanes, which are foreseen as badly as the
    /// place of the best is.
    fn better(&self, unit: &Unit<'_>, x: &impl ToTokens, y: &impl ToTokens) -> TokenStream {
        match (
            self.monoid == Monoid::Min,
            unit.scalar(self.best).is_float(),
        ) {
            (true, true) => tokens!((!(#x >= #y) & (#x == #x))),
            (false, true) => tokens!((!(#x <= #y) & (#x == #x))),
            (true, false) => tokens!((#x < #y)),
            (false, false) => tokens!((#x > #y)),
        }
    }

    /// The step of a lane.
    pub(super) fn step(&self, unit: &Unit<'_>, index: &proc_macro2::Ident) -> TokenStream {
        let [best, at] = [self.best, self.at].map(|place| lanes::name(unit, place));
        let value = unit.value(self.value);
        let taken = self.better(unit, &value, &tokens!(#best[lane]));
        tokens! {
            let taken = #taken;
            #best[lane] = if taken { #value } else { #best[lane] };
            #at[lane] = if taken { #index } else { #at[lane] };
        }
    }

    /// What comes of the lanes, which are later than what there is.
    pub(super) fn folded(&self, unit: &Unit<'_>) -> TokenStream {
        let [best, at] = [self.best, self.at].map(|place| unit.names.value(place));
        let [best_lanes, at_lanes] = [self.best, self.at].map(|place| lanes::name(unit, place));
        let better = self.better(unit, &tokens!(x), &tokens!(y));
        let found = self.better(unit, &tokens!(found), &tokens!(#best));
        tokens! {
            let (found, place) = first_extremum(#best_lanes, #at_lanes, |x, y| #better);
            if #found {
                #best = found;
                #at = place;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Operation;
    use crate::lower::source::link;
    use crate::pipeline;

    /// What the loops of a function look for at once, of all its kernels.
    fn found(result: &str, body: &str) -> Vec<(Monoid, Scalar)> {
        let source = format!(
            "#[pointful]
            fn f<N: IndexSet, K: IndexSet>(x: &Table<(N, K), f32>, i: &Table<(N, K), i64>) -> Table<N, {result}> {{
                for n in N {{ {body} }}
            }}"
        );
        let linked = link(&source).unwrap_or_else(|e| panic!("{:?}", e[0].message));
        let stages = pipeline::stages(&linked).unwrap_or_else(|e| panic!("{:?}", e[0].message));
        let unit = Unit::of(&stages.cpu);
        let mut all = Vec::new();
        look(&unit, &stages.cpu.body, &mut all);
        all
    }

    fn look(unit: &Unit<'_>, block: &Block<Cpu>, all: &mut Vec<(Monoid, Scalar)>) {
        for (last, stmt) in block.stmts.iter().enumerate() {
            let step = ending_with(unit, block, last);
            all.extend(step.map(|step| (step.monoid, unit.scalar(step.best))));
            for inner in stmt.op.blocks() {
                look(unit, inner, all);
            }
        }
    }

    #[test]
    fn steps_are_found() {
        assert_eq!(found("K", "argmin(x[n])"), [(Monoid::Min, Scalar::F32)]);
        // For points that go alone, as there are many to look for, and for those that strips leave.
        assert_eq!(
            found("K", "argmax(for k in K { x[n][k].exp() })"),
            [(Monoid::Max, Scalar::F32); 2]
        );
        assert_eq!(found("K", "argmin(i[n])"), [(Monoid::Min, Scalar::I64)]);
        assert_eq!(found("K", "argmax(i[n])"), [(Monoid::Max, Scalar::I64)]);
    }

    #[test]
    fn other_branches_are_none() {
        let nearest = "let mut best = 0_i64;
            let mut least = 9.0;
            for k in K {
                if x[n][k] < least {
                    least = x[n][k];
                    best = k.ordinal() as i64 + 1;
                }
            }
            best";
        assert_eq!(found("i64", nearest), []);
    }
}
