//! Between lists of lists, which JSON has, and tables.

use pointful::prelude::*;

use crate::protocol::Failure;

/// A list as a table over a set of its length.
pub fn vector<I: IndexSet<Size = usize>>(list: Vec<f64>) -> Result<Table<I, f64>, Failure> {
    Ok(Table::from_vec(Extent::new(list.len()), list)?)
}

/// A list of rows as a table, each row over the set `columns`; `what` names the list.
///
/// # Errors
/// If a row is longer or shorter.
pub fn matrix<I: IndexSet<Size = usize>, J: IndexSet>(
    what: &str,
    columns: Extent<J>,
    rows: &[Vec<f64>],
) -> Result<Table<(I, J), f64>, Failure> {
    if let Some(k) = rows.iter().position(|row| row.len() != columns.len()) {
        let (found, expected) = (rows[k].len(), columns.len());
        return Err(format!("row {k} of `{what}` has {found} numbers, not {expected}").into());
    }
    let extent = Extent::new((rows.len(), columns.size()));
    Ok(Table::from_vec(extent, rows.concat())?)
}

/// How many numbers the first row has.
pub fn width<J: IndexSet<Size = usize>>(rows: &[Vec<f64>]) -> Extent<J> {
    Extent::new(rows.first().map_or(0, Vec::len))
}

/// A table as a list of rows.
pub fn rows<I: IndexSet, J: IndexSet>(table: &Table<(I, J), f64>) -> Vec<Vec<f64>> {
    table.rows().map(|row| row.as_slice().to_vec()).collect()
}
