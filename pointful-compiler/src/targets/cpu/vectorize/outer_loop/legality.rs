//! Legality and profitability: whether neighbours may advance together, and whether that pays.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::Worth;
use crate::analysis::accesses::Accesses;
use crate::analysis::angles::has_near;
use crate::analysis::cost;
use crate::analysis::numbers::Numbers;
use crate::ir::stages::cpu::{Cpu, CpuOp, Own};
use crate::ir::{Block, Elem, Extent, Monoid, Operation, Program, Stmt, ValueId, ValueSet};
use crate::ops::Prim;

/// Operations of what is dear.
const DEAR: u64 = 12;

/// Constant loops of up to this many iterations are unrolled, and the points around them
/// vectorised, without help.
const UNROLLED: u64 = 16;

/// The most operations that a position is computed by in each segment.
const STEPS: usize = 6;

/// How a value changes from one point of the axis to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stride {
    /// Not at all.
    Zero,
    /// By one.
    One,
    /// Somehow.
    Other,
}

/// Where a block stands.
#[derive(Clone, Copy, Default)]
struct Around {
    in_loop: bool,
    /// Whether some points may run it while others do not.
    masked: bool,
    /// Whether it is a branch that belongs to the segment around it, and so is run whether or not
    /// any point takes it.
    inline: bool,
}

/// A loop that is being looked at.
struct Loop {
    /// Whether it is worth more than being unrolled.
    long: bool,
    /// Whether it hands something on to its next iteration.
    carries: bool,
    /// Whether there is no loop in it.
    innermost: bool,
    /// The operations of loops before it.
    before: u64,
    /// Whether it sums up for each point what is not the same for all, whether it reads what is the
    /// same for all of memory that is no point's own, and whether it reads across the axis.
    sums: bool,
    shares: bool,
    across: bool,
}

/// What is found out about a body.
pub(super) struct Look<'p> {
    program: &'p Program<Cpu>,
    numbers: &'p Numbers,
    /// Whether the kernel bets that its angles are near.
    bets: bool,
    worth: Worth,
    /// The index of the points.
    index: ValueId,
    /// Strides of what the body binds; anything else does not change.
    strides: FxHashMap<ValueId, Stride>,
    /// The segment that binds a value.
    home: FxHashMap<ValueId, usize>,
    /// How many loops there are around a variable, or a buffer of a point's own.
    depth: FxHashMap<ValueId, usize>,
    loops: Vec<Loop>,
    /// The segment being looked at, and how many there are.
    segment: usize,
    segments: usize,
    /// Scalars that are the same for all points of the axis.
    pub(super) uniform: ValueSet,
    /// Other scalars, and `var`s, that are bound in one segment and used in another.
    pub(super) kept: ValueSet,
    /// Positions of neighbours, and how they are computed: they are computed again in each segment,
    /// as the optimiser does not see of lanes that they are neighbours.
    pub(super) remade: BTreeMap<ValueId, Vec<Stmt<Cpu>>>,
    /// Buffers that each point has for itself.
    pub(super) own: ValueSet,
    /// Places of the kernel that points combine something into.
    pub(super) summed: BTreeMap<ValueId, Monoid>,
    /// Whether points combine something into elements of a table of the kernel.
    shares: bool,
    /// Indices that are in range only where a point computes them.
    pub(super) doubtful: ValueSet,
    /// Whether not all points do the same.
    pub(super) diverges: bool,
    read: ValueSet,
    /// Buffers that are stored to.
    pub(super) written: ValueSet,
    /// Whether an inner loop of some length reads along the axis.
    profits: bool,
    /// Whether one adds up what is not the same for all points.
    sums: bool,
    /// Whether an inner loop reads across the axis.
    across: bool,
    /// Operations of loops of some length, at each depth: of those that carry something from one
    /// iteration to the next, which makes them no vector instructions by themselves, and of those
    /// that become vector instructions by themselves.
    chained: BTreeMap<usize, u64>,
    vectorised: BTreeMap<usize, u64>,
    /// How many loops the deepest sum stands in whose points multiply by the same, and the deepest
    /// read across the axis.
    shared: usize,
    crossed: usize,
    /// Whether there are loops, and whether one may have more iterations than are
    /// [short](Worth::short).
    has_loops: bool,
    long: bool,
    /// Lengths that are not known, and taken for short ones, if they may be.
    pub(super) if_short: Option<Vec<Extent>>,
    /// How many elementary functions a point computes of what differs from point to point, as far
    /// as loops have known lengths, and how often the innermost open loop runs.
    dear: u64,
    times: u64,
    /// Operations in loops, and how many of them load or store what lies apart for neighbours.
    operations: u64,
    gathers: u64,
}

