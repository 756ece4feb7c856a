//! What a part of a function does to the variables around it.
//!
//! A loop carries what its body assigns; what the body only adds to and never reads is accumulated
//! instead.

use std::collections::BTreeSet;

use super::hir::{
    Arg, Block, Call, Expr, Function, Kind, LocalId, Origin, Pattern, Place, Step, Stmt,
};
use super::types::Set;
use crate::syntax::tree::BinaryOp;

/// A variable, or a field of one.
pub(super) type Path = (LocalId, Vec<usize>);

/// What each function does to what it is given behind `&mut`.
#[derive(Debug, Default)]
pub(super) struct Summaries(Vec<Summary>);

/// What one function does to its parameters.
#[derive(Debug)]
struct Summary {
    params: Vec<LocalId>,
    uses: Vec<Usage>,
}

impl Summaries {
    /// Of functions of which each calls only those before it.
    pub(super) fn of(functions: &[Function<'_>]) -> Self {
        let mut known = Self::default();
        for function in functions {
            let mut effects = Effects::new(&known);
            effects.block(&function.body);
            let exclusive = |local: &LocalId| {
                function.params.contains(local)
                    && function.locals[local.0 as usize].origin == Origin::Exclusive
            };
            let written = |usage: &Usage| usage.how != Use::Read;
            let mut uses = effects.uses;
            uses.retain(|usage| exclusive(&usage.path.0) || written(usage));
            known.0.push(Summary {
                params: function.params.clone(),
                uses,
            });
        }
        known
    }
}

/// How a path is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Use {
    Read,
    Assign,
    Add,
}

/// A use of a path. `at` are the variables that its leading indices are, as far as they are plain
/// variables; `indices` how many there are. `repeated` says that a loop of the part is around it.
#[derive(Debug)]
struct Usage {
    path: Path,
    how: Use,
    at: Vec<LocalId>,
    indices: usize,
    repeated: bool,
}

/// The uses of variables in some part of a function.
#[derive(Debug)]
pub(super) struct Effects<'s> {
    uses: Vec<Usage>,
    declared: BTreeSet<LocalId>,
    /// The sets of the loops around, and those around the inmost loop.
    around: Vec<Set>,
    inmost: Vec<Set>,
    /// How many loops and closures are around.
    loops: usize,
    summaries: &'s Summaries,
}

impl<'s> Effects<'s> {
    /// None yet.
    pub(super) fn new(summaries: &'s Summaries) -> Self {
        Self {
            uses: Vec::new(),
            declared: BTreeSet::new(),
            around: Vec::new(),
            inmost: Vec::new(),
            loops: 0,
            summaries,
        }
    }

    /// Paths that are written, each once in order of first write, outer ones instead of their
    /// parts. The flag says that the part only adds to it, and does nothing else with it or with
    /// what overlaps it.
    pub(super) fn written(&self) -> Vec<(Path, bool)> {
        let mut found: Vec<(Path, bool)> = Vec::new();
        for Usage { path, how, .. } in &self.uses {
            if *how == Use::Read || self.declared.contains(&path.0) {
                continue;
            }
            if found.iter().any(|(p, _)| covers(p, path)) {
                continue;
            }
            found.retain(|(p, _)| !covers(path, p));
            found.push((path.clone(), false));
        }
        for (path, added) in &mut found {
            *added = self
                .uses
                .iter()
                .filter(|u| covers(&u.path, path) || covers(path, &u.path))
                .all(|u| u.how == Use::Add);
        }
        found
    }

    /// What the loops run over that are one inside the other, of the most such loops.
    pub(super) fn inmost(&self) -> &[Set] {
        &self.inmost
    }

    /// Whether a table is used only where its leading indices are these variables, which are not
    /// assigned. In a loop that binds them each iteration then has a part of the table to itself.
    pub(super) fn owned(&self, path: &Path, members: &[LocalId]) -> bool {
        path.1.is_empty()
            && self
                .uses
                .iter()
                .all(|u| u.path.0 != path.0 || u.at.starts_with(members))
            && !self
                .uses
                .iter()
                .any(|u| u.how != Use::Read && members.contains(&u.path.0))
    }

