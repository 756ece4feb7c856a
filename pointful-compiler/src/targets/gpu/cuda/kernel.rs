//! The text of a kernel.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::context::{Check, Context, Inline, Site};
use super::scalar::{self, Operand};
use crate::ir::stages::gpu::{Gpu, GpuOp, Lanes, Launch, Own, WARP};
use crate::ir::stages::imperative::identity;
use crate::ir::{Block, Extent, Operation, Scalar, SizeId, SpanId, Stmt, ValueId, ValueSet};
use crate::ops::Prim;

/// What a kernel is given.
pub(super) struct Given {
    /// Which kernel of the unit it is.
    pub(super) number: usize,
    /// In the order of its parameters: sizes, then values of the host's, and of buffers whether it
    /// writes them.
    pub(super) sizes: Vec<SizeId>,
    pub(super) values: Vec<ValueId>,
    /// Whether it has checks that may fail, or asks for those that have.
    pub(super) checks: bool,
}

/// How a kernel reaches a buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Storage {
    /// It is the device's: every access is looked at.
    Memory,
    /// An array of the thread's.
    Array,
}

struct Printer<'c, 'p> {
    context: &'c mut Context<'p>,
    /// What is bound in the kernel.
    bound: ValueSet,
    arrays: ValueSet,
    sizes: BTreeSet<SizeId>,
    /// Values of the host's, and whether they are buffers that the kernel writes.
    given: BTreeMap<ValueId, bool>,
    checks: bool,
    /// Whether a check that fails ends its point only.
    trial: bool,
    /// Whether threads run a point together.
    by_teams: bool,
    /// What stands in iterations that a team shares, if that is printed.
    shared: Option<Shared>,
    /// How many such loops there have been.
    loops: usize,
    /// The axes whose indices are bound around what is printed, which therefore have members.
    around: Vec<Extent>,
    out: String,
    indent: usize,
}

/// Iterations that a team shares.
struct Shared {
    /// The number of the loop.
    number: usize,
    /// The most values that one of its checks tells, if it has checks.
    told: Option<usize>,
}

/// Prints a kernel into the unit's text.
pub(super) fn kernel(context: &mut Context<'_>, launch: &Launch) -> Given {
    let number = context.kernels.len();
    let mut name = context.program.name.clone();
    name.retain(|c| c.is_ascii_alphanumeric() || c == '_');
    let name = format!("{name}_{number}");
    let mut printer = Printer {
        bound: launch.body.bound(),
        arrays: ValueSet::new(),
        sizes: BTreeSet::new(),
        given: BTreeMap::new(),
        checks: context.asks,
        trial: launch.trial,
        by_teams: launch.team.is_some(),
        shared: None,
        loops: 0,
        context,
        around: Vec::new(),
        out: String::new(),
        indent: 1,
    };
    printer.body(launch);
    let Printer {
        context,
        sizes,
        given,
        checks,
        out,
        ..
    } = printer;
    let mut parameters: Vec<String> = sizes
        .iter()
        .map(|&size| format!("usize {}", context.size(size)))
        .collect();
    for (&value, &written) in &given {
        let (ty, name) = (context.scalar(value).name(), context.name(value));
        parameters.push(match (context.is_buffer(value), written) {
            (false, _) => format!("{ty} {name}"),
            (true, true) => format!("{ty}* __restrict__ {name}"),
            (true, false) => format!("const {ty}* __restrict__ {name}"),
        });
    }
    for &own in launch.own() {
        let (ty, name) = (context.scalar(own).name(), context.name(own));
        parameters.push(format!("{ty}* {name}_of_all"));
    }
    if checks {
        parameters.push("Panic* panic, u64 launch".to_owned());
    }
    let title = match launch.name.as_str() {
        "" => String::new(),
        title => format!("// {}\n", title.replace(['\n', '\\'], " ")),
    };
    let stopped = match checks {
        true => "  if (stopped(panic, launch)) return;\n",
        false => "",
    };
    let _ = write!(
        context.text,
        "{title}KERNEL({}, 1) {name}({}) {{\n{stopped}{out}}}\n",
        launch.block,
        parameters.join(", "),
    );
    context.kernels.push((name, launch.block));
    Given {
        number,
        sizes: sizes.into_iter().collect(),
        values: given.into_keys().collect(),
        checks,
    }
}

