//! Frames: the axes over which an application of something of lower rank is repeated.
//!
//! The frames of the arguments must agree. Either each is a prefix of the longest, or every set
//! occurs once in each of them and each frame's sets occur in the longest: then axes are found by
//! their set.

use super::types::Set;

/// How frames fit together.
pub(super) struct Alignment {
    /// Which frame is the longest; the result has its axes.
    pub(super) longest: usize,
    /// For each frame, which axes of the longest it has, in its own order.
    pub(super) positions: Vec<Vec<usize>>,
}

/// Fits frames of resolved sets together; the error is the number of a frame that does not agree
/// with the longest. `same` says whether two sets are, or may become, equal.
pub(super) fn align(
    frames: &[Vec<Set>],
    same: impl Fn(&Set, &Set) -> bool,
) -> Result<Alignment, (usize, usize)> {
    let longest = (0..frames.len())
        .rev()
        .max_by_key(|k| frames[*k].len())
        .unwrap_or(0);
    let mut positions = Vec::new();
    for (k, frame) in frames.iter().enumerate() {
        let whole = &frames[longest];
        if frame.iter().zip(whole).all(|(a, b)| same(a, b)) {
            positions.push((0..frame.len()).collect());
            continue;
        }
        let by_set: Option<Vec<usize>> = (distinct(frame) && distinct(whole))
            .then(|| {
                frame
                    .iter()
                    .map(|s| whole.iter().position(|w| w == s))
                    .collect()
            })
            .flatten();
        match by_set {
            Some(found) => positions.push(found),
            None => return Err((longest, k)),
        }
    }
    Ok(Alignment { longest, positions })
}

/// Whether every set is known and occurs once.
fn distinct(frame: &[Set]) -> bool {
    frame
        .iter()
        .enumerate()
        .all(|(k, s)| !matches!(s, Set::Var(_)) && !frame[..k].contains(s))
}
