//! Which kernels take a maximum and exponentials below it.

use std::collections::{BTreeMap, BTreeSet};

use super::Size;
use crate::analysis::accesses::changes;
use crate::analysis::effects::{asked, for_each_length, is_pure, named_lengths};
use crate::ir::stages::kernels::{Acc, KernelOp, Kernels, Par};
use crate::ir::{Block, Extent, Monoid, Operation, Program, Stmt, ValueId, ValueSet};
use crate::ops::Prim;

/// How far definitions are followed.
const DEEP: usize = 6;

/// Which kernels, and what of them.
pub(super) struct Plan {
    pub(super) extent: Extent,
    /// The kernel with the maximum, the one with the exponentials.
    pub(super) first: usize,
    pub(super) second: usize,
    /// The maximum's accumulator.
    pub(super) top: Acc,
    /// Statements between the kernels that need the maximum.
    pub(super) late: BTreeSet<usize>,
    /// What is subtracted, and where.
    pub(super) shift: ValueId,
    pub(super) shifted: usize,
    /// Accumulators of exponentials.
    pub(super) sums: Vec<Acc>,
    /// Kernels that read exponentials, and the buffers that they lie in.
    pub(super) readers: BTreeMap<usize, ValueSet>,
}

impl Plan {
    /// What can be done with the kernel of this number and the next one.
    pub(super) fn of(
        program: &Program<Kernels>,
        size: Size,
        block: &Block<Kernels>,
        first: usize,
    ) -> Option<Self> {
        let above = Points::of(&block.stmts[first])?;
        let extent = above.extent;
        let is_maximum = |acc: &&Acc| {
            acc.monoid == Monoid::Max
                && program.ty(acc.target).dims.is_empty()
                && program.elem(acc.target).is_float()
        };
        let mut maxima = above.accs.iter().filter(is_maximum);
        let (top, largest) = maxima.find_map(|acc| Some((acc, above.brought(acc)?)))?;
        let is_kernel = |stmt: &Stmt<Kernels>| matches!(stmt.op, KernelOp::Own(Par { .. }));
        let second = first + 1 + block.stmts[first + 1..].iter().position(is_kernel)?;
        let below = Points::of(&block.stmts[second])?;
        let is_short = matches!(extent, Extent::Const(length) if length < size.least);
        if below.extent != extent || is_short {
            return None;
        }

        let (late, waiting) = between(program, above, block, first + 1..second)?;
        let mut needed = below.body.free().into_iter();
        let shift = needed.find(|value| waiting.contains(value))?;
        let accumulated = below.accs.iter().map(|acc| acc.target);
        let mut changed = above.changed();
        changed.extend(&below.changed());
        if needed
            .chain(named_lengths(program, &block.stmts[second]))
            .chain(accumulated)
            .any(|value| waiting.contains(&value))
            || !above.keep_to_theirs(&changed)
            || !below.keep_to_theirs(&changed)
        {
            return None;
        }

        let exponentials = Exponentials::of(below, shift)?;
        if !is_same(above, below, largest, exponentials.of, DEEP) {
            return None;
        }
        let mut readers = BTreeMap::<_, ValueSet>::new();
        for buffer in exponentials.kept {
            for reader in self::readers(block, second, extent, buffer)? {
                readers.entry(reader).or_default().insert(buffer);
            }
        }
        Some(Self {
            extent,
            first,
            second,
            top: top.clone(),
            late,
            shift,
            shifted: exponentials.shifted,
            sums: exponentials.sums,
            readers,
        })
    }
}

/// A kernel over one axis.
#[derive(Clone, Copy)]
struct Points<'b> {
    extent: Extent,
    index: ValueId,
    accs: &'b [Acc],
    body: &'b Block<Kernels>,
}

impl<'b> Points<'b> {
    fn of(stmt: &'b Stmt<Kernels>) -> Option<Self> {
        match &stmt.op {
            KernelOp::Own(Par {
                extents,
                accs,
                folds,
                body,
                ..
            }) if folds.is_empty() => match (extents.as_slice(), body.params.as_slice()) {
                (&[extent], &[index]) => Some(Self {
                    extent,
                    index,
                    accs,
                    body,
                }),
                _ => None,
            },
            _ => None,
        }
    }

    /// What the points bring into an accumulator, if each does so once.
    fn brought(&self, acc: &Acc) -> Option<ValueId> {
        let mut found = None;
        for stmt in &self.body.stmts {
            match &stmt.op {
                KernelOp::Combine { place, value, .. }
                    if *place == acc.private && found.is_none() =>
                {
                    found = Some(*value);
                }
                _ if asked(stmt).contains(&acc.private) => return None,
                _ => {}
            }
        }
        found
    }

