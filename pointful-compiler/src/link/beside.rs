//! Items that are named and not marked, found in the text around what names them.
//!
//! What is not marked has no companion, so rustc says of it that there is no macro of its name. A
//! macro may read the file that it stands in: a plain `fn h` where `h` must come from is a better
//! answer.
//!
//! Text is no program. So whatever could bring a companion after all, a `use` of the name, a second
//! item, an attribute that is not known, is left alone, and rustc has the word.

use std::cell::RefCell;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

use proc_macro2::Span;

use super::STD_MACROS;
use super::text::{Piece, closing, placed};
use crate::syntax::parse::TRANSFORMS;

/// An item that is not marked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Unmarked {
    /// `fn`, `struct`, `enum` or `type`.
    pub(crate) keyword: &'static str,
    /// Its name.
    pub(crate) name: String,
    /// The line that it stands in, from 1 on.
    pub(crate) line: usize,
}

/// What a path is that has no companion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Missing {
    /// An item of the same file that nobody has marked.
    Unmarked(Unmarked),
    /// Nothing: the names of what is there, with their keywords.
    Absent(Vec<(&'static str, String)>),
}

/// Which of these traits an index set lacks that is derived where its name stands, as far as the
/// file says so: a derive does not see what else is derived.
pub(crate) fn lacks<'t>(name: &proc_macro2::Ident, traits: &[&'t str]) -> Vec<&'t str> {
    let found = || {
        let outline = Outline::of(&name.span().local_file()?)?;
        let start = name.span().start();
        let at = outline.offset(start.line, start.column)?;
        let lacks = |of: &&&str| outline.lacks(of, &name.to_string(), at);
        Some(traits.iter().filter(lacks).copied().collect())
    };
    found().unwrap_or_default()
}

/// Why there is no companion of a path, if the file that names it says so.
pub(crate) fn missing(path: &syn::Path) -> Option<Missing> {
    let last = path.segments.last()?;
    let segments = path.segments.iter();
    let segments: Vec<String> = segments.map(|part| part.ident.to_string()).collect();
    if path.leading_colon.is_some() {
        return None;
    }
    let span: Span = last.ident.span();
    let file = span.local_file()?;
    let outline = Outline::of(&file)?;
    let at = outline.offset(span.start().line, span.start().column)?;
    // Where a macro has put the name together, its place is another one's.
    let (name, modules) = segments.split_last()?;
    outline.text[at..].starts_with(name).then_some(())?;
    let absent = match modules {
        [] => outline.absent(name, at),
        _ => None,
    };
    match absent {
        Some(known) => Some(Missing::Absent(known)),
        None => outline
            .meaning(&segments, at, is_root(&file))
            .map(Missing::Unmarked),
    }
}

/// Whether a file is the root of a crate.
fn is_root(file: &Path) -> bool {
    file.ends_with("src/lib.rs") || file.ends_with("src/main.rs")
}

#[derive(Debug)]
enum What {
    /// Something that is marked or not, by its keyword.
    Item(&'static str),
    /// A module that is written here.
    Module(usize),
    /// Something else.
    Other,
}

#[derive(Debug)]
struct Item {
    name: String,
    what: What,
    at: usize,
    attributes: Attributes,
}

/// What stands in front of an item.
#[derive(Clone, Default, Debug)]
struct Attributes {
    /// All that it derives.
    derived: Vec<String>,
    /// Whether there is one that may do anything.
    any: bool,
}

impl Attributes {
    /// Whether nothing asks for a companion, or takes the item away.
    fn leave_no_companion(&self) -> bool {
        !self.any && self.derived.iter().all(|derived| derived != "IndexSet")
    }
}

/// What stands between two braces.
#[derive(Debug, Default)]
struct Block {
    parent: Option<usize>,
    from: usize,
    to: usize,
    is_module: bool,
    /// Whether names in it are reached by a type only.
    is_owned: bool,
    items: Vec<Item>,
    /// The names in `use`.
    used: Vec<String>,
    /// Whether it uses everything of the module around it.
    takes_all: bool,
    /// Whether it may have names that do not stand in it, by another `use` of everything or by a
    /// macro.
    has_more: bool,
}

/// The items of a text.
#[derive(Debug)]
struct Outline {
    text: String,
    blocks: Vec<Block>,
    /// What stands in definitions of macros means something where these are used.
    macros: Vec<Range<usize>>,
}

/// Attributes that leave an item what it is.
const INERT: [&str; 19] = [
    "allow",
    "automatically_derived",
    "cold",
    "deny",
    "deprecated",
    "derive",
    "doc",
    "expect",
    "forbid",
    "inline",
    "must_use",
    "non_exhaustive",
    "repr",
    "rustfmt",
    "serde",
    "target_feature",
    "test",
    "track_caller",
    "warn",
];

impl Outline {
    /// That of a file, which is read once for all that name something in it.
    fn of(file: &Path) -> Option<Rc<Self>> {
        thread_local! {
            static LAST: RefCell<Option<Rc<Outline>>> = const { RefCell::new(None) };
        }
        let text = std::fs::read_to_string(file).ok()?;
        LAST.with_borrow_mut(|last| match last {
            Some(last) if last.text == text => Some(last.clone()),
            _ => Some(last.insert(Rc::new(Self::read(text))).clone()),
        })
    }

