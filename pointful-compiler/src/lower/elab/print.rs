//! What a function prints, in the form that it has in debug builds.
//!
//! A print is a call of a function that the program is given: of a number that stands for what has
//! been printed, and of what is shown, to that number. So prints follow each other as values do,
//! and the loops around them carry the number. Where a function's variable for it has no value,
//! nothing is printed: in release builds, in derivatives, and in closures.

use super::value::{Frame, Val};
use super::{Elab, Run};
use crate::diag::lowering as say;
use crate::interface::{FunctionSource, Printing};
use crate::ir::stages::point::PointOp;
use crate::ir::{Elem, Format, Message, Piece, Scalar, SpanId, Style, ValueId};
use crate::lower::effects::Path;
use crate::lower::hir::{Call, Expr, Function, LocalId, Print};
use crate::lower::types::Ty;
use crate::ops::{Prim, Unknown};
use crate::syntax::tree::Output;

impl<'a> Elab<'a> {
    /// In the form of debug builds, nothing has been printed when the root begins.
    pub(super) fn begin_printing(&mut self, root: &Function<'a>) {
        let Some(printed) = root.printed else {
            return;
        };
        self.has_debug_form = true;
        if self.is_debug_form {
            let nothing = self.usize(0, SpanId::NONE);
            self.frame.env[printed.0 as usize] = Some(Val::Leaf(nothing));
        }
    }

    /// A program is asked for what has been printed, so it is.
    pub(super) fn end_printing(&mut self, root: &Function<'a>) -> Run<()> {
        let Some(printed) = root.printed.and_then(|printed| self.printed(printed)) else {
            return Ok(());
        };
        let span = SpanId::NONE;
        let (printed, nothing) = (self.leaf(&printed, span)?, self.usize(0, span));
        let cond = self.prim(Prim::Eq, &[printed, nothing], span)?;
        let op = PointOp::Assert {
            cond,
            message: Message::plain("what is printed is lost"),
            shown: Vec::new(),
        };
        self.emit(Vec::new(), op, span);
        Ok(())
    }