    /// What the points change, but for the accumulators.
    fn changed(&self) -> ValueSet {
        let mut changed = ValueSet::new();
        changes(&self.body.stmts, &mut changed);
        for acc in self.accs {
            changed.remove(&acc.private);
        }
        self.body
            .free()
            .into_iter()
            .filter(|place| changed.contains(place))
            .collect()
    }

    /// Where the points store an element of a buffer: the statement of the body, and the value.
    /// There is no other that changes it.
    fn stored(&self, buffer: ValueId) -> Option<(usize, ValueId)> {
        let mut found = None;
        for (number, stmt) in self.body.stmts.iter().enumerate() {
            if alters(stmt, buffer) {
                match stmt.op {
                    KernelOp::Store { value, .. } if found.is_none() => {
                        found = Some((number, value));
                    }
                    _ => return None,
                }
            }
        }
        found
    }

    /// Whether the points load and store elements of these buffers at their own place only.
    fn keep_to_theirs(&self, buffers: &ValueSet) -> bool {
        fn walk(block: &Block<Kernels>, own: ValueId, buffers: &ValueSet) -> bool {
            block.stmts.iter().all(|stmt| {
                let is_own = match &stmt.op {
                    KernelOp::Load { indices, .. } | KernelOp::Store { indices, .. } => {
                        indices.first() == Some(&own)
                    }
                    _ => false,
                };
                let mut operands = stmt.op.operands().into_iter();
                (is_own || !operands.any(|operand| buffers.contains(&operand)))
                    && stmt
                        .op
                        .blocks()
                        .into_iter()
                        .all(|inner| walk(inner, own, buffers))
            })
        }
        let mut targets = self.accs.iter().map(|acc| acc.target);
        !targets.any(|target| buffers.contains(&target)) && walk(self.body, self.index, buffers)
    }

    fn definition(&self, value: ValueId) -> Option<&'b KernelOp> {
        let mut stmts = self.body.stmts.iter();
        stmts
            .find(|stmt| stmt.results == [value])
            .map(|stmt| &stmt.op)
    }

    /// Whether the points have not changed a buffer yet where they bind a value.
    fn is_untouched(&self, buffer: ValueId, value: ValueId) -> bool {
        let stmts = self.body.stmts.iter();
        let mut before = stmts.take_while(|stmt| stmt.results != [value]);
        !before.any(|stmt| alters(stmt, buffer))
    }
}

/// Whether a statement changes a buffer, at any depth.
fn alters(stmt: &Stmt<Kernels>, buffer: ValueId) -> bool {
    let mut changed = ValueSet::new();
    changes(std::slice::from_ref(stmt), &mut changed);
    changed.contains(&buffer)
}

/// The statements between two kernels that need what the first one accumulates, and what they bind,
/// with where that is accumulated; none if there are statements that must stay where they are.
fn between(
    program: &Program<Kernels>,
    above: Points<'_>,
    block: &Block<Kernels>,
    numbers: std::ops::Range<usize>,
) -> Option<(BTreeSet<usize>, ValueSet)> {
    let mut waiting: ValueSet = above.accs.iter().map(|acc| acc.target).collect();
    let mut late = BTreeSet::new();
    for number in numbers {
        let stmt = &block.stmts[number];
        let may_move = match &stmt.op {
            KernelOp::Get(_) | KernelOp::Var(_) | KernelOp::Alloc { .. } => true,
            KernelOp::Load { .. } => false,
            _ => is_pure(program, stmt),
        };
        if !may_move {
            return None;
        }
        let mut waits = stmt.op.reads_any(|value| waiting.contains(&value));
        for_each_length(program, stmt, &mut |length| {
            waits |= waiting.contains(&length)
        });
        if waits {
            late.insert(number);
            waiting.extend(&stmt.results);
        }
    }
    Some((late, waiting))
}

/// What a kernel does with exponentials of what lies below the maximum.
struct Exponentials {
    /// Of what it subtracts the maximum, and in which statement.
    of: ValueId,
    shifted: usize,
    /// What adds them up.
    sums: Vec<Acc>,
    /// Buffers that they are stored in, at the points' places, and nothing else afterwards.
    kept: Vec<ValueId>,
}

