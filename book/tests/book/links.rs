//! Links lead somewhere: to a file, and to a heading in it.

use std::collections::BTreeSet;
use std::path::Path;

use crate::markdown::{Document, chapters, read, root};

/// What is wrong with the links of a document.
fn broken(document: &Document) -> Vec<String> {
    let folder = document.path.parent().unwrap_or(Path::new("."));
    let leads = |link: &str| {
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let path = if file.is_empty() {
            document.path.clone()
        } else {
            folder.join(file)
        };
        let is_text = path.extension().is_some_and(|end| end == "md");
        path.exists()
            && (anchor.is_empty()
                || is_text && read(path).anchors.iter().any(|known| known == anchor))
    };
    let relative = document
        .links
        .iter()
        .filter(|link| !link.contains("://") && !link.starts_with("mailto:"));
    relative
        .filter(|link| !leads(link))
        .map(|link| format!("{}: {link}", document.path.display()))
        .collect()
}

#[test]
fn links_lead_somewhere() {
    let root = root();
    let others = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "STYLE.md",
    ];
    let mut documents = chapters();
    documents.extend(others.map(|name| read(root.join(name))));
    assert!(documents.iter().any(|document| !document.links.is_empty()));
    let broken: Vec<String> = documents.iter().flat_map(broken).collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

/// A chapter that nobody lists is not in the book, and one that the crate does not name is not run.
#[test]
fn every_chapter_is_listed_and_run() {
    let chapters = chapters();
    let name = |path: &Path| {
        path.file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    let (contents, chapters): (Vec<_>, Vec<_>) = chapters
        .iter()
        .partition(|document| document.path.ends_with("SUMMARY.md"));
    let written: BTreeSet<String> = chapters.iter().filter_map(|c| name(&c.path)).collect();
    let listed: BTreeSet<String> = contents.iter().flat_map(|c| c.links.clone()).collect();
    assert_eq!(written, listed);
    let (_, named) = include_str!("../../lib.rs")
        .split_once("chapters! {")
        .expect("the crate names the chapters");
    let quoted = named.split('"').skip(1).step_by(2);
    let run: BTreeSet<String> = quoted.map(|name| format!("{name}.md")).collect();
    assert_eq!(written, run);
}
