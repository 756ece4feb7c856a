//! Places next to others, as plain integers.

/// Round the end.
pub fn wrap(at: i64, len: usize) -> usize {
    at.rem_euclid(len as i64) as usize
}

/// The nearest that there is.
pub fn clamp(at: i64, len: usize) -> usize {
    at.clamp(0, len as i64 - 1) as usize
}

/// Back from the end, which is not repeated.
pub fn mirror(at: i64, len: usize) -> usize {
    let period = (2 * (len as i64 - 1)).max(1);
    let at = at.rem_euclid(period);
    at.min(period - at).min(len as i64 - 1) as usize
}

/// The element at a place, if there is such a place.
pub fn get<T: Copy>(table: &[T], at: i64, otherwise: T) -> T {
    usize::try_from(at)
        .ok()
        .and_then(|at| table.get(at))
        .copied()
        .unwrap_or(otherwise)
}