impl Exponentials {
    fn of(points: Points<'_>, shift: ValueId) -> Option<Self> {
        let (mut shifted, mut power, mut sums, mut kept) = (None, None, Vec::new(), Vec::new());
        for (number, stmt) in points.body.stmts.iter().enumerate() {
            let asked = asked(stmt);
            let asks = |value: Option<ValueId>| value.is_some_and(|value| asked.contains(&value));
            match &stmt.op {
                KernelOp::Prim(Prim::Sub, args) if args[1] == shift && shifted.is_none() => {
                    shifted = Some((number, args[0], stmt.results[0]));
                }
                _ if asked.contains(&shift) => return None,
                KernelOp::Prim(Prim::Exp, args)
                    if shifted.is_some_and(|(.., below)| args[0] == below) && power.is_none() =>
                {
                    power = Some(stmt.results[0]);
                }
                _ if asks(shifted.map(|(.., below)| below)) => return None,
                KernelOp::Combine {
                    monoid: Monoid::Add,
                    place,
                    indices,
                    value,
                } if Some(*value) == power && indices.is_empty() => {
                    sums.push(
                        points
                            .accs
                            .iter()
                            .find(|acc| acc.private == *place)?
                            .clone(),
                    );
                }
                KernelOp::Store {
                    buffer,
                    indices,
                    value,
                } if Some(*value) == power && *indices == [points.index] => {
                    kept.push((number, *buffer));
                }
                _ if asks(power) => return None,
                _ => {}
            }
        }
        let ((shifted, of, _), power) = (shifted?, power?);
        let is_alone = |acc: &Acc| points.brought(acc) == Some(power);
        let is_last = |&(number, buffer): &(usize, ValueId)| {
            let mut after = points.body.stmts[number + 1..].iter();
            points.stored(buffer) == Some((number, power))
                && !after.any(|stmt| asked(stmt).contains(&buffer))
        };
        (of != shift && !kept.is_empty() && sums.iter().all(is_alone) && kept.iter().all(is_last))
            .then(|| Self {
                of,
                shifted,
                sums,
                kept: kept.into_iter().map(|(_, buffer)| buffer).collect(),
            })
    }
}

/// Whether a value of one kernel's points and one of another's are the same number at the same
/// point.
fn is_same(above: Points<'_>, below: Points<'_>, x: ValueId, y: ValueId, deep: usize) -> bool {
    let (first, second) = (above.definition(x), below.definition(y));
    let all = |xs: &[ValueId], ys: &[ValueId]| {
        let mut pairs = xs.iter().zip(ys);
        deep > 0 && pairs.all(|(&x, &y)| is_same(above, below, x, y, deep - 1))
    };
    match (first, second) {
        (_, Some(KernelOp::Load { buffer, .. })) if !below.is_untouched(*buffer, y) => false,
        (_, Some(KernelOp::Load { buffer, .. })) if above.changed().contains(buffer) => {
            above.stored(*buffer).is_some_and(|(_, value)| value == x)
        }
        (
            Some(KernelOp::Load { buffer, indices }),
            Some(KernelOp::Load {
                buffer: other,
                indices: others,
            }),
        ) => buffer == other && all(indices, others),
        (Some(KernelOp::Prim(prim, xs)), Some(KernelOp::Prim(other, ys))) => {
            prim == other && all(xs, ys)
        }
        (Some(KernelOp::Select(a, b, c)), Some(KernelOp::Select(d, e, f))) => {
            all(&[*a, *b, *c], &[*d, *e, *f])
        }
        (Some(KernelOp::Const(lit)), Some(KernelOp::Const(other))) => lit == other,
        (Some(KernelOp::Size(extent)), Some(KernelOp::Size(other))) => extent == other,
        (None, None) => x == y || (x == above.index && y == below.index),
        _ => false,
    }
}

/// The kernels that read a buffer before it is overwritten, if nobody else looks at it until then:
/// they are over the same axis, and each of their points reads its own element.
fn readers(
    block: &Block<Kernels>,
    second: usize,
    extent: Extent,
    buffer: ValueId,
) -> Option<Vec<usize>> {
    let own = ValueSet::from_iter([buffer]);
    let mut readers = Vec::new();
    for (number, stmt) in block.stmts.iter().enumerate().skip(second + 1) {
        if !asked(stmt).contains(&buffer) {
            continue;
        }
        let points = Points::of(stmt).filter(|points| points.extent == extent)?;
        if !points.keep_to_theirs(&own) {
            return None;
        }
        readers.push(number);
        if points.changed().contains(&buffer) {
            let (last, _) = points.stored(buffer)?;
            let mut after = points.body.stmts[last + 1..].iter();
            return (!after.any(|stmt| asked(stmt).contains(&buffer))).then_some(readers);
        }
    }
    let mut stmts = block.stmts[..second].iter();
    let is_made = stmts
        .any(|stmt| stmt.results.contains(&buffer) && matches!(stmt.op, KernelOp::Alloc { .. }));
    (is_made && !block.results.contains(&buffer)).then_some(readers)
}
