//! `for`, `while` and `match`.

use proc_macro2::Span;

use super::Infer;
use super::expr::tail_span;
use super::extent::{Bounds, range_text};
use super::ops::Question;
use crate::diag::lowering as say;
use crate::lower::hir::{Arm, Block, Expr, For, Kind, Local, LocalId, Origin, Over, Pattern, Stmt};
use crate::lower::solve::{SetKind, TyKind};
use crate::lower::types::{Set, Ty};
use crate::syntax::tree::path_key;
use crate::syntax::tree::{self, Iter, LoopAttr, LoopAttrKind};

/// What a `for` runs over, as far as inference has gone.
struct Source {
    over: Over,
    /// Unless it is a range: which set that is is decided when all of it has been read.
    set: Set,
    /// The range as it is written.
    text: String,
    bounds: Option<Bounds>,
    member: Ty,
    reverse: bool,
    skip_front: Vec<Expr>,
    skip_back: Vec<Expr>,
}

/// A table over whose rows a `for` runs.
struct Rows {
    /// Its first axis.
    set: Set,
    /// What the rows are taken from in each iteration.
    table: Expr,
    /// The variable that this is, with its value, where it is bound in front of the loop.
    whole: Option<(LocalId, Expr)>,
}

impl<'a> Infer<'_, 'a> {
    pub(super) fn for_loop(
        &mut self,
        attrs: &'a [LoopAttr],
        pattern: &'a tree::Pattern,
        iter: &'a Iter,
        body: &'a tree::Block,
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let checkpoint = attrs.iter().find_map(|attr| match attr.kind {
            LoopAttrKind::Checkpoint(checkpoint) => Some((checkpoint, self.span(attr.name.span()))),
            LoopAttrKind::Bound(_) => None,
        });
        let rows = self.rows_of(iter);
        let first = rows.as_ref().map(|rows| rows.set.clone());
        let mut source = self.source(iter, first.as_ref());
        let of = match &source.over {
            Over::Set => None,
            Over::Ints { .. } => Some(None),
            Over::Members { of, .. } => Some(Some(of.clone())),
        };
        if let Some(of) = of {
            let text = std::mem::take(&mut source.text);
            source.set = self.range_of(text, of, source.bounds.take());
        }
        let hint = match want.map(|w| self.solver.shallow(w)) {
            Some(Ty::Table(groups, elem)) if groups.len() == 1 => {
                let is_row = matches!(self.solver.set(&groups[0]), Set::Ragged(..));
                (!is_row).then_some(*elem)
            }
            _ => None,
        };
        self.scopes.push(Vec::new());
        let (pattern, row) = match &rows {
            None => (self.binding(pattern, &source.member, Origin::Bound), None),
            Some(rows) => {
                let (member, row) = self.row_of(rows, pattern, &source.member, iter_span(iter));
                (member, Some(row))
            }
        };
        let (mut body, value) = self.block(body, hint.as_ref());
        body.stmts.splice(..0, row);
        self.scopes.pop();
        self.settle();
        let made = match source.over {
            Over::Set => self.rows_made(&source.set, &pattern, &value),
            Over::Ints { .. } | Over::Members { .. } => None,
        };
        let makes_rows = made.is_some();
        let ty = match self.solver.shallow(&value) {
            unit if unit == Ty::UNIT => Ty::UNIT,
            Ty::Error => Ty::Error,
            _ => made.unwrap_or_else(|| Ty::table(vec![source.set.clone()], value.clone())),
        };
        let place = self.span(iter_span(iter));
        let kind = Kind::For(Box::new(For {
            place,
            pattern,
            over: source.over,
            set: source.set,
            reverse: source.reverse,
            checkpoint,
            skip_front: source.skip_front,
            skip_back: source.skip_back,
            body,
            value,
            makes_rows,
        }));
        let made = self.made(kind, ty, span);
        match rows.and_then(|rows| rows.whole) {
            None => made,
            Some(whole) => self.behind(whole, made, span),
        }
    }

    /// What a table that a `for` runs over is.
    fn rows_of(&mut self, iter: &'a Iter) -> Option<Rows> {
        let table = match iter {
            Iter::Rev(inner, _) | Iter::Skip(inner, ..) => return self.rows_of(inner),
            Iter::Range { .. } => return None,
            Iter::Rows(table) => self.expr(table, None),
            Iter::Set(set) => {
                let tree::SetKind::Path(path, _) = &set.kind else {
                    return None;
                };
                let local = self.lookup(&path_key(path))?;
                let ty = self.local(local).ty.clone();
                self.made(Kind::Local(local), ty, set.span)
            }
        };
        self.settle();
        let found = self.solver.shallow(&table.ty);
        let sets = match &found {
            Ty::Table(groups, _) => self.solver.atoms(groups),
            _ => Vec::new(),
        };
        let set = match sets.into_iter().next() {
            Some(Set::Ragged(rows, _)) => *rows,
            Some(set) => set,
            None => {
                if let Iter::Rows(written) = iter
                    && found != Ty::Error
                {
                    let shown = self.show(&found);
                    self.report(
                        say::not_iterable(written.span, &shown)
                            .help("an index set, a range, an `Extent` or a table stands here"),
                    );
                }
                let is_written = matches!(iter, Iter::Rows(_));
                return is_written.then(|| Rows {
                    set: Set::Error,
                    table: self.poison(iter_span(iter)),
                    whole: None,
                });
            }
        };
        // What the body does to a variable changes nothing of what the loop runs over.
        let is_fixed = match table.kind {
            Kind::Local(local) => !self.local(local).mutable,
            _ => false,
        };
        if is_fixed {
            return Some(Rows {
                set,
                table,
                whole: None,
            });
        }
        let whole = self.hidden("a table", table.ty.clone(), iter_span(iter));
        let of = self.made(Kind::Local(whole), table.ty.clone(), iter_span(iter));
        Some(Rows {
            set,
            table: of,
            whole: Some((whole, table)),
        })
    }

    /// Binds the row of a table at the member of a loop over its first axis: what the loop binds,
    /// and what its body begins with.
    fn row_of(
        &mut self,
        rows: &Rows,
        pattern: &'a tree::Pattern,
        member: &Ty,
        span: Span,
    ) -> (Pattern, Stmt) {
        let at = self.hidden("a row", member.clone(), span);
        let index = self.made(Kind::Local(at), member.clone(), span);
        let table = rows.table.clone();
        let question = Question::Index(
            table.ty.clone(),
            vec![(member.clone(), span)],
            vec![Some(at)],
        );
        let ty = self.ask(question, span);
        let row = self.made(Kind::Index(Box::new(table), vec![index]), ty.clone(), span);
        let bound = self.binding(pattern, &ty, Origin::Bound);
        (Pattern::Bind(at), Stmt::Let(bound, row))
    }

    /// An expression in front of which a variable that nobody has written is bound.
    fn behind(&mut self, (local, value): (LocalId, Expr), e: Expr, span: Span) -> Expr {
        let ty = e.ty.clone();
        let block = Block {
            stmts: vec![Stmt::Let(Pattern::Bind(local), value)],
            value: Some(Box::new(e)),
        };
        self.made(Kind::Block(block), ty, span)
    }

    /// A variable that nobody has written.
    fn hidden(&mut self, name: &str, ty: Ty, span: Span) -> LocalId {
        let local = LocalId(self.locals.len() as u32);
        self.locals.push(Local {
            name: name.to_owned(),
            ty,
            mutable: false,
            origin: Origin::Bound,
            reference: false,
            params: Vec::new(),
            span,
        });
        local
    }

    /// What a loop runs over: the first axis of a table, where that is given.
    fn source(&mut self, iter: &'a Iter, rows: Option<&Set>) -> Source {
        match iter {
            Iter::Set(_) | Iter::Rows(_) => {
                let set = match (rows, iter) {
                    (None, Iter::Set(set)) => self.loop_set(set),
                    (rows, _) => rows.cloned().unwrap_or(Set::Error),
                };
                Source {
                    over: Over::Set,
                    member: self.solver.member(&self.solver.set(&set)),
                    set,
                    text: String::new(),
                    bounds: Some(Bounds::default()),
                    reverse: false,
                    skip_front: Vec::new(),
                    skip_back: Vec::new(),
                }
            }
            Iter::Rev(inner, _) => {
                let mut source = self.source(inner, rows);
                source.reverse = !source.reverse;
                source
            }
            Iter::Skip(inner, count, _) => {
                let mut source = self.source(inner, rows);
                let count_expr = self.expr(count, Some(&Ty::USIZE));
                self.expect(&Ty::USIZE, &count_expr.ty, count.span, || {
                    "`skip` takes a `usize`".into()
                });
                if let Some(bounds) = &mut source.bounds {
                    bounds.text += if source.reverse {
                        " but last "
                    } else {
                        " but first "
                    };
                }
                source.bounds = self.bounded(source.bounds, count);
                source.text = "a range".into();
                if source.reverse {
                    source.skip_back.push(count_expr);
                } else {
                    source.skip_front.push(count_expr);
                }
                if let Over::Set = source.over {
                    source.over = Over::Members {
                        of: source.set.clone(),
                        start: None,
                        end: None,
                        inclusive: false,
                    };
                }
                source
            }
            Iter::Range {
                start,
                end,
                inclusive,
                span,
            } => self.range_source(start.as_deref(), end.as_deref(), *inclusive, *span),
        }
    }

    /// A set after `in`: also a local of type `Extent`.
    fn loop_set(&mut self, set: &'a tree::Set) -> Set {
        if let tree::SetKind::Product(parts) = &set.kind
            && !parts.is_empty()
        {
            return Set::product(parts.iter().map(|p| self.loop_set(p)).collect());
        }
        if let tree::SetKind::Path(path, _) = &set.kind {
            let name = path_key(path);
            if let Some(local) = self.lookup(&name) {
                self.settle();
                let ty = self.solver.shallow(&self.local(local).ty.clone());
                return match ty {
                    Ty::Extent(set) => set,
                    Ty::Error => Set::Error,
                    other => {
                        let shown = self.show(&other);
                        let help = match other {
                            Ty::Scalar(s) if s.is_int() => {
                                format!("for a number of iterations write `0..{name}`")
                            }
                            Ty::Var(_) => format!("for a number of iterations write `0..{name}`"),
                            Ty::Table(..) => {
                                format!("loop over its index set: `for i in _ {{ … {name}[i] … }}`")
                            }
                            _ => "an index set, a range, an `Extent` or a table stands here".into(),
                        };
                        self.report(say::not_iterable(set.span, &shown).help(help));
                        Set::Error
                    }
                };
            }
        }
        let found = self.written_set(set, SetKind::Free);
        if let tree::SetKind::Dyn = set.kind {
            self.any_sets.push(found.clone());
        }
        found
    }

    fn range_source(
        &mut self,
        start: Option<&'a tree::Expr>,
        end: Option<&'a tree::Expr>,
        inclusive: bool,
        span: Span,
    ) -> Source {
        let first = start.map(|e| self.expr(e, None));
        let last = end.map(|e| self.expr(e, None));
        self.settle();
        let mut of = None;
        for bound in [&first, &last].into_iter().flatten() {
            if let Ty::Offset(set) = self.solver.shallow(&bound.ty) {
                of = Some(set);
            } else if let Some(set) = self.solver.members(&bound.ty) {
                of = Some(set);
            }
        }
        let mut bounds = Some(Bounds::default());
        if let Some(start) = start {
            bounds = self.bounded(bounds, start);
        }
        if let Some(bounds) = &mut bounds {
            bounds.text += if inclusive { "..=" } else { ".." };
        }
        if let Some(end) = end {
            bounds = self.bounded(bounds, end);
        }
        let source = |over, member| Source {
            over,
            set: Set::Error,
            text: range_text(start, end, inclusive),
            bounds,
            member,
            reverse: false,
            skip_front: Vec::new(),
            skip_back: Vec::new(),
        };
        if let Some(of) = of {
            for (bound, e) in [(&first, start), (&last, end)] {
                let (Some(bound), Some(e)) = (bound, e) else {
                    continue;
                };
                let want = match self.solver.shallow(&bound.ty) {
                    Ty::Offset(_) => Ty::Offset(of.clone()),
                    _ => self.solver.member(&of),
                };
                let is_extent = matches!(self.solver.shallow(&bound.ty), Ty::Extent(_));
                if !self.expect(&want, &bound.ty, e.span, || match is_extent {
                    true => "to the last member it is `i..`".into(),
                    false => "both ends are members of one set".into(),
                }) {
                    return source(Over::Set, Ty::Error);
                }
            }
            let over = Over::Members {
                of: of.clone(),
                start: first.map(Box::new),
                end: last.map(Box::new),
                inclusive,
            };
            let member = self.solver.member(&of);
            return source(over, member);
        }
        let Some(last) = last else {
            self.report(say::endless_range(span));
            return source(Over::Set, Ty::Error);
        };
        let ty = last.ty.clone();
        for (bound, e) in [(first.as_ref(), start), (Some(&last), end)] {
            let (Some(bound), Some(e)) = (bound, e) else {
                continue;
            };
            if !self.is_bound(&bound.ty, e.span) {
                return source(Over::Set, Ty::Error);
            }
        }
        if let (Some(first), Some(e)) = (&first, end)
            && !self.expect(&first.ty, &ty, e.span, || {
                "both ends of a range are of one type".into()
            })
        {
            return source(Over::Set, Ty::Error);
        }
        let over = Over::Ints {
            start: first.map(Box::new),
            end: Box::new(last),
            inclusive,
        };
        source(over, ty)
    }

    /// Whether a type may bound a range; what is not known yet is a length. Reports if not.
    fn is_bound(&mut self, ty: &Ty, span: Span) -> bool {
        let found = self.solver.shallow(ty);
        let integer = match &found {
            Ty::Scalar(s) => s.is_int(),
            Ty::Var(v) => match self.solver.kind(*v) {
                TyKind::Int => true,
                TyKind::Any | TyKind::Number if self.is_constant(&found) => {
                    self.solver.count_to(*v);
                    true
                }
                TyKind::Any | TyKind::Number => self.solver.unify(ty, &Ty::USIZE).is_ok(),
                TyKind::Float => false,
            },
            Ty::Error => return false,
            _ => false,
        };
        if !integer {
            let shown = self.show(&found);
            let of_set = matches!(found, Ty::Extent(_));
            self.report(say::range_bounds(span, &shown, of_set));
        }
        integer
    }

    pub(super) fn while_loop(
        &mut self,
        attrs: &'a [LoopAttr],
        cond: &'a tree::Expr,
        body: &'a tree::Block,
        span: Span,
    ) -> Expr {
        let mut bound = None;
        for attr in attrs {
            match &attr.kind {
                LoopAttrKind::Bound(value) => {
                    let most = self.expr(value, Some(&Ty::USIZE));
                    self.expect(&Ty::USIZE, &most.ty, value.span, || {
                        "`bound` is a number of iterations".into()
                    });
                    bound = Some(Box::new(most));
                }
                LoopAttrKind::Checkpoint(_) => {}
            }
        }
        let cond = self.condition(cond);
        let at = body.value.as_ref().map_or(body.span, |v| v.span);
        let (body, ty) = self.block(body, Some(&Ty::UNIT));
        self.expect(&Ty::UNIT, &ty, at, || {
            "the body of a `while` has no value".into()
        });
        let kind = Kind::While {
            cond: Box::new(cond),
            body,
            bound,
        };
        self.made(kind, Ty::UNIT, span)
    }

    pub(super) fn match_on(
        &mut self,
        x: &'a tree::Expr,
        arms: &'a [tree::Arm],
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let x_expr = self.expr(x, None);
        self.settle();
        let ty = match want {
            Some(want) => want.clone(),
            None => self.unknown(span),
        };
        let result = if want.is_some() {
            self.unknown(span)
        } else {
            ty.clone()
        };
        let before = self.shared.diags.len();
        let mut lowered = Vec::new();
        for arm in arms {
            arm.patterns.iter().for_each(|p| self.no_capitals(p));
            // Alternatives that bind names bind them to different values: they are arms of their own.
            let alone = arm.patterns.len() > 1 && arm.patterns.iter().any(binds);
            let width = if alone { 1 } else { arm.patterns.len() };
            for patterns in arm.patterns.chunks(width) {
                let mistakes = self.shared.diags.len();
                self.scopes.push(Vec::new());
                let patterns = patterns
                    .iter()
                    .map(|p| self.pattern(p, &x_expr.ty, Origin::Bound))
                    .collect();
                let guard = arm.guard.as_ref().map(|g| self.condition(g));
                let body = self.expr(&arm.body, Some(&ty));
                self.expect(&result, &body.ty, tail_span(&arm.body), || {
                    "all arms of a `match` give values of one type".into()
                });
                self.scopes.pop();
                lowered.push(Arm {
                    patterns,
                    guard,
                    body,
                });
                // What is wrong with one alternative is wrong with the next.
                if self.shared.diags.len() > mistakes {
                    break;
                }
            }
        }
        if self.shared.diags.len() > before {
            return self.poison(span);
        }
        if !self.exhaustive(&x_expr.ty, &lowered) {
            let missing = self.missing_variants(&x_expr.ty, &lowered);
            return self.fail(say::not_exhaustive(x.span, &missing));
        }
        self.made(Kind::Match(Box::new(x_expr), lowered), result, span)
    }
}

/// Where what a `for` runs over is written.
fn iter_span(iter: &Iter) -> Span {
    match iter {
        Iter::Set(set) => set.span,
        Iter::Rows(table) => table.span,
        Iter::Range { span, .. } => *span,
        Iter::Rev(inner, _) | Iter::Skip(inner, ..) => iter_span(inner),
    }
}

/// Whether a pattern binds a name.
fn binds(pattern: &tree::Pattern) -> bool {
    match pattern {
        tree::Pattern::Name { name, .. } => *name != "None",
        tree::Pattern::Wild(_) | tree::Pattern::Lit(..) => false,
        tree::Pattern::Tuple(parts, _) => parts.iter().any(binds),
        tree::Pattern::Typed(inner, _) => binds(inner),
        tree::Pattern::Variant { inner, .. } => inner.iter().any(binds),
        tree::Pattern::Struct { fields, .. } => fields.iter().any(|(_, p)| binds(p)),
    }
}
