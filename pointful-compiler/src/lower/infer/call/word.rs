//! Words of the language: reductions, sizes, members by their numbers.

use proc_macro2::Span;

use crate::diag::lowering as say;
use crate::lower::hir::{Expr, Kind};
use crate::lower::infer::Infer;
use crate::lower::solve::{SetKind, TyKind};
use crate::lower::types::{Set, Ty};
use crate::lower::words::Word;
use crate::syntax::tree;

impl<'a> Infer<'_, 'a> {
    pub(super) fn word(
        &mut self,
        word: Word,
        at: Span,
        args: &'a [tree::Expr],
        span: Span,
    ) -> Expr {
        if let [closure] = args
            && matches!(closure.kind, tree::ExprKind::Closure { .. })
        {
            return self.fail(say::reduce_function(closure.span, word.name()));
        }
        let mut inferred: Vec<Expr> = args.iter().map(|a| self.expr(a, None)).collect();
        if args.len() == 2 && matches!(word, Word::Min | Word::Max) {
            return self.fail(say::min_of_two(at, word.name()));
        }
        if inferred.len() != 1 {
            let arity = say::arity(at, word.name(), 1, args.len());
            return self.fail(arity.help(say::along_an_axis(word.name())));
        }
        let table = inferred.remove(0);
        self.settle();
        self.constant_array(&table.ty, args[0].span);
        let (group, inner) = match self.solver.shallow(&table.ty) {
            Ty::Table(groups, elem) => {
                let groups = self.solver.groups(&groups);
                (groups[0].clone(), Ty::table(groups[1..].to_vec(), *elem))
            }
            Ty::Error => return self.poison(span),
            Ty::Var(v) if self.solver.kind(v) == TyKind::Any => {
                return self.fail(say::unknown_operand(args[0].span));
            }
            other => {
                let shown = self.show(&other);
                return self.fail(say::reduce_scalar(args[0].span, word.name(), &shown));
            }
        };
        let (axes, cell) = self.split(&inner);
        let Some(result) = self.word_cell(word, &group, &cell) else {
            let shown = self.show(&cell);
            let refused = say::reduce_elements(args[0].span, word.name(), &shown);
            return self.fail(match self.reduced_instead(word, &cell) {
                Some(help) => refused.help(help),
                None => refused,
            });
        };
        let ty = match word {
            Word::CumSum | Word::CumProd => Ty::table([vec![group], axes].concat(), result),
            _ => Ty::table(axes, result),
        };
        self.made(Kind::Word(word, Box::new(table)), ty, span)
    }

    /// What a word makes of the elements along an axis; `None` if it does not apply to such
    /// elements.
    pub(super) fn word_cell(&mut self, word: Word, group: &Set, cell: &Ty) -> Option<Ty> {
        let numeric = |s: &Self, float: bool| match cell {
            Ty::Scalar(scalar) => scalar.is_float() || (!float && scalar.is_int()),
            Ty::Float(_) => true,
            Ty::Var(v) => !float || s.solver.kind(*v) != TyKind::Int,
            _ => false,
        };
        if *cell == Ty::Error {
            return Some(Ty::Error);
        }
        match word {
            Word::Sum | Word::Prod | Word::CumSum | Word::CumProd => match cell {
                Ty::Tuple(parts) => {
                    let parts: Option<Vec<Ty>> = parts
                        .iter()
                        .map(|p| {
                            let (axes, cell) = self.split(p);
                            Some(Ty::table(axes, self.word_cell(word, group, &cell)?))
                        })
                        .collect();
                    parts.map(Ty::Tuple)
                }
                _ => numeric(self, false).then(|| cell.clone()),
            },
            Word::Min | Word::Max => numeric(self, false).then(|| cell.clone()),
            Word::ArgMin | Word::ArgMax => {
                let ordered = numeric(self, false) || self.all_members(std::slice::from_ref(cell));
                ordered.then(|| self.solver.member(group))
            }
            Word::Mean => numeric(self, true).then(|| cell.clone()),
            Word::Any | Word::All => self.solver.unify(cell, &Ty::BOOL).ok().map(|()| Ty::BOOL),
            Word::Count => self.solver.unify(cell, &Ty::BOOL).ok().map(|()| Ty::USIZE),
        }
    }

    /// What to write for a reduction that does not apply to such elements.
    fn reduced_instead(&self, word: Word, cell: &Ty) -> Option<String> {
        let of = |element: &str| {
            let name = word.name();
            Some(format!("write `{name}(for i in _ {{ {element} }})`"))
        };
        match (word, cell) {
            (_, Ty::Tuple(_)) => of("t[i].0"),
            (_, Ty::Struct(..)) => of("t[i].field"),
            (Word::Any | Word::All | Word::Count, _) => of("t[i] > 0.0"),
            (Word::Sum, &Ty::BOOL) => Some("how many are true is `count(t)`".into()),
            (Word::Min | Word::Prod, &Ty::BOOL) => Some("whether all are true is `all(t)`".into()),
            (Word::Max, &Ty::BOOL) => Some("whether some are true is `any(t)`".into()),
            (_, &Ty::BOOL) => of("if t[i] { 1.0 } else { 0.0 }"),
            (_, Ty::Member(_)) => of("t[i].ordinal() as f64"),
            (Word::Mean, Ty::Scalar(_) | Ty::Var(_)) => of("t[i] as f64"),
            _ => None,
        }
    }

    pub(super) fn size(&mut self, at: Span, args: &'a [tree::Expr], span: Span) -> Expr {
        if args.len() != 1 {
            return self.fail(say::size_arguments(at, args.len()));
        }
        let extent = self.expr(&args[0], None);
        match self.extent_of(&extent.ty) {
            Some(Set::Error) => self.poison(span),
            Some(_) => self.made(Kind::Size(Box::new(extent)), Ty::USIZE, span),
            None => {
                let shown = self.show(&extent.ty);
                self.fail(say::size_of(args[0].span, &shown))
            }
        }
    }

    /// The set whose extent is of this type: that of a tuple of extents is a product.
    pub(super) fn extent_of(&self, ty: &Ty) -> Option<Set> {
        match self.solver.shallow(ty) {
            Ty::Extent(set) => Some(self.solver.set(&set)),
            Ty::Tuple(parts) => {
                let parts: Option<Vec<Set>> = parts.iter().map(|p| self.extent_of(p)).collect();
                parts.map(Set::Product)
            }
            Ty::Error => Some(Set::Error),
            _ => None,
        }
    }

    /// `N::from_ordinal(k, n)`; the extent may be left out, for the set says how large it is.
    pub(in crate::lower::infer) fn numbered(
        &mut self,
        set: &'a tree::Set,
        args: &'a [tree::Expr],
        span: Span,
    ) -> Expr {
        let at = set.span;
        let set = self.written_set(set, SetKind::Dyn);
        let Some((number, extent)) = args.split_first().filter(|(_, rest)| rest.len() < 2) else {
            return self.fail(say::from_ordinal_arguments(span, args.len()));
        };
        let value = self.expr(number, Some(&Ty::USIZE));
        self.expect(&Ty::USIZE, &value.ty, number.span, || {
            "the number of a member is a `usize`".into()
        });
        if let [extent] = extent {
            let want = Ty::Extent(set.clone());
            let found = self.expr(extent, Some(&want));
            let found = match self.extent_of(&found.ty) {
                Some(set) => Ty::Extent(set),
                None => found.ty,
            };
            self.expect(&want, &found, extent.span, || {
                "the extent is that of the member's set".into()
            });
        }
        if matches!(set, Set::Var(_)) {
            return self.fail(say::undetermined_set(at));
        }
        let ty = self.solver.member(&set);
        self.made(Kind::FromOrdinal(set, Box::new(value)), ty, span)
    }
}
