//! What pointers in an object point to: entries that the runtime attaches.
//!
//! In: wishes that follow pointers. Out: entries, a pointer's data before what pointers in there point
//! to. Every pointer that is followed is on the device; what lies behind one pointer lies there
//! as it does on the host.

use abi::MapType;

use super::object::span;
use super::wish::Wish;
use super::{Entries, entry};
use crate::lower::place::Place;

impl Entries {
    /// What pointers inside an object point to, level by level.
    pub(super) fn pointees(&mut self, wishes: Vec<Wish>, depth: usize, parent: Option<usize>) {
        for (pointer, group) in by_pointer(wishes, |it| it.place.pointers.get(depth)) {
            let (here, beyond): (Vec<Wish>, Vec<Wish>) =
                group.into_iter().partition(|it| it.place.pointers.len() == depth + 1);
            // Pointers that are only followed are on the device too, beside what is mapped there.
            let mut followed: Vec<Wish> = Vec::new();
            for wish in &beyond {
                let is_known =
                    |it: &Wish| Some(&it.place.first) == wish.place.pointers.get(depth + 1);
                if !followed.iter().chain(&here).any(is_known) {
                    followed.extend(pointer_wish(wish, depth + 1));
                }
            }
            let here = here.into_iter().chain(followed).collect();
            let parent = self.pointee(&pointer, here, parent, MapType::ALLOC);
            self.pointees(beyond, depth + 1, parent);
        }
    }

    /// What one pointer points to: pieces of one object lie on the device as they do on the host.
    /// Answers the entry that holds them all.
    pub(super) fn pointee(
        &mut self,
        pointer: &str,
        wishes: Vec<Wish>,
        parent: Option<usize>,
        attach: MapType,
    ) -> Option<usize> {
        let base = format!("(void *)&{pointer}");
        let is_spread = |it: &Wish| is_spread(it, pointer);
        let is_whole =
            |it: &Wish| !it.place.is_member && it.place.dims.is_empty() && !is_spread(it);
        let mut around = None;
        if !wishes.iter().any(is_whole) && (wishes.len() > 1 || wishes.iter().any(is_spread)) {
            let (begin, size) = span(&wishes, &[], 0, &format!("(void *)({pointer})"));
            let bits = span_bits(wishes.iter());
            let mut made =
                entry(base.clone(), begin, size, bits | MapType::PTR_AND_OBJ | attach, pointer);
            made.parent = parent;
            around = Some(self.list.len());
            self.list.push(made);
        }
        let mut first = None;
        for wish in wishes {
            let begin = format!("(void *)&{}", wish.place.first);
            let mut made = entry(base.clone(), begin, wish.size(), wish.bits, &wish.name);
            match around {
                Some(_) => made.parent = around,
                None => {
                    made.bits |= MapType::PTR_AND_OBJ | attach;
                    made.parent = parent;
                }
            }
            made.mapper = wish.mapper;
            made.repeats = wish.repeats;
            first = first.or(Some(self.list.len()));
            self.list.push(made);
        }
        around.or(first)
    }
}

/// Whether the turns of a repeated piece lie behind one pointer.
fn is_spread(wish: &Wish, pointer: &str) -> bool {
    let mut words = pointer.split(|it: char| !it.is_alphanumeric() && it != '_');
    !wish.repeats.is_empty() && !words.any(|word| wish.repeats.iter().any(|it| it.name == word))
}

/// Wishes by the pointer that leads to them, in the order they were made. Those that are repeated
/// stand alone: each turn has a pointer of its own.
fn by_pointer(
    wishes: Vec<Wish>,
    pointer: impl Fn(&Wish) -> Option<&String>,
) -> Vec<(String, Vec<Wish>)> {
    let mut groups: Vec<(String, Vec<Wish>)> = Vec::new();
    for wish in wishes {
        let key = pointer(&wish).cloned().unwrap_or_default();
        let is_same = |(it, group): &&mut (String, Vec<Wish>)| {
            *it == key && group.iter().chain([&wish]).all(|it| it.repeats.is_empty())
        };
        match groups.iter_mut().find(is_same) {
            Some((_, group)) => group.push(wish),
            None => groups.push((key, vec![wish])),
        }
    }
    groups
}

pub(super) fn by_last_pointer(wishes: Vec<Wish>) -> Vec<(String, Vec<Wish>)> {
    by_pointer(wishes, |it| it.place.pointers.last())
}

/// The pointer that a wish follows at `depth`, as something to be on the device.
fn pointer_wish(wish: &Wish, depth: usize) -> Option<Wish> {
    let first = wish.place.pointers.get(depth)?.clone();
    let place = Place { first, pointers: Vec::new(), dims: Vec::new(), ..wish.place.clone() };
    Some(Wish {
        place: Place { is_member: true, ..place },
        bits: span_bits([wish].into_iter()),
        name: wish.name.clone(),
        mapper: None,
        repeats: wish.repeats.clone(),
        is_computed: false,
    })
}

/// How what spans several pieces is mapped: it has nothing to copy itself.
pub(super) fn span_bits<'a>(pieces: impl Iterator<Item = &'a Wish> + Clone) -> MapType {
    let shared = [MapType::DELETE, MapType::HOLD, MapType::OPTIONAL, MapType::IMPLICIT];
    let shared = shared.into_iter().filter(|bit| pieces.clone().all(|it| it.bits.has(*bit)));
    let kept = [MapType::ZERO, MapType::WHOLE, MapType::DETACH];
    let kept = kept.into_iter().filter(|bit| pieces.clone().any(|it| it.bits.has(*bit)));
    shared.chain(kept).fold(MapType::ALLOC, |bits, bit| bits | bit)
}
