//! What is the same of several is said once.

/// Values by their keys, both in the order in which they were first seen.
pub(crate) fn by_key<K: PartialEq, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

/// The same with each value once.
pub(crate) fn once_by_key<K: PartialEq, V: PartialEq>(
    pairs: impl IntoIterator<Item = (K, V)>,
) -> Vec<(K, Vec<V>)> {
    let mut seen: Vec<(K, V)> = Vec::new();
    for pair in pairs {
        if !seen.contains(&pair) {
            seen.push(pair);
        }
    }
    by_key(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_keep_their_order() {
        let pairs = [("b", 1), ("a", 2), ("b", 3), ("b", 1)];
        assert_eq!(by_key(pairs), [("b", vec![1, 3, 1]), ("a", vec![2])]);
        assert_eq!(once_by_key(pairs), [("b", vec![1, 3]), ("a", vec![2])]);
    }
}