    /// Whether all that is written of what the first `count` indices of a table select are single
    /// places: further indices are given, and the same whatever loops of the part do.
    pub(super) fn at_places(&self, path: &Path, count: usize) -> bool {
        let is_place = |usage: &Usage| {
            let further = usage.at.get(count);
            let is_fixed = further.is_some_and(|local| !self.declared.contains(local));
            usage.indices > count && (is_fixed || !usage.repeated)
        };
        let of = |usage: &&Usage| covers(path, &usage.path) && usage.how != Use::Read;
        self.uses.iter().filter(of).all(is_place)
    }

    /// Whether every use of a path has this many indices.
    pub(super) fn indexed(&self, path: &Path, count: usize) -> bool {
        let mut uses = self.uses.iter().filter(|u| covers(path, &u.path));
        uses.all(|u| u.indices == count)
    }

    /// Adds those of a block.
    pub(super) fn block(&mut self, block: &Block) {
        for stmt in &block.stmts {
            match stmt {
                Stmt::Let(pattern, value) => {
                    self.expr(value);
                    self.declare(pattern);
                }
                Stmt::Expr(value) => self.expr(value),
            }
        }
        if let Some(value) = &block.value {
            self.expr(value);
        }
    }

    fn declare(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::Bind(local) => {
                self.declared.insert(*local);
            }
            Pattern::Tuple(parts) => parts.iter().for_each(|p| self.declare(p)),
            Pattern::Side(_, _, inner) => self.declare(inner),
            Pattern::Present(_, inner) => inner.iter().for_each(|p| self.declare(p)),
            Pattern::Wild | Pattern::Lit(_) | Pattern::Member(_) => {}
        }
    }

    fn repeated(&mut self, part: impl FnOnce(&mut Self)) {
        self.loops += 1;
        part(self);
        self.loops -= 1;
    }

    fn all<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) {
        for expr in exprs {
            self.expr(expr);
        }
    }

    fn place(&mut self, place: &Place, how: Use) {
        let mut fields = Vec::new();
        let mut lead = Vec::new();
        for step in &place.steps {
            match step {
                Step::Field(k) => fields.push(*k),
                Step::Index(_, indices) => {
                    self.all(indices);
                    lead.extend(indices);
                }
            }
        }
        let indices = lead.len();
        let at = plain(lead.into_iter());
        let path = (place.local, fields);
        self.uses.push(Usage {
            path,
            how,
            at,
            indices,
            repeated: self.loops > 0,
        });
    }

    fn read(&mut self, path: Path) {
        self.uses.push(Usage {
            path,
            how: Use::Read,
            at: Vec::new(),
            indices: 0,
            repeated: self.loops > 0,
        });
    }

    /// `t[i]…[j]` of a variable is a use of it there; of anything else, of all its parts.
    fn index(&mut self, base: &Expr, indices: &[Expr]) {
        let mut chain = vec![indices];
        let mut root = base;
        while let Kind::Index(inner, indices) = &root.kind {
            chain.push(indices);
            root = inner;
        }
        for indices in &chain {
            self.all(*indices);
        }
        match &root.kind {
            Kind::Local(local) => {
                let indices = chain.iter().map(|indices| indices.len()).sum();
                let at = plain(chain.into_iter().rev().flatten());
                self.uses.push(Usage {
                    path: (*local, Vec::new()),
                    how: Use::Read,
                    at,
                    indices,
                    repeated: self.loops > 0,
                });
            }
            _ => self.expr(root),
        }
    }

    /// Adds those of an expression.
    pub(super) fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            Kind::Lit(_)
            | Kind::Constant(_)
            | Kind::FloatConstant(..)
            | Kind::Function(..)
            | Kind::Member(_)
            | Kind::Extent(_)
            | Kind::SizeOf(_)
            | Kind::Accum(_, None)
            | Kind::Error => {}
            Kind::Local(local) => self.read((*local, Vec::new())),
            Kind::Field(inner, _) => match field_path(expr) {
                Some(path) => self.read(path),
                None => self.expr(inner),
            },
            Kind::Size(x)
            | Kind::Unary(_, x)
            | Kind::Cast(x)
            | Kind::FromBits(x)
            | Kind::Side(_, x)
            | Kind::OneOf(_, x)
            | Kind::Word(_, x)
            | Kind::Repeat(x)
            | Kind::NewExtent(_, x)
            | Kind::FromOrdinal(_, x)
            | Kind::StopGradient(x) => {
                self.expr(x);
            }
            Kind::Assert(cond, _, shown) => {
                self.expr(cond);
                shown.iter().for_each(|value| self.expr(value));
            }
            Kind::Print(print) => {
                self.all(&print.shown);
                self.prints(print.printed);
            }
            Kind::Debug(printed, _, value) => {
                self.expr(value);
                self.prints(*printed);
            }
            Kind::Binary(_, x, y) | Kind::Lazy(_, x, y) => {
                self.expr(x);
                self.expr(y);
            }
            Kind::Call(call) => self.call(call),
            Kind::Index(base, indices) => self.index(base, indices),
            Kind::Apply(f, args, _) | Kind::Method(_, f, args) | Kind::Vector(_, f, args) => {
                self.expr(f);
                self.all(args);
            }
            Kind::Accum(_, Some(extent)) => self.expr(extent),
            Kind::Monoid {
                extent,
                identity,
                op,
            } => {
                self.all(extent.as_deref());
                self.all([&**identity, &**op]);
            }
            Kind::Fold {
                init, op, table, ..
            } => self.all([&**init, &**op, &**table]),
            Kind::Filter {
                predicate, table, ..
            } => self.all([&**predicate, &**table]),
            Kind::Transform(transform) => self.expr(&transform.of),
            Kind::Tuple(parts) | Kind::Array(parts) => self.all(parts),
            Kind::Updated(base, fields) => {
                self.all(fields.iter().map(|(_, e)| e));
                self.expr(base);
            }
            Kind::Block(block) => self.block(block),
            Kind::If(cond, then, otherwise) => {
                self.expr(cond);
                self.block(then);
                self.all(otherwise.as_deref());
            }
            Kind::For(f) => {
                self.over(&f.over);
                self.all(f.skip_front.iter().chain(&f.skip_back));
                self.declare(&f.pattern);
                self.around.push(f.set.clone());
                if self.around.len() > self.inmost.len() {
                    self.inmost.clone_from(&self.around);
                }
                self.repeated(|effects| effects.block(&f.body));
                self.around.pop();
            }
            Kind::While { cond, body, bound } => {
                self.repeated(|effects| {
                    effects.expr(cond);
                    effects.block(body);
                });
                self.all(bound.as_deref());
            }
            Kind::Match(x, arms) => {
                self.expr(x);
                for arm in arms {
                    arm.patterns.iter().for_each(|p| self.declare(p));
                    self.all(&arm.guard);
                    self.expr(&arm.body);
                }
            }
            Kind::Closure(closure) => {
                closure.params.iter().for_each(|p| self.declare(p));
                self.repeated(|effects| effects.expr(&closure.body));
            }
            Kind::Assign(op, place, value) => {
                self.expr(value);
                let how = match op {
                    Some(BinaryOp::Add | BinaryOp::Sub) => Use::Add,
                    _ => Use::Assign,
                };
                self.place(place, how);
            }
            Kind::Put(place, value) => {
                self.expr(value);
                self.place(place, Use::Add);
            }
            Kind::PutAt { place, at, value } => {
                self.all(at);
                self.expr(value);
                self.place(place, Use::Add);
                // How many indices there are says which part it is.
                if let Some(usage) = self.uses.last_mut() {
                    usage.indices += at.len();
                }
            }
            Kind::Slice(place) => self.place(place, Use::Add),
        }
    }

    /// What is done to a place that is given to a function is what that does to its parameter.
    fn call(&mut self, call: &Call) {
        for (k, arg) in call.args.iter().enumerate() {
            match arg {
                Arg::Value(value) => self.expr(value),
                Arg::Place(place) => self.given(call, k, place),
            }
        }
        if let Some(printed) = call.printed {
            self.prints(printed);
        }
    }

    /// A print assigns the variable that stands for what has been printed.
    fn prints(&mut self, printed: LocalId) {
        self.uses.push(Usage {
            path: (printed, Vec::new()),
            how: Use::Assign,
            at: Vec::new(),
            indices: 0,
            repeated: self.loops > 0,
        });
    }

    fn given(&mut self, call: &Call, k: usize, place: &Place) {
        let summaries = self.summaries;
        self.place(place, Use::Assign);
        // Repeated over a frame, each repetition has another part.
        let known = summaries.0.get(call.callee);
        let (Some(summary), true) = (known, call.repeat.frame.is_empty()) else {
            return;
        };
        let param = summary.params[k];
        let inside: Vec<&Usage> = (summary.uses.iter())
            .filter(|usage| usage.path.0 == param)
            .collect();
        // What only reads it gives it back all the same.
        if inside.iter().all(|usage| usage.how == Use::Read) {
            return;
        }
        let Some(whole) = self.uses.pop() else {
            return;
        };
        for usage in inside {
            let mut path = whole.path.clone();
            path.1.extend(&usage.path.1);
            let mut at = whole.at.clone();
            if at.len() == whole.indices {
                let here = usage
                    .at
                    .iter()
                    .map_while(|local| summary.named(call, *local));
                at.extend(here);
            }
            self.uses.push(Usage {
                path,
                how: usage.how,
                at,
                indices: whole.indices + usage.indices,
                repeated: whole.repeated || usage.repeated,
            });
        }
    }

    fn over(&mut self, over: &super::hir::Over) {
        use super::hir::Over;
        match over {
            Over::Set => {}
            Over::Ints { start, end, .. } => {
                self.all(start.as_deref());
                self.expr(end);
            }
            Over::Members { start, end, .. } => {
                self.all(start.as_deref());
                self.all(end.as_deref());
            }
        }
    }
}