impl Printer<'_, '_> {
    fn line(&mut self, line: &str) {
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
        self.out.push_str(line);
        self.out.push('\n');
    }

    /// Lines in braces.
    fn inside(&mut self, head: &str, body: impl FnOnce(&mut Self)) {
        let head = match head {
            "" => "{".to_owned(),
            head => format!("{head} {{"),
        };
        self.line(&head);
        self.indent += 1;
        body(self);
        self.indent -= 1;
        self.line("}");
    }

    /// A block in which there are indices of these axes.
    fn stmts_within(&mut self, extents: &[Extent], body: &Block<Gpu>) {
        let before = self.around.len();
        let extents = extents.iter().map(|&extent| self.context.resolve(extent));
        self.around.extend(extents);
        self.stmts(&body.stmts);
        self.around.truncate(before);
    }

    fn body(&mut self, launch: &Launch) {
        let block = launch.block;
        let points = self.product(&launch.extents);
        self.line(&format!("const u64 points = {points};"));
        let (mut first, mut all) = (
            format!("(u64)blockIdx.x * {block} + threadIdx.x"),
            format!("(u64)gridDim.x * {block}"),
        );
        if let Some(team) = launch.team {
            let team = self.value(team);
            self.line(&format!(
                "const u32 team = {team}, lane = threadIdx.x % team;"
            ));
            self.line(&format!(
                "SHARED(u64, scratch, {});",
                u64::from(block) / WARP
            ));
            (first, all) = (format!("({first}) / team"), format!("{all} / team"));
        }
        for &own in launch.own() {
            let dims = self.context.dims(own);
            let (ty, length) = (self.context.scalar(own).name(), self.product(dims));
            let name = self.context.name(own);
            self.line(&format!(
                "{ty}* {name} = {name}_of_all + ({first}) * ({length});"
            ));
        }
        let head = format!("for (u64 point = {first}; point < points; point += {all})");
        let point = |p: &mut Self| {
            p.indices("point", launch.indices(), &launch.extents);
            p.stmts_within(&launch.extents, &launch.body);
        };
        self.inside(&head, |p| match launch.trial {
            false => point(p),
            true => {
                p.inside("", point);
                p.line("next:;");
            }
        });
    }

    /// The indices of a point.
    fn indices(&mut self, point: &str, indices: &[ValueId], extents: &[Extent]) {
        let [index] = indices else {
            self.line(&format!("u64 rest = {point};"));
            for (k, (&index, &extent)) in indices.iter().zip(extents).enumerate().rev() {
                let (name, length) = (self.context.name(index), self.extent(extent));
                if k == 0 {
                    self.line(&format!("const usize {name} = rest;"));
                } else {
                    self.line(&format!("const usize {name} = rest % {length};"));
                    self.line(&format!("rest /= {length};"));
                }
            }
            return;
        };
        let name = self.context.name(*index);
        self.line(&format!("const usize {name} = {point};"));
    }

    /// The number of an extent.
    fn extent(&mut self, extent: Extent) -> String {
        match self.context.resolve(extent) {
            Extent::Const(number) => format!("{number}ull"),
            Extent::Size(size) => {
                self.sizes.insert(size);
                self.context.size(size)
            }
            Extent::Value(value) => self.named(value, false),
        }
    }

    fn product(&mut self, extents: &[Extent]) -> String {
        let factors: Vec<String> = extents.iter().map(|&extent| self.extent(extent)).collect();
        factors.join(" * ")
    }

