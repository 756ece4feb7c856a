//! Reduction recognition: what all cells combine into one variable, which each row hands on to the
//! next, is said to be combined.
//!
//! ```text
//! for %i: N {                                for %i: N {
//!   %1 = get %s                                for %j: K {
//!   %2 = var %1                                  …
//!   for %j: K {                                  combine add %s, %3
//!     …                             ▶          }
//!     %4 = get %2                            }
//!     %5 = add %4, %3
//!     set %2, %5
//!   }
//!   %6 = get %2
//!   set %s, %6
//! }
//! ```

use smallvec::smallvec;

use std::collections::BTreeMap;

use crate::ir::stages::kernels::{KernelOp, Kernels};
use crate::ir::{Block, Monoid, Operation, Program, Stmt, ValueId};
use crate::ops::Prim;

/// The loop with such variables combined into, if it has any.
pub(super) fn recognized(
    program: &Program<Kernels>,
    stmt: &Stmt<Kernels>,
) -> Option<Stmt<Kernels>> {
    let KernelOp::For { body, .. } = &stmt.op else {
        return None;
    };
    let is_loop = |stmt: &Stmt<Kernels>| matches!(stmt.op, KernelOp::For { .. });
    if !body.stmts.iter().any(is_loop) {
        return None;
    }
    let mut mentions = Mentions::new();
    count(body, &mut mentions);
    let made = body.stmts.iter().enumerate();
    let made = made
        .flat_map(|(at, stmt)| stmt.results.iter().map(move |&result| (result, at)))
        .collect();
    let carried: Vec<Carried> = (body.stmts.iter())
        .enumerate()
        .filter_map(|(end, _)| Carried::until(program, body, &made, end, &mentions))
        .collect();
    if carried.is_empty() {
        return None;
    }
    let mut found = stmt.clone();
    let KernelOp::For { body, .. } = &mut found.op else {
        unreachable!("it is the loop")
    };
    for carried in &carried {
        combine(program, body, carried);
    }
    let mut gone = vec![false; body.stmts.len()];
    (carried.iter().flat_map(|carried| carried.around)).for_each(|at| gone[at] = true);
    let mut gone = gone.into_iter();
    body.stmts.retain(|_| gone.next() != Some(true));
    Some(found)
}

/// How often values are mentioned.
type Mentions = BTreeMap<ValueId, usize>;

fn count(block: &Block<Kernels>, mentions: &mut Mentions) {
    for stmt in &block.stmts {
        (stmt.op).for_each_operand(&mut |value| *mentions.entry(*value).or_default() += 1);
        for inner in stmt.op.blocks() {
            count(inner, mentions);
        }
    }
    for &result in &block.results {
        *mentions.entry(result).or_default() += 1;
    }
}

/// By value: which statement of a body makes it.
type Made = BTreeMap<ValueId, usize>;

/// A variable that rows hand on.
struct Carried {
    whole: ValueId,
    /// That of a row.
    own: ValueId,
    monoid: Monoid,
    /// What begins and what ends a row's part.
    around: [usize; 4],
}

impl Carried {
    /// The one that this statement of a body hands on.
    fn until(
        program: &Program<Kernels>,
        body: &Block<Kernels>,
        made: &Made,
        end: usize,
        mentions: &Mentions,
    ) -> Option<Self> {
        let KernelOp::Set {
            place: whole,
            value: last,
        } = body.stmts[end].op
        else {
            return None;
        };
        let taken = *made.get(&last)?;
        let KernelOp::Get(own) = body.stmts[taken].op else {
            return None;
        };
        let begun = *made.get(&own)?;
        let KernelOp::Var(first) = body.stmts[begun].op else {
            return None;
        };
        let given = *made.get(&first)?;
        let is_first = matches!(body.stmts[given].op, KernelOp::Get(place) if place == whole);
        if !is_first || [mentions[&last], mentions[&first], mentions[&whole]] != [1, 1, 2] {
            return None;
        }
        // All that is done to it is done in between, and combines into it.
        let mut monoids = Vec::new();
        for stmt in body.stmts.get(begun..taken)? {
            for inner in stmt.op.blocks() {
                monoids_of(program, inner, own, mentions, &mut monoids);
            }
        }
        let monoid = *monoids.first()?;
        let only = monoids.iter().all(|other| *other == monoid);
        (only && 2 * monoids.len() + 1 == mentions[&own]).then_some(Self {
            whole,
            own,
            monoid,
            around: [given, begun, taken, end],
        })
    }
}

