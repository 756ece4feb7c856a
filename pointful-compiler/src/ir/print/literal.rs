//! Literals as text: `1.0f64`, `3usize`, `true`, `-inf_f32`, `nan_f64`, and NaNs with other bits as
//! `nan_f64(0x7ff8000000000001)`.

use crate::ir::Lit;

/// The text of a literal, which determines its bits.
pub(super) fn print(lit: Lit) -> String {
    match lit {
        Lit::F32(bits) => {
            let x = f32::from_bits(bits);
            if x.is_nan() {
                let canonical = bits == f32::NAN.to_bits();
                nan("f32", (!canonical).then_some(u64::from(bits)))
            } else if x.is_infinite() {
                infinity("f32", x > 0.0)
            } else {
                format!("{x:?}f32")
            }
        }
        Lit::F64(bits) => {
            let x = f64::from_bits(bits);
            if x.is_nan() {
                let canonical = bits == f64::NAN.to_bits();
                nan("f64", (!canonical).then_some(bits))
            } else if x.is_infinite() {
                infinity("f64", x > 0.0)
            } else {
                format!("{x:?}f64")
            }
        }
        Lit::Int(scalar, value) => format!("{value}{}", scalar.name()),
        Lit::Bool(value) => value.to_string(),
    }
}

fn nan(ty: &str, bits: Option<u64>) -> String {
    match bits {
        None => format!("nan_{ty}"),
        Some(bits) => format!("nan_{ty}({bits:#x})"),
    }
}

fn infinity(ty: &str, positive: bool) -> String {
    format!("{}inf_{ty}", if positive { "" } else { "-" })
}

/// A message between quotes, on one line.
pub(super) fn quote(message: &str) -> String {
    let mut text = String::from("\"");
    for c in message.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            _ => text.push(c),
        }
    }
    text.push('"');
    text
}
