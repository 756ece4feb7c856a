//! What a function allocates: every buffer with its purpose and its bytes, and what loops keep for
//! their way back.
//!
//! ```text
//! memory: 8·N·T + 16·N bytes
//!   the loop at 3:5 keeps 8·N·T bytes for its way back
//!   s f64[T, N]: 8·N·T bytes, kept by the loop at 3:5 for its way back
//!   f64[N]: 8·N bytes, carried by the loop at 3:5
//!   f64[N]: 8·N bytes, a result
//! ```
//!
//! The two loops that a derivative makes of one stand at the same place of the source and run in
//! opposite directions: what is written in one and read in the other is what it keeps.

use std::collections::{BTreeMap, BTreeSet};

use super::formula::{Formula, Length, Lengths};
use crate::ir::stages::kernels::{KernelOp, Kernels, Par};
use crate::ir::stages::point::{Point, PointOp};
use crate::ir::{Block, Checkpoint, Operation, Program, SpanId, ValueId};
use crate::pipeline::Stages;

/// The section on memory, a line for each loop that goes back and for each buffer.
pub(super) fn memory(stages: &Stages) -> String {
    let program = &stages.kernels;
    let mut walk = Walk {
        program,
        lengths: Lengths::new(program),
        loops: Vec::new(),
        open: Vec::new(),
        axes: Vec::new(),
        in_branch: false,
        in_while: false,
        kernel: None,
        kernels: 0,
        buffers: Vec::new(),
        known: BTreeMap::new(),
    };
    walk.block(&program.body);
    let at = |span: SpanId| {
        let start = stages.places.known(span).map(|span| span.start());
        start.map_or_else(
            || "an unknown place".to_owned(),
            |at| format!("{}:{}", at.line, at.column + 1),
        )
    };
    let (mut shared, mut private) = (Formula::default(), Formula::default());
    let mut kept: BTreeMap<SpanId, (Formula, Formula)> = BTreeMap::new();
    let mut lines = Vec::new();
    for buffer in &walk.buffers {
        let total = match buffer.kernel {
            None => &mut shared,
            Some(_) => &mut private,
        };
        total.add(&buffer.bytes);
        let mut line = format!("{}: {} bytes", buffer.name, buffer.bytes);
        if let Some(kernel) = buffer.kernel {
            line += &format!(" for each thread, private to an iteration of K{kernel}");
        }
        let going_back = walk.going_back(buffer);
        if program.body.results.contains(&buffer.value) {
            line += ", a result";
        }
        if let Some(span) = going_back {
            line += &format!(", kept by the loop at {} for its way back", at(span));
            let (all, each) = kept.entry(span).or_default();
            let part = if buffer.kernel.is_none() { all } else { each };
            part.add(&buffer.bytes);
        } else if let Some(span) = walk.carried(buffer) {
            line += &format!(", carried by the loop at {}", at(span));
        } else if buffer.summed {
            line += ", summed up";
        } else if !line.ends_with("a result") {
            line += ", an intermediate";
            if !buffer.readers.is_empty() {
                line += &format!(" for {}", buffer.readers.join(", "));
            }
            if let Some(loads) = buffer.loads.as_ref().filter(|loads| !loads.is_zero()) {
                line += &format!(", of which {loads} elements are read");
            }
        }
        if buffer.copies {
            line += ", with a copy for each piece of the work";
        }
        lines.push(line);
    }
    let mut text = format!("memory: {}\n", bytes(&shared, &private));
    for source in loops(&stages.point) {
        let turned = walk
            .loops
            .iter()
            .any(|l| l.span == source.span && l.reverse != source.reverse);
        if !turned {
            continue;
        }
        let what = match kept.get(&source.span) {
            Some((all, each)) => bytes(all, each),
            None => "nothing".to_owned(),
        };
        let how = source.checkpoint.map_or_else(String::new, because);
        text += &format!(
            "  the loop at {} keeps {what} for its way back{how}\n",
            at(source.span)
        );
    }
    for line in lines {
        text += &format!("  {line}\n");
    }
    text
}

