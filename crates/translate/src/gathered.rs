//! Items of data clauses, gathered by what is done with them.
//!
//! Groups keep the order in which they came up, and items the order in which they were put into their group.

use ir::construct::{Motion, Presence};
use rustc_hash::FxHashMap;

/// Items by what is done with them; each once.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    groups: Vec<(Motion, Presence)>,
    /// In the order in which they were put; those that were taken away are none.
    items: Vec<Option<(Motion, Presence, String)>>,
    places: FxHashMap<String, usize>,
}

impl Gathered {
    /// What is done with an item.
    pub(super) fn find(&self, item: &str) -> Option<(Motion, Presence)> {
        let at = *self.places.get(item)?;
        self.items.get(at)?.as_ref().map(|it| (it.0, it.1))
    }

    /// Puts an item last in its group, whatever was done with it before.
    pub(super) fn put(&mut self, motion: Motion, presence: Presence, item: String) {
        self.take(&item);
        if !self.groups.contains(&(motion, presence)) {
            self.groups.push((motion, presence));
        }
        self.places.insert(item.clone(), self.items.len());
        self.items.push(Some((motion, presence, item)));
    }

    /// Takes an item away, and tells what was to be done with it.
    pub(super) fn take(&mut self, item: &str) -> Option<Motion> {
        let at = self.places.remove(item)?;
        self.items.get_mut(at)?.take().map(|it| it.0)
    }

    /// The groups that have items.
    pub(super) fn groups(&self) -> Vec<(Motion, Presence, Vec<String>)> {
        let mut found = Vec::new();
        for &(motion, presence) in &self.groups {
            let own = self.items.iter().flatten().filter(|it| (it.0, it.1) == (motion, presence));
            let items: Vec<String> = own.map(|it| it.2.clone()).collect();
            if !items.is_empty() {
                found.push((motion, presence, items));
            }
        }
        found
    }
}