impl<'p> Look<'p> {
    /// Looks at what the points along `index` do; `None` if they cannot be run in strips.
    /// `worth`: from when on that pays, and where to note lengths that are to be taken for short ones.
    pub(super) fn at(
        program: &'p Program<Cpu>,
        numbers: &'p Numbers,
        body: &Block<Cpu>,
        bets: bool,
        (worth, if_short): (Worth, Option<Vec<Extent>>),
    ) -> Option<Self> {
        let index = body.params[0];
        let mut look = Self {
            program,
            numbers,
            bets,
            worth,
            index,
            strides: FxHashMap::from_iter([(index, Stride::One)]),
            home: FxHashMap::default(),
            depth: FxHashMap::default(),
            loops: Vec::new(),
            segment: 0,
            segments: 0,
            uniform: ValueSet::new(),
            kept: ValueSet::new(),
            remade: BTreeMap::new(),
            own: ValueSet::new(),
            summed: BTreeMap::new(),
            shares: false,
            doubtful: ValueSet::new(),
            diverges: false,
            read: ValueSet::new(),
            written: ValueSet::new(),
            profits: false,
            sums: false,
            across: false,
            chained: BTreeMap::new(),
            vectorised: BTreeMap::new(),
            shared: 0,
            crossed: 0,
            has_loops: false,
            long: false,
            if_short,
            dear: 0,
            times: 1,
            operations: 0,
            gathers: 0,
        };
        look.written.extend(Accesses::of(&body.stmts).stored());
        look.block(body, Around::default())?;
        Some(look)
    }

    /// Whether the points read neighbours, so that even few of them are better off together than
    /// each for itself.
    pub(super) fn along(&self) -> bool {
        self.profits
    }

    /// Whether inner loops become vector instructions only if neighbours advance together: they
    /// read or add up along the axis.
    pub(super) fn pays_to_read(&self) -> bool {
        let simple = !self.diverges && self.own.is_empty() && !self.accumulates();
        simple && (self.profits || self.sums) && !self.across
    }

    /// The same of what they carry from one iteration to the next.
    pub(super) fn pays_to_carry(&self) -> bool {
        let few = self.gathers.saturating_mul(self.worth.gather) <= self.operations;
        // The deepest loops run most often, and of those at one depth what most operations do counts.
        let deepest = |of: &BTreeMap<usize, u64>| of.last_key_value().map(|(&d, &n)| (d, n));
        few && deepest(&self.chained) > deepest(&self.vectorised)
    }

    /// Whether the deepest loops are of both kinds, so that operations decide between them.
    #[cfg(test)]
    pub(super) fn is_weighed(&self) -> bool {
        let deepest = |of: &BTreeMap<usize, u64>| of.last_key_value().map(|(&depth, _)| depth);
        deepest(&self.chained).is_some() && deepest(&self.chained) == deepest(&self.vectorised)
    }

    /// The same of sums of what a point has for itself and what all points read, as products of a
    /// matrix and each point's own vector are: a strip reads the matrix once.
    pub(super) fn pays_to_share(&self) -> bool {
        !self.diverges && self.shared > self.crossed
    }