    /// The name of a value, which the kernel is given unless it binds it.
    fn named(&mut self, value: ValueId, written: bool) -> String {
        if !self.bound.contains(&value) {
            *self.given.entry(value).or_default() |= written;
        }
        self.context.name(value)
    }

    /// A scalar where it is used.
    fn value(&mut self, value: ValueId) -> String {
        match self.context.inline(value) {
            Some(Inline::Lit(lit)) => scalar::literal(lit),
            Some(Inline::Extent(extent)) => self.extent(extent),
            None => self.named(value, false),
        }
    }

    fn operand(&mut self, value: ValueId) -> Operand {
        Operand {
            text: self.value(value),
            scalar: self.context.scalar(value),
        }
    }

    fn storage(&self, buffer: ValueId) -> Storage {
        match self.arrays.contains(&buffer) {
            true => Storage::Array,
            false => Storage::Memory,
        }
    }

    /// The row-major position of an element.
    fn position(&mut self, buffer: ValueId, indices: &[ValueId]) -> String {
        let dims = self.context.dims(buffer);
        let mut position = self.value(indices[0]);
        for (k, (&extent, &index)) in dims.iter().zip(indices).enumerate().skip(1) {
            let (length, index) = (self.extent(extent), self.value(index));
            position = match k {
                1 => format!("{position} * {length} + {index}"),
                _ => format!("({position}) * {length} + {index}"),
            };
        }
        position
    }

    fn read(&mut self, buffer: ValueId, position: &str) -> String {
        let name = self.named(buffer, false);
        match self.storage(buffer) {
            Storage::Memory => format!("LD({name}, {position})"),
            Storage::Array => format!("{name}[{position}]"),
        }
    }

    fn write(&mut self, buffer: ValueId, position: &str, value: &str) {
        let name = self.named(buffer, true);
        let line = match self.storage(buffer) {
            Storage::Memory => format!("ST({name}, {position}, {value});"),
            Storage::Array => format!("{name}[{position}] = {value};"),
        };
        if !self.by_teams || self.shared.is_some() || self.storage(buffer) == Storage::Array {
            return self.line(&line);
        }
        // The others may still read what was there, and read what is there from now on.
        self.line("team_barrier(team);");
        self.line(&format!("if (lane == 0) {line}"));
        self.line("team_barrier(team);");
    }

    fn bind(&mut self, value: ValueId, text: &str) {
        let (ty, name) = (self.context.scalar(value).name(), self.context.name(value));
        self.line(&format!("const {ty} {name} = {text};"));
    }

    /// Ends the thread, and says why, unless a condition holds; the point of a trial, in silence.
    fn unless(&mut self, condition: &str, span: SpanId, check: Check, values: &[Operand]) {
        if self.trial {
            return self.line(&format!("if (!({condition})) goto next;"));
        }
        let number = self.context.sites.len();
        let count = check.values();
        self.context.sites.push(Site { span, check });
        self.checks = true;
        let bits: Vec<String> = values.iter().take(count).map(bits).collect();
        if let Some(shared) = &mut self.shared {
            let k = shared.number;
            shared.told = Some(shared.told.unwrap_or(0).max(count));
            return self.inside(&format!("if (!({condition}))"), |p| {
                p.line(&format!("failed_{k} = item;"));
                p.line(&format!("site_{k} = {number};"));
                p.line(&format!("count_{k} = {count};"));
                for (at, bits) in bits.iter().enumerate() {
                    p.line(&format!("shown_{k}[{at}] = {bits};"));
                }
                p.line(&format!("goto done_{k};"));
            });
        }
        self.inside(&format!("if (!({condition}))"), |p| {
            if count > 0 {
                p.line(&format!(
                    "const u64 shown[{count}] = {{{}}};",
                    bits.join(", ")
                ));
            }
            let shown = if count > 0 { "shown" } else { "0" };
            // All threads of a team fail alike.
            let one = if p.by_teams { "if (lane == 0) " } else { "" };
            p.line(&format!(
                "{one}panic_at(panic, launch, point, {number}, {count}, {shown});"
            ));
            p.line("return;");
        });
    }