    fn read(text: String) -> Self {
        let (blocks, macros) = Reader::read(&text);
        Self {
            text,
            blocks,
            macros,
        }
    }

    /// The byte at a line, from 1 on, and a character in it, from 0 on.
    fn offset(&self, line: usize, column: usize) -> Option<usize> {
        let mut start = 0;
        for _ in 1..line {
            start += self.text[start..].find('\n')? + 1;
        }
        let mut rest = self.text[start..].char_indices();
        rest.nth(column).map(|(at, _)| start + at)
    }

    fn meaning(&self, path: &[String], at: usize, is_root: bool) -> Option<Unmarked> {
        let (name, modules) = path.split_last()?;
        let inmost = self.inmost(at)?;
        let mut home = None;
        for (k, module) in modules.iter().enumerate() {
            home = Some(match (module.as_str(), home) {
                ("self", None) => self.module_around(inmost),
                ("crate", None) if is_root => 0,
                ("super", before) => {
                    let here = before.unwrap_or_else(|| self.module_around(inmost));
                    self.module_around(self.blocks[here].parent?)
                }
                (_, before) => {
                    let item = match before {
                        Some(block) => self.one(block, module)?,
                        None if k == 0 => self.in_scope(inmost, module)?,
                        None => return None,
                    };
                    match item.what {
                        What::Module(block) => block,
                        What::Item(_) | What::Other => return None,
                    }
                }
            });
        }
        let item = match home {
            Some(block) => self.one(block, name)?,
            None => self.in_scope(inmost, name)?,
        };
        match item.what {
            What::Item(keyword) if item.attributes.leave_no_companion() => Some(Unmarked {
                keyword,
                name: name.clone(),
                line: 1 + self.text[..item.at].matches('\n').count(),
            }),
            What::Item(_) | What::Module(_) | What::Other => None,
        }
    }

    /// The block that something stands in.
    fn inmost(&self, at: usize) -> Option<usize> {
        if self.macros.iter().any(|inside| inside.contains(&at)) {
            return None;
        }
        (0..self.blocks.len())
            .filter(|&block| self.blocks[block].from <= at && at < self.blocks[block].to)
            .max_by_key(|&block| self.blocks[block].from)
    }

    /// What there is instead of a name that nothing there can have.
    fn absent(&self, name: &str, at: usize) -> Option<Vec<(&'static str, String)>> {
        let mut block = self.inmost(at)?;
        let mut known = Vec::new();
        loop {
            let here = &self.blocks[block];
            let named = here.items.iter().any(|item| item.name == name);
            if here.has_more || named || here.used.iter().any(|used| used == name) {
                return None;
            }
            if !here.is_owned {
                known.extend(here.items.iter().filter_map(|item| match item.what {
                    What::Item(keyword) => Some((keyword, item.name.clone())),
                    What::Module(_) | What::Other => None,
                }));
            }
            if here.is_module && !here.takes_all {
                return Some(known);
            }
            block = here.parent?;
        }
    }

    /// The module that a block stands in, or is.
    fn module_around(&self, mut block: usize) -> usize {
        while !self.blocks[block].is_module
            && let Some(parent) = self.blocks[block].parent
        {
            block = parent;
        }
        block
    }

