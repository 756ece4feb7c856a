//! That the book is whole: its links, its list of chapters, and the words of the language.

mod links;
mod markdown;
mod words;