    /// The same of elementary functions in and around short loops. Where all lengths are known and
    /// nothing is added up over the points, whose order is to be kept, the optimiser unrolls the
    /// loops and makes vectors of the points without help, unless that is much.
    pub(super) fn pays_if_short(&self) -> bool {
        let helped = !self.summed.is_empty()
            || self.if_short.iter().flatten().next().is_some()
            || self.dear > self.worth.short;
        self.has_loops && !self.long && self.dear > 0 && helped
    }

    /// Whether a point may be computed twice: nothing is read that is written, nothing accumulated.
    pub(super) fn repeatable(&self) -> bool {
        let mut both = self
            .read
            .iter()
            .filter(|buffer| self.written.contains(buffer));
        !self.accumulates() && both.all(|buffer| self.own.contains(&buffer))
    }

    fn accumulates(&self) -> bool {
        self.shares || !self.summed.is_empty()
    }

    /// Variables that each point has for itself.
    pub(super) fn variables(&self) -> ValueSet {
        let places = self.depth.keys().copied();
        places.filter(|place| !self.own.contains(place)).collect()
    }

    /// What differs from point to point.
    pub(super) fn varying(&self) -> ValueSet {
        let differ = |(&value, &stride)| (stride != Stride::Zero).then_some(value);
        self.strides.iter().filter_map(differ).collect()
    }

    fn stride(&self, value: ValueId) -> Stride {
        self.strides.get(&value).copied().unwrap_or(Stride::Zero)
    }

    /// The stride of what is computed somehow from these values.
    fn mixed(&self, values: &[ValueId]) -> Stride {
        if values
            .iter()
            .all(|&value| self.stride(value) == Stride::Zero)
        {
            Stride::Zero
        } else {
            Stride::Other
        }
    }

    fn is_straight(&self, block: &Block<Cpu>) -> bool {
        let axis = self.program.elem(self.index).extent();
        is_straight(self.numbers, axis, block)
    }

    fn begin_segment(&mut self) {
        self.segments += 1;
        self.segment = self.segments;
    }

    /// Notes that a value is used in the segment being looked at.
    fn uses(&mut self, value: ValueId) {
        let elsewhere = |&home: &usize| home != self.segment;
        if !self.remade.contains_key(&value) && self.home.get(&value).is_some_and(elsewhere) {
            self.kept.insert(value);
        }
    }

    /// Notes how a position of neighbours is computed, of an index and what is the same for all
    /// points.
    fn note_position(&mut self, stmt: &Stmt<Cpu>) {
        let CpuOp::Prim(prim, args) = &stmt.op else {
            return;
        };
        let mut own = stmt.clone();
        if let Prim::Check(extent) = prim {
            own.op = CpuOp::Prim(Prim::Trust(*extent), args.clone());
        }
        let mut steps: Vec<Stmt<Cpu>> = Vec::new();
        for arg in args.iter().filter(|&&arg| arg != self.index) {
            match self.remade.get(arg) {
                Some(before) => steps.extend(before.iter().cloned()),
                None if self.stride(*arg) == Stride::Zero => {}
                None => return,
            }
        }
        if steps.len() < STEPS {
            steps.push(own);
            self.remade.insert(stmt.results[0], steps);
        }
    }

    fn block(&mut self, block: &Block<Cpu>, around: Around) -> Option<()> {
        block
            .stmts
            .iter()
            .try_for_each(|stmt| self.stmt(stmt, around))
    }