    /// Whether what is derived for the type whose name stands here, and what is implemented for it
    /// by name, leaves out a trait.
    fn lacks(&self, trait_name: &str, name: &str, at: usize) -> bool {
        let mut items = self.blocks.iter().flat_map(|block| &block.items);
        items.find(|item| item.at == at).is_some_and(|item| {
            let Attributes { derived, any } = &item.attributes;
            !any && derived.iter().any(|derived| derived == "IndexSet")
                && derived.iter().all(|derived| derived != trait_name)
                && !self.text.contains(&format!("{trait_name} for {name}"))
        })
    }

    /// The only item of a name in a block, where no other can be meant.
    fn one(&self, block: usize, name: &str) -> Option<&Item> {
        let block = &self.blocks[block];
        let mut all = block.items.iter().filter(|item| item.name == name);
        let item = all.next()?;
        let used = block.used.iter().any(|used| used == name);
        (all.next().is_none() && !used).then_some(item)
    }

    /// The item that a name means in a block.
    fn in_scope(&self, mut block: usize, name: &str) -> Option<&Item> {
        loop {
            let here = &self.blocks[block];
            let known = here.items.iter().any(|item| item.name == name);
            if here.used.iter().any(|used| used == name) {
                return None;
            }
            if known && !here.is_owned {
                return self.one(block, name);
            }
            if here.is_module && !here.takes_all {
                return None;
            }
            block = here.parent?;
        }
    }
}

struct Reader<'t> {
    pieces: Vec<Piece<'t>>,
    places: Vec<usize>,
    blocks: Vec<Block>,
    macros: Vec<Range<usize>>,
    open: Vec<usize>,
    /// Of the item that begins.
    attributes: Attributes,
}

impl<'t> Reader<'t> {
    fn read(text: &'t str) -> (Vec<Block>, Vec<Range<usize>>) {
        let (places, pieces) = placed(text).into_iter().unzip();
        let mut reader = Self {
            pieces,
            places,
            blocks: Vec::new(),
            macros: Vec::new(),
            open: Vec::new(),
            attributes: Attributes::default(),
        };
        reader.begin(0, true, false);
        reader.items();
        for block in &mut reader.blocks {
            if block.to == 0 {
                block.to = text.len();
            }
        }
        (reader.blocks, reader.macros)
    }

    fn begin(&mut self, from: usize, is_module: bool, is_owned: bool) -> usize {
        self.blocks.push(Block {
            parent: self.open.last().copied(),
            from,
            is_module,
            is_owned,
            ..Block::default()
        });
        self.open.push(self.blocks.len() - 1);
        self.blocks.len() - 1
    }