impl Summary {
    /// The variable of the caller that a parameter is throughout.
    fn named(&self, call: &Call, local: LocalId) -> Option<LocalId> {
        let k = self.params.iter().position(|param| *param == local)?;
        let changes = |usage: &Usage| usage.path.0 == local && usage.how != Use::Read;
        match call.args.get(k)? {
            Arg::Value(Expr {
                kind: Kind::Local(local),
                ..
            }) if !self.uses.iter().any(changes) => Some(*local),
            Arg::Value(_) | Arg::Place(_) => None,
        }
    }
}

/// The leading indices that are plain variables.
fn plain<'e>(indices: impl Iterator<Item = &'e Expr>) -> Vec<LocalId> {
    indices
        .map_while(|index| match &index.kind {
            Kind::Local(local) => Some(*local),
            _ => None,
        })
        .collect()
}

/// Whether `inner` is `outer` or a part of it.
fn covers(outer: &Path, inner: &Path) -> bool {
    outer.0 == inner.0 && inner.1.starts_with(&outer.1)
}

/// The path that `x.0.1` reads.
fn field_path(expr: &Expr) -> Option<Path> {
    match &expr.kind {
        Kind::Local(local) => Some((*local, Vec::new())),
        Kind::Field(inner, k) => {
            let mut path = field_path(inner)?;
            path.1.push(*k);
            Some(path)
        }
        _ => None,
    }
}