    /// The value of a variable for what has been printed.
    pub(super) fn printed(&self, printed: LocalId) -> Option<Val<'a>> {
        self.frame.env[printed.0 as usize].clone()
    }

    /// Whether a path is the function's variable for what has been printed.
    pub(super) fn is_printed(&self, path: &Path) -> bool {
        self.functions[self.frame.function].printed == Some(path.0)
    }

    /// The variables as they are now, for what is run elsewhere: there nothing is printed.
    pub(super) fn silent(&self) -> Frame<'a> {
        let mut frame = self.frame.clone();
        if let Some(printed) = self.functions[frame.function].printed {
            frame.env[printed.0 as usize] = None;
        }
        frame
    }

    /// What has been printed when a function is called.
    pub(super) fn printed_before(&self, call: &Call) -> Option<Val<'a>> {
        call.printed.and_then(|printed| self.printed(printed))
    }

    /// What has been printed when a call has ended.
    pub(super) fn printed_in(&mut self, call: &Call, inner: &Frame<'a>) {
        if let (Some(here), Some(there)) = (call.printed, self.functions[call.callee].printed)
            && let Some(val) = &inner.env[there.0 as usize]
        {
            self.frame.env[here.0 as usize] = Some(val.clone());
        }
    }

    /// The states of a loop over calls of a function.
    pub(super) fn printed_states(&self, call: &Call) -> Vec<Path> {
        let printed = call
            .printed
            .filter(|&printed| self.printed(printed).is_some());
        printed
            .map(|local| (local, Vec::new()))
            .into_iter()
            .collect()
    }

    /// `println!("… {}", x)`
    pub(super) fn print(&mut self, print: &'a Print, span: SpanId) -> Run<Val<'a>> {
        let unit = Val::Tuple(Vec::new());
        let values = print.shown.iter().zip(print.message.formats());
        for (value, format) in values {
            let ty = self.ty(&value.ty);
            if !is_scalar(&ty) || (ty == Ty::BOOL && format.style == Style::Exponent) {
                return self.unprintable(value, &ty);
            }
        }
        if self.printed(print.printed).is_none() {
            return Ok(unit);
        }
        let mut shown = Vec::new();
        for value in &print.shown {
            let val = self.eval(value)?;
            shown.push(self.shown_number(&val, &value.ty, value.span)?);
        }
        self.printing(
            print.printed,
            print.output,
            print.message.clone(),
            &shown,
            span,
        )?;
        Ok(unit)
    }

    /// `dbg!(x)`
    pub(super) fn debug(
        &mut self,
        printed: LocalId,
        text: &str,
        value: &'a Expr,
        span: SpanId,
    ) -> Run<Val<'a>> {
        if let Some(part) = self.unshown_part(&value.ty) {
            return self.unprintable(value, &part);
        }
        let val = self.eval(value)?;
        if self.printed(printed).is_none() {
            return Ok(val);
        }
        let mut message = Message::plain(text);
        let mut shown = Vec::new();
        self.described(&val, &value.ty, &mut message.pieces, &mut shown, span)?;
        message.pieces.push(Piece::Text("\n".to_owned()));
        self.printing(printed, Output::Error, message, &shown, span)?;
        Ok(val)
    }

    /// A part of a type, or all of it, that is not shown.
    fn unshown_part(&self, ty: &Ty) -> Option<Ty> {
        match self.ty(ty) {
            Ty::Tuple(parts) | Ty::Struct(_, parts) => {
                parts.iter().find_map(|part| self.unshown_part(part))
            }
            ty => (!is_scalar(&ty)).then_some(ty),
        }
    }

    /// A value as `{:?}` shows it: what is written, and the scalars in it.
    fn described(
        &mut self,
        val: &Val<'a>,
        ty: &Ty,
        pieces: &mut Vec<Piece>,
        shown: &mut Vec<ValueId>,
        span: SpanId,
    ) -> Run<()> {
        let ty = self.ty(ty);
        if is_scalar(&ty) {
            let style = Style::Debug;
            pieces.push(Piece::Value(Format {
                style,
                ..Format::default()
            }));
            shown.push(self.shown_number(val, &ty, span)?);
            return Ok(());
        }
        let Val::Tuple(parts) = val else {
            return self.bug(span, "a tuple was expected");
        };
        let (types, names, open, close) = match &ty {
            Ty::Struct(id, types) => {
                let fields = self.fields(*id).iter();
                let names = fields.map(|(name, _)| format!("{name}: ")).collect();
                let name = &self.linked.types[*id].name;
                (types, names, format!("{name} {{ "), " }")
            }
            Ty::Tuple(types) => (types, vec![String::new(); types.len()], "(".to_owned(), ")"),
            _ => return self.bug(span, "a tuple was expected"),
        };
        let mut before = open;
        for ((part, ty), name) in parts.iter().zip(types).zip(names) {
            pieces.push(Piece::Text(before + &name));
            self.described(part, ty, pieces, shown, span)?;
            before = ", ".to_owned();
        }
        let before = if parts.is_empty() {
            before
        } else {
            String::new()
        };
        pieces.push(Piece::Text(before + close));
        Ok(())
    }

    /// What is shown of a scalar: of a member its number.
    fn shown_number(&mut self, val: &Val<'a>, ty: &Ty, span: SpanId) -> Run<ValueId> {
        match self.ty(ty) {
            ty @ Ty::Member(_) => self.ordinal(val, &ty, span),
            _ => self.leaf(val, span),
        }
    }

    fn unprintable<T>(&mut self, written: &Expr, ty: &Ty) -> Run<T> {
        let found = self.printer().quoted(ty);
        let span = self.at(written.span);
        let (table, truth) = (matches!(ty, Ty::Table(..)), *ty == Ty::BOOL);
        self.fail(say::shown_in_print(span, &found, table, truth))
    }

    /// Prints, behind all that has been printed.
    fn printing(
        &mut self,
        printed: LocalId,
        output: Output,
        message: Message,
        shown: &[ValueId],
        span: SpanId,
    ) -> Run<()> {
        let Some(before) = self.printed(printed) else {
            return Ok(());
        };
        let operands = [&[self.leaf(&before, span)?], shown].concat();
        let mut scalars = Vec::new();
        for &value in shown {
            match self.program.elem(value) {
                Elem::Scalar(scalar) => scalars.push(scalar),
                Elem::Index(_) | Elem::Bound(_) => return self.bug(span, "an index is printed"),
            }
        }
        let function = self.printing_function(Printing {
            output,
            message,
            shown: scalars,
        });
        let (Ok(function), Ok(arity)) = (u8::try_from(function), u8::try_from(operands.len()))
        else {
            let span = self.at(span);
            return self.fail(say::not_available(span, "to print so much"));
        };
        let call = Prim::Call(Unknown {
            function,
            arity,
            result: Scalar::Usize,
            anywhere: false,
        });
        let after = self.prim(call, &operands, span)?;
        self.frame.env[printed.0 as usize] = Some(Val::Leaf(after));
        Ok(())
    }

    /// The position of a function that prints; one for all that print the same.
    fn printing_function(&mut self, printing: Printing) -> usize {
        let functions = &mut self.interface.functions;
        let same = |source: &FunctionSource| match source {
            FunctionSource::Print(known) => *known == printing,
            FunctionSource::Given(_) | FunctionSource::Extern(_) => false,
        };
        functions.iter().position(same).unwrap_or_else(|| {
            functions.push(FunctionSource::Print(printing.clone()));
            functions.len() - 1
        })
    }
}

/// Whether values of a type are shown as one number or truth value.
fn is_scalar(ty: &Ty) -> bool {
    matches!(ty, Ty::Scalar(_) | Ty::Float(_) | Ty::Member(_))
}
