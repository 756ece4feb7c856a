//! Functions that call each other, found in the text around an item.
//!
//! A function that waits for others has no companion yet, so functions that wait for each other are
//! never found: rustc says of each that there is no macro of its name. A macro sees one item only,
//! but may read the file that it stands in. What is looked for there are annotated functions that
//! stand beside the item and lead back to it.
//!
//! Text is no program. So a name that stands for anything but one such function, or for a call, is
//! left alone, and rustc has the word.

use std::collections::BTreeMap;

use super::text::{Piece, closing, pieces};

/// An annotated function in a text.
#[derive(Debug)]
struct Found<'t> {
    name: &'t str,
    /// The brace that opens the block it stands in; none at the top of the file.
    home: Option<usize>,
    /// The names in it, and whether each stands in front of a parenthesis wherever it stands: else
    /// it may mean something else than a function.
    words: BTreeMap<&'t str, bool>,
}

/// The names of the functions by which the one of this `name` calls itself again, itself first; only
/// if it is the first of them in the text, so that the mistake is told once.
pub(crate) fn calls_itself_by_others<'t>(text: &'t str, name: &str) -> Option<Vec<&'t str>> {
    // Most functions are called by no other of the file, and that is seen at once.
    let is_call =
        |(at, _)| text[at + name.len()..].starts_with('(') && !text[..at].ends_with("fn ");
    if !text.match_indices(name).any(is_call) {
        return None;
    }
    let functions = functions(text);
    let mut named: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (number, function) in functions.iter().enumerate() {
        named.entry(function.name).or_default().push(number);
    }
    let one = |name: &str| match named.get(name).map(Vec::as_slice) {
        Some(&[number]) => Some(number),
        _ => None,
    };
    let root = one(name)?;
    let callees = |number: usize| {
        let function: &Found<'t> = &functions[number];
        let called = function.words.iter().filter(|&(_, &called)| called);
        let beside = |callee: &usize| functions[*callee].home == function.home;
        called.filter_map(|(word, _)| one(word)).filter(beside)
    };
    // Breadth first: the shortest way back.
    let mut from: BTreeMap<usize, usize> = BTreeMap::new();
    let mut open = vec![root];
    let mut at = 0;
    while let Some(&number) = open.get(at) {
        at += 1;
        for callee in callees(number) {
            if callee == root && number != root {
                let mut way = vec![functions[number].name];
                let mut number = number;
                while let Some(&before) = from.get(&number) {
                    way.push(functions[before].name);
                    number = before;
                }
                way.reverse();
                let is_first = way.iter().all(|name| one(name) >= Some(root));
                return is_first.then_some(way);
            }
            if callee != root && !from.contains_key(&callee) {
                from.insert(callee, number);
                open.push(callee);
            }
        }
    }
    None
}