    /// Looks at a statement; `None` if it cannot be run in strips.
    fn stmt(&mut self, stmt: &Stmt<Cpu>, around: Around) -> Option<()> {
        for operand in stmt.op.operands() {
            self.uses(operand);
        }
        if !self.lengths_are_the_same(&stmt.op) {
            return None;
        }
        if around.in_loop {
            self.operations += match &stmt.op {
                CpuOp::Prim(prim, args) => cost::prim(*prim, self.program.elem(args[0])),
                CpuOp::Select(..) => 1,
                _ => 0,
            };
        }
        let stride = match &stmt.op {
            CpuOp::Const(_) | CpuOp::Size(_) => Stride::Zero,
            CpuOp::Prim(Prim::Check(_), args) => {
                let stride = self.stride(args[0]);
                if stride != Stride::Zero {
                    self.asked(args, around)?;
                }
                stride
            }
            CpuOp::Prim(prim, args) => {
                let stride = self.prim(*prim, args, around)?;
                let elem = self.program.elem(args[0]);
                if stride != Stride::Zero && cost::prim(*prim, elem) >= DEAR {
                    self.dear = self.dear.saturating_add(self.times);
                }
                stride
            }
            CpuOp::Select(cond, then, otherwise) => self.mixed(&[*cond, *then, *otherwise]),
            CpuOp::Load { buffer, indices } => {
                self.read.insert(*buffer);
                let stride = self.access(*buffer, indices, around);
                let sure = indices.iter().all(|index| !self.doubtful.contains(index));
                // What the kernel itself writes may differ from one moment to the next. And what no point may have asked for
                // each of them reads for itself.
                let changes = self.written.contains(buffer) || self.own.contains(buffer);
                if changes || (around.inline && !sure) {
                    Stride::Other
                } else {
                    stride
                }
            }
            CpuOp::Store {
                buffer, indices, ..
            } => {
                let mut strides = indices.iter().map(|&index| self.stride(index));
                let own = self.own.contains(buffer) || strides.any(|stride| stride == Stride::One);
                #[cfg(test)]
                if own && !self.own.contains(buffer) && !indices.contains(&self.index) {
                    crate::testing::entered::enter(&crate::testing::entered::STORED_AWAY);
                }
                own.then(|| self.access(*buffer, indices, around))?
            }
            CpuOp::Combine {
                monoid,
                place,
                indices,
                value,
            } => {
                if !indices.is_empty() && self.own.contains(place) {
                    self.access(*place, indices, around);
                } else if !indices.is_empty() {
                    // All points combine into the same element, which is there whoever takes part.
                    let same = |&index: &ValueId| {
                        self.stride(index) == Stride::Zero && !self.doubtful.contains(&index)
                    };
                    indices.iter().all(same).then_some(())?;
                    self.shares = true;
                } else if self.home.contains_key(place) {
                    // Every point adds up something of its own, of what all of them read.
                    let sums = around.in_loop && self.stride(*value) != Stride::Zero;
                    self.sums |= sums;
                    if let Some(inner) = self.loops.last_mut() {
                        inner.sums |= sums;
                    }
                } else if *self.summed.entry(*place).or_insert(*monoid) != *monoid {
                    return None;
                }
                Stride::Zero
            }
            // Contents of a place are its own for every point.
            CpuOp::Var(_) => {
                self.depth.insert(stmt.results[0], self.loops.len());
                Stride::Other
            }
            CpuOp::Get(place) => {
                self.depth.get(place)?;
                Stride::Other
            }
            CpuOp::Set { place, .. } => {
                // Only a point's own.
                self.carries(*place)?;
                Stride::Zero
            }
            CpuOp::For { extent, body, .. } => return self.repeated(*extent, body, around),
            CpuOp::While { cond, body } => {
                let around = Around {
                    in_loop: true,
                    masked: true,
                    ..around
                };
                self.diverges = true;
                self.begin_segment();
                self.begin_loop(true);
                self.block(cond, around)?;
                self.uses(cond.results[0]);
                self.begin_segment();
                self.block(body, around)?;
                self.end_loop();
                self.begin_segment();
                return Some(());
            }
            CpuOp::If {
                cond,
                then,
                otherwise,
            } => return self.branches(*cond, [then, otherwise], around),
            CpuOp::Alloc { .. } | CpuOp::Copy(_) => {
                let buffer = stmt.results[0];
                if around.inline {
                    return None;
                }
                // Where lengths differ, it has that of the longest.
                for &dim in &self.program.ty(buffer).dims {
                    if let Extent::Value(length) = self.numbers.resolve(dim) {
                        self.uses(length);
                    }
                }
                if let CpuOp::Copy(source) = &stmt.op {
                    self.read.insert(*source);
                }
                self.own.insert(buffer);
                self.depth.insert(buffer, self.loops.len());
                self.begin_segment();
                return Some(());
            }
            CpuOp::Swap(a, b) => {
                let own = [a, b].iter().all(|buffer| self.own.contains(buffer));
                if !own || around.masked {
                    return None;
                }
                self.carries(*a);
                self.begin_segment();
                return Some(());
            }
            CpuOp::Assert { cond, shown, .. } => {
                self.asked(&[&[*cond], shown.as_slice()].concat(), around)?;
                self.begin_segment();
                return Some(());
            }
            CpuOp::Own(Own::Bound { terms, .. }) => {
                let mut terms = terms.iter();
                let uniform = terms.all(|&(term, _)| self.stride(term) == Stride::Zero);
                if uniform {
                    Stride::Zero
                } else {
                    return None;
                }
            }
            CpuOp::Own(Own::Range { from, to, body, .. }) => {
                let uniform = self.mixed(&[*from, *to]) == Stride::Zero;
                return match uniform {
                    true => self.part(body, around),
                    false => None,
                };
            }
            CpuOp::Contract { .. }
            | CpuOp::Own(
                Own::Par(_)
                | Own::Tile(_)
                | Own::Transpose { .. }
                | Own::Strips { .. }
                | Own::Lanes { .. }
                | Own::Fold { .. }
                | Own::ArgCombine { .. }
                | Own::ArgFold { .. }
                | Own::Multiversion(_),
            ) => {
                return None;
            }
        };
        // An index is made when it is known that no lane panics.
        if let CpuOp::Prim(Prim::Check(_), _) = &stmt.op
            && stride != Stride::Zero
        {
            self.begin_segment();
        }
        for &result in &stmt.results {
            let length = self.program.elem(result).extent();
            if matches!(length, Some(Extent::Value(value)) if self.stride(value) != Stride::Zero) {
                return None;
            }
            if around.masked && matches!(self.program.elem(result), Elem::Index(_)) {
                self.doubtful.insert(result);
            }
            self.strides.insert(result, stride);
            if stride == Stride::Zero {
                self.uniform.insert(result);
            } else {
                self.home.insert(result, self.segment);
            }
        }
        if stride == Stride::One && !around.masked && !around.inline {
            self.note_position(stmt);
        }
        Some(())
    }

