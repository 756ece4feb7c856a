//! A nest, written down diagonal by diagonal.

use smallvec::smallvec;

use std::collections::BTreeMap;

use super::forwarding::without_variables;
use super::{Plan, Stmts};
use crate::analysis::accesses::Accesses;
use crate::analysis::effects::needed;
use crate::contract::cloning::Renamed;
use crate::contract::disjoint_updates::add_in_place;
use crate::ir::Scalar;
use crate::ir::stages::kernels::{KernelOp, Kernels, Par};
use crate::ir::{Block, Elem, Extent, Lit, Monoid, Program, SpanId, Stmt, Type, ValueId, ValueSet};
use crate::ops::Prim;
use crate::targets::cpu::distribute::{Phase, Plan as Distribution};
use crate::targets::cpu::tiling::Writer;
use crate::targets::cpu::versioning::by_length;

/// Where variables and values of rows are kept: an array each.
type Arrays = BTreeMap<ValueId, ValueId>;

impl Plan<'_> {
    /// Writes down the nest: diagonal by diagonal if both of its loops are long enough.
    pub(super) fn carry_out(
        &self,
        program: &mut Program<Kernels>,
        least: u64,
        stmt: &Stmt<Kernels>,
        out: &mut Writer,
    ) {
        let mut skewed = Writer::default();
        self.skewed(program, stmt.span, &mut skewed);
        by_length(
            program,
            &self.nest.extents,
            least..=u64::MAX,
            skewed,
            stmt,
            out,
        );
    }

    fn skewed(&self, program: &mut Program<Kernels>, span: SpanId, out: &mut Writer) {
        let [rows, _] = self.nest.extents;
        let mut arrays = Arrays::new();
        for &value in self.variables.iter().chain(&self.values) {
            let array = out.alloc(program, program.elem(value), vec![rows], span);
            arrays.insert(value, array);
        }
        // A kernel that adds up all its points' numbers waits for each addition.
        for (&place, &monoid) in &self.sums {
            let elem = program.elem(place);
            let fill = Some(neutral(monoid, elem));
            let alloc = KernelOp::Alloc { fill };
            let array = out.bind(program, alloc, Type::table(elem, vec![rows]), span);
            arrays.insert(place, array);
        }
        self.before_cells(program, &arrays, span, out);
        self.diagonals(program, &arrays, span, out);
        self.after_cells(program, &arrays, span, out);
    }

    /// What is done for each iteration of the outer loop before any cell.
    fn before_cells(
        &self,
        program: &mut Program<Kernels>,
        arrays: &Arrays,
        span: SpanId,
        out: &mut Writer,
    ) {
        if self.variables.is_empty() && self.values.is_empty() && self.early.is_empty() {
            return;
        }
        self.for_each_row(program, span, out, |program, out, names| {
            copy(program, &self.before, names, out);
            let index = names.get(self.nest.outer);
            for &variable in &self.variables {
                let now = get(program, names.get(variable), span, out);
                out.run(element(arrays[&variable], index, now), span);
            }
            for &value in &self.values {
                out.run(element(arrays[&value], index, names.get(value)), span);
            }
            copy(program, &self.early, names, out);
        });
    }

    /// What is done for each iteration of the outer loop when all cells are known.
    fn after_cells(
        &self,
        program: &mut Program<Kernels>,
        arrays: &Arrays,
        span: SpanId,
        out: &mut Writer,
    ) {
        if self.late.is_empty() && self.sums.is_empty() {
            return;
        }
        self.for_each_row(program, span, out, |program, out, names| {
            let index = names.get(self.nest.outer);
            for (&place, &monoid) in &self.sums {
                let ty = Type::scalar(program.elem(place));
                let now = get(program, place, span, out);
                let part = load(program, arrays[&place], index, span, out);
                let op = KernelOp::Prim(monoid.prim(), smallvec![now, part]);
                let value = out.bind(program, op, ty, span);
                out.run(KernelOp::Set { place, value }, span);
            }
            self.bring(program, arrays, &self.late, names, out);
            copy(program, &self.late, names, out);
        });
    }

    /// A loop over the outer axis, whose body `inside` writes.
    fn for_each_row(
        &self,
        program: &mut Program<Kernels>,
        span: SpanId,
        out: &mut Writer,
        inside: impl FnOnce(&mut Program<Kernels>, &mut Writer, &mut Renamed),
    ) {
        let mut names = Renamed::default();
        let index = names.bind(program, self.nest.outer);
        let mut body = Writer::default();
        inside(program, &mut body, &mut names);
        let op = KernelOp::For {
            extent: self.nest.extents[0],
            reverse: self.nest.reverse[0],
            body: Box::new(Block {
                params: vec![index],
                stmts: body.stmts,
                results: Vec::new(),
            }),
        };
        out.run(op, span);
    }

    /// The cells, a kernel a diagonal.
    fn diagonals(
        &self,
        program: &mut Program<Kernels>,
        arrays: &Arrays,
        span: SpanId,
        out: &mut Writer,
    ) {
        let lengths = (self.nest.extents).map(|extent| out.size(program, extent, span));
        let one = out.number(program, 1, span);
        let both = out.count(program, Prim::Add, &lengths, span);
        let diagonals = Extent::Value(out.count(program, Prim::Sub, &[both, one], span));
        let mut all = Writer::default();
        all.each(program, diagonals, span, |program, inside, diagonal| {
            self.diagonal(program, (arrays, diagonal), lengths, span, [out, inside]);
        });
        out.stmts.append(&mut all.stmts);
    }

    /// A diagonal; what its points are kept in from kernel to kernel is made before all of them.
    fn diagonal(
        &self,
        program: &mut Program<Kernels>,
        (arrays, diagonal): (&Arrays, ValueId),
        lengths: [ValueId; 2],
        span: SpanId,
        [before, out]: [&mut Writer; 2],
    ) {
        let [rows, columns] = lengths;
        let one = out.number(program, 1, span);
        let at = out.count(program, Prim::Cast(Scalar::Usize), &[diagonal], span);
        let next = out.count(program, Prim::Add, &[at, one], span);
        // Of the outer loop's iterations the first, and the one after the last, that have a cell on it.
        let reached = out.count(program, Prim::Max, &[next, columns], span);
        let first = out.count(program, Prim::Sub, &[reached, columns], span);
        let end = out.count(program, Prim::Min, &[next, rows], span);
        let points = Extent::Value(out.count(program, Prim::Sub, &[end, first], span));
        let point = program.value(Type::scalar(Elem::Index(points)), span);
        let mut inside = Writer::default();
        let moved = inside.count(program, Prim::Cast(Scalar::Usize), &[point], span);
        let row = inside.count(program, Prim::Add, &[first, moved], span);
        let column = inside.count(program, Prim::Sub, &[at, row], span);
        let mut names = Renamed::default();
        let indices = [&[self.nest.outer][..], &self.nest.inner];
        for (k, number) in [row, column].into_iter().enumerate() {
            let extent = self.nest.extents[k];
            let number = match self.nest.reverse[k] {
                false => number,
                true => {
                    let next = inside.count(program, Prim::Add, &[number, one], span);
                    inside.count(program, Prim::Sub, &[lengths[k], next], span)
                }
            };
            let trust = KernelOp::Prim(Prim::Trust(extent), smallvec![number]);
            let ty = Type::scalar(Elem::Index(extent));
            let index = inside.bind(program, trust, ty, span);
            indices[k].iter().for_each(|&old| names.insert(old, index));
        }
        self.cell(program, arrays, names, span, &mut inside);
        let cell = Block {
            params: vec![point],
            stmts: inside.stmts,
            results: Vec::new(),
        };
        for (name, body) in self.kernels(program, (cell, points), span, before) {
            let par = Par {
                number: 0,
                by_columns: false,
                speculates: false,
                name: name.to_owned(),
                extents: vec![points],
                accs: Vec::new(),
                folds: Vec::new(),
                body: Box::new(body),
            };
            out.run(KernelOp::Own(par), span);
        }
    }

    /// The kernels of a diagonal's points: one, unless their functions become vectors only apart from
    /// the rest.
    fn kernels(
        &self,
        program: &mut Program<Kernels>,
        (cell, points): (Block<Kernels>, Extent),
        span: SpanId,
        before: &mut Writer,
    ) -> Vec<(&'static str, Block<Kernels>)> {
        let plain = Block {
            stmts: without_variables(program, &cell.stmts),
            ..cell.clone()
        };
        let Some(plan) = Distribution::of_points(program, &plain) else {
            return vec![("diagonal", cell)];
        };
        #[cfg(test)]
        crate::testing::entered::enter(&crate::testing::entered::DISTRIBUTED);
        let [rows, _] = self.nest.extents;
        let mut buffers = BTreeMap::new();
        for &value in &plan.kept {
            let buffer = before.alloc(program, program.elem(value), vec![rows], span);
            buffers.insert(value, buffer);
        }
        let phases = [
            ("reads of a diagonal", Phase::States),
            ("functions of a diagonal", Phase::Between),
            ("writes of a diagonal", Phase::Rest),
        ];
        phases
            .into_iter()
            .filter(|(_, phase)| plan.has(*phase))
            .map(|(name, phase)| {
                let itself = |_: &mut Program<Kernels>, _: &mut Writer, point| point;
                let body = plan.phase(program, phase, &plain, [points, rows], &buffers, itself);
                (name, body)
            })
            .collect()
    }

    /// A cell, whose indices are named.
    fn cell(
        &self,
        program: &mut Program<Kernels>,
        arrays: &Arrays,
        mut names: Renamed,
        span: SpanId,
        out: &mut Writer,
    ) {
        self.bring(program, arrays, &self.nest.cell, &mut names, out);
        for (&new, &old) in &self.rows {
            names.insert(new, old);
        }
        let mut cell = Writer::default();
        copy(program, &self.nest.cell, &mut names, &mut cell);
        let mut cell = Block {
            stmts: cell.stmts,
            ..Block::default()
        };
        let added = self.added.iter().map(|table| (table, table)).collect();
        add_in_place(program, &mut cell, &added);
        out.stmts.append(&mut cell.stmts);
        let index = names.get(self.nest.outer);
        let changed = Accesses::of(self.nest.cell.iter().copied()).changed();
        for variable in self.variables.iter().chain(self.sums.keys()) {
            if changed.contains(variable) {
                let now = get(program, names.get(*variable), span, out);
                out.run(element(arrays[variable], index, now), span);
            }
        }
    }

    /// Brings what these statements need of what comes before cells: out of arrays, or computed
    /// again.
    fn bring(
        &self,
        program: &mut Program<Kernels>,
        arrays: &Arrays,
        stmts: &Stmts<'_>,
        names: &mut Renamed,
        out: &mut Writer,
    ) {
        let span = SpanId::NONE;
        let mut wanted: ValueSet = stmts
            .iter()
            .flat_map(|stmt| needed(program, stmt))
            .collect();
        let index = names.get(self.nest.outer);
        for (&value, &buffer) in arrays.iter().filter(|(value, _)| wanted.contains(value)) {
            let mut now = load(program, buffer, index, span, out);
            if !self.values.contains(&value) {
                let ty = Type::scalar(program.elem(value));
                now = out.bind(program, KernelOp::Var(now), ty, span);
            }
            names.insert(value, now);
        }
        let mut again = Vec::new();
        for &stmt in self.before.iter().rev() {
            let is_wanted =
                |result: &ValueId| wanted.contains(result) && self.again.contains(result);
            if stmt.results.iter().any(is_wanted) {
                wanted.extend(needed(program, stmt));
                again.push(stmt);
            }
        }
        again.reverse();
        copy(program, &again, names, out);
    }
}

