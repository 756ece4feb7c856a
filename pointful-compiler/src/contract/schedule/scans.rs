//! Scans of long axes outside of kernels, in blocks.
//!
//! An operator is associative, so what comes before each block of elements can be found from the
//! blocks alone. Three kernels: every block is folded; one point goes through what they have given,
//! which is little, and through what is left over at the end; and every block is gone through
//! again, from what comes before it.
//!
//! ```text
//! %0 = scan (init) [n] x { ⊕ }     par g: n / (8 · 248) { for t { for c: 8 { s[c] ⊕= x[…] } }; p[g, c] = s[c] }
//!                                  par 1 { var v = init; for g { for c: 8 { (p[g, c], v) = (v, v ⊕ p[g, c]) } }
//!                                          for t { v ⊕= x[…]; y[…] = v } }      if there are blocks,
//!                                          for n { v ⊕= x[n]; y[n] = v }        else
//!                                  par g { s[c] = p[g, c]; for t { for c: 8 { s[c] ⊕= x[…]; y[…] = s[c] } } }
//! ```
//!
//! The operator is applied twice as often. But one application waits for the one before it, and a
//! core could do several at once meanwhile: an iteration goes through a few blocks side by side. Of
//! an axis that is too short for that to pay there are no blocks, and it is gone through as it is;
//! nor are there of one that caches do not hold, if the operator takes less time than memory does.
//! How many there are depends on the length alone, and so do the bits that come of it.

use smallvec::smallvec;

use super::build::Builder;
use super::facts::{is_simple, without};
use super::loops::prefixes;
use super::region::{Place, Region};
use super::tasks::TaskId;
use crate::ir::stages::bulk::{Bulk, BulkOp};
use crate::ir::stages::kernels::{KernelOp, Kernels, Par};
use crate::ir::{AxisId, Block, Elem, Extent, Lit, Scalar, Stmt, Type, ValueId};
use crate::ops::Prim;

/// Blocks that an iteration goes through side by side.
const CHAINS: u64 = 8;

/// Elements of a block. No power of two, so that blocks side by side do not compete for the same
/// lines of a cache.
const LENGTH: u64 = 248;

/// Simple operations that a scan has from which on there are blocks.
const LEAST: u64 = 1 << 16;

/// Elements beyond which memory takes longer than an operator that is not dear, and would be gone
/// through twice: on two cores, blocks of sums are a third faster up to here, and slower from ten
/// million on.
const MOST: u64 = 1 << 21;

/// Simple operations that an operator is worth which is dear.
const DEAR: u32 = 20;

/// What blocks are made of.
struct Sizes {
    chains: u64,
    length: u64,
    least: u64,
}

/// It, as far as tests do not ask for less: what they run is small.
fn sizes() -> Sizes {
    #[cfg(test)]
    if let Some([chains, length, least]) = crate::testing::entered::BLOCKS_OF.get() {
        return Sizes {
            chains,
            length,
            least,
        };
    }
    Sizes {
        chains: CHAINS,
        length: LENGTH,
        least: LEAST,
    }
}

/// Whether a scan may be done in blocks where the host would run it: its operator works on scalars.
pub(super) fn in_blocks(facts: &super::facts::Facts<'_>, stmt: &Stmt<Bulk>) -> bool {
    let BulkOp::Scan { axis, op, .. } = &stmt.op else {
        return false;
    };
    let scalar = |value: &ValueId| facts.axes(*value).is_empty();
    let along = |value: &ValueId| without(facts.axes(*value), &[*axis]).is_empty();
    is_simple(op) && op.params.iter().all(scalar) && stmt.results.iter().all(along)
}

/// Whether what a scan in blocks would store for others is worth it, if they only sum it up
/// otherwise as it comes.
pub(super) fn is_dear(facts: &super::facts::Facts<'_>, stmt: &Stmt<Bulk>) -> bool {
    match &stmt.op {
        BulkOp::Scan { op, .. } => facts.price_of(op) >= DEAR,
        _ => false,
    }
}