    fn stmts(&mut self, stmts: &[Stmt<Gpu>]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt<Gpu>) {
        match &stmt.op {
            // Written out where they are used.
            GpuOp::Const(_) | GpuOp::Size(_) => {}
            GpuOp::Prim(prim, args) => self.prim(*prim, args, stmt),
            GpuOp::Select(cond, x, y) => {
                let [cond, x, y] = [cond, x, y].map(|&value| self.value(value));
                self.bind(stmt.results[0], &format!("{cond} ? {x} : {y}"));
            }
            GpuOp::Alloc { .. } => {
                let array = stmt.results[0];
                let lengths = self.context.dims(array).iter();
                let lengths = lengths.map(|&extent| match self.context.resolve(extent) {
                    Extent::Const(number) => number,
                    Extent::Size(_) | Extent::Value(_) => unreachable!("a constant length"),
                });
                // An array of C's has an element.
                let length = lengths.product::<u64>().max(1);
                let (ty, name) = (self.context.scalar(array).name(), self.context.name(array));
                self.line(&format!("{ty} {name}[{length}];"));
                self.arrays.insert(array);
            }
            GpuOp::Load { buffer, indices } => {
                let position = self.position(*buffer, indices);
                let element = self.read(*buffer, &position);
                self.bind(stmt.results[0], &element);
            }
            GpuOp::Store {
                buffer,
                indices,
                value,
            } => {
                let position = self.position(*buffer, indices);
                let value = self.value(*value);
                self.write(*buffer, &position, &value);
            }
            GpuOp::Combine {
                monoid,
                place,
                indices,
                value,
            } => {
                let (scalar, value) = (self.context.scalar(*place), self.value(*value));
                if indices.is_empty() {
                    let name = self.context.name(*place);
                    let combined = scalar::combine(*monoid, scalar, &name, &value);
                    self.line(&format!("{name} = {combined};"));
                    return;
                }
                let position = self.position(*place, indices);
                let before = self.read(*place, &position);
                let combined = scalar::combine(*monoid, scalar, &before, &value);
                self.write(*place, &position, &combined);
            }
            GpuOp::Var(first) => {
                let (var, first) = (stmt.results[0], self.value(*first));
                let (ty, name) = (self.context.scalar(var).name(), self.context.name(var));
                self.line(&format!("{ty} {name} = {first};"));
            }
            GpuOp::Get(place) => {
                let name = self.context.name(*place);
                self.bind(stmt.results[0], &name);
            }
            GpuOp::Set { place, value } => {
                let value = self.value(*value);
                self.line(&format!("{} = {value};", self.context.name(*place)));
            }
            GpuOp::Swap(a, b) => self.swap(*a, *b),
            GpuOp::For {
                extent,
                reverse,
                body,
            } => {
                let (length, index) = (self.extent(*extent), self.context.name(body.params[0]));
                let head = match reverse {
                    false => format!("for (usize {index} = 0; {index} < {length}; {index}++)"),
                    true => format!("for (usize {index} = {length}; {index}-- > 0;)"),
                };
                self.inside(&head, |p| p.stmts_within(&[*extent], body));
            }
            GpuOp::While { cond, body } => self.inside("for (;;)", |p| {
                p.stmts(&cond.stmts);
                let go_on = p.value(cond.results[0]);
                p.line(&format!("if (!{go_on}) break;"));
                p.stmts(&body.stmts);
            }),
            GpuOp::If {
                cond,
                then,
                otherwise,
            } => {
                let cond = self.value(*cond);
                self.inside(&format!("if ({cond})"), |p| p.stmts(&then.stmts));
                if !otherwise.stmts.is_empty() {
                    self.inside("else", |p| p.stmts(&otherwise.stmts));
                }
            }
            GpuOp::Assert {
                cond,
                message,
                shown,
            } => {
                let cond = self.value(*cond);
                let values: Vec<Operand> = shown.iter().map(|&value| self.operand(value)).collect();
                let types = values.iter().map(|value| value.scalar).collect();
                let check = Check::Assert(message.clone(), types);
                self.unless(&cond, stmt.span, check, &values);
            }
            GpuOp::Own(Own::Part {
                extents,
                of,
                in_turns,
                body,
            }) => self.part(extents, *of, *in_turns, body),
            GpuOp::Own(Own::Lanes(lanes)) => self.lanes(lanes),
            GpuOp::Copy(_) | GpuOp::Contract { .. } | GpuOp::Own(Own::Launch(_)) => {
                unreachable!("it stands in no kernel")
            }
        }
    }

