//! The entries of one object: the object or its parts, and what pointers in it point to.
//!
//! In: all that a construct asks of one variable. Out: entries, parents before their members. Parts of
//! one object get a common parent that spans them; what its pointers point to is attached.

use abi::MapType;
use ir::construct::{ClauseKind, Construct};
use ir::program::{DeviceVar, Typed, VarId};

use super::pointee::{by_last_pointer, span_bits};
use super::wish::{Wish, merged};
use super::{Access, Entries, Entry, Repeat, entry};
use crate::c::Printer;
use crate::lower::place;

impl Entries {
    /// Everything that is asked of one variable and what it points to.
    pub(super) fn object(
        &mut self,
        printer: &Printer<'_>,
        root: Option<VarId>,
        wishes: Vec<Wish>,
        is_param: bool,
    ) -> (Access, Option<usize>) {
        let wishes = merged(wishes);
        let root_name = root.map(|it| printer.var_name(it)).unwrap_or_default();
        // Whether the pointer variable itself is mapped; if not, what it points to is the object.
        let has_own = wishes.iter().any(|it| it.place.pointers.is_empty());
        let starts_at_pointer = !has_own
            && wishes.iter().all(|it| it.place.pointers.first().is_some_and(|it| *it == root_name));
        let depth = usize::from(starts_at_pointer);
        let base = match starts_at_pointer {
            true => format!("(void *)({root_name})"),
            false => format!("(void *)&{root_name}"),
        };
        let access = if starts_at_pointer { Access::Value } else { Access::Reference };
        let pointer = root.and_then(|it| pointer_to(printer, it, starts_at_pointer));
        let attach = |made: &mut Entry| {
            if let Some((pointer, bits)) = &pointer {
                made.base = format!("(void *)&{pointer}");
                made.bits |= *bits;
            }
        };
        let mut slot = None;
        let mut claim = |entries: &mut Entries, entry: Entry| {
            let is_first = slot.is_none() && is_param;
            let at = entries.list.len();
            if is_first {
                slot = entries.param(entry);
            } else {
                entries.list.push(entry);
            }
            at
        };
        let (direct, attached): (Vec<Wish>, Vec<Wish>) =
            wishes.into_iter().partition(|it| it.place.pointers.len() <= depth);
        let whole = direct
            .iter()
            .position(|it| !it.place.is_member && it.place.dims.is_empty() && depth == 0);
        // Data of a pointer in an object that this construct says nothing else of: the object may
        // be on the device or not.
        let only_attached = !is_param && direct.is_empty();
        let reaches_in = |it: &Wish| it.place.rows.is_empty();
        // What must be there is looked for piece by piece.
        let is_there = !direct.is_empty() && direct.iter().all(|it| it.bits.has(MapType::PRESENT));
        let needs_parent = whole.is_none()
            && !only_attached
            && !is_there
            && (attached.iter().any(reaches_in)
                || direct.len() > 1
                || direct.iter().any(|it| !it.repeats.is_empty() && it.place.rows.is_empty()));
        let mut parent = None;
        if needs_parent {
            let (begin, size) = span(&direct, &attached, depth, &base);
            let bits = span_bits(direct.iter().chain(&attached));
            let mut entry = entry(base.clone(), begin, size, bits, &root_name);
            attach(&mut entry);
            parent = Some(claim(self, entry));
        }
        for (at, wish) in direct.into_iter().enumerate() {
            let begin = format!("(void *)&{}", wish.place.first);
            let base = match root {
                Some(_) => base.clone(),
                None => begin.clone(),
            };
            let mut made = entry(base, begin, wish.size(), wish.bits, &wish.name);
            made.mapper = wish.mapper;
            made.repeats = wish.repeats;
            // Pieces of one object lie on the device as they do on the host: in what spans them.
            if needs_parent {
                made.parent = parent;
            }
            if made.parent.is_none() {
                attach(&mut made);
            }
            // The runtime looks at the pointer too.
            if made.bits.has(MapType::OBJECT) && starts_at_pointer {
                made.base = format!("(void *)&{root_name}");
            }
            let index = match made.parent.is_some() || !made.repeats.is_empty() {
                true => {
                    self.list.push(made);
                    self.list.len() - 1
                }
                false => claim(self, made),
            };
            if whole == Some(at) || (whole.is_none() && parent.is_none() && !is_there) {
                parent = Some(index);
            }
        }
        if is_param && slot.is_none() {
            // All of it is repeated: the kernel asks where the object lies once its pieces are there.
            slot = self.param(entry(
                base.clone(),
                base,
                "0".to_owned(),
                MapType::IMPLICIT,
                &root_name,
            ));
        }
        match parent {
            // Pointers that lie in none of these may be on the device or not.
            None => by_last_pointer(attached).into_iter().for_each(|(pointer, group)| {
                self.pointee(&pointer, group, None, MapType::ATTACH);
            }),
            Some(_) => self.pointees(attached, depth, parent),
        }
        (access, slot)
    }

