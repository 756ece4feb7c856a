//! Literals.

use super::Parser;
use crate::diag::syntax as diag;
use crate::ir::Scalar;
use crate::syntax::names::is_reserved_type;
use crate::syntax::tree::{Lit, LitKind};

impl Parser {
    /// A literal; zero takes the place of a wrong one.
    pub(super) fn literal(&mut self, lit: &syn::Lit) -> Lit {
        let span = lit.span();
        let zero = LitKind::Int {
            value: 0,
            suffix: None,
        };
        let kind = match lit {
            syn::Lit::Bool(value) => LitKind::Bool(value.value),
            syn::Lit::Byte(byte) => {
                if !byte.suffix().is_empty() {
                    self.error(diag::literal_suffix(span, byte.suffix()));
                }
                LitKind::Int {
                    value: byte.value().into(),
                    suffix: Some(Scalar::U8),
                }
            }
            syn::Lit::Int(int) => {
                let suffix = self.suffix(int.base10_digits(), int.suffix(), span);
                match (int.base10_parse::<u128>(), suffix) {
                    (Ok(value), Some(scalar)) if scalar.is_float() => {
                        let text = int.token().to_string();
                        if text.starts_with("0b") || text.starts_with("0o") {
                            self.error(diag::literal_suffix(span, int.suffix()));
                        }
                        LitKind::Float {
                            value: value as f64,
                            suffix: Some(scalar),
                        }
                    }
                    (Ok(value), suffix) => LitKind::Int { value, suffix },
                    (Err(_), _) => {
                        self.error(diag::literal_range(span));
                        zero
                    }
                }
            }
            syn::Lit::Float(float) => {
                let suffix = self.suffix(float.base10_digits(), float.suffix(), span);
                if suffix.is_some_and(|suffix| !suffix.is_float()) {
                    self.error(diag::literal_suffix(span, float.suffix()));
                }
                match float.base10_parse::<f64>() {
                    Ok(value) if value.is_infinite() => {
                        self.error(diag::float_range(span));
                        zero
                    }
                    Ok(value) => LitKind::Float { value, suffix },
                    Err(_) => {
                        self.error(diag::unknown_literal(span));
                        zero
                    }
                }
            }
            _ => {
                self.error(diag::unknown_literal(span));
                zero
            }
        };
        Lit { kind, span }
    }

    fn suffix(&mut self, digits: &str, suffix: &str, span: proc_macro2::Span) -> Option<Scalar> {
        if suffix.is_empty() {
            return None;
        }
        let scalar = Scalar::from_name(suffix).filter(|scalar| *scalar != Scalar::Bool);
        if scalar.is_none() {
            self.error(match is_reserved_type(suffix) {
                true => diag::unknown_number(span, suffix),
                false => diag::literal_word(span, digits, suffix),
            });
        }
        scalar
    }
}