    fn prim(&mut self, prim: Prim, args: &[ValueId], stmt: &Stmt<Gpu>) {
        let operands: Vec<Operand> = args.iter().map(|&arg| self.operand(arg)).collect();
        let length = prim.extent().map(|extent| self.extent(extent));
        let length = |_| length.clone().unwrap_or_default();
        let condition = scalar::condition(prim, &operands, length);
        if let Some(condition) = condition.filter(|_| !self.has_members(prim)) {
            let told: Vec<Operand> = match prim {
                Prim::Check(extent) => {
                    let place = operands[0].place();
                    let numbers = [(place, Scalar::I64), (length(extent), Scalar::Usize)];
                    numbers
                        .map(|(text, scalar)| Operand { text, scalar })
                        .into()
                }
                _ => args.iter().map(|&arg| self.operand(arg)).collect(),
            };
            let check = Check::Prim(prim, operands[0].scalar);
            self.unless(&condition, stmt.span, check, &told);
        }
        self.bind(stmt.results[0], &scalar::prim(prim, &operands, length));
    }

    /// Whether what a primitive asks, and no more, is whether an axis has members that is known to
    /// have some.
    fn has_members(&self, prim: Prim) -> bool {
        let (Prim::Wrap(extent) | Prim::ClampTo(extent) | Prim::Mirror(extent)) = prim else {
            return false;
        };
        match self.context.resolve(extent) {
            Extent::Const(number) => number > 0,
            extent => self.around.contains(&extent),
        }
    }

    fn swap(&mut self, a: ValueId, b: ValueId) {
        let ty = self.context.scalar(a).name();
        let length = self.product(self.context.dims(a));
        let [first, second] = [a, b].map(|buffer| self.named(buffer, true));
        if self.storage(a) == Storage::Memory && self.storage(b) == Storage::Memory {
            let line = format!("{ty}* swapped = {first}; {first} = {second}; {second} = swapped;");
            return self.line(&format!("{{ {line} }}"));
        }
        self.inside(&format!("for (usize at = 0; at < {length}; at++)"), |p| {
            let [x, y] = [a, b].map(|buffer| p.read(buffer, "at"));
            p.line(&format!("const {ty} x = {x}, y = {y};"));
            p.write(a, "at", "y");
            p.write(b, "at", "x");
        });
    }

    fn part(&mut self, extents: &[Extent], of: ValueId, in_turns: bool, body: &Block<Gpu>) {
        self.inside("", |p| {
            let head = match in_turns {
                false => {
                    let first = p.begins(extents, Some(of));
                    format!("for (u64 point = {first}; point < end; point++)")
                }
                true => {
                    let (part, parts) = (p.value(of), p.parts(of));
                    p.begins(extents, None);
                    format!("for (u64 point = {part}; point < end; point += {parts})")
                }
            };
            p.inside(&head, |p| {
                p.indices("point", &body.params, extents);
                p.stmts_within(extents, body);
            });
        });
    }

    /// How many parts there are.
    fn parts(&mut self, of: ValueId) -> String {
        let parts = self.context.program.elem(of).extent();
        self.extent(parts.expect("the number of a part is an index"))
    }