    /// One item of an update.
    pub(super) fn motion(&mut self, wish: Wish) {
        let is_apart = wish.place.is_apart();
        // A mapper is handed objects that follow each other.
        let wish = if is_apart && wish.mapper.is_some() { one_by_one(wish) } else { wish };
        let begin = format!("(void *)&{}", wish.place.first);
        let mut made = entry(begin.clone(), begin, wish.size(), wish.bits, &wish.name);
        if wish.place.is_apart() {
            made.bits |= MapType::NON_CONTIG;
            made.strided = Some(wish.place.dims_of_elements());
        }
        made.mapper = wish.mapper;
        made.repeats = wish.repeats;
        self.list.push(made);
    }

    /// Pointers that clauses attach or detach.
    pub(super) fn attachments(&mut self, printer: &Printer<'_>, construct: &Construct<Typed>) {
        let is_final = construct.kinds().any(|it| matches!(it, ClauseKind::Finalize));
        for clause in &construct.clauses {
            let (ClauseKind::Attach(items) | ClauseKind::Detach(items)) = &clause.kind else {
                continue;
            };
            for item in items {
                let place = place::of(printer, *item);
                let name = printer.as_written().expr(*item);
                let mut bits = MapType::PTR_AND_OBJ | MapType::UNCOUNTED;
                if is_final {
                    bits |= MapType::DELETE;
                }
                let base = format!("(void *)&{}", place.first);
                let target = format!("(void *)({})", place.first);
                self.list.push(entry(base, target, "0".to_owned(), bits, &name));
            }
        }
    }
}

/// The pointer through which the device's code finds the object, where it is one that exists there
/// by declaration; and how it is attached.
fn pointer_to(
    printer: &Printer<'_>,
    root: VarId,
    starts_at_pointer: bool,
) -> Option<(String, MapType)> {
    match (printer.program().vars[root].device?, starts_at_pointer) {
        (DeviceVar::Link, false) => Some((link_pointer(printer, root), MapType::PTR_AND_OBJ)),
        (DeviceVar::Enter | DeviceVar::Resident | DeviceVar::Local, true) => {
            Some((printer.var_name(root), MapType::PTR_AND_OBJ | MapType::ATTACH))
        }
        (DeviceVar::Link, true)
        | (DeviceVar::Enter | DeviceVar::Resident | DeviceVar::Local, false) => None,
    }
}

/// The pointer to a `link` variable in the host's text.
pub(in crate::lower) fn link_pointer(printer: &Printer<'_>, var: VarId) -> String {
    format!("{}{}", printer.declared_name(var), abi::names::LINK_SUFFIX)
}

/// The elements of a section, each by itself.
fn one_by_one(mut wish: Wish) -> Wish {
    let mut at = format!("(char *)&{}", wish.place.first);
    for (index, dim) in wish.place.dims.drain(..).enumerate() {
        let number = format!("__o{index}");
        let stride = dim.stride.as_deref().unwrap_or("1");
        at = format!("{at} + {number} * ({stride}) * (__ferry_i64){}", dim.step);
        wish.repeats.push(Repeat::up_to(&number, &dim.length));
    }
    wish.place.first = format!("(*(__typeof__({}) *)({at}))", wish.place.first);
    wish
}

/// From the lowest to the highest byte that is touched of one object, `base` if there is none.
pub(super) fn span(
    direct: &[Wish],
    attached: &[Wish],
    depth: usize,
    base: &str,
) -> (String, String) {
    let mut pieces: Vec<(String, String, &[Repeat])> = Vec::new();
    for it in direct {
        pieces.push((format!("&{}", it.place.first), it.size(), &it.repeats));
    }
    for it in attached.iter().filter(|it| it.place.rows.is_empty()) {
        if let Some(pointer) = it.place.pointers.get(depth) {
            pieces.push((format!("&{pointer}"), format!("sizeof({pointer})"), &it.repeats));
        }
    }
    let starts = pieces.iter().map(|it| (it.0.clone(), it.2)).collect();
    let ends = pieces.iter().map(|it| (format!("(char *)({}) + {}", it.0, it.1), it.2)).collect();
    let low = outermost("__ferry_low", starts, base);
    let high = outermost("__ferry_high", ends, base);
    (format!("(void *)({low})"), format!("(char *)({high}) - (char *)({low})"))
}

/// The lowest or highest of some addresses, those of all turns of pieces that are repeated included.
fn outermost(chosen: &str, addresses: Vec<(String, &[Repeat])>, base: &str) -> String {
    let (once, repeated): (Vec<_>, Vec<_>) = addresses.into_iter().partition(|it| it.1.is_empty());
    let known = once.into_iter().map(|it| it.0).reduce(|all, it| format!("{chosen}({all}, {it})"));
    if repeated.is_empty() {
        return known.unwrap_or_else(|| "0".to_owned());
    }
    let mut text = format!(
        "({{ const volatile void *__ferry_at = {};",
        known.unwrap_or_else(|| "0".to_owned())
    );
    for (address, repeats) in repeated {
        repeats.iter().for_each(|it| text.push_str(&format!(" {}", it.head())));
        text.push_str(&format!(
            " __ferry_at = __ferry_at ? {chosen}(__ferry_at, {address}) : (const volatile void *)({address});"
        ));
    }
    format!("{text} __ferry_at ? __ferry_at : (const volatile void *)({base}); }})")
}