/// The annotated functions of a text, in order.
fn functions(text: &str) -> Vec<Found<'_>> {
    let pieces = pieces(text);
    let mut found: Vec<Found<'_>> = Vec::new();
    let mut blocks: Vec<usize> = Vec::new();
    // Whether the item that begins is annotated.
    let mut annotated = false;
    let mut at = 0;
    while let Some(&piece) = pieces.get(at) {
        at += 1;
        match piece {
            Piece::Mark(b'#') if pieces.get(at) == Some(&Piece::Mark(b'[')) => {
                let end = closing(&pieces, at);
                annotated |= pieces[at..end].contains(&Piece::Word("pointful"));
                at = end;
            }
            Piece::Word("fn") => {
                let Some(&Piece::Word(name)) = pieces.get(at) else {
                    continue;
                };
                if !std::mem::take(&mut annotated) {
                    continue;
                }
                let mut behind = pieces[at..].iter();
                let Some(body) = behind.position(|&piece| piece == Piece::Mark(b'{')) else {
                    continue;
                };
                let end = closing(&pieces, at + body);
                // A method, or an item of another module, is none of these functions.
                let elsewhere =
                    |at: usize| matches!(pieces[at - 1], Piece::Mark(b'.') | Piece::Mark(b':'));
                let mut words = BTreeMap::new();
                for at in at + 1..end {
                    if let Piece::Word(word) = pieces[at]
                        && !elsewhere(at)
                    {
                        let is_local = pieces[at - 1] == Piece::Word("fn");
                        let in_front = pieces.get(at + 1) == Some(&Piece::Mark(b'('));
                        *words.entry(word).or_insert(true) &= in_front && !is_local;
                    }
                }
                found.push(Found {
                    name,
                    home: blocks.last().copied(),
                    words,
                });
                at = end;
            }
            Piece::Mark(b'{') => {
                annotated = false;
                blocks.push(at);
            }
            Piece::Mark(b'}') => {
                annotated = false;
                blocks.pop();
            }
            Piece::Mark(b';') => annotated = false,
            Piece::Word(_) | Piece::Mark(_) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::calls_itself_by_others;

    fn way(text: &str, name: &str) -> String {
        calls_itself_by_others(text, name).map_or_else(String::new, |way| way.join(" "))
    }

    #[test]
    fn ways_back() {
        let two = "#[pointful] fn even(n: i64) -> bool { odd(n - 1) }
            #[pointful(remat)] pub fn odd(n: i64) -> bool { even(n - 1) } fn main() {}";
        assert_eq!(way(two, "even"), "even odd");
        assert_eq!(way(two, "odd"), "", "it is told once");
        let three = "mod m { #[pf::pointful] fn a() { b() } #[pointful] fn b() { c() }
            /// Not `}`, \"nor this.
            #[pointful]\n#[inline] fn c() { let x = '{'; assert!(x, r#\"}\"# ); a() } }";
        assert_eq!(way(three, "a"), "a b c");
        assert_eq!(way(three, "c"), "");
        // Into a circle is not around it.
        let into = format!("#[pointful] fn first() {{ even(3) }} {two}");
        assert_eq!(way(&into, "first"), "");
        assert_eq!(way(&into, "even"), "even odd");
    }

    #[test]
    fn what_is_no_way_back() {
        for text in [
            "#[pointful] fn a() { b() } #[pointful] fn b() { c() } #[pointful] fn c() {}",
            "#[pointful] fn a() { b() } fn b() { a() }",
            "#[pointful] fn a() { b() } #[pointful] fn b() { let a = |x| x; a(1) }",
            "#[pointful] fn a() { b() } #[pointful] fn b(a: f64) { a(1) }",
            "#[pointful] fn a() { b() } mod m { #[pointful] fn b() { a() } }",
            "#[pointful] fn a() { b() } #[pointful] fn b() { a() } mod m { #[pointful] fn b() {} }",
            "#[pointful] fn a() { fn b() {} b() } #[pointful] fn b() { a() }",
            "#[pointful] fn a() { b() } #[pointful] fn b() { x.a(1); other::a(2) }",
            "#[pointful] fn a() { b() } #[pointful] fn b() { /* a() */ \"a()\" } // a()",
            "#[pointful] fn a() { a() }",
            "#[pointful] fn a",
            "#[pointful] fn a() { b( '\\",
            "",
        ] {
            assert_eq!(way(text, "a"), "", "{text}");
        }
    }

    /// Whatever stands in a file, and wherever it ends.
    #[test]
    fn any_text_is_read() {
        let text = "#[pointful] fn a(x: &'a str) -> ü { b('\\''); r##\"}\"#\"##; '\\u{1F600}'; 'é'; /* /* */ b\"\\\"é\" } // ü";
        let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
        let ends: Vec<usize> = ends.collect();
        for (k, &from) in ends.iter().enumerate() {
            for &to in &ends[k..] {
                super::functions(&text[from..to]);
                way(&text[from..to], "a");
            }
        }
    }
}
