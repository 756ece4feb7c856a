//! The items of a text, by the blocks that they stand in.

use std::ops::Range;

use super::super::STD_MACROS;
use super::super::text::{Piece, closing, placed};
use crate::syntax::parse::TRANSFORMS;

/// What an item is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    /// Something that is marked or not, by its keyword.
    Item(&'static str),
    /// A module that is written here, by its block.
    Module(usize),
    /// A module that stands in a file of its own.
    File,
    /// Something else.
    Other,
}

#[derive(Debug)]
pub(super) struct Item {
    pub(super) name: String,
    pub(super) what: What,
    /// The byte at which its name begins.
    pub(super) at: usize,
    attributes: Attributes,
}

impl Item {
    /// Whether nothing asks for a companion, or takes the item away.
    pub(super) fn leaves_no_companion(&self) -> bool {
        let Attributes { derived, any } = &self.attributes;
        !any && derived.iter().all(|derived| derived != "IndexSet")
    }
}

/// What stands in front of an item.
#[derive(Clone, Default, Debug)]
struct Attributes {
    /// All that it derives.
    derived: Vec<String>,
    /// Whether there is one that may do anything.
    any: bool,
}

/// What a `use` brings.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Import {
    /// The name that it has here; none if it is everything that stands in a module.
    pub(super) name: Option<String>,
    /// Where from; empty in front of a name of another crate, `::rayon`.
    pub(super) path: Vec<String>,
}

/// What stands between two braces.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) parent: Option<usize>,
    from: usize,
    to: usize,
    pub(super) is_module: bool,
    /// The name of a module that is written here.
    pub(super) name: Option<String>,
    /// Whether names in it are reached by a type only.
    pub(super) is_owned: bool,
    pub(super) items: Vec<Item>,
    pub(super) imports: Vec<Import>,
    /// The words that macros take, and what else may be names: each may be anything here.
    pub(super) said: Vec<String>,
    /// Whether a macro may have made names that do not stand in it.
    pub(super) has_more: bool,
}

/// The items of a text.
#[derive(Debug)]
pub(super) struct Outline {
    pub(super) text: String,
    pub(super) blocks: Vec<Block>,
    /// What stands in definitions of macros means something where these are used.
    macros: Vec<Range<usize>>,
}