/// One scan on its way.
struct Blocks<'s, 'p> {
    axis: AxisId,
    /// If it goes from the last element to the first: how many there are.
    reversed: Option<ValueId>,
    full: bool,
    operands: &'s [ValueId],
    op: &'p Block<Bulk>,
    /// How many iterations go through blocks.
    groups: Extent,
    /// Whether there are any.
    any: ValueId,
    /// Where the results go: a buffer and its axes, if anybody reads it.
    stored: Vec<Option<(ValueId, Vec<AxisId>)>>,
}

impl<'p> Builder<'p> {
    /// `scan` in blocks.
    pub(super) fn scan_in_blocks(
        &mut self,
        region: &Region<'p>,
        task: TaskId,
        stmt: &'p Stmt<Bulk>,
    ) {
        let &BulkOp::Scan {
            ref init,
            axis,
            reverse,
            full,
            ref operands,
            ref op,
        } = &stmt.op
        else {
            unreachable!("only scans are run as such")
        };
        let (wholes, each) = stmt.results.split_at(match full {
            true => init.len(),
            false => 0,
        });
        let collected = self.collected(region, task, each, &prefixes(full, op), wholes.len());
        let mut collected = collected.into_iter();
        let mut stored = Vec::new();
        for &result in each {
            let read = self
                .facts
                .is_read(result)
                .then(|| collected.next())
                .flatten();
            stored.push(read.map(|(delivery, buffer)| (buffer, delivery.dims)));
        }
        let size = self.extent_of(axis);
        let size = self.scalar(self.depth(), KernelOp::Size(size), Elem::USIZE, None);
        let together = self.number(sizes().chains * sizes().length);
        let groups = self.groups(size, together, op);
        let none = self.number(0);
        let any = self.asked(Prim::Gt, [groups, none]);
        let blocks = Blocks {
            axis,
            reversed: reverse.then_some(size),
            full,
            operands,
            op,
            groups: Extent::Value(groups),
            any,
            stored,
        };
        let mut elems = Vec::new();
        for &param in &op.params[..init.len()] {
            elems.push(self.elem(self.facts.program.elem(param)));
        }
        let shape = vec![blocks.groups, Extent::Const(sizes().chains)];
        let found: Vec<ValueId> = elems
            .iter()
            .map(|&elem| self.alloc(elem, shape.clone()))
            .collect();

        self.in_groups(&blocks, &elems, |this, blocks, states, group| {
            this.side_by_side(blocks, group, None, |this, chain| {
                let first = this.elements(blocks.operands);
                this.put(states, &[chain], &first);
            });
            let rest = Extent::Const(sizes().length - 1);
            this.side_by_side(blocks, group, Some((rest, 1)), |this, chain| {
                this.advance(blocks, states, chain, false);
            });
            this.chains(|this, chain| {
                let last = this.take(states, &[chain]);
                this.put(&found, &[group, chain], &last);
            });
        });
        #[cfg(test)]
        crate::testing::entered::enter(&crate::testing::entered::BLOCKS);
        let mut firsts = Vec::new();
        for &init in init {
            firsts.push(self.eval(init).0);
        }
        let done = self.count(Prim::Mul, groups, together);
        let left = self.count(Prim::Sub, size, done);
        let asked: Vec<usize> = (0..wholes.len())
            .filter(|&k| self.facts.is_read(wholes[k]))
            .collect();
        let last = self.at_once(&firsts, &elems, &asked, |this, before| {
            this.push(Vec::new(), None);
            this.each(blocks.groups, |this, group| {
                this.chains(|this, chain| {
                    let block = this.take(&found, &[group, chain]);
                    let so_far = this.held(before);
                    this.put(&found, &[group, chain], &so_far);
                    let next = this.applied(blocks.op, &so_far, &block);
                    this.hold_in(before, &next);
                });
            });
            this.each(Extent::Value(left), |this, step| {
                let step = this.plain(step);
                let number = this.count(Prim::Add, done, step);
                this.go_to(&blocks, number);
                let so_far = this.held(before);
                let next = this.next(&blocks, &so_far);
                this.hold_in(before, &next);
                this.store_prefixes(&blocks, &so_far, &next);
            });
            let in_blocks = this.pop();
            this.push(Vec::new(), None);
            this.in_order(&blocks, reverse, before, &asked);
            let in_order = this.pop();
            this.run(KernelOp::If {
                cond: any,
                then: Box::new(in_blocks),
                otherwise: Box::new(in_order),
            });
        });
        self.in_groups(&blocks, &elems, |this, blocks, states, group| {
            this.chains(|this, chain| {
                let first = this.take(&found, &[group, chain]);
                this.put(states, &[chain], &first);
            });
            let all = Extent::Const(sizes().length);
            this.side_by_side(blocks, group, Some((all, 0)), |this, chain| {
                this.advance(blocks, states, chain, true);
            });
        });
        self.leave(region, task, wholes, &last);
    }

