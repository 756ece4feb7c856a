//! Page rank: how often a reader who follows links at random is at each page. The links are in
//! compressed rows, one row a page.

use pointful::prelude::*;

/// A page.
#[derive(Clone, Copy, Debug, PartialEq, IndexSet)]
pub struct Page(usize);

/// A link from one page to another.
#[derive(Clone, Copy, IndexSet)]
pub struct Link(usize);

/// Where the links of each page begin, then where the last ends.
#[derive(Clone, Copy, IndexSet)]
pub struct Bound(usize);

/// Who links to whom.
#[pointful]
pub struct Graph {
    /// The links to page `p` are those from `bounds[p]` to before `bounds[p + 1]`.
    pub bounds: Table<Bound, usize>,
    /// The pages that they come from.
    pub from: Table<Link, Page>,
}

/// The ranks of all pages, a distribution, and after how many steps it changed by less than
/// `tolerance` in sum. At each step a reader follows a link with probability `follow`, else, or
/// where there is none, begins at any page.
#[pointful]
pub fn rank(
    graph: &Graph,
    pages: Extent<Page>,
    follow: f64,
    tolerance: f64,
) -> (Table<Page, f64>, usize) {
    let n = size(Page) as f64;
    let mut out = Accum::zeros(pages);
    for l in Link {
        out[graph.from[l]] += 1.0;
    }
    let links = out.get();
    let mut rank = for _p in pages {
        1.0 / n
    };
    let mut change = 1.0;
    let mut steps = 0;
    while change >= tolerance {
        let lost = sum(for p in Page {
            if links[p] == 0.0 { rank[p] } else { 0.0 }
        });
        let next = for p in Page {
            let came = sum(
                for l in graph.bounds[p.ordinal()]..graph.bounds[p.ordinal() + 1] {
                    let from = graph.from[l];
                    rank[from] / links[from]
                },
            );
            follow * (came + lost / n) + (1.0 - follow) / n
        };
        change = sum(for p in Page {
            (next[p] - rank[p]).abs()
        });
        rank = next;
        steps += 1;
    }
    (rank, steps)
}

/// The graph of links `(from, to)` between `pages` pages.
fn graph(pages: usize, links: &[(usize, usize)]) -> Graph {
    let mut sorted = links.to_vec();
    sorted.sort_by_key(|&(from, to)| (to, from));
    let bounds = (0..=pages).map(|p| sorted.partition_point(|&(_, to)| to < p));
    let from = sorted.iter().map(|&(from, _)| from).collect();
    Graph {
        bounds: Table::from_vec(Extent::new(pages + 1), bounds.collect()).expect("all bounds"),
        from: Table::from_indices(Extent::new(links.len()), Extent::new(pages), from)
            .expect("links are between pages"),
    }
}

fn main() {
    // Every page links to its divisors and to the next.
    let pages = 1000;
    let links: Vec<_> = (1..pages)
        .flat_map(|p| (1..p).filter(move |d| p % d == 0).map(move |d| (p, d)))
        .chain((1..pages).map(|p| (p, (p + 1) % pages)))
        .collect();
    let (ranks, steps) = rank(&graph(pages, &links), Extent::new(pages), 0.85, 1e-10);
    let mut order: Vec<usize> = (0..pages).collect();
    order.sort_by(|&a, &b| ranks.as_slice()[b].total_cmp(&ranks.as_slice()[a]));
    println!("{} links, {steps} steps; the first pages:", links.len());
    for &page in &order[..5] {
        println!("{page:4}: {:.5}", ranks.as_slice()[page]);
    }
}

#[test]
fn known_graphs() {
    let ranks = |pages, links: &[_]| rank(&graph(pages, links), Extent::new(pages), 0.85, 1e-14).0;
    // Two that link to each other, and one that nobody links to and that links to the first.
    let found = ranks(3, &[(0, 1), (1, 0), (2, 0)]);
    let &[first, second, third] = found.as_slice() else {
        panic!("three pages have three ranks");
    };
    let random = 0.15 / 3.0;
    let near = |found: f64, known: f64| assert!((found - known).abs() < 1e-12, "{found}, {known}");
    near(third, random);
    near(second, random + 0.85 * first);
    near(first, random + 0.85 * (second + third));
    near(first + second + third, 1.0);
    // Nobody links to anybody; a page alone.
    assert!(ranks(4, &[]).iter().all(|&r| (r - 0.25).abs() < 1e-15));
    assert_eq!(ranks(1, &[(0, 0)]).as_slice(), [1.0]);
}