    /// Where points begin, all of them or those of a part; their `end` is bound.
    fn begins(&mut self, extents: &[Extent], of: Option<ValueId>) -> String {
        let points = self.product(extents);
        let Some(of) = of else {
            self.line(&format!("const u64 end = {points};"));
            return "0".to_owned();
        };
        let (part, parts) = (self.value(of), self.parts(of));
        self.line(&format!("const u64 points_of_all = {points};"));
        self.line(&format!(
            "const u64 end = part_begins(points_of_all, {parts}, {part} + 1);"
        ));
        format!("part_begins(points_of_all, {parts}, {part})")
    }

    /// Iterations that a team shares, and what its threads have in the end. The first check that
    /// fails is told: of the iterations that a thread runs, its first one.
    fn lanes(&mut self, lanes: &Lanes) {
        let number = self.loops;
        self.loops += 1;
        let stores = stores(&lanes.body);
        if stores {
            self.line("team_barrier(team);");
        }
        self.inside("", |p| {
            for &(monoid, var) in &lanes.accs {
                let (ty, name) = (p.context.scalar(var).name(), p.context.name(var));
                let first = scalar::literal(identity(monoid, p.context.program.elem(var)));
                p.line(&format!("const {ty} {name}_before = {name};"));
                p.line(&format!("{name} = {first};"));
            }
            let first = p.begins(&lanes.extents, lanes.of);
            let before = std::mem::take(&mut p.out);
            p.shared = Some(Shared { number, told: None });
            let first = match first.as_str() {
                "0" => "lane".to_owned(),
                first => format!("{first} + lane"),
            };
            let head = format!("for (u64 item = {first}; item < end; item += team)");
            p.inside(&head, |p| {
                p.indices("item", &lanes.body.params, &lanes.extents);
                p.stmts_within(&lanes.extents, &lanes.body);
            });
            let told = p.shared.take().and_then(|shared| shared.told);
            let each = std::mem::replace(&mut p.out, before);
            if let Some(told) = told {
                p.line(&format!("u64 failed_{number} = ~0ull, shown_{number}[{}];", told.max(1)));
                p.line(&format!("u32 site_{number} = 0, count_{number} = 0;"));
            }
            p.out.push_str(&each);
            if told.is_some() {
                p.line(&format!("done_{number}:;"));
                p.line(&format!(
                    "const u64 least = team_combine(team, failed_{number}, scratch, [](u64 x, u64 y) {{ return y < x ? y : x; }});"
                ));
                p.inside("if (least != ~0ull)", |p| {
                    p.line(&format!(
                        "if (failed_{number} == least) panic_at(panic, launch, point, site_{number}, count_{number}, shown_{number});"
                    ));
                    p.line("return;");
                });
            }
            for &(monoid, var) in &lanes.accs {
                let (scalar, name) = (p.context.scalar(var), p.context.name(var));
                let ty = scalar.name();
                let of_two = scalar::combine(monoid, scalar, "x", "y");
                let all = format!(
                    "team_combine(team, {name}, scratch, []({ty} x, {ty} y) {{ return ({ty})({of_two}); }})"
                );
                p.line(&format!("const {ty} {name}_of_all = {all};"));
                let combined = scalar::combine(
                    monoid,
                    scalar,
                    &format!("{name}_before"),
                    &format!("{name}_of_all"),
                );
                p.line(&format!("{name} = {combined};"));
            }
        });
        if stores {
            self.line("team_barrier(team);");
        }
    }
}

/// The bits of a value that a check tells.
fn bits(value: &Operand) -> String {
    match value.scalar.is_float() {
        true => format!("(u64)to_bits({})", value.text),
        false => format!("(u64){}", value.text),
    }
}

/// Whether a block stores elements.
fn stores(block: &Block<Gpu>) -> bool {
    block.stmts.iter().any(|stmt| match &stmt.op {
        GpuOp::Store { .. } => true,
        GpuOp::Combine { indices, .. } => !indices.is_empty(),
        op => op.blocks().into_iter().any(stores),
    })
}