    fn word(&self, at: usize) -> Option<&'t str> {
        match self.pieces.get(at) {
            Some(Piece::Word(word)) => Some(word),
            _ => None,
        }
    }

    fn is(&self, at: usize, mark: u8) -> bool {
        self.pieces.get(at) == Some(&Piece::Mark(mark))
    }

    fn is_open(&self, at: usize) -> bool {
        self.is(at, b'{') || self.is(at, b'(') || self.is(at, b'[')
    }

    fn here(&mut self) -> &mut Block {
        // The file itself stays open.
        let last = self.open.last().copied().unwrap_or(0);
        &mut self.blocks[last]
    }

    fn item(&mut self, at: usize, what: What) {
        let attributes = std::mem::take(&mut self.attributes);
        if let Some(name) = self.word(at) {
            let (name, at) = (name.to_owned(), self.places[at]);
            self.here().items.push(Item {
                name,
                what,
                at,
                attributes,
            });
        }
    }

    /// What an attribute says of the item that it stands at.
    fn attribute(&mut self, pieces: Range<usize>) {
        let words = pieces.filter_map(|at| self.word(at));
        let words: Vec<&str> = words.collect();
        match words.as_slice() {
            ["derive", derived @ ..] => {
                let derived = derived.iter().map(|word| (*word).to_owned());
                self.attributes.derived.extend(derived);
            }
            ["clippy", ..] => {}
            [first, ..] => self.attributes.any |= !INERT.contains(first),
            [] => self.attributes.any = true,
        }
    }

    fn items(&mut self) {
        // What the next brace opens, after the beginning of an item.
        let mut owned = None;
        let mut at = 0;
        while let Some(&piece) = self.pieces.get(at) {
            let here = at;
            at += 1;
            match piece {
                Piece::Mark(b'#') if self.is(at, b'[') => {
                    let end = closing(&self.pieces, at);
                    self.attribute(at..end);
                    at = end;
                }
                // What a macro takes is its own; what defines one has the name.
                Piece::Mark(b'!') if self.is_open(at) => {
                    let made = self.word(here.saturating_sub(1)).unwrap_or_default();
                    let end = closing(&self.pieces, at);
                    if STD_MACROS.contains(&made)
                        || TRANSFORMS.contains(&made)
                        || matches!(made, "explain" | "try_call")
                    {
                        at = end;
                        continue;
                    }
                    let words = (at..end).filter_map(|k| self.word(k).map(str::to_owned));
                    let words: Vec<String> = words.collect();
                    let block = self.here();
                    block.used.extend(words);
                    block.has_more |= block.is_module && made != "define";
                    at = end;
                }
                Piece::Word("macro_rules") if self.is(at, b'!') => {
                    self.item(at + 1, What::Other);
                    let from = self.places[here];
                    at = closing(&self.pieces, at + 2);
                    let to = self.places.get(at).copied().unwrap_or(usize::MAX);
                    self.macros.push(from..to);
                }
                Piece::Word("use") => {
                    let end = (at..self.pieces.len()).find(|&end| self.is(end, b';'));
                    let end = end.unwrap_or(self.pieces.len());
                    let words: Vec<&str> = (at..end).filter_map(|k| self.word(k)).collect();
                    let all = (at..end).any(|k| self.is(k, b'*'));
                    let block = self.here();
                    match words.as_slice() {
                        ["super"] if all => block.takes_all = true,
                        ["pointful", "prelude"] => {}
                        _ => block.has_more |= all,
                    }
                    block.used.extend(words.into_iter().map(str::to_owned));
                    at = end;
                }
                Piece::Word("mod") => {
                    if self.is(at + 1, b'{') {
                        let name = at;
                        let parent = self.open.last().copied().unwrap_or(0);
                        let block = self.begin(self.places[at + 1], true, false);
                        let attributes = std::mem::take(&mut self.attributes);
                        let what = match attributes.any {
                            false => What::Module(block),
                            true => What::Other,
                        };
                        if let Some(word) = self.word(name) {
                            let (name, at) = (word.to_owned(), self.places[name]);
                            self.blocks[parent].items.push(Item {
                                name,
                                what,
                                at,
                                attributes,
                            });
                        }
                        at += 2;
                    } else {
                        self.item(at, What::Other);
                    }
                }
                Piece::Word(keyword @ ("fn" | "struct" | "enum" | "type"))
                    if self.word(at).is_some() =>
                {
                    let keyword = match keyword {
                        "fn" => "fn",
                        "struct" => "struct",
                        "enum" => "enum",
                        _ => "type",
                    };
                    self.item(at, What::Item(keyword));
                    owned = Some(false);
                    at += 1;
                }
                Piece::Word("trait" | "union" | "static") if self.word(at).is_some() => {
                    self.item(at, What::Other);
                    owned = Some(true);
                }
                Piece::Word("impl") if owned.is_none() => owned = Some(true),
                Piece::Mark(b'{') => {
                    self.begin(self.places[here], false, owned.take() == Some(true));
                    self.attributes = Attributes::default();
                }
                Piece::Mark(b'}') => {
                    if self.open.len() > 1 {
                        let to = self.places[here];
                        self.here().to = to;
                        self.open.pop();
                    }
                    (self.attributes, owned) = (Attributes::default(), None);
                }
                Piece::Mark(b';') => (self.attributes, owned) = (Attributes::default(), None),
                Piece::Word(_) | Piece::Mark(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Outline;

    /// What the path means that stands between `‹` and `›`, and in which line that is.
    fn meaning(text: &str) -> String {
        let at = text.find('‹').expect("a path is shown");
        let path = &text[at + '‹'.len_utf8()..text.find('›').expect("it ends")];
        let path: Vec<String> = path.split("::").map(str::to_owned).collect();
        let text = text.replace(['‹', '›'], "");
        let last = path.last().map_or(0, String::len);
        let at = at + path.join("::").len() - last;
        let outline = Outline::read(text);
        outline
            .meaning(&path, at, true)
            .map_or_else(String::new, |found| {
                format!("{} {} {}", found.keyword, found.name, found.line)
            })
    }

    #[test]
    fn items_that_nobody_has_marked() {
        for (text, expected) in [
            (
                "fn h(x: f64) -> f64 { x }\n#[pointful] fn f() { ‹h›(1.0) }",
                "fn h 1",
            ),
            (
                "#[pointful] fn f() { ‹h›(1.0) }\n/// Of it.\n#[inline]\npub(crate) const fn h() {}",
                "fn h 4",
            ),
            (
                "#[derive(Clone, Debug)]\nstruct M { w: f64 }\n#[pointful] fn f(m: &‹M›) {}",
                "struct M 2",
            ),
            ("type F = f64;\n#[pointful] fn f(x: ‹F›) {}", "type F 1"),
            (
                "#[derive(Clone)] enum K { A }\n#[pointful] fn f(x: ‹K›) {}",
                "enum K 1",
            ),
            (
                "mod m { pub fn h() {} }\n#[pointful] fn f() { ‹m::h›() }",
                "fn h 1",
            ),
            (
                "mod m { pub mod n { pub fn h() {} } }\n#[pointful] fn f() { ‹self::m::n::h›() }",
                "fn h 1",
            ),
            (
                "fn h() {} mod m { #[pointful] fn f() { ‹super::h›() } }",
                "fn h 1",
            ),
            (
                "fn h() {} mod m { use super::*; #[pointful] fn f() { ‹h›() } }",
                "fn h 1",
            ),
            (
                "fn h() {} mod m { #[pointful] fn f() { ‹crate::h›() } }",
                "fn h 1",
            ),
            ("fn main() { fn h() {} grad!(‹h›)(1.0); }", "fn h 1"),
            (
                "fn main() { fn h() {} #[pointful] fn f() { ‹h›() } }",
                "fn h 1",
            ),
            (
                "struct S; impl S { fn h() {} } fn h() { \"}\"; }\n#[pointful] fn f() { ‹h›() }",
                "fn h 1",
            ),
            (
                "fn of(g: impl Fn(f64)) { fn h() {} } #[pointful] fn f() { ‹h›() }",
                "",
            ),
        ] {
            assert_eq!(meaning(text), expected, "{text}");
        }
    }

    #[test]
    fn what_may_be_marked() {
        for text in [
            "#[pointful] fn h() {} #[pointful] fn f() { ‹h›() }",
            "#[pf::pointful(remat)] fn h() {} #[pointful] fn f() { ‹h›() }",
            "#[differentiable] fn h() {} #[pointful] fn f() { ‹h›() }",
            "#[cfg(a)] fn h() {} #[pointful] fn f() { ‹h›() }",
            "#[cfg_attr(a, pointful)] fn h() {} #[pointful] fn f() { ‹h›() }",
            "#[derive(IndexSet)] enum K { A } #[pointful] fn f(x: ‹K›) {}",
            "use m::h; fn h() {} #[pointful] fn f() { ‹h›() }",
            "fn h() {} fn g() { use m::h; #[pointful] fn f() { ‹h›() } }",
            "fn h() {} struct h; #[pointful] fn f() { ‹h›() }",
            "fn h() {} macro_rules! h { () => {} } #[pointful] fn f() { ‹h›() }",
            "macro_rules! make { () => { fn h() {} } } make!(); #[pointful] fn f() { ‹h›() }",
            "define! { fn h = grad!(g); } #[pointful] fn f() { ‹h›() }",
            "impl S { fn h() {} } #[pointful] fn f() { ‹h›() }",
            "trait S { fn h() {} } #[pointful] fn f() { ‹h›() }",
            "mod m { fn h() {} } #[pointful] fn f() { ‹h›() }",
            "fn h() {} mod m { #[pointful] fn f() { ‹h›() } }",
            "fn h() {} macro_rules! make { () => { #[pointful] fn f() { ‹h›() } } }",
            "mod m; #[pointful] fn f() { ‹m::h›() }",
            "use a::m; mod m { fn h() {} } #[pointful] fn f() { ‹m::h›() }",
            "#[cfg(a)] mod m { fn h() {} } #[pointful] fn f() { ‹m::h›() }",
            "mod m { pub use n::h; } fn h() {} #[pointful] fn f() { ‹m::h›() }",
            "fn main() { let h = 3; } #[pointful] fn f() { ‹h›() }",
            "/* fn h() {} */ // fn h() {}\n#[pointful] fn f() { ‹h›() }",
        ] {
            assert_eq!(meaning(text), "", "{text}");
        }
    }

    /// What there is, where what stands at `‹h›` is not.
    fn instead(text: &str) -> Option<String> {
        let at = text.find('‹').expect("a name is shown");
        let outline = Outline::read(text.replace(['‹', '›'], ""));
        let names = outline.absent("h", at)?.into_iter();
        Some(names.map(|(_, name)| name).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn names_that_nothing_has() {
        for (text, expected) in [
            (
                "use pointful::prelude::*; #[pointful] fn f() { ‹h›() } fn k() {}",
                "f k",
            ),
            (
                "mod m { fn h() {} } use m::{g}; #[pointful] fn f() { ‹h›() }",
                "f",
            ),
            ("fn k() { fn i() {} #[pointful] fn f() { ‹h›() } }", "i f k"),
            (
                "fn k() {} mod m { use super::*; #[pointful] fn f() { ‹h›() } }",
                "f k",
            ),
            (
                "define! { fn g = grad!(f); } #[pointful] fn f() { ‹h›() }",
                "f",
            ),
            ("#[pointful] fn f() { vec![1]; ‹h›() }", "f"),
        ] {
            assert_eq!(instead(text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "use m::*; #[pointful] fn f() { ‹h›() }",
            "use m::{k, h}; #[pointful] fn f() { ‹h›() }",
            "use m::k as h; #[pointful] fn f() { ‹h›() }",
            "make!(); #[pointful] fn f() { ‹h›() }",
            "define! { fn h = grad!(f); } #[pointful] fn f() { ‹h›() }",
            "fn h() {} mod m { use super::*; #[pointful] fn f() { ‹h›() } }",
            "use m::*; mod n { use super::*; #[pointful] fn f() { ‹h›() } }",
            "fn g() { make!(h); #[pointful] fn f() { ‹h›() } }",
            "macro_rules! make { () => { ‹h› } }",
        ] {
            assert_eq!(instead(text), None, "{text}");
        }
    }

    #[test]
    fn traits_that_are_not_derived() {
        let lacks = |text: &str| {
            let outline = Outline::read(text.to_owned());
            let at = text
                .find("R ")
                .or(text.find("R("))
                .expect("the name is there");
            ["Clone", "Copy"].map(|of| outline.lacks(of, "R", at))
        };
        assert_eq!(lacks("#[derive(IndexSet)] struct R(usize);"), [true, true]);
        assert_eq!(
            lacks("#[derive(Clone, pf::IndexSet)] enum R { A }"),
            [false, true]
        );
        for text in [
            "#[derive(Clone, Copy)] #[derive(IndexSet)] pub struct R(usize);",
            "#[derive(IndexSet)] #[other] struct R(usize);",
            "#[derive(IndexSet)] struct R(usize); impl Copy for R {} impl Clone for R {}",
            "macro_rules! m { () => { #[derive(IndexSet)] struct R(usize); } }",
            "struct R(usize);",
        ] {
            assert_eq!(lacks(text), [false, false], "{text}");
        }
    }

    /// Whatever stands in a file, and wherever it ends.
    #[test]
    fn any_text_is_read() {
        let text = "#[a] fn h<'a>() -> ü { '\\''; }} mod m { use super::{*}; struct ü(f64); macro_rules! x { } type";
        let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
        let ends: Vec<usize> = ends.collect();
        for (k, &from) in ends.iter().enumerate() {
            for &to in &ends[k..] {
                let outline = Outline::read(text[from..to].to_owned());
                for at in 0..=to - from {
                    outline.meaning(&["m".to_owned(), "h".to_owned()], at, true);
                    outline.meaning(&["h".to_owned()], at, false);
                    outline.absent("h", at);
                }
                outline.offset(3, 1);
            }
        }
    }
}