/// Those that stand in a file or a module, beside them.
const INERT_INSIDE: [&str; 9] = [
    "cfg",
    "clippy",
    "crate_name",
    "crate_type",
    "feature",
    "no_main",
    "no_std",
    "recursion_limit",
    "type_length_limit",
];

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
    pub(super) fn read(text: String) -> Self {
        let (blocks, macros) = Reader::read(&text);
        Self {
            text,
            blocks,
            macros,
        }
    }

    /// The byte at a line, from 1 on, and a character in it, from 0 on.
    pub(super) fn offset(&self, line: usize, column: usize) -> Option<usize> {
        let mut start = 0;
        for _ in 1..line {
            start += self.text[start..].find('\n')? + 1;
        }
        let mut rest = self.text[start..].char_indices();
        rest.nth(column).map(|(at, _)| start + at)
    }

    /// The line of a byte, from 1 on.
    pub(super) fn line(&self, at: usize) -> usize {
        1 + self.text[..at].matches('\n').count()
    }

    /// The block that something stands in.
    pub(super) fn inmost(&self, at: usize) -> Option<usize> {
        if self.macros.iter().any(|inside| inside.contains(&at)) {
            return None;
        }
        (0..self.blocks.len())
            .filter(|&block| self.blocks[block].from <= at && at < self.blocks[block].to)
            .max_by_key(|&block| self.blocks[block].from)
    }

    /// The module that a block stands in, or is.
    pub(super) fn module_around(&self, mut block: usize) -> usize {
        while !self.blocks[block].is_module
            && let Some(parent) = self.blocks[block].parent
        {
            block = parent;
        }
        block
    }

    /// Whether what is derived for the type whose name stands here, and what is implemented for it
    /// by name, leaves out a trait.
    pub(super) fn lacks(&self, trait_name: &str, name: &str, at: usize) -> bool {
        let mut items = self.blocks.iter().flat_map(|block| &block.items);
        items.find(|item| item.at == at).is_some_and(|item| {
            let Attributes { derived, any } = &item.attributes;
            !any && derived.iter().any(|derived| derived == "IndexSet")
                && derived.iter().all(|derived| derived != trait_name)
                && !self.text.contains(&format!("{trait_name} for {name}"))
        })
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

    /// A macro is called with what stands here.
    fn call(&mut self, made: &str, pieces: Range<usize>) {
        let brings_nothing = STD_MACROS.contains(&made)
            || TRANSFORMS.contains(&made)
            || matches!(made, "explain" | "try_call");
        if brings_nothing && made != "include" {
            return;
        }
        let defines = made == "define";
        let words = pieces.filter(|&at| !defines || self.word(at - 1) == Some("fn"));
        let words = words.filter_map(|at| self.word(at).map(str::to_owned));
        let words: Vec<String> = words.collect();
        let block = self.here();
        block.said.extend(words);
        block.has_more |= block.is_module && !defines;
    }

    /// What a `use` says.
    fn import(&mut self, pieces: Range<usize>) {
        let (mut at, mut found) = (pieces.start, Vec::new());
        let read = self.tree(&mut at, Vec::new(), &mut found, 0);
        let is_sure = read.is_some() && at == pieces.end && !self.attributes.any;
        if is_sure {
            self.here().imports.append(&mut found);
        } else {
            let all = pieces.clone().any(|at| self.is(at, b'*'));
            let words = pieces.filter_map(|at| self.word(at).map(str::to_owned));
            let words: Vec<String> = words.collect();
            self.here().has_more |= all;
            self.here().said.extend(words);
        }
    }

    /// A path of a `use`, or several in braces.
    fn tree(
        &self,
        at: &mut usize,
        mut path: Vec<String>,
        found: &mut Vec<Import>,
        depth: usize,
    ) -> Option<()> {
        if depth > 16 {
            return None;
        }
        loop {
            if self.is(*at, b':') && self.is(*at + 1, b':') {
                *at += 2;
                if path.is_empty() {
                    path.push(String::new());
                }
            } else if self.is(*at, b'*') {
                *at += 1;
                found.push(Import { name: None, path });
                return Some(());
            } else if self.is(*at, b'{') {
                *at += 1;
                while !self.is(*at, b'}') {
                    self.tree(at, path.clone(), found, depth + 1)?;
                    if self.is(*at, b',') {
                        *at += 1;
                    } else if !self.is(*at, b'}') {
                        return None;
                    }
                }
                *at += 1;
                return Some(());
            } else {
                let word = self.word(*at)?;
                *at += 1;
                if word != "self" || path.is_empty() {
                    path.push(word.to_owned());
                }
                if self.is(*at, b':') {
                    continue;
                }
                let mut name = path.last()?.clone();
                if self.word(*at) == Some("as") {
                    name = self.word(*at + 1)?.to_owned();
                    *at += 2;
                }
                found.push(Import {
                    name: Some(name),
                    path,
                });
                return Some(());
            }
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
                Piece::Mark(b'#') if self.is(at, b'!') && self.is(at + 1, b'[') => {
                    let end = closing(&self.pieces, at + 1);
                    let first = self.word(at + 2).unwrap_or_default();
                    let is_known = INERT.contains(&first) || INERT_INSIDE.contains(&first);
                    self.here().has_more |= !is_known;
                    at = end;
                }
                // What a macro takes is its own; what defines one has the name.
                Piece::Mark(b'!') if self.is_open(at) => {
                    let made = self.word(here.saturating_sub(1)).unwrap_or_default();
                    let end = closing(&self.pieces, at);
                    self.call(made, at..end);
                    at = end;
                }
                Piece::Word("macro_rules") if self.is(at, b'!') => {
                    self.item(at + 1, What::Other);
                    let from = self.places[here];
                    at = closing(&self.pieces, at + 2);
                    let to = self.places.get(at).copied().unwrap_or(usize::MAX);
                    self.macros.push(from..to);
                }
                // Not what a type captures, `impl Fn() + use<'a>`.
                Piece::Word("use") if !self.is(at, b'<') => {
                    let end = (at..self.pieces.len()).find(|&end| self.is(end, b';'));
                    let end = end.unwrap_or(self.pieces.len());
                    self.import(at..end);
                    at = end;
                }
                Piece::Word("extern") if self.word(at) == Some("crate") => {
                    let words = (at..self.pieces.len()).map_while(|k| self.word(k));
                    let words: Vec<String> = words.map(str::to_owned).collect();
                    self.here().said.extend(words);
                }
                Piece::Word("mod") if self.word(at).is_some() => {
                    let (name, is_here) = (at, self.is(at + 1, b'{'));
                    // A module with an attribute may be another file's, or none.
                    let what = match (self.attributes.any, is_here) {
                        (true, _) => What::Other,
                        (false, true) => What::Module(self.blocks.len()),
                        (false, false) => What::File,
                    };
                    self.item(name, what);
                    if is_here {
                        let block = self.begin(self.places[name + 1], true, false);
                        self.blocks[block].name = self.word(name).map(str::to_owned);
                        at += 2;
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
