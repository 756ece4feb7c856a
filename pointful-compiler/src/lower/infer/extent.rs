//! Extents that a body makes, `Extent::new(n)`, and the sets that they are of.
//!
//! Such a set is what a range runs over. Ranges with the same bounds are one set; each time that
//! `Extent::new` is written it is a set of its own.

use proc_macro2::Span;
use quote::ToTokens;

use super::Infer;
use crate::diag::lowering as say;
use crate::lower::hir::{Expr, Kind, LocalId, Origin};
use crate::lower::solve::{Range, TyKind};
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
        self.new_range(Range {
            text,
            of: None,
            bounds: None,
        })
    }

    fn new_range(&mut self, range: Range) -> Set {
        self.solver.ranges.push(range);
        Set::Range(self.solver.ranges.len() as u32 - 1)
    }

    /// The set that a range runs over. Two ranges with the same bounds are one set, if nothing but
    /// variables that never change says what the bounds are.
    pub(super) fn range_of(
        &mut self,
        text: String,
        of: Option<Set>,
        bounds: Option<Bounds>,
    ) -> Set {
        let Some(bounds) = bounds else {
            return self.new_range(Range {
                text,
                of,
                bounds: None,
            });
        };
        let key = (of.clone().map(|of| self.solver.set(&of)), bounds);
        if let Some(known) = self.ranges.get(&key) {
            return known.clone();
        }
        let set = self.new_range(Range {
            text,
            of,
            bounds: Some(key.1.names.clone()),
        });
        self.ranges.insert(key, set.clone());
        set
    }

    /// Adds a bound to those of a range, if the variables in it say what it is.
    pub(super) fn bounded(&self, bounds: Option<Bounds>, by: &tree::Expr) -> Option<Bounds> {
        let mut bounds = bounds?;
        self.bound_text(by, &mut bounds).then_some(bounds)
    }

    fn bound_text(&self, e: &tree::Expr, out: &mut Bounds) -> bool {
        match &e.kind {
            ExprKind::Lit(lit) => match lit.kind {
                LitKind::Int { value, .. } => {
                    out.text.push_str(&value.to_string());
                    true
                }
                LitKind::Float { .. } | LitKind::Bool(_) => false,
            },
            ExprKind::Path(path) => {
                let name = path_key(path);
                if let Some(local) = self.lookup(&name) {
                    if !self.says_a_bound(local) {
                        return false;
                    }
                    out.names.push(local);
                }
                out.text.push_str(&name);
                true
            }
            ExprKind::Paren(inner) => {
                out.text.push('(');
                let fits = self.bound_text(inner, out);
                out.text.push(')');
                fits
            }
            ExprKind::Field(inner, member) => {
                let fits = self.bound_text(inner, out);
                out.text.push_str(&format!(".{}", member.to_token_stream()));
                fits
            }
            ExprKind::Tuple(parts) => {
                out.text.push('(');
                let fits = parts.iter().all(|part| {
                    let fits = self.bound_text(part, out);
                    out.text.push(',');
                    fits
                });
                out.text.push(')');
                fits
            }
            // No operator that may panic: the bounds are computed before they are asked for.
            ExprKind::Binary(op, _, left, right)
                if matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul) =>
            {
                let left = self.bound_text(left, out);
                out.text.push_str(super::ops::sign(*op));
                left && self.bound_text(right, out)
            }
            ExprKind::Method {
                receiver,
                name,
                args,
            } if args.is_empty() && (name == "len" || name == "ordinal") => {
                let fits = self.bound_text(receiver, out);
                out.text.push_str(&format!(".{name}()"));
                fits
            }
            _ => false,
        }
    }

    /// Whether a variable never changes and is of what a bound is made of.
    fn says_a_bound(&self, local: LocalId) -> bool {
        let info = self.local(local);
        let changes = info.mutable || matches!(info.origin, Origin::Slice | Origin::Exclusive);
        !changes
            && match self.solver.shallow(&info.ty) {
                Ty::Scalar(_) | Ty::Member(_) | Ty::Offset(_) | Ty::Table(..) => true,
                ty @ Ty::Tuple(_) => self.solver.members(&ty).is_some(),
                Ty::Var(v) => matches!(self.solver.kind(v), TyKind::Int | TyKind::Number),
                _ => false,
            }
    }
}

/// How the bounds of a range are written, and the variables in them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Bounds {
    pub(super) text: String,
    pub(super) names: Vec<LocalId>,
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
        ExprKind::Tuple(parts) => {
            let parts: Vec<String> = parts.iter().map(text).collect();
            format!("({})", parts.join(", "))
        }
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
