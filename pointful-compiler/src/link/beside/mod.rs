//! Items that are named and not marked, found in the text around what names them.
//!
//! What is not marked has no companion, so rustc says of it that there is no macro of its name. A
//! macro may read the file that it stands in: a plain `fn h` where `h` must come from is a better
//! answer. It may stand in another file of the crate, by a `use` or a path.
//!
//! Text is no program. So whatever could bring a companion after all, a second item, an attribute
//! that is not known, what comes from another crate, is left alone, and rustc has the word.

mod names;
mod outline;
mod sources;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use proc_macro2::Span;

pub(crate) use sources::Sources;

/// An item that is not marked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Unmarked {
    /// `fn`, `struct`, `enum` or `type`.
    pub(crate) keyword: &'static str,
    /// Its name.
    pub(crate) name: String,
    /// The line that it stands in, from 1 on.
    pub(crate) line: usize,
    /// The file that it stands in, if that is another one.
    pub(crate) file: Option<PathBuf>,
}

/// What a path is that has no companion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Missing {
    /// An item of the same crate that nobody has marked.
    Unmarked(Unmarked),
    /// Something of a library that has none.
    Plain,
    /// Nothing: the names of what is there, with their keywords.
    Absent(Vec<(&'static str, String)>),
}

/// Which of these traits an index set lacks that is derived where its name stands, as far as the
/// file says so: a derive does not see what else is derived.
pub(crate) fn lacks<'t>(name: &proc_macro2::Ident, traits: &[&'t str]) -> Vec<&'t str> {
    let found = || {
        let outline = Sources::of_files().outline(&name.span().local_file()?)?;
        let start = name.span().start();
        let at = outline.offset(start.line, start.column)?;
        let lacks = |of: &&&str| outline.lacks(of, &name.to_string(), at);
        Some(traits.iter().filter(lacks).copied().collect())
    };
    found().unwrap_or_default()
}

/// Why there is no companion of a path, if the files of the crate that names it say so.
pub(crate) fn missing(path: &syn::Path, sources: &Sources<'_>) -> Option<Missing> {
    let last = path.segments.last()?;
    let segments = path.segments.iter();
    let segments: Vec<String> = segments.map(|part| part.ident.to_string()).collect();
    if path.leading_colon.is_some() {
        return None;
    }
    let span: Span = last.ident.span();
    let file = span.local_file()?;
    let outline = sources.outline(&file)?;
    let at = outline.offset(span.start().line, span.start().column)?;
    // Where a macro has put the name together, its place is another one's.
    let name = segments.last()?;
    outline.text[at..].starts_with(name).then_some(())?;
    missing_at(&segments, &file, at, sources)
}

/// The same of a path whose last name stands at a byte of a file.
fn missing_at(path: &[String], file: &Path, at: usize, sources: &Sources<'_>) -> Option<Missing> {
    let place = sources.place(file, at)?;
    match sources.meaning(&place, path) {
        names::Meaning::Item(home, number) => {
            let item = &home.block().items[number];
            let outline::What::Item(keyword) = item.what else {
                return None;
            };
            item.leaves_no_companion().then(|| {
                Missing::Unmarked(Unmarked {
                    keyword,
                    name: item.name.clone(),
                    line: home.outline.line(item.at),
                    file: (*home.file != *file).then(|| home.file.to_path_buf()),
                })
            })
        }
        // What is included by a macro has the names of where it is included, too.
        names::Meaning::Nothing if sources.is_module(&place) => {
            Some(Missing::Absent(sources.known(&place, path)))
        }
        names::Meaning::Plain => Some(Missing::Plain),
        names::Meaning::Nothing | names::Meaning::Module(_) | names::Meaning::Unclear => None,
    }
}
