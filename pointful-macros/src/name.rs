//! What the crate under compilation calls pointful.

use pointful_compiler::driver;
use proc_macro::TokenStream;
use proc_macro_crate::{FoundCrate, crate_name};

/// What an expansion is, by the names of the crate that it stands in.
pub(crate) fn emitted(tokens: proc_macro2::TokenStream) -> TokenStream {
    match crate_name("pointful") {
        Ok(FoundCrate::Name(name)) if name != "pointful" => driver::renamed(tokens, &name).into(),
        // What depends on it in no way that the manifest tells may have it by that name all the same.
        Ok(FoundCrate::Name(_) | FoundCrate::Itself) | Err(_) => tokens.into(),
    }
}