/// Copies of statements.
fn copy(program: &mut Program<Kernels>, stmts: &Stmts<'_>, names: &mut Renamed, out: &mut Writer) {
    for stmt in stmts {
        out.stmts.push(names.copy(program, stmt));
    }
}

/// What changes nothing it is combined with: of extrema of floats that is NaN, as all may be NaN.
fn neutral(monoid: Monoid, elem: Elem) -> Lit {
    match monoid {
        Monoid::Min | Monoid::Max if elem.is_float() => Lit::of(elem.repr(), f64::NAN),
        _ => monoid.identity(elem.repr()),
    }
}

/// An element of an array.
fn load(
    program: &mut Program<Kernels>,
    buffer: ValueId,
    index: ValueId,
    span: SpanId,
    out: &mut Writer,
) -> ValueId {
    let ty = Type::scalar(program.elem(buffer));
    let indices = vec![index];
    out.bind(program, KernelOp::Load { buffer, indices }, ty, span)
}

/// What a variable holds.
fn get(
    program: &mut Program<Kernels>,
    variable: ValueId,
    span: SpanId,
    out: &mut Writer,
) -> ValueId {
    let ty = Type::scalar(program.elem(variable));
    out.bind(program, KernelOp::Get(variable), ty, span)
}

fn element(buffer: ValueId, index: ValueId, value: ValueId) -> KernelOp {
    KernelOp::Store {
        buffer,
        indices: vec![index],
        value,
    }
}
