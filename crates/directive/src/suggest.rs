//! "Did you mean": the known word that is nearest to a mistyped one.

/// The candidate nearest to `word`, if one is near enough to be meant; of equally near ones that
/// which begins most alike. One letter is near every other: it suggests nothing.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let length = word.chars().count();
    if length < 2 {
        return None;
    }
    let limit = length.div_ceil(3).min(3);
    candidates
        .into_iter()
        .map(|it| (distance(word, it), it))
        .filter(|(far, it)| *far <= limit && it.chars().count() > 1)
        .min_by_key(|(far, it)| (*far, usize::MAX - common_beginning(word, it)))
        .map(|(_, it)| it)
}

fn common_beginning(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count()
}

/// How many letters must be added, removed, changed or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > 3 {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let at = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX);
            let changed = at(&row, j) + usize::from(x != y);
            let mut best = changed.min(at(&row, j + 1) + 1).min(at(&next, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x);
            if swapped {
                best = best.min(at(&before, j - 1) + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let words = ["private", "parallel", "schedule", "if"];
        assert_eq!(nearest("privte", words), Some("private"));
        assert_eq!(nearest("paralell", words), Some("parallel"));
        assert_eq!(nearest("fi", words), Some("if"));
        assert_eq!(nearest("banana", words), None);
        assert_eq!(nearest("", words), None);
        assert_eq!(nearest("m", ["f", "n"]), None);
        assert_eq!(nearest("kernal", ["serial", "kernels"]), Some("kernels"));
    }
}