    /// Whether the lengths that an operation names are the same for all points, but for how often
    /// a loop runs.
    fn lengths_are_the_same(&self, op: &CpuOp) -> bool {
        let named = match op {
            CpuOp::Size(extent) | CpuOp::Own(Own::Bound { extent, .. }) => Some(*extent),
            CpuOp::Prim(prim, _) => prim.extent(),
            _ => None,
        };
        let varies = |value: ValueId| self.stride(value) != Stride::Zero;
        !matches!(named, Some(Extent::Value(value)) if varies(value))
    }

    /// Looks at something that panics unless these values are as they should be, which ends a
    /// segment: nothing is done before it is known that no lane panics.
    fn asked(&mut self, values: &[ValueId], around: Around) -> Option<()> {
        for value in values {
            if self.home.contains_key(value) && !self.remade.contains_key(value) {
                self.kept.insert(*value);
            }
        }
        (!around.inline).then_some(())
    }

    /// Whether the points bind a value themselves.
    fn is_bound_here(&self, value: ValueId) -> bool {
        self.strides.contains_key(&value)
    }

    fn repeated(&mut self, extent: Extent, body: &Block<Cpu>, around: Around) -> Option<()> {
        let extent = self.numbers.resolve(extent);
        let mut inside = Around {
            in_loop: true,
            ..around
        };
        self.begin_segment();
        if let Extent::Value(value) = extent
            && self.stride(value) != Stride::Zero
        {
            // Each point has its own number of iterations.
            self.uses(value);
            self.doubtful.insert(body.params[0]);
            self.diverges = true;
            inside.masked = true;
            self.begin_segment();
        }
        // The index is a variable of the loop itself, which all lanes share.
        let short = matches!(extent, Extent::Const(trips) if trips <= UNROLLED);
        self.has_loops = true;
        let own = matches!(extent, Extent::Value(value) if self.is_bound_here(value));
        self.long |= !match (extent, &mut self.if_short) {
            (Extent::Const(trips), _) => trips <= self.worth.short,
            (Extent::Size(_) | Extent::Value(_), Some(lengths)) if !own => {
                if !lengths.contains(&extent) {
                    lengths.push(extent);
                }
                true
            }
            (Extent::Size(_) | Extent::Value(_), _) => false,
        };
        let (profited, summed) = (self.profits, self.sums);
        let times = self.times;
        if let Extent::Const(trips) = extent {
            self.times = times.saturating_mul(trips);
        }
        self.begin_loop(!short);
        self.block(body, inside)?;
        self.end_loop();
        self.times = times;
        self.profits = profited || (self.profits && !short);
        self.sums = summed || (self.sums && !short);
        self.begin_segment();
        Some(())
    }

