//! Functions whose bodies are not read: from numbers to a number.

use quote::ToTokens;

use super::value::Val;
use super::{Elab, Run};
use crate::diag::lowering as say;
use crate::interface::{Extern, FunctionSource};
use crate::ir::SpanId;
use crate::lower::hir::Function;
use crate::ops::{Prim, Unknown};
use crate::syntax::parse::EXTERN;

impl<'a> Elab<'a> {
    /// Calls one with its parameters as they are bound.
    pub(super) fn call_extern(&mut self, code: &'a Function<'a>, span: SpanId) -> Run<Val<'a>> {
        let mut operands = Vec::new();
        for &param in &code.params {
            let val = self.local(param, span)?;
            operands.push(self.leaf(&val, span)?);
        }
        let floats = operands.iter().any(|&x| self.program.elem(x).is_float());
        if self.derivatives > 0 && code.rule.is_none() && floats {
            let (place, name) = (self.at(span), code.tree.name.to_string());
            return self.fail(say::extern_derivative(place, &name));
        }
        let function = self.extern_function(code);
        // A primitive has operands: what takes nothing takes a number that it does not look at.
        if operands.is_empty() {
            operands.push(self.usize(0, span));
        }
        let (Ok(function), Ok(arity)) = (u8::try_from(function), u8::try_from(operands.len()))
        else {
            let place = self.at(span);
            return self.fail(say::not_available(place, "so large a number of functions"));
        };
        let call = Prim::Call(Unknown {
            function,
            arity,
            result: self.scalar(&code.result, span)?,
            anywhere: true,
        });
        Ok(Val::Leaf(self.prim(call, &operands, span)?))
    }

    /// The position of a function among those that the program knows nothing of.
    fn extern_function(&mut self, code: &Function<'_>) -> usize {
        let mut constants = code.tree.scope.constants.iter();
        let path = constants.find(|(key, _)| key == EXTERN);
        let path = match path {
            Some((_, path)) => path.clone(),
            None => code.tree.name.to_token_stream(),
        };
        let functions = &mut self.interface.functions;
        let text = path.to_string();
        let same = |source: &FunctionSource| match source {
            FunctionSource::Extern(known) => known.path.to_string() == text,
            FunctionSource::Given(_) | FunctionSource::Print(_) => false,
        };
        functions.iter().position(same).unwrap_or_else(|| {
            let arity = code.params.len();
            functions.push(FunctionSource::Extern(Extern { path, arity }));
            functions.len() - 1
        })
    }
}
