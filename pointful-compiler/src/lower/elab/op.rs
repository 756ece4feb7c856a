//! Primitives behind operators, and applications repeated over the cells of tables.

use super::loops::Order;
use super::value::Val;
use super::{Elab, Run};
use crate::diag::lowering as say;
use crate::ir::stages::point::PointOp;
use crate::ir::{Elem, Extent, SpanId, Type, ValueId};
use crate::lower::effects::Path;
use crate::lower::frames::align;
use crate::lower::types::{Set, atoms};
use crate::ops::Prim;
use crate::syntax::tree::BinaryOp;

/// Members of a set that are no reason not to look for more to do at once.
const FEW: u64 = 8;

/// The primitive of an operator.
pub(super) fn primitive(op: BinaryOp) -> Prim {
    match op {
        BinaryOp::Add => Prim::Add,
        BinaryOp::Sub => Prim::Sub,
        BinaryOp::Mul => Prim::Mul,
        BinaryOp::Div => Prim::Div,
        BinaryOp::Rem => Prim::Rem,
        BinaryOp::BitAnd => Prim::And,
        BinaryOp::BitOr => Prim::Or,
        BinaryOp::BitXor => Prim::Xor,
        BinaryOp::Shl => Prim::Shl,
        BinaryOp::Shr => Prim::Shr,
        BinaryOp::Eq => Prim::Eq,
        BinaryOp::Ne => Prim::Ne,
        BinaryOp::Lt => Prim::Lt,
        BinaryOp::Le => Prim::Le,
        BinaryOp::Gt => Prim::Gt,
        BinaryOp::Ge => Prim::Ge,
    }
}

/// What is done at each cell.
pub(super) type Cell<'f, 'a> = dyn FnMut(&mut Elab<'a>, &[Val<'a>]) -> Run<Val<'a>> + 'f;

/// What is done at each point of some axes.
pub(super) type At<'f, 'a> = dyn FnMut(&mut Elab<'a>, &[ValueId]) -> Run<Vec<ValueId>> + 'f;

impl<'a> Elab<'a> {
    /// Applies something to the cells of tables whose frames are these groups of axes; just once if
    /// there are none.
    pub(super) fn lift(
        &mut self,
        frames: &[Vec<Set>],
        vals: &[Val<'a>],
        span: SpanId,
        f: &mut Cell<'_, 'a>,
    ) -> Run<Val<'a>> {
        if frames.iter().all(Vec::is_empty) {
            return f(self, vals);
        }
        let frames: Vec<Vec<Set>> = frames.iter().map(|g| atoms(g)).collect();
        let Ok(alignment) = align(&frames, |a, b| a == b) else {
            return self.bug(span, "frames do not agree");
        };
        self.lift_aligned(
            &frames[alignment.longest],
            &alignment.positions,
            vals,
            span,
            f,
        )
    }

    /// Applies something at each cell of a frame; each value has the axes of the frame at its
    /// positions.
    pub(super) fn lift_aligned(
        &mut self,
        frame: &[Set],
        positions: &[Vec<usize>],
        vals: &[Val<'a>],
        span: SpanId,
        f: &mut Cell<'_, 'a>,
    ) -> Run<Val<'a>> {
        self.lift_in_order(frame, positions, vals, &[], span, f)
    }

    /// As [`lift_aligned`](Self::lift_aligned), cell after cell where there are states.
    pub(super) fn lift_in_order(
        &mut self,
        frame: &[Set],
        positions: &[Vec<usize>],
        vals: &[Val<'a>],
        states: &[Path],
        span: SpanId,
        f: &mut Cell<'_, 'a>,
    ) -> Run<Val<'a>> {
        let mut axes = Vec::new();
        for set in frame {
            axes.extend(self.space(set, span)?.axes());
        }
        let mut shape = None;
        let mut at = Vec::new();
        let order = Order::FORWARDS;
        let tables = self.nest(&axes, order, states, &mut at, span, &mut |s, indices| {
            let cells = s.cells_at(frame, positions, vals, indices, span)?;
            let cell = f(s, &cells)?;
            let leaves = s.leaves(&cell, span)?;
            shape = Some(cell);
            Ok(leaves)
        })?;
        match shape {
            Some(shape) => Ok(self.rebuild(&shape, &mut tables.into_iter())),
            None => self.bug(span, "a loop without a body"),
        }
    }

    /// The cells of values at one place of a frame.
    pub(super) fn cells_at(
        &mut self,
        frame: &[Set],
        positions: &[Vec<usize>],
        vals: &[Val<'a>],
        indices: &[ValueId],
        span: SpanId,
    ) -> Run<Vec<Val<'a>>> {
        // Where the axes of each set of the frame begin; a generic may stand for several.
        let mut begin = vec![0];
        for set in frame {
            let axes = self.space(set, span)?.axes().len();
            begin.push(begin[begin.len() - 1] + axes);
        }
        let mut cells = Vec::new();
        for (val, positions) in vals.iter().zip(positions) {
            let at: Vec<ValueId> = positions
                .iter()
                .flat_map(|p| indices[begin[*p]..begin[*p + 1]].to_vec())
                .collect();
            cells.push(self.select(val, &at, span)?);
        }
        Ok(cells)
    }

    /// Nested loops over these axes; the tables of what the body gives.
    pub(super) fn tabulate(
        &mut self,
        axes: &[Extent],
        span: SpanId,
        body: &mut At<'_, 'a>,
    ) -> Run<Vec<ValueId>> {
        let mut indices = Vec::new();
        self.tabulate_rest(axes, &mut indices, span, body)
    }

    fn tabulate_rest(
        &mut self,
        axes: &[Extent],
        indices: &mut Vec<ValueId>,
        span: SpanId,
        body: &mut At<'_, 'a>,
    ) -> Run<Vec<ValueId>> {
        let Some((extent, rest)) = axes.split_first() else {
            let at = indices.clone();
            return body(self, &at);
        };
        let index = self.program.value(Type::scalar(Elem::Index(*extent)), span);
        self.begin(&[index]);
        indices.push(index);
        let many = usize::from(!matches!(extent, Extent::Const(n) if *n <= FEW));
        self.parallel += many;
        let results = self.tabulate_rest(rest, indices, span, body)?;
        self.parallel -= many;
        indices.pop();
        let types: Vec<Type<Extent>> = results
            .iter()
            .map(|r| self.program.ty(*r).clone())
            .collect();
        let body = self.end(results, say::ragged, span)?;
        let tables: Vec<ValueId> = types
            .into_iter()
            .map(|ty| self.stacked(ty, *extent, span))
            .collect();
        let op = PointOp::For {
            extent: *extent,
            body: Box::new(body),
        };
        self.emit(tables.clone(), op, span);
        Ok(tables)
    }

    /// A new value with one more leading axis than the type.
    pub(super) fn stacked(&mut self, ty: Type<Extent>, extent: Extent, span: SpanId) -> ValueId {
        let mut dims = vec![extent];
        dims.extend(ty.dims);
        self.fresh(Type::table(ty.elem, dims), span)
    }
}
