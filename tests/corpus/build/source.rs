//! Functions from source text through the whole pipeline, linked by their names.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use pointful_compiler::diag::Diagnostic;
use pointful_compiler::pipeline;
use pointful_compiler::syntax::parse::{parse_function, parse_options};
use pointful_compiler::syntax::tree::{Callee, Function, Linked};
use pointful_compiler::targets::cpu::rust;
use pointful_compiler::targets::cpu::rust::EmitOptions;

/// Every public function of a file, in which each stands after those that it calls.
pub(crate) fn functions(text: &str) -> Vec<TokenStream> {
    let file: syn::File = syn::parse_str(text).expect("the corpus is Rust");
    let items: Vec<syn::ItemFn> = file
        .items
        .into_iter()
        .filter_map(|item| match item {
            syn::Item::Fn(function) => Some(function),
            _ => None,
        })
        .collect();
    let mut callees: Vec<Callee> = Vec::new();
    let mut emitted = Vec::new();
    for item in items {
        let mut function = parse_function(&item).unwrap_or_else(|errors| report(&item, &errors));
        let marked = item
            .attrs
            .iter()
            .find(|attr| attr.path().is_ident("pointful"));
        if let Some(syn::Meta::List(list)) = marked.map(|attr| &attr.meta) {
            function.options =
                parse_options(list.tokens.clone()).unwrap_or_else(|errors| report(&item, &errors));
        }
        function.scope.functions = callees
            .iter()
            .map(|callee| (callee.function.name.to_string(), callee.id))
            .collect();
        if matches!(item.vis, syn::Visibility::Public(_)) {
            let linked = Linked {
                devices: false,
                user: proc_macro2::Span::call_site(),
                root: function.clone(),
                callees: callees.clone(),
                types: Vec::new(),
            };
            emitted.push(compiled(&item, &linked));
        }
        callees.push(callee(callees.len(), function));
    }
    emitted
}

fn callee(id: usize, function: Function) -> Callee {
    Callee { id, function }
}

fn compiled(item: &syn::ItemFn, linked: &Linked) -> TokenStream {
    let stages = pipeline::stages(linked).unwrap_or_else(|errors| report(item, &errors));
    let mut options = EmitOptions::new(item.sig.ident.to_string());
    options.runtime = quote!(::pointful_runtime::private);
    let body = rust::body(&stages.cpu, &stages.kernels, &stages.interface, &options);
    let (visibility, signature) = (&item.vis, &item.sig);
    quote! {
        #[allow(missing_docs, reason = "it is generated")]
        #visibility #signature { #body }
    }
}

fn report(item: &syn::ItemFn, errors: &[Diagnostic]) -> ! {
    let text: Vec<String> = errors
        .iter()
        .map(|error| {
            let at = error.span.start();
            format!(
                "{}:{}: {}\n  {}",
                at.line,
                at.column,
                error.message,
                error.help.join("\n  ")
            )
        })
        .collect();
    panic!(
        "`{}` does not compile:\n{}\n{}",
        item.sig.ident,
        text.join("\n"),
        item.to_token_stream()
    )
}