/// What was asked to be kept.
fn because(checkpoint: Checkpoint) -> String {
    match checkpoint {
        Checkpoint::Every(k) => format!(
            ": `#[checkpoint(every = {k})]` asks for the states at every {k} iterations, and what {k} iterations need"
        ),
        Checkpoint::Levels(n) => format!(
            ": `#[checkpoint(levels = {n})]` asks for the states at the beginnings of pieces, {n} times over"
        ),
        Checkpoint::Log => {
            ": `#[checkpoint]` asks for the states at the beginnings of pieces, as often as halving ends".to_owned()
        }
    }
}

/// What there is once, and what there is for each thread.
fn bytes(shared: &Formula, private: &Formula) -> String {
    match (shared.is_zero(), private.is_zero()) {
        (_, true) => format!("{shared} bytes"),
        (true, false) => format!("{private} bytes for each thread"),
        (false, false) => format!("{shared} bytes, and {private} for each thread"),
    }
}

/// A loop of the source.
struct Source {
    span: SpanId,
    reverse: bool,
    checkpoint: Option<Checkpoint>,
}

/// The loops of a function, each place of the source once.
fn loops(program: &Program<Point>) -> Vec<Source> {
    fn walk(block: &Block<Point>, seen: &mut BTreeSet<SpanId>, found: &mut Vec<Source>) {
        for stmt in &block.stmts {
            let (reverse, checkpoint) = match &stmt.op {
                PointOp::Loop {
                    reverse,
                    checkpoint,
                    ..
                } => (Some(*reverse), *checkpoint),
                PointOp::While { .. } => (Some(false), None),
                _ => (None, None),
            };
            if let Some(reverse) = reverse
                && stmt.span != SpanId::NONE
                && seen.insert(stmt.span)
            {
                found.push(Source {
                    span: stmt.span,
                    reverse,
                    checkpoint,
                });
            }
            for inner in stmt.op.blocks() {
                walk(inner, seen, found);
            }
        }
    }
    let mut found = Vec::new();
    walk(&program.body, &mut BTreeSet::new(), &mut found);
    found
}

/// A sequential loop of the kernel program.
struct Sequential {
    span: SpanId,
    reverse: bool,
}

/// A buffer that the program allocates.
struct Buffer {
    value: ValueId,
    /// What the source calls it, and what it is.
    name: String,
    bytes: Formula,
    /// The kernel in which it is.
    kernel: Option<usize>,
    /// The loops around it.
    around: usize,
    /// The loops around each place where it is written, and read.
    writes: BTreeSet<Vec<usize>>,
    reads: BTreeSet<Vec<usize>>,
    /// Who reads it, in the order of reading.
    readers: Vec<String>,
    /// How many elements of it are read by kernels and the host, one by one; nobody knows of a
    /// `while`.
    loads: Option<Formula>,
    /// How many axes are open around it.
    depth: usize,
    /// Whether something is combined into it.
    summed: bool,
    /// Whether pieces of the work have copies.
    copies: bool,
}

struct Walk<'p> {
    program: &'p Program<Kernels>,
    lengths: Lengths<'p>,
    loops: Vec<Sequential>,
    /// The loops that are open.
    open: Vec<usize>,
    /// The lengths of all axes that are open, those of kernels among them.
    axes: Vec<Length>,
    /// Whether a branch is open, and a loop of which nobody knows how many steps it has.
    in_branch: bool,
    in_while: bool,
    kernel: Option<usize>,
    kernels: usize,
    buffers: Vec<Buffer>,
    /// The buffer that a value is, or a private copy of.
    known: BTreeMap<ValueId, usize>,
}