    /// How many groups of blocks there are.
    fn groups(&mut self, size: ValueId, together: ValueId, op: &Block<Bulk>) -> ValueId {
        let price = self.facts.price_of(op).max(1);
        let least = self.number(sizes().least / u64::from(price));
        let mut pays = self.asked(Prim::Ge, [size, least]);
        if price < DEAR {
            let most = self.number(MOST);
            let held = self.asked(Prim::Le, [size, most]);
            pays = self.asked(Prim::And, [pays, held]);
        }
        let groups = self.count(Prim::Div, size, together);
        let none = self.number(0);
        let op = KernelOp::Select(pays, groups, none);
        self.scalar(self.depth(), op, Elem::USIZE, None)
    }

    fn asked(&mut self, prim: Prim, args: [ValueId; 2]) -> ValueId {
        let op = KernelOp::Prim(prim, smallvec![args[0], args[1]]);
        self.scalar(self.depth(), op, Elem::BOOL, None)
    }

    /// A kernel of one point, with states that begin so; gives places where those that are asked for
    /// are in the end.
    fn at_once(
        &mut self,
        firsts: &[ValueId],
        elems: &[Elem],
        asked: &[usize],
        body: impl FnOnce(&mut Self, &[ValueId]),
    ) -> Vec<Place> {
        let one = Extent::Const(1);
        let mut kept = Vec::new();
        for &k in asked {
            kept.push(self.alloc(elems[k], vec![one]));
        }
        let point = self.new_counter(one);
        self.push_loop(point);
        self.kernel = Some(self.depth());
        let states = self.variables(firsts);
        body(self, &states);
        let last: Vec<ValueId> = asked.iter().map(|&k| states[k]).collect();
        let last = self.held(&last);
        self.put(&kept, &[point], &last);
        self.kernel = None;
        let body = self.pop();
        self.launch(one, body);
        let zero = self.number(0);
        let op = KernelOp::Prim(Prim::Trust(one), smallvec![zero]);
        let point = self.scalar(self.depth(), op, Elem::Index(one), None);
        let mut last = firsts.to_vec();
        for (&k, value) in asked.iter().zip(self.take(&kept, &[point])) {
            last[k] = value;
        }
        let variable = |id| Place {
            id,
            dims: Vec::new(),
            is_buffer: false,
        };
        self.variables(&last).into_iter().map(variable).collect()
    }

    /// Variables that begin so.
    fn variables(&mut self, firsts: &[ValueId]) -> Vec<ValueId> {
        let depth = self.depth();
        let var = |&first: &ValueId| {
            let elem = self.out.elem(first);
            self.scalar(depth, KernelOp::Var(first), elem, None)
        };
        firsts.iter().map(var).collect()
    }