    /// A loop over a part of an axis, whose length is not known.
    fn part(&mut self, body: &Block<Cpu>, around: Around) -> Option<()> {
        self.begin_segment();
        self.has_loops = true;
        self.long = true;
        self.begin_loop(true);
        let inside = Around {
            in_loop: true,
            ..around
        };
        self.block(body, inside)?;
        self.end_loop();
        self.begin_segment();
        Some(())
    }

    /// The loops between a point's own place and what changes it there hand it on.
    fn carries(&mut self, place: ValueId) -> Option<()> {
        let depth = *self.depth.get(&place)?;
        let loops = self.loops[depth..].iter_mut();
        loops.for_each(|inner| inner.carries = true);
        Some(())
    }

    fn begin_loop(&mut self, long: bool) {
        if let Some(outer) = self.loops.last_mut() {
            outer.innermost = false;
        }
        self.loops.push(Loop {
            long,
            carries: false,
            innermost: true,
            before: self.operations,
            sums: false,
            shares: false,
            across: false,
        });
    }

    fn end_loop(&mut self) {
        let depth = self.loops.len();
        if let Some(ended) = self.loops.pop() {
            // One vector that all points read is no matrix: a point goes along it in vectors.
            if ended.long && ended.innermost && ended.sums && ended.shares && depth > 1 {
                self.shared = self.shared.max(depth);
            }
            if ended.across {
                self.crossed = self.crossed.max(depth);
            }
            let kind = match (ended.carries, ended.innermost) {
                (true, _) => &mut self.chained,
                (false, true) => &mut self.vectorised,
                (false, false) => return,
            };
            if ended.long {
                // What a loop only loads and stores counts as well.
                *kind.entry(depth).or_default() += self.operations - ended.before + 1;
            }
        }
    }

    fn branches(
        &mut self,
        cond: ValueId,
        branches: [&Block<Cpu>; 2],
        around: Around,
    ) -> Option<()> {
        let mut inside = around;
        let straight = branches.iter().all(|branch| self.is_straight(branch));
        if around.inline || (straight && self.stride(cond) != Stride::Zero) {
            (inside.inline, inside.masked) = (true, true);
            self.diverges = true;
            return branches
                .iter()
                .try_for_each(|branch| self.block(branch, inside));
        }
        if self.stride(cond) != Stride::Zero {
            inside.masked = true;
            self.diverges = true;
        }
        for branch in branches {
            self.begin_segment();
            self.block(branch, inside)?;
        }
        self.begin_segment();
        Some(())
    }

