//! Extents that a body makes, `Extent::new(n)`, and the sets that they are of.
//!
//! Such a set is what a range runs over: each time that one is written it is a set of its own, of a
//! length that the body computes.

use proc_macro2::Span;

use super::Infer;
use crate::diag::lowering as say;
use crate::lower::hir::{Expr, Kind};
use crate::lower::solve::TyKind;
use crate::lower::types::{Set, Ty};
use crate::syntax::tree::{self, BinaryOp, ExprKind, LitKind, SetKind, path_key};

impl<'a> Infer<'_, 'a> {
    /// `Extent::new(n)`, `Extent::<(Dyn, Dyn)>::new((n, m))`
    pub(super) fn new_extent(
        &mut self,
        of: Option<&'a tree::Set>,
        args: &'a [tree::Expr],
        span: Span,
    ) -> Expr {
        let [size] = args else {
            self.arity("Extent::new", 1, args.len(), span);
            for arg in args {
                self.expr(arg, None);
            }
            return self.poison(span);
        };
        let value = self.expr(size, None);
        self.settle();
        let Some(set) = self.set_of_size(of, &value.ty, size) else {
            return self.poison(span);
        };
        let ty = Ty::Extent(set.clone());
        self.made(Kind::NewExtent(set, Box::new(value)), ty, span)
    }

    /// The set that has so many members: a new one for each number.
    fn set_of_size(
        &mut self,
        of: Option<&'a tree::Set>,
        size: &Ty,
        written: &'a tree::Expr,
    ) -> Option<Set> {
        let parts = match of.map(|set| &set.kind) {
            None | Some(SetKind::Dyn | SetKind::Infer) => None,
            Some(SetKind::Product(parts)) => Some(parts),
            Some(_) => {
                let set = of.map(|set| self.written_set(set, crate::lower::solve::SetKind::Dyn))?;
                let shown = self.show_set(&set);
                self.report(say::new_extent(written.span, &shown));
                return None;
            }
        };
        match self.solver.shallow(size) {
            Ty::Tuple(sizes) if parts.is_none_or(|parts| parts.len() == sizes.len()) => {
                let mut sets = Vec::new();
                for (k, size) in sizes.iter().enumerate() {
                    let at = match &written.kind {
                        ExprKind::Tuple(written) => written.get(k).unwrap_or(&written[0]),
                        _ => written,
                    };
                    sets.push(self.set_of_size(parts.map(|parts| &parts[k]), size, at)?);
                }
                Some(Set::Product(sets))
            }
            found => {
                let is_number = parts.is_none()
                    && match found {
                        Ty::Var(v) => self.solver.kind(v) != TyKind::Float,
                        ref other => *other == Ty::USIZE,
                    };
                let want = match parts {
                    Some(parts) => Ty::Tuple(vec![Ty::USIZE; parts.len()]),
                    None => Ty::USIZE,
                };
                let fits = self.expect(&want, &found, written.span, || {
                    "the size of `Dyn` is a `usize`, that of a product a tuple of them".into()
                });
                (fits && is_number).then(|| self.range(format!("0..{}", text(written))))
            }
        }
    }

    /// A new set for a range, which is written so.
    pub(super) fn range(&mut self, text: String) -> Set {
        self.solver.ranges.push(text);
        Set::Range(self.solver.ranges.len() as u32 - 1)
    }
}

/// A range as it is written, for messages.
pub(super) fn range_text(
    start: Option<&tree::Expr>,
    end: Option<&tree::Expr>,
    inclusive: bool,
) -> String {
    let bound = |bound: Option<&tree::Expr>| bound.map(text).unwrap_or_default();
    let dots = if inclusive { "..=" } else { ".." };
    format!("{}{dots}{}", bound(start), bound(end))
}

/// An expression as far as it is short.
fn text(e: &tree::Expr) -> String {
    match &e.kind {
        ExprKind::Lit(lit) => match lit.kind {
            LitKind::Int { value, .. } => value.to_string(),
            LitKind::Float { .. } | LitKind::Bool(_) => "…".into(),
        },
        ExprKind::Path(path) => path_key(path),
        ExprKind::Paren(inner) => format!("({})", text(inner)),
        ExprKind::Binary(op, _, left, right) => {
            let sign = match op {
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div => {
                    super::ops::sign(*op)
                }
                _ => return "…".into(),
            };
            format!("{} {sign} {}", text(left), text(right))
        }
        _ => "…".into(),
    }
}
