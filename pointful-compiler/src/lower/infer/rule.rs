//! A function's own derivative: that it takes and gives what it must.

use proc_macro2::Ident;

use super::Infer;
use super::signature::path_span;
use super::transform::{fixed, one_or_tuple};
use crate::diag::transform as say;
use crate::ir::Mode;
use crate::lower::hir::{LocalId, Rule};
use crate::lower::types::{Printer, Ty};
use crate::syntax::tree::{self, path_key};

impl<'a> Infer<'_, 'a> {
    /// `#[pointful(vjp = g)]`, `#[pointful(jvp = g)]`; what does not fit is reported.
    pub(super) fn rule(&mut self, params: &[LocalId], result: &Ty) -> Option<Rule> {
        let tree: &'a tree::Function = self.tree;
        let mut rules = tree
            .options
            .iter()
            .filter_map(|(name, path)| Some((name, path.as_ref()?)));
        let (option, path) = rules.next()?;
        if let Some((second, _)) = rules.next() {
            self.report(say::two_rules(second.span()));
            return None;
        }
        let types: Vec<Ty> = params
            .iter()
            .map(|&param| self.local(param).ty.clone())
            .collect();
        let mut wrt = Vec::new();
        for (k, param) in tree.params.iter().enumerate() {
            if let tree::TypeKind::Ref { mutable: true, .. } = param.ty.kind {
                self.report(say::rule_of_exclusive(
                    option.span(),
                    &param.name.to_string(),
                ));
                return None;
            }
            if fixed(param).is_none() && self.has_floats(&types[k]) {
                wrt.push(k);
            }
        }
        let name = tree.name.to_string();
        if wrt.is_empty() {
            self.report(say::nothing_to_differentiate(option.span(), &name));
            return None;
        }
        let outputs = self.float_parts(result);
        if outputs.is_empty() {
            let shown = self.show(result);
            self.report(say::rule_without_result(option.span(), &name, &shown));
            return None;
        }
        let inputs: Vec<Ty> = wrt.iter().map(|&k| types[k].clone()).collect();
        let mode = if *option == "jvp" {
            Mode::Tangent
        } else {
            Mode::Cotangent
        };
        let (seeds, given) = match mode {
            Mode::Cotangent => (outputs, inputs),
            Mode::Tangent => (inputs, outputs),
        };
        let takes = [types, seeds].concat();
        let function = self.rule_function(option, path, &takes, &one_or_tuple(given))?;
        Some(Rule {
            mode,
            function,
            wrt,
        })
    }

    /// The function that computes a rule, if it has this signature.
    fn rule_function(
        &mut self,
        option: &Ident,
        path: &'a syn::Path,
        takes: &[Ty],
        gives: &Ty,
    ) -> Option<crate::lower::hir::Expr> {
        let (name, at) = (path_key(path), path_span(path));
        let Some(position) = self.function_of(&name) else {
            self.report(crate::diag::lowering::not_pointful(at, &name));
            return None;
        };
        let function = self.function_value(position, &[], at);
        let Ty::Function(params, result) = self.solver.shallow(&function.ty) else {
            return None;
        };
        let mut fits = params.len() == takes.len();
        for (param, take) in params.iter().zip(takes) {
            self.whole_set(param, take);
            fits &= self.solver.unify(param, take).is_ok();
        }
        fits &= self.solver.unify(gives, &result).is_ok();
        if fits {
            return Some(function);
        }
        let wanted = signature_text(&self.printer(), takes, gives);
        let found = signature_text(
            &self.printer_of(position),
            &self.parameter_types(position),
            &self.result_type(position),
        );
        let of = self.tree.name.to_string();
        // Only lengths of `Dyn`, which have no names, can differ then.
        if found == wanted {
            self.report(say::rule_shape(at, &of));
            return None;
        }
        self.report(say::rule_signature(
            at,
            &option.to_string(),
            &name,
            &of,
            &wanted,
        ));
        None
    }
}

fn signature_text(printer: &Printer<'_>, takes: &[Ty], gives: &Ty) -> String {
    let printer = Printer {
        shows_ranges: false,
        ..*printer
    };
    let shown = |ty: &Ty| printer.ty(&printer.solver.ty(ty));
    let takes: Vec<String> = takes.iter().map(shown).collect();
    format!("({}) -> {}", takes.join(", "), shown(gives))
}