    fn prim(&self, prim: Prim, args: &[ValueId], around: Around) -> Option<Stride> {
        let elem = self.program.elem(args[0]);
        let dear = !vectorises(prim, elem, self.bets) && self.mixed(args) != Stride::Zero;
        if prim.may_panic(elem) || (around.in_loop && dear) {
            return None;
        }
        let strides = || args.iter().map(|&arg| self.stride(arg)).collect::<Vec<_>>();
        Some(match prim {
            Prim::Cast(to) if to.is_int() => self.stride(args[0]),
            // Not for all lanes, whether or not they take the branch.
            Prim::Trust(_) if around.inline => Stride::Other,
            Prim::Trust(_) => self.stride(args[0]),
            Prim::Add
                if matches!(
                    strides()[..],
                    [Stride::One, Stride::Zero] | [Stride::Zero, Stride::One]
                ) =>
            {
                Stride::One
            }
            Prim::Sub if matches!(strides()[..], [Stride::One, Stride::Zero]) => Stride::One,
            _ => self.mixed(args),
        })
    }

    /// The stride of an element, and whether reading it so pays.
    fn access(&mut self, buffer: ValueId, indices: &[ValueId], around: Around) -> Stride {
        let strides: Vec<Stride> = indices.iter().map(|&index| self.stride(index)).collect();
        let (last, leading) = strides.split_last().unwrap_or((&Stride::Zero, &[]));
        let along = leading.iter().all(|&stride| stride == Stride::Zero) && *last == Stride::One;
        let uniform = strides.iter().all(|&stride| stride == Stride::Zero);
        if around.in_loop && self.own.contains(&buffer) {
            // The elements of neighbours at one position lie side by side.
            self.gathers += u64::from(!uniform);
        } else if around.in_loop {
            let across = !along && !uniform;
            self.profits |= along;
            self.across |= across;
            self.gathers += u64::from(across);
            if let Some(inner) = self.loops.last_mut() {
                inner.shares |= uniform && !self.written.contains(&buffer);
                inner.across |= across;
            }
        }
        if uniform { Stride::Zero } else { Stride::Other }
    }
}

/// Whether a primitive becomes vector instructions, in a kernel that `bets` on near angles or not.
pub(super) fn vectorises(prim: Prim, elem: Elem, bets: bool) -> bool {
    prim.vectorises(elem) || (bets && has_near(prim, elem))
}

/// Whether the statements of a block follow one after the other, but for branches, and all lanes of
/// an axis may do them, whether or not they take the branch.
pub(super) fn is_straight(numbers: &Numbers, axis: Option<Extent>, block: &Block<Cpu>) -> bool {
    block.stmts.iter().all(|stmt| match &stmt.op {
        // An axis without elements has no index that is safe.
        CpuOp::Prim(Prim::Trust(extent), _) => {
            axis == Some(*extent) || matches!(numbers.resolve(*extent), Extent::Const(1..))
        }
        CpuOp::Prim(prim, _) => !matches!(prim, Prim::Check(_)),
        CpuOp::Const(_)
        | CpuOp::Size(_)
        | CpuOp::Select(..)
        | CpuOp::Load { .. }
        | CpuOp::Store { .. }
        | CpuOp::Combine { .. }
        | CpuOp::Var(_)
        | CpuOp::Get(_)
        | CpuOp::Set { .. } => true,
        CpuOp::If {
            then, otherwise, ..
        } => is_straight(numbers, axis, then) && is_straight(numbers, axis, otherwise),
        CpuOp::Alloc { .. }
        | CpuOp::Copy(_)
        | CpuOp::Swap(..)
        | CpuOp::Contract { .. }
        | CpuOp::For { .. }
        | CpuOp::Own(_)
        | CpuOp::Assert { .. }
        | CpuOp::While { .. } => false,
    })
}