    /// All of the axis, one element after the other. What of the states nobody asks for in the end
    /// is left out.
    fn in_order(
        &mut self,
        blocks: &Blocks<'_, 'p>,
        reverse: bool,
        states: &[ValueId],
        asked: &[usize],
    ) {
        let firsts = self.held(states);
        let own = self.variables(&firsts);
        let (index, extent) = self.new_index(blocks.axis);
        self.push(vec![(blocks.axis, index)], None);
        let so_far = self.held(&own);
        let next = self.next(blocks, &so_far);
        self.hold_in(&own, &next);
        self.store_prefixes(blocks, &so_far, &next);
        let body = self.pop();
        self.run(KernelOp::For {
            extent,
            reverse,
            body: Box::new(body),
        });
        for &k in asked {
            let last = self.held(&own[k..=k]);
            self.hold_in(&states[k..=k], &last);
        }
    }

    /// Lets the axis be at an element, counted from where the scan begins.
    fn go_to(&mut self, blocks: &Blocks<'_, 'p>, mut number: ValueId) {
        if let Some(size) = blocks.reversed {
            let one = self.number(1);
            let last = self.count(Prim::Sub, size, one);
            number = self.count(Prim::Sub, last, number);
        }
        self.bind_axis(blocks.axis, number);
    }

    /// A kernel over groups of blocks, with a state for each block of a group.
    fn in_groups(
        &mut self,
        blocks: &Blocks<'_, 'p>,
        elems: &[Elem],
        body: impl FnOnce(&mut Self, &Blocks<'_, 'p>, &[ValueId], ValueId),
    ) {
        let group = self.new_counter(blocks.groups);
        self.push_loop(group);
        self.kernel = Some(self.depth());
        let states: Vec<ValueId> = elems
            .iter()
            .map(|&elem| self.alloc(elem, vec![Extent::Const(sizes().chains)]))
            .collect();
        body(self, blocks, &states, group);
        self.kernel = None;
        let body = self.pop();
        self.push(Vec::new(), None);
        self.launch(blocks.groups, body);
        let then = self.pop();
        self.run(KernelOp::If {
            cond: blocks.any,
            then: Box::new(then),
            otherwise: Box::new(Block::default()),
        });
    }

    fn launch(&mut self, points: Extent, body: Block<Kernels>) {
        let name = self.out.name.clone();
        self.run(KernelOp::Own(Par {
            number: 0,
            by_columns: false,
            speculates: false,
            name,
            extents: vec![points],
            accs: Vec::new(),
            folds: Vec::new(),
            body: Box::new(body),
        }));
    }

    /// Goes through the blocks of a group side by side, or through their first elements: so many
    /// steps, from this element on.
    fn side_by_side(
        &mut self,
        blocks: &Blocks<'_, 'p>,
        group: ValueId,
        steps: Option<(Extent, u64)>,
        body: impl FnOnce(&mut Self, ValueId),
    ) {
        let chains = |this: &mut Self, step: Option<ValueId>| {
            this.chains(|this, chain| {
                let [group, number] = [group, chain].map(|index| this.plain(index));
                let (many, length) = (this.number(sizes().chains), this.number(sizes().length));
                let block = this.count(Prim::Mul, group, many);
                let block = this.count(Prim::Add, block, number);
                let mut at = this.count(Prim::Mul, block, length);
                if let Some(step) = step {
                    at = this.count(Prim::Add, at, step);
                }
                this.go_to(blocks, at);
                body(this, chain);
            });
        };
        let Some((steps, first)) = steps else {
            return chains(self, None);
        };
        self.each(steps, |this, step| {
            let mut step = this.plain(step);
            if first > 0 {
                let first = this.number(first);
                step = this.count(Prim::Add, step, first);
            }
            chains(this, Some(step));
        });
    }

