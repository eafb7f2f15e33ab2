//! Functions of the C library that languages of grids have, under another name or under the same: `library.txt`.

use super::Grid;

const LIBRARY: &str = include_str!("library.txt");

/// Whether the language has a function of the C library.
pub(crate) fn known(name: &str) -> bool {
    LIBRARY.lines().any(|line| line.split_whitespace().next() == Some(name))
}

/// What it is called there, if something else.
pub(crate) fn spelled(grid: Grid, name: &str) -> Option<&'static str> {
    let mut found = LIBRARY.lines().filter(|it| it.split_whitespace().next() == Some(name));
    let other = found.next().and_then(|line| line.split_whitespace().nth(1))?;
    // CUDA has the names of C; what is ours is needed everywhere.
    (grid.is_opencl() || other.starts_with("__ferry")).then_some(other)
}
