//! Functions as users write them, beside the loops that they would write without: windows, series,
//! sparse tables, sums with conditions.
//! `RAYON_NUM_THREADS=1 cargo run --release -p pointful-benches --bin everyday`: the loops run on
//! one thread. Both results are compared.

mod images;
mod report;
mod series;
mod sums;

fn main() {
    let rounds = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let mut report = report::Report::new(rounds.unwrap_or(15));
    images::rows(&mut report);
    series::rows(&mut report);
    sums::rows(&mut report);
}