/// By what statements combine into a variable, one after the other.
fn monoids_of(
    program: &Program<Kernels>,
    block: &Block<Kernels>,
    own: ValueId,
    mentions: &Mentions,
    found: &mut Vec<Monoid>,
) {
    for (at, stmt) in block.stmts.iter().enumerate() {
        if let Some(chain) = Chain::until(program, block, at, own)
            && chain.values(block).all(|value| mentions[&value] == 1)
        {
            found.push(chain.monoid);
        }
        for inner in stmt.op.blocks() {
            monoids_of(program, inner, own, mentions, found);
        }
    }
}

/// What a variable is set to: what it was, and one after the other what is combined with it.
struct Chain {
    monoid: Monoid,
    /// Which statement asks what it was.
    first: usize,
    /// Which statements combine with what, from the last on.
    links: Vec<(usize, ValueId)>,
}

impl Chain {
    /// The one that this statement of a block ends.
    fn until(
        program: &Program<Kernels>,
        block: &Block<Kernels>,
        end: usize,
        own: ValueId,
    ) -> Option<Self> {
        let KernelOp::Set { place, value } = block.stmts[end].op else {
            return None;
        };
        if place != own {
            return None;
        }
        // Which statements make something of what the variable is.
        let mut of_it = BTreeMap::new();
        for (at, stmt) in block.stmts[..end].iter().enumerate() {
            let is_of_it = match &stmt.op {
                KernelOp::Get(place) => *place == own,
                KernelOp::Prim(_, args) => args.iter().any(|arg| of_it.contains_key(arg)),
                _ => false,
            };
            if is_of_it {
                of_it.insert(stmt.results[0], at);
            }
        }
        let mut at = *of_it.get(&value)?;
        let mut links = Vec::new();
        let mut monoid = None;
        while let KernelOp::Prim(prim, args) = &block.stmts[at].op {
            let before = args.iter().position(|arg| of_it.contains_key(arg))?;
            let is_difference = *prim == Prim::Sub && program.elem(args[0]).is_float();
            let this = match is_difference && before == 0 {
                true => Monoid::Add,
                false => (Monoid::ALL.into_iter()).find(|monoid| monoid.prim() == *prim)?,
            };
            if *monoid.get_or_insert(this) != this {
                return None;
            }
            links.push((at, args[1 - before]));
            at = of_it[&args[before]];
        }
        Some(Self {
            monoid: monoid?,
            first: at,
            links,
        })
    }

    /// Makes of it what is combined with the variable, and gives that.
    fn without_first(&self, block: &mut Block<Kernels>, gone: &mut [bool]) -> ValueId {
        gone[self.first] = true;
        let (first, rest) = self.links.split_last().expect("it combines with something");
        let (at, term) = *first;
        let stmt = &mut block.stmts[at];
        let before = stmt.results[0];
        if matches!(stmt.op, KernelOp::Prim(Prim::Sub, _)) {
            stmt.op = KernelOp::Prim(Prim::Neg, smallvec![term]);
        } else {
            gone[at] = true;
            let Some(&(next, _)) = rest.last() else {
                return term;
            };
            block.stmts[next].op.for_each_operand_mut(&mut |operand| {
                if *operand == before {
                    *operand = term;
                }
            });
        }
        block.stmts[self.links[0].0].results[0]
    }

    /// What the variable is on the way.
    fn values(&self, block: &Block<Kernels>) -> impl Iterator<Item = ValueId> {
        let links = self.links.iter().map(|(at, _)| *at);
        links
            .chain([self.first])
            .map(|at| block.stmts[at].results[0])
    }
}

/// Combines into the variable that is handed on what a row's variable is combined with.
fn combine(program: &Program<Kernels>, block: &mut Block<Kernels>, carried: &Carried) {
    let mut gone = vec![false; block.stmts.len()];
    for at in 0..block.stmts.len() {
        if let Some(chain) = Chain::until(program, block, at, carried.own) {
            let value = chain.without_first(block, &mut gone);
            block.stmts[at].op = KernelOp::Combine {
                monoid: carried.monoid,
                place: carried.whole,
                indices: Vec::new(),
                value,
            };
        }
        for inner in block.stmts[at].op.blocks_mut() {
            combine(program, inner, carried);
        }
    }
    let mut gone = gone.into_iter();
    block.stmts.retain(|_| gone.next() != Some(true));
}
