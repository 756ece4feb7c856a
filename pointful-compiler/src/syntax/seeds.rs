//! The names of tangents and cotangents, by which the next transformation chooses among them.
//!
//! A tangent is called as differentials are, `d_x` for that of `x`; a cotangent `ct`, or `ct_0`,
//! `ct_1`, … where a result has several parts. A name that is taken gets underscores behind it.

/// What the tangent of a parameter is called.
pub fn tangent(param: &str, taken: impl Fn(&str) -> bool) -> String {
    fresh(&format!("d_{}", plain(param)), taken)
}

/// What the cotangent of this part of a result is called, of which so many have one.
pub fn cotangent(at: usize, parts: usize, taken: impl Fn(&str) -> bool) -> String {
    match parts {
        1 => fresh("ct", taken),
        _ => fresh(&format!("ct_{at}"), taken),
    }
}

/// The name, with as many underscores as make it new.
pub fn fresh(name: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut name = plain(name).to_owned();
    while taken(&name) {
        name.push('_');
    }
    name
}

fn plain(name: &str) -> &str {
    name.trim_start_matches("r#")
}