    /// One step of one block.
    fn advance(
        &mut self,
        blocks: &Blocks<'_, 'p>,
        states: &[ValueId],
        chain: ValueId,
        collect: bool,
    ) {
        let so_far = self.take(states, &[chain]);
        let next = self.next(blocks, &so_far);
        self.put(states, &[chain], &next);
        if collect {
            self.store_prefixes(blocks, &so_far, &next);
        }
    }

    /// What comes after the element at which the axis is.
    fn next(&mut self, blocks: &Blocks<'_, 'p>, so_far: &[ValueId]) -> Vec<ValueId> {
        let element = self.elements(blocks.operands);
        self.applied(blocks.op, so_far, &element)
    }

    fn elements(&mut self, operands: &[ValueId]) -> Vec<ValueId> {
        operands
            .iter()
            .map(|&operand| self.eval(operand).0)
            .collect()
    }

    fn store_prefixes(&mut self, blocks: &Blocks<'_, 'p>, before: &[ValueId], with: &[ValueId]) {
        let before = if blocks.full { before } else { &[] };
        for (stored, &value) in blocks.stored.iter().zip(before.iter().chain(with)) {
            if let Some((buffer, dims)) = stored {
                let indices = self.indices(*buffer, dims, &[]);
                self.run(KernelOp::Store {
                    buffer: *buffer,
                    indices,
                    value,
                });
            }
        }
    }

    // Loops and places that are not of an axis.

    fn each(&mut self, extent: Extent, body: impl FnOnce(&mut Self, ValueId)) {
        let index = self.new_counter(extent);
        self.push_loop(index);
        body(self, index);
        let body = self.pop();
        self.run(KernelOp::For {
            extent,
            reverse: false,
            body: Box::new(body),
        });
    }

    fn chains(&mut self, body: impl FnOnce(&mut Self, ValueId)) {
        self.each(Extent::Const(sizes().chains), body);
    }

    fn alloc(&mut self, elem: Elem, extents: Vec<Extent>) -> ValueId {
        let op = KernelOp::Alloc { fill: None };
        self.bind(self.depth(), op, Type::table(elem, extents), None)
    }

    fn take(&mut self, buffers: &[ValueId], indices: &[ValueId]) -> Vec<ValueId> {
        let depth = self.depth();
        let load = |&buffer: &ValueId| {
            let elem = self.out.elem(buffer);
            let indices = indices.to_vec();
            self.scalar(depth, KernelOp::Load { buffer, indices }, elem, None)
        };
        buffers.iter().map(load).collect()
    }

    fn put(&mut self, buffers: &[ValueId], indices: &[ValueId], values: &[ValueId]) {
        for (&buffer, &value) in buffers.iter().zip(values) {
            let indices = indices.to_vec();
            self.run(KernelOp::Store {
                buffer,
                indices,
                value,
            });
        }
    }

    fn held(&mut self, vars: &[ValueId]) -> Vec<ValueId> {
        let depth = self.depth();
        let get = |&var: &ValueId| {
            let elem = self.out.elem(var);
            self.scalar(depth, KernelOp::Get(var), elem, None)
        };
        vars.iter().map(get).collect()
    }

    fn hold_in(&mut self, vars: &[ValueId], values: &[ValueId]) {
        for (&place, &value) in vars.iter().zip(values) {
            self.run(KernelOp::Set { place, value });
        }
    }

    fn number(&mut self, number: u64) -> ValueId {
        self.constant(Lit::Int(Scalar::Usize, i128::from(number)))
    }

    fn count(&mut self, prim: Prim, left: ValueId, right: ValueId) -> ValueId {
        let op = KernelOp::Prim(prim, smallvec![left, right]);
        self.scalar(self.depth(), op, Elem::USIZE, None)
    }

    /// An index as a number.
    fn plain(&mut self, index: ValueId) -> ValueId {
        let op = KernelOp::Prim(Prim::Cast(Scalar::Usize), smallvec![index]);
        self.scalar(self.depth(), op, Elem::USIZE, None)
    }
}
