//! Passes: functions from one program to another.

pub mod schedule;
