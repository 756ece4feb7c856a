//! Sums of multiples of integers, and whether what is said of them can be true.
//!
//! A [`System`] is a list of equations and inequalities. [`System::impossible`] eliminates one
//! variable after the other: by an equation where one has the variable once, else by adding up each
//! lower bound with each upper one (Fourier and Motzkin's way). What is left of an impossible
//! system is a false statement of numbers. As the variables are integers, each inequality is
//! divided by what its factors have in common and its constant rounded. It may fail to see that a
//! system is impossible, and never says so of one that has a solution.

use std::collections::{BTreeMap, BTreeSet};

/// The largest factor or constant that is calculated with.
const LARGE: i128 = 1 << 60;

/// How many inequalities there may be at once.
const MANY: usize = 160;

/// `Σ factor · variable + constant`
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Affine<V: Ord> {
    /// No factor is zero.
    factors: BTreeMap<V, i128>,
    constant: i128,
}

impl<V: Ord + Copy> Affine<V> {
    pub(crate) fn number(constant: i128) -> Self {
        Self {
            factors: BTreeMap::new(),
            constant,
        }
    }

    pub(crate) fn variable(variable: V) -> Self {
        Self {
            factors: BTreeMap::from([(variable, 1)]),
            constant: 0,
        }
    }

    /// `self + times · other`, unless it has large numbers.
    pub(crate) fn plus(&self, times: i128, other: &Self) -> Option<Self> {
        self.combined(1, times, other)
    }

    /// `times · self`, unless it has large numbers.
    pub(crate) fn times(&self, times: i128) -> Option<Self> {
        Self::number(0).combined(1, times, self)
    }

    /// `a · self + b · other`
    fn combined(&self, a: i128, b: i128, other: &Self) -> Option<Self> {
        let sum = |x: i128, y: i128| {
            let sum = a.checked_mul(x)?.checked_add(b.checked_mul(y)?)?;
            (sum.abs() < LARGE).then_some(sum)
        };
        let mut factors = BTreeMap::new();
        for &variable in self.factors.keys().chain(other.factors.keys()) {
            let of = |form: &Self| form.factors.get(&variable).copied().unwrap_or(0);
            let factor = sum(of(self), of(other))?;
            if factor != 0 {
                factors.insert(variable, factor);
            }
        }
        Some(Self {
            factors,
            constant: sum(self.constant, other.constant)?,
        })
    }

