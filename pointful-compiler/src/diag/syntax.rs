//! Messages of parsing and gathering.
