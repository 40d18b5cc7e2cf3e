//! What is the same of several is said once.

use std::collections::HashSet;
use std::hash::Hash;

/// Values by their keys, both in the order in which they were first seen.
pub(crate) fn by_key<K: PartialEq, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        // A search through all groups and no map: order is kept, keys need only be comparable, and groups are few.
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

/// The same with each value once.
pub(crate) fn once_by_key<K: Clone + Eq + Hash, V: Clone + Eq + Hash>(
    pairs: impl IntoIterator<Item = (K, V)>,
) -> Vec<(K, Vec<V>)> {
    // A set, unlike in `distinct`: there are as many pairs as cells.
    let mut seen = HashSet::new();
    by_key(pairs.into_iter().filter(|pair| seen.insert(pair.clone())))
}

/// Each value once, in the order in which they were first seen.
pub(crate) fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        // A list and no set: sentences and names need not have an order or a hash.
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

/// The place of the first value that `is` the wanted one, which is `made` and put behind the others where there is none.
pub(crate) fn place<T>(values: &mut Vec<T>, is: impl Fn(&T) -> bool, made: impl FnOnce() -> T) -> usize {
    values.iter().position(is).unwrap_or_else(|| {
        values.push(made());
        values.len() - 1
    })
}

/// The gravest of what was found of each kind, and the names of those of which it was found, that of the gravest first.
pub(crate) fn gravest<'a, K: PartialEq, T>(
    found: impl IntoIterator<Item = (K, &'a str, T)>,
    extent: impl Fn(&T) -> f64,
) -> Vec<(K, T, Vec<&'a str>)> {
    let mut gravest: Vec<(K, T, Vec<&'a str>)> = Vec::new();
    for (kind, name, one) in found {
        match gravest.iter_mut().find(|(known, ..)| *known == kind) {
            Some((_, worst, names)) if extent(&one) > extent(worst) => {
                *worst = one;
                // In front: the one whose words are shown is the one to look at first.
                names.insert(0, name);
            }
            Some((_, _, names)) => names.push(name),
            None => gravest.push((kind, one, vec![name])),
        }
    }
    gravest
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_gravest_of_a_kind_comes_first_with_all_of_its_kind_behind() {
        let found = [("low", "a", 1.0), ("high", "b", 5.0), ("low", "c", 3.0), ("low", "d", 2.0)];
        let expected = [("low", 3.0, vec!["c", "a", "d"]), ("high", 5.0, vec!["b"])];
        assert_eq!(gravest(found, |extent| *extent), expected);
    }

    /// A number that counts how often it is held against another.
    #[derive(Clone)]
    struct Held<'a>(u32, &'a Cell<u32>);

    impl PartialEq for Held<'_> {
        fn eq(&self, other: &Self) -> bool {
            self.1.set(self.1.get() + 1);
            self.0 == other.0
        }
    }

    impl Eq for Held<'_> {}

    impl Hash for Held<'_> {
        fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
            self.0.hash(state);
        }
    }

    #[test]
    fn a_value_is_not_held_against_every_other() {
        let held = Cell::new(0);
        let pairs = (0..2_000).map(|number| ("known", Held(number % 1_000, &held)));
        assert_eq!(once_by_key(pairs)[0].1.len(), 1_000);
        // Once where it comes again; parts of two hashes are the same now and then.
        assert!((1_000..10_000).contains(&held.get()), "{}", held.get());
    }

    #[test]
    fn keys_and_values_keep_their_order() {
        let pairs = [("b", 1), ("a", 2), ("b", 3), ("b", 1)];
        assert_eq!(by_key(pairs), [("b", vec![1, 3, 1]), ("a", vec![2])]);
        assert_eq!(once_by_key(pairs), [("b", vec![1, 3]), ("a", vec![2])]);
    }
}
