//! The format of a filetest.
//!
//! ```text
//! test bulk
//! What the test is about, in words.
//! ---- point
//! fn …
//! ---- run
//! a = [1, 2]; k = 3  ==  [3, 6]
//! ```
//!
//! The header is `test`, the command and its options; then prose; then sections, each with a tag.
//! Blank lines at the end of a section do not count.

use std::fmt;

/// One section.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Section {
    /// The stage of the program in it, or `run`, `structure`, `unchanged`.
    pub(crate) tag: String,
    /// What it holds: lines, each with its end.
    pub(crate) text: String,
    /// The line of the file before its first line; 0 for a section that was not read from a file.
    pub(crate) above: usize,
}

impl Section {
    /// A section that did not come from a file.
    pub(crate) fn new(tag: &str, text: &str) -> Self {
        let text = text.trim_end();
        let end = if text.is_empty() { "" } else { "\n" };
        Self {
            tag: tag.to_string(),
            text: format!("{text}{end}"),
            above: 0,
        }
    }
}

/// A whole file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct File {
    /// The command.
    pub(crate) command: String,
    /// The words behind the command.
    pub(crate) options: Vec<String>,
    /// Everything above the first section.
    head: String,
    /// All sections, at least one.
    pub(crate) sections: Vec<Section>,
}

impl File {
    /// Reads a file's text.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut head = String::new();
        let mut sections: Vec<Section> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            match (line.strip_prefix("---- "), sections.last_mut()) {
                (Some(tag), _) => sections.push(Section {
                    tag: tag.trim().to_string(),
                    text: String::new(),
                    above: number,
                }),
                (None, Some(section)) => section.text += &format!("{line}\n"),
                (None, None) => head += &format!("{line}\n"),
            }
        }
        for section in &mut sections {
            section.text = Section::new("", &section.text).text;
        }
        let mut words = head
            .lines()
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .map(String::from);
        if words.next().as_deref() != Some("test") {
            return Err("line 1: expected `test` and a command".into());
        }
        let command = words.next().ok_or("line 1: expected a command")?;
        let options = words.collect();
        if sections.is_empty() {
            return Err("no section begins with `---- `".into());
        }
        Ok(Self {
            command,
            options,
            head,
            sections,
        })
    }

    /// The first section, which the command starts from.
    pub(crate) fn input(&self) -> &Section {
        &self.sections[0]
    }

    /// The sections of `run` lines.
    pub(crate) fn runs(&self) -> impl Iterator<Item = &Section> {
        self.sections.iter().filter(|section| section.tag == "run")
    }

    /// The file as it is when the command gives these sections.
    pub(crate) fn with(&self, given: &[Section]) -> Self {
        let input = self.sections[..1].iter();
        Self {
            sections: input.chain(given).chain(self.runs()).cloned().collect(),
            ..self.clone()
        }
    }
}

impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.head)?;
        for Section { tag, text, .. } in &self.sections {
            write!(f, "---- {tag}\n{text}")?;
        }
        Ok(())
    }
}

#[test]
fn a_file_is_read_and_written_alike() {
    let text = "test ad wrt=x\nprose\n---- point\nfn f() {\n}\n---- run\na = 1  ==  2\n";
    let file = File::parse(text).unwrap();
    assert_eq!(
        (
            file.command.as_str(),
            file.options.len(),
            file.sections.len()
        ),
        ("ad", 1, 2)
    );
    assert_eq!(file.sections[1].above, 6);
    assert_eq!(file.to_string(), text);
}

#[test]
fn given_sections_stand_between_the_first_and_the_runs() {
    let file = File::parse("test a\n---- x\n1\n\n---- old\n2\n---- run\n3\n").unwrap();
    let new = file.with(&[Section::new("new", "4")]);
    assert_eq!(
        new.to_string(),
        "test a\n---- x\n1\n---- new\n4\n---- run\n3\n"
    );
}

#[test]
fn a_file_without_header_or_section_is_rejected() {
    assert!(File::parse("---- point\n").is_err());
    assert!(File::parse("test\n---- point\n").is_err());
    assert!(File::parse("test cat\n").is_err());
}
