//! The compiler behind the macros of pointful.
