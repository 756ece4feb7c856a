//! The book's files, read as Markdown.

use std::fs;
use std::path::{Path, PathBuf};

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// A file of Markdown.
pub(crate) struct Document {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// Where its links go.
    pub(crate) links: Vec<String>,
    /// The anchors of its headings.
    pub(crate) anchors: Vec<String>,
    /// Its blocks of Rust.
    pub(crate) programs: Vec<String>,
}

/// The folder of the project.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the book stands in the project")
        .to_owned()
}

/// The chapters, and the table of contents.
pub(crate) fn chapters() -> Vec<Document> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = fs::read_dir(&folder).expect("the book has chapters");
    let mut paths: Vec<PathBuf> = files
        .map(|file| file.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect();
    paths.sort();
    paths.into_iter().map(read).collect()
}

/// A file of Markdown.
pub(crate) fn read(path: PathBuf) -> Document {
    let text =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut document = Document {
        path,
        links: Vec::new(),
        anchors: Vec::new(),
        programs: Vec::new(),
    };
    let mut heading: Option<String> = None;
    let mut program: Option<String> = None;
    for event in Parser::new_ext(&text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                document.links.push(dest_url.to_string());
            }
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                document.anchors.extend(heading.take().as_deref().map(slug));
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(kind)))
                if kind.split(',').next() == Some("rust") =>
            {
                program = Some(String::new());
            }
            Event::End(TagEnd::CodeBlock) => document.programs.extend(program.take()),
            Event::Text(text) | Event::Code(text) => {
                if let Some(written) = heading.as_mut().or(program.as_mut()) {
                    written.push_str(&text);
                }
            }
            _ => {}
        }
    }
    document
}

/// A heading's anchor, as mdBook and GitHub make it.
fn slug(heading: &str) -> String {
    heading
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            c if c.is_alphanumeric() || c == '_' || c == '-' => Some(c),
            c if c.is_whitespace() => Some('-'),
            _ => None,
        })
        .collect()
}