    pub(crate) fn variables(&self) -> impl Iterator<Item = V> + '_ {
        self.factors.keys().copied()
    }

    pub(crate) fn factors(&self) -> impl Iterator<Item = i128> + '_ {
        self.factors.values().copied()
    }

    /// The number that it is, if there are no variables in it.
    pub(crate) fn known(&self) -> Option<i128> {
        self.factors.is_empty().then_some(self.constant)
    }

    /// The variable that it is.
    pub(crate) fn single(&self) -> Option<V> {
        let mut all = self.factors.iter();
        match (all.next(), all.next()) {
            (Some((&variable, 1)), None) if self.constant == 0 => Some(variable),
            _ => None,
        }
    }

    /// Whether it cannot be negative if no variable is.
    pub(crate) fn is_positive(&self) -> bool {
        self.constant >= 0 && self.factors.values().all(|&factor| factor > 0)
    }

    /// The largest number that divides all factors.
    fn divisor(&self) -> i128 {
        self.factors.values().fold(0, |a, &b| gcd(a, b.abs()))
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// What is said of integers.
#[derive(Clone, Debug)]
pub(crate) struct System<V: Ord> {
    zero: Vec<Affine<V>>,
    at_least_zero: BTreeSet<Affine<V>>,
    /// Something false has been said.
    contradiction: bool,
}

impl<V: Ord + Copy> System<V> {
    pub(crate) fn new() -> Self {
        Self {
            zero: Vec::new(),
            at_least_zero: BTreeSet::new(),
            contradiction: false,
        }
    }

    /// `form = 0`
    pub(crate) fn equal(&mut self, form: Affine<V>) {
        self.zero.push(form);
    }

    /// `form ≥ 0`
    pub(crate) fn at_least(&mut self, mut form: Affine<V>) {
        let divisor = form.divisor();
        if divisor == 0 {
            self.contradiction |= form.constant < 0;
            return;
        }
        form.constant = form.constant.div_euclid(divisor);
        form.factors.values_mut().for_each(|f| *f /= divisor);
        self.at_least_zero.insert(form);
    }

    /// Whether no integers are all that is said of them. `false` says nothing.
    pub(crate) fn impossible(mut self) -> bool {
        self.substitute();
        while !self.contradiction {
            let Some(variable) = self.cheapest() else {
                return false;
            };
            let Some(next) = self.without(variable) else {
                return false;
            };
            self.at_least_zero.clear();
            next.into_iter().for_each(|form| self.at_least(form));
        }
        true
    }

    /// Solves each equation for one of its variables, which it has once.
    fn substitute(&mut self) {
        while let Some(mut form) = self.zero.pop() {
            let divisor = form.divisor();
            if divisor == 0 || form.constant % divisor != 0 {
                self.contradiction |= form.constant != 0;
                continue;
            }
            form.constant /= divisor;
            form.factors.values_mut().for_each(|f| *f /= divisor);
            let once = form.factors.iter().find(|(_, factor)| factor.abs() == 1);
            let Some((&variable, &factor)) = once else {
                self.at_least_zero.extend(form.times(-1));
                self.at_least_zero.insert(form);
                continue;
            };
            // What would have large numbers is forgotten: less is known then.
            let replaced = |other: Affine<V>| {
                let times = other.factors.get(&variable).copied().unwrap_or(0);
                other.plus(-times * factor, &form)
            };
            let zero = std::mem::take(&mut self.zero);
            self.zero = zero.into_iter().filter_map(replaced).collect();
            let at_least_zero = std::mem::take(&mut self.at_least_zero);
            for form in at_least_zero.into_iter().filter_map(replaced) {
                self.at_least(form);
            }
        }
    }

    /// The variable whose elimination leaves the fewest inequalities.
    fn cheapest(&self) -> Option<V> {
        let mut bounds: BTreeMap<V, (usize, usize)> = BTreeMap::new();
        for form in &self.at_least_zero {
            for (&variable, &factor) in &form.factors {
                let (below, above) = bounds.entry(variable).or_default();
                *(if factor > 0 { below } else { above }) += 1;
            }
        }
        let price = |&(_, (below, above)): &(V, (usize, usize))| below * above;
        let cheapest = bounds.into_iter().min_by_key(price)?;
        Some(cheapest.0)
    }

    /// What is said of the other variables.
    fn without(&self, variable: V) -> Option<BTreeSet<Affine<V>>> {
        let factor = |form: &&Affine<V>| form.factors.get(&variable).copied().unwrap_or(0);
        let of = |sign: i128| {
            let forms = self.at_least_zero.iter();
            forms.filter(move |form| factor(form).signum() == sign)
        };
        let mut rest: BTreeSet<Affine<V>> = of(0).cloned().collect();
        for below in of(1) {
            for above in of(-1) {
                rest.insert(below.combined(-factor(&above), factor(&below), above)?);
                if rest.len() > MANY {
                    return None;
                }
            }
        }
        Some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::{Affine, System};

    /// `terms[0] + terms[1] a + terms[2] b + …`
    fn form(terms: &[i128]) -> Affine<usize> {
        let start = Affine::number(terms[0]);
        let mut terms = terms[1..].iter().enumerate();
        terms
            .try_fold(start, |sum, (k, &times)| {
                sum.plus(times, &Affine::variable(k))
            })
            .expect("small numbers")
    }

    fn system(equal: &[&[i128]], at_least: &[&[i128]]) -> System<usize> {
        let mut system = System::new();
        equal.iter().for_each(|terms| system.equal(form(terms)));
        at_least
            .iter()
            .for_each(|terms| system.at_least(form(terms)));
        system
    }

    #[test]
    fn what_is_false_is_impossible() {
        // a ≤ b, b < c, c ≤ a.
        assert!(system(&[], &[&[0, -1, 1], &[-1, 0, -1, 1], &[0, 1, 0, -1]]).impossible());
        // a = b, b + 1 ≤ a.
        assert!(system(&[&[0, 1, -1]], &[&[-1, 1, -1]]).impossible());
        // 2a = 2b + 1.
        assert!(system(&[&[-1, 2, -2]], &[]).impossible());
        // 1 ≤ 2a ≤ 1, for no integer.
        assert!(system(&[], &[&[-1, 2], &[1, -2]]).impossible());
        assert!(system(&[], &[&[-1]]).impossible());
        assert!(system(&[&[3]], &[]).impossible());
    }

    #[test]
    fn what_may_be_true_is_not() {
        assert!(!system(&[], &[]).impossible());
        assert!(!system(&[], &[&[0, -1, 1], &[0, 0, -1, 1], &[0, 1, 0, -1]]).impossible());
        assert!(!system(&[&[0, 1, -1]], &[&[0, 1, -1]]).impossible());
        assert!(!system(&[&[0, 2, -3]], &[&[-1, 1], &[5, -1]]).impossible());
    }

    /// Small systems, against all solutions in a box that they are confined to.
    #[test]
    fn never_of_what_has_a_solution() {
        let rng = &mut crate::testing::Rng::new(5);
        let mut impossible = 0;
        for _ in 0..4000 {
            let mut terms =
                |_| -> Vec<i128> { (0..4).map(|_| i128::from(rng.between(-3, 3))).collect() };
            let equal: Vec<Vec<i128>> = (0..1).map(&mut terms).collect();
            let at_least: Vec<Vec<i128>> = (0..4).map(&mut terms).collect();
            let mut said = System::new();
            equal.iter().for_each(|terms| said.equal(form(terms)));
            at_least.iter().for_each(|terms| said.at_least(form(terms)));
            let value = |terms: &[i128], at: [i128; 3]| {
                terms[0] + (0..3).map(|k| terms[k + 1] * at[k]).sum::<i128>()
            };
            let solved = (-3..=3).any(|a| {
                (-3..=3).any(|b| {
                    (-3..=3).any(|c| {
                        equal.iter().all(|terms| value(terms, [a, b, c]) == 0)
                            && at_least.iter().all(|terms| value(terms, [a, b, c]) >= 0)
                    })
                })
            });
            let found = said.impossible();
            assert!(!(found && solved), "{equal:?} {at_least:?}");
            impossible += usize::from(found);
        }
        assert!(impossible > 300, "only {impossible} were impossible");
    }
}
