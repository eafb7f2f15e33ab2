//! Functions of the C library that languages of grids have, under another name or under the same: `library.txt`.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::Grid;

/// Each function of the C library, and its other name.
static FUNCTIONS: LazyLock<FxHashMap<&str, Option<&str>>> = LazyLock::new(|| {
    let words = include_str!("library.txt").lines().map(str::split_whitespace);
    words.filter_map(|mut it| Some((it.next()?, it.next()))).collect()
});

/// Whether the language has a function of the C library.
pub(crate) fn known(name: &str) -> bool {
    FUNCTIONS.contains_key(name)
}

/// What it is called there, if something else.
pub(crate) fn spelled(grid: Grid, name: &str) -> Option<&'static str> {
    let other = (*FUNCTIONS.get(name)?)?;
    // CUDA has the names of C; what is ours is needed everywhere.
    (grid.is_opencl() || other.starts_with("__ferry")).then_some(other)
}
