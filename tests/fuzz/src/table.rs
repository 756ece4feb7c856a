//! How many there are of each outcome.

use std::fmt;

use crate::batch::Outcome;

/// Columns: agree, wrong, refused, rejected, panics, discarded.
#[derive(Default)]
pub(crate) struct Table {
    rows: [[usize; 6]; 2],
}

fn column(outcome: &Outcome) -> usize {
    match outcome {
        Outcome::Agrees => 0,
        Outcome::Wrong(_) => 1,
        Outcome::Refused(_) => 2,
        Outcome::Rejected(_) => 3,
        Outcome::Panics(_) => 4,
        Outcome::Discarded => 5,
    }
}

/// Whether both are in the same column.
pub(crate) fn same_kind(a: &Outcome, b: &Outcome) -> bool {
    column(a) == column(b)
}

/// An outcome in a line.
pub(crate) fn short(outcome: &Outcome) -> String {
    format!("{outcome:?}").chars().take(300).collect()
}

impl Table {
    pub(crate) fn count(&mut self, derivative: bool, outcome: &Outcome) {
        self.rows[usize::from(derivative)][column(outcome)] += 1;
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| kind | agree | wrong | refused | rejected | panics | discarded |"
        )?;
        writeln!(f, "|---|---|---|---|---|---|---|")?;
        for (name, row) in ["functions", "derivatives"].iter().zip(self.rows) {
            let cells: Vec<String> = row.iter().map(usize::to_string).collect();
            writeln!(f, "| {name} | {} |", cells.join(" | "))?;
        }
        Ok(())
    }
}