impl Walk<'_> {
    fn block(&mut self, block: &Block<Kernels>) {
        for stmt in &block.stmts {
            match &stmt.op {
                KernelOp::Alloc { .. } => self.allocated(stmt.results[0]),
                KernelOp::Copy(source) => {
                    self.read(*source, "a copy");
                    self.allocated(stmt.results[0]);
                    self.write(stmt.results[0]);
                }
                KernelOp::Load { buffer, .. } => {
                    self.read(*buffer, "the host");
                    self.load(*buffer);
                }
                KernelOp::Store { buffer, .. } => self.write(*buffer),
                KernelOp::Combine { place, .. } => {
                    self.write(*place);
                    if let Some(&k) = self.known.get(place) {
                        self.buffers[k].summed = true;
                    }
                }
                KernelOp::Contract {
                    out, factors, mask, ..
                } => {
                    let mask = mask.as_ref().map(|mask| &mask.buffer);
                    for &array in factors.iter().chain(mask) {
                        self.read(array, "a product");
                    }
                    self.write(*out);
                }
                KernelOp::Swap(a, b) => {
                    for value in [*a, *b] {
                        self.read(value, "the host");
                        self.write(value);
                    }
                }
                KernelOp::Own(Par { accs, folds, .. }) => {
                    let folded = folds.iter().flat_map(|f| f.targets.iter().zip(&f.privates));
                    let summed = accs.iter().map(|acc| (&acc.target, &acc.private));
                    for (target, private) in summed.chain(folded) {
                        if let Some(&k) = self.known.get(target) {
                            self.known.insert(*private, k);
                            self.buffers[k].copies = true;
                        }
                    }
                }
                KernelOp::For { .. }
                | KernelOp::While { .. }
                | KernelOp::If { .. }
                | KernelOp::Const(_)
                | KernelOp::Size(_)
                | KernelOp::Prim(..)
                | KernelOp::Select(..)
                | KernelOp::Var(_)
                | KernelOp::Get(_)
                | KernelOp::Set { .. }
                | KernelOp::Assert { .. } => {}
            }
            let (kernel, loops, axes) = (self.kernel, self.open.len(), self.axes.len());
            let (in_branch, in_while) = (self.in_branch, self.in_while);
            match &stmt.op {
                KernelOp::Own(Par { extents, .. }) => {
                    self.kernel = kernel.or(Some(self.kernels));
                    self.kernels += usize::from(kernel.is_none());
                    let lengths = extents.iter().map(|&extent| self.lengths.of(extent));
                    self.axes.extend(lengths);
                }
                KernelOp::For {
                    extent, reverse, ..
                } => {
                    self.begin(stmt.span, *reverse);
                    self.axes.push(self.lengths.of(*extent));
                }
                KernelOp::While { .. } => {
                    self.begin(stmt.span, false);
                    self.in_while = true;
                }
                KernelOp::If { .. } => self.in_branch = true,
                _ => {}
            }
            for inner in stmt.op.blocks() {
                self.block(inner);
            }
            (self.in_branch, self.in_while) = (in_branch, in_while);
            self.axes.truncate(axes);
            self.open.truncate(loops);
            self.kernel = kernel;
        }
    }

    fn begin(&mut self, span: SpanId, reverse: bool) {
        self.open.push(self.loops.len());
        self.loops.push(Sequential { span, reverse });
    }

    fn allocated(&mut self, value: ValueId) {
        let ty = self.program.ty(value);
        let lengths: Vec<_> = ty.dims.iter().map(|&dim| self.lengths.of(dim)).collect();
        let dims: Vec<String> = lengths.iter().map(ToString::to_string).collect();
        let shape = format!("{}[{}]", ty.elem.repr().name(), dims.join(", "));
        let name = match &self.program.values[value.index()].name {
            Some(name) => format!("{name} {shape}"),
            None => shape,
        };
        self.known.insert(value, self.buffers.len());
        self.buffers.push(Buffer {
            value,
            name,
            bytes: Formula::product(ty.elem.repr().bytes(), &lengths),
            kernel: self.kernel,
            around: self.open.len(),
            writes: BTreeSet::new(),
            reads: BTreeSet::new(),
            readers: Vec::new(),
            loads: (!self.in_while).then(Formula::default),
            depth: self.axes.len(),
            summed: false,
            copies: false,
        });
    }

    /// Notes that a kernel reads a buffer, or outside of all of them somebody else.
    fn read(&mut self, value: ValueId, outside: &str) {
        if let Some(&k) = self.known.get(&value) {
            let buffer = &mut self.buffers[k];
            buffer.reads.insert(self.open.clone());
            let kernel = self.kernel.map(|kernel| format!("K{kernel}"));
            let reader = kernel.unwrap_or_else(|| outside.to_owned());
            if !buffer.readers.contains(&reader) {
                buffer.readers.push(reader);
            }
        }
    }

    /// Counts the elements that are read at all points of the loops around.
    fn load(&mut self, value: ValueId) {
        let Some(&k) = self.known.get(&value) else {
            return;
        };
        let buffer = &mut self.buffers[k];
        if self.in_while {
            buffer.loads = None;
        }
        if let Some(loads) = &mut buffer.loads {
            loads.add(&Formula::product(1, &self.axes[buffer.depth..]));
            if self.in_branch {
                loads.bound();
            }
        }
    }

    fn write(&mut self, value: ValueId) {
        if let Some(&k) = self.known.get(&value) {
            self.buffers[k].writes.insert(self.open.clone());
        }
    }

    /// The loop that keeps a buffer for its way back.
    fn going_back(&self, buffer: &Buffer) -> Option<SpanId> {
        let inside = |loops: &BTreeSet<Vec<usize>>| -> Vec<usize> {
            let all = loops.iter().flat_map(|open| &open[buffer.around..]);
            all.copied().collect()
        };
        let reads = inside(&buffer.reads);
        let written = inside(&buffer.writes).into_iter().map(|k| &self.loops[k]);
        let turned = |l: &&Sequential| {
            let back =
                |&k: &usize| self.loops[k].span == l.span && self.loops[k].reverse != l.reverse;
            l.span != SpanId::NONE && reads.iter().any(back)
        };
        written.into_iter().find(turned).map(|l| l.span)
    }

    /// The loop that hands a buffer from one iteration to the next.
    fn carried(&self, buffer: &Buffer) -> Option<SpanId> {
        let first = |open: &Vec<usize>| open.get(buffer.around).copied();
        let reads: BTreeSet<usize> = buffer.reads.iter().filter_map(first).collect();
        let both = buffer
            .writes
            .iter()
            .filter_map(first)
            .find(|k| reads.contains(k))?;
        let span = self.loops[both].span;
        (span != SpanId::NONE).then_some(span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::source::link;
    use crate::pipeline;

    /// The section for the last function of a source.
    fn told(source: &str) -> String {
        let linked = link(source).unwrap_or_else(|e| panic!("{:?}", e.first().map(|e| &e.message)));
        let stages = pipeline::stages(&linked);
        memory(&stages.unwrap_or_else(|e| panic!("{:?}", e.first().map(|e| &e.message))))
    }

    /// The section for the gradient of a loop over whole tables, with this step.
    fn of_table(attribute: &str, step: &str) -> String {
        told(&format!(
            "fn f<N: IndexSet, T: IndexSet>(x: &Table<N, f64>, w: &Table<(T, N), f64>) -> f64 {{
    let mut s = x;
    {attribute}
    for t in T {{ s = for i in N {{ {step} }}; }}
    sum(s)
}}
fn g<N: IndexSet, T: IndexSet>(x: &Table<N, f64>, w: &Table<(T, N), f64>) -> Table<N, f64> {{
    grad!(f, wrt = x)(x, w)
}}"
        ))
    }

    #[test]
    fn a_loop_keeps_what_is_not_linear() {
        let text = of_table("", "(s[i] * w[t][i]).tanh() + s[(i + 1).wrap()]");
        assert_eq!(
            text,
            "memory: 8·N·T + 32·N bytes\n\
             \x20 the loop at 4:5 keeps 8·N·T bytes for its way back\n\
             \x20 s f64[N]: 8·N bytes, carried by the loop at 4:5\n\
             \x20 s f64[N]: 8·N bytes, carried by the loop at 4:5\n\
             \x20 f64[T, N]: 8·N·T bytes, kept by the loop at 4:5 for its way back\n\
             \x20 f64[N]: 8·N bytes, a result, carried by the loop at 4:5\n\
             \x20 f64[N]: 8·N bytes, carried by the loop at 4:5\n"
        );
    }

    #[test]
    fn a_linear_loop_keeps_nothing() {
        let text = of_table("", "s[i] * w[t][i] + s[(i + 1).wrap()]");
        let expected = "memory: 16·N bytes\n  the loop at 4:5 keeps nothing for its way back\n";
        assert!(text.starts_with(expected), "{text}");
        assert!(!text.contains("kept"), "{text}");
    }

    #[test]
    fn a_loop_of_a_lane_keeps_it_in_the_lane() {
        let text = told(
            "fn f<N: IndexSet, T: IndexSet>(x: &Table<N, f64>, w: &Table<T, f64>) -> f64 {
    sum(for i in N { let mut s = x[i]; for t in T { s = (s * w[t]).sin(); } s })
}
fn g<N: IndexSet, T: IndexSet>(x: &Table<N, f64>, w: &Table<T, f64>) -> Table<N, f64> {
    grad!(f, wrt = x)(x, w)
}",
        );
        assert_eq!(
            text,
            "memory: 8·N bytes, and 8·T for each thread\n\
             \x20 the loop at 2:40 keeps 8·T bytes for each thread for its way back\n\
             \x20 f64[N]: 8·N bytes, a result\n\
             \x20 f64[T]: 8·T bytes for each thread, private to an iteration of K0, kept by the loop at 2:40 for its way back\n"
        );
    }

    #[test]
    fn a_recurrence_keeps_its_table() {
        let text = told(
            "fn f<N: IndexSet>(a: &Table<N, f64>, b: &Table<N, f64>) -> f64 {
    let mut x = b;
    for i in N { let p = x.get(i - 1).unwrap_or(1.0); x[i] = (a[i] * p).sin() + b[i] * p; }
    sum(x)
}
fn g<N: IndexSet>(a: &Table<N, f64>, b: &Table<N, f64>) -> Table<N, f64> { grad!(f, wrt = a)(a, b) }",
        );
        let kept = "the loop at 3:5 keeps 8·N bytes for its way back\n";
        assert!(text.contains(kept), "{text}");
    }

    /// Row by row, and column by column.
    #[test]
    fn a_factorization_keeps_its_factor() {
        let rows = "for i in N {
        for j in ..i { l[i][j] = (a[i][j] - sum(for k in ..j { l[i][k] * l[j][k] })) / l[j][j]; }
        l[i][i] = (a[i][i] - sum(for k in ..i { l[i][k] * l[i][k] })).sqrt();
    }";
        let columns = "for j in N {
        l[j][j] = (a[j][j] - sum(for k in ..j { l[j][k] * l[j][k] })).sqrt();
        for i in (j + 1).. { l[i][j] = (a[i][j] - sum(for k in ..j { l[i][k] * l[j][k] })) / l[j][j]; }
    }";
        for (fill, inner) in [(rows, "4:9"), (columns, "5:9")] {
            let text = told(&format!(
                "fn f<N: IndexSet>(a: &Table<(N, N), f64>) -> f64 {{
    let mut l = for i in N {{ for j in N {{ 0.0 }} }};
    {fill}
    sum(for i in N {{ l[i][i].ln() }})
}}
fn g<N: IndexSet>(a: &Table<(N, N), f64>) -> Table<(N, N), f64> {{ grad!(f)(a) }}"
            ));
            for kept in [
                "memory: 24·N·N bytes\n",
                "the loop at 3:5 keeps 8·N·N bytes for its way back\n",
                &format!("the loop at {inner} keeps nothing for its way back\n"),
            ] {
                assert!(text.contains(kept), "{text}");
            }
        }
    }

    /// A small part of a large table is written in each iteration of another loop: the numbers are
    /// kept, and not the tables.
    #[test]
    fn a_loop_over_a_part_keeps_the_part() {
        let text = told(
            "fn f<N: IndexSet, T: IndexSet>(a: &Table<(T, N), f64>) -> f64 {
    let mut s = 0.5;
    for t in T {
        let mut x = a[t];
        for k in 0..3 { x[k] = (s * x[k]).sin() * s; }
        s = sum(x);
    }
    s
}
fn g<N: IndexSet, T: IndexSet>(a: &Table<(T, N), f64>) -> Table<(T, N), f64> { grad!(f)(a) }",
        );
        assert!(!text.contains("N·T bytes for its way back"), "{text}");
    }

    #[test]
    fn checkpoints_change_what_is_kept() {
        let step = "(s[i] * w[t][i]).tanh() + s[(i + 1).wrap()]";
        let of = |attribute| of_table(attribute, step);
        let every = of("#[checkpoint(every = 8)]");
        assert!(
            every.contains(
                "keeps at most 8·N·⌈T / 8⌉ + 64·N bytes for its way back: \
                 `#[checkpoint(every = 8)]` asks for the states at every 8 iterations, and what 8 iterations need\n"
            ),
            "{every}"
        );
        let levels = of("#[checkpoint(levels = 2)]");
        assert!(
            levels.contains(
                "keeps at most 8·N·⌈T / ⌈T / ⌈T^0.5⌉⌉⌉ + 8·N·⌈T / ⌈T^0.5⌉⌉ + 8·N bytes for its way back: \
                 `#[checkpoint(levels = 2)]`"
            ),
            "{levels}"
        );
        assert!(of("#[checkpoint]").contains(": `#[checkpoint]` asks for"));
    }

    #[test]
    fn loops_of_unknown_length() {
        let unbounded = told(
            "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(for i in N { let mut s = x[i] + 2.0; while s > 0.5 { s = s * 0.6 + 0.01 * x[i] * s; } s })
}
fn g<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { grad!(f)(x) }",
        );
        assert!(
            unbounded.contains("the loop at 2:46 keeps 8·iterations bytes for each thread"),
            "{unbounded}"
        );
        let triangular = told(
            "fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 {
    sum(for i in N { let mut s = x[i]; for j in ..i { s = s * x[j] + 0.3; } s })
}
fn g<N: IndexSet>(x: &Table<N, f64>) -> Table<N, f64> { grad!(f)(x) }",
        );
        assert!(
            triangular.contains("the loop at 2:40 keeps at most 8·N bytes for each thread"),
            "{triangular}"
        );
    }

    #[test]
    fn of_intermediates_it_says_how_much_is_read() {
        let of = |what: &str| {
            told(&format!(
                "fn f<N: IndexSet, M: IndexSet>(x: &Table<N, f64>, w: &Table<(M, N), f64>) -> Table<M, f64> {{
    let e = for i in N {{ x[i].tanh() }};
    for j in M {{ {what} }}
}}"
            ))
        };
        let text = of("sum(for i in N { (w[j][i] - e[i]).abs() })");
        let expected =
            "f64[N]: 8·N bytes, an intermediate for K1, of which 1·M·N elements are read\n";
        assert!(text.contains(expected), "{text}");
        let text = of(
            "let mut s = 0.0; for i in N { if w[j][i] > 0.0 { for k in N { s += e[k] * s; } } } s",
        );
        let expected = "an intermediate for K1, of which at most 1·M·N·N elements are read\n";
        assert!(text.contains(expected), "{text}");
        let text = of(
            "let mut s = 0.0; while s < 1.0 { for i in N { s = (s * e[i]).tanh() + w[j][i]; } } s",
        );
        assert!(!text.contains("are read"), "{text}");
    }

    #[test]
    fn without_derivatives_nothing_goes_back() {
        let text = told(
            "fn f<N: IndexSet, M: IndexSet>(x: &Table<(N, M), f32>) -> Table<M, f32> {
    let column = for j in M { sum(for i in N { x[i][j] }) };
    let mut s = column;
    for i in N { s = for j in M { s[j] * column[j] + x[i][j] }; }
    s
}",
        );
        assert!(!text.contains("way back"), "{text}");
        assert!(text.starts_with("memory: 8·M bytes\n"), "{text}");
        assert!(text.contains("4·M bytes, a result"), "{text}");
        let nothing = told("fn f<N: IndexSet>(x: &Table<N, f64>) -> f64 { sum(x) }");
        assert_eq!(nothing, "memory: 0 bytes\n");
    }
}
