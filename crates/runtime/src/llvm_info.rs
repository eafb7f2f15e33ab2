//! The lines of LIBOMPTARGET_INFO, one function each; their texts are LLVM's interface.
//!
//! Callers have asked [`crate::watch::Watch::has_llvm`] before. Lines are whole writes, so those of
//! several threads do not mix.

use std::fmt::{Display, Write};

use abi::MapType;
use device::Launch;

use crate::args::{Item, MapArgs, Name, Place};
use crate::piece::Piece;
use crate::report;
use crate::table::{Counter, INFINITE, Mapped};
use crate::watch::Direction;

/// The entries of each call.
pub(crate) const ARGUMENTS: u32 = 1;
/// Data that are mapped already.
pub(crate) const EXISTING: u32 = 2;
/// The whole table, after each call.
pub(crate) const TABLE: u32 = 4;
/// Mappings that are made and removed.
pub(crate) const CHANGES: u32 = 8;
/// Kernels that are launched.
pub(crate) const LAUNCHES: u32 = 16;
/// Copies.
pub(crate) const COPIES: u32 = 32;
/// Variables that are not on the device though the program asks for their address there.
pub(crate) const NO_COUNTERPART: u32 = 64;
/// All of them.
pub(crate) const ALL: u32 = 127;

/// How the lines of each call begin; LLVM spells the first so.
pub(crate) const BEGIN: &str = "Entering OpenMP data region with being_mapper";
pub(crate) const END: &str = "Exiting OpenMP data region with end_mapper";
pub(crate) const UPDATE: &str = "Updating data within the OpenMP data region with update_mapper";
pub(crate) const KERNEL: &str = "Entering OpenMP kernel";

fn line(number: usize, text: &dyn Display) {
    report::raw(&format!("omptarget device {number} info: {text}\n"));
}

fn name_of(name: Option<Name>) -> String {
    name.map_or_else(|| "unknown".to_owned(), |it| it.to_string())
}

fn count(references: u64) -> String {
    if references == INFINITE { "INF".to_owned() } else { references.to_string() }
}

/// The last part of a path, as LLVM prints places.
fn place(parts: Option<(String, u32, u32)>) -> String {
    match parts {
        Some((file, line, column)) => {
            let file = file.rsplit('/').next().unwrap_or(&file);
            format!("{file}:{line}:{column}")
        }
        None => "unknown:0:0".to_owned(),
    }
}

/// A call begins: what it is, and its entries.
pub(crate) fn arguments(number: usize, at: &Place, what: &str, args: &MapArgs) {
    let mut text = format!("{what} at {} with {} arguments:", place(at.parts()), args.count);
    for (_, item) in args.items() {
        let implicit = if item.map.has(MapType::IMPLICIT) { "(implicit)" } else { "" };
        let (kind, name, size) = (kind(&item), name_of(item.name), item.size);
        let _ = write!(text, "\nomptarget device {number} info: {kind}({name})[{size}] {implicit}");
    }
    line(number, &text);
}

fn kind(item: &Item) -> &'static str {
    match item.map {
        it if it.has(MapType::TO | MapType::FROM) => "tofrom",
        it if it.has(MapType::TO) => "to",
        it if it.has(MapType::FROM) => "from",
        it if it.has(MapType::PRIVATE) => "private",
        it if it.has(MapType::LITERAL) => "firstprivate",
        _ if item.size > 0 => "alloc",
        _ => "use_address",
    }
}

/// A mapping was made.
pub(crate) fn created(number: usize, mapped: &Mapped) {
    let Mapped { base, begin, owned, device, dynamic, hold, .. } = mapped;
    line(
        number,
        &format_args!(
            "Creating new map entry with HstPtrBase=0x{base:016x}, HstPtrBegin=0x{begin:016x}, \
             TgtAllocBegin=0x{:016x}, TgtPtrBegin=0x{:016x}, Size={}, DynRefCount={}, \
             HoldRefCount={}, Name={}",
            owned.0,
            device.0,
            mapped.size(),
            count(*dynamic),
            count(*hold),
            name_of(mapped.name)
        ),
    );
}

/// What a call does to the count of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Incremented,
    Suppressed,
    Decremented,
    Reset,
}

/// A mapping was found, and its count changed as said (after the change).
pub(crate) fn exists(number: usize, item: &Item, mapped: &Mapped, counter: Counter, made: Change) {
    let leaves = if mapped.is_unreferenced() { ", delayed deletion" } else { "" };
    let said = match made {
        Change::Incremented => " (incremented)".to_owned(),
        Change::Suppressed => " (update suppressed)".to_owned(),
        Change::Decremented => format!(" (decremented{leaves})"),
        Change::Reset => format!(" (reset{leaves})"),
    };
    let (dynamic, hold) = match counter {
        Counter::Dynamic => (said.as_str(), ""),
        Counter::Hold => ("", said.as_str()),
    };
    let is_entering = matches!(made, Change::Incremented | Change::Suppressed);
    let implicit = is_entering && item.map.has(MapType::IMPLICIT);
    line(
        number,
        &format_args!(
            "Mapping exists{} with HstPtrBegin=0x{:016x}, TgtPtrBegin=0x{:016x}, Size={}, \
             DynRefCount={}{dynamic}, HoldRefCount={}{hold}, Name={}",
            if implicit { " (implicit)" } else { "" },
            item.begin,
            mapped.translate(item.begin).0,
            item.size,
            count(mapped.dynamic),
            count(mapped.hold),
            name_of(item.name)
        ),
    );
}

/// A mapping was taken out.
pub(crate) fn removed(number: usize, mapped: &Mapped) {
    line(
        number,
        &format_args!(
            "Removing map entry with HstPtrBegin=0x{:016x}, TgtPtrBegin=0x{:016x}, Size={}, Name={}",
            mapped.begin,
            mapped.device.0,
            mapped.size(),
            name_of(mapped.name)
        ),
    );
}

/// The table after a call.
pub(crate) fn table(number: usize, mapped: &[Mapped], at: &Place) {
    report::raw(&table_text(number, mapped, at));
}

/// All lines of a table.
pub(crate) fn table_text(number: usize, mapped: &[Mapped], at: &Place) -> String {
    let at = place(at.parts());
    let prefix = format!("omptarget device {number} info: ");
    if mapped.is_empty() {
        return format!("{prefix}OpenMP Host-Device pointer mappings table empty\n");
    }
    let mut text = format!("{prefix}OpenMP Host-Device pointer mappings after block at {at}:");
    let _ = write!(
        text,
        "\nomptarget device {number} info: {:<18} {:<18} Size (B) DynRefCount HoldRefCount Declaration",
        "Host Ptr", "Target Ptr"
    );
    for it in mapped {
        let _ = write!(
            text,
            "\nomptarget device {number} info: 0x{:016x} 0x{:016x} {:<8} {:<11} {:<12} {} at {}",
            it.begin,
            it.device.0,
            it.size(),
            count(it.dynamic),
            count(it.hold),
            name_of(it.name),
            place(it.name.and_then(Name::place)),
        );
    }
    text.push('\n');
    text
}

/// A copy was made.
pub(crate) fn copied(number: usize, direction: Direction, piece: &Piece) {
    let (host, device, size) = (piece.host, piece.device.0, piece.size);
    let places = match direction {
        Direction::In => format!("host to device, HstPtr=0x{host:016x}, TgtPtr=0x{device:016x}"),
        Direction::Out => format!("device to host, TgtPtr=0x{device:016x}, HstPtr=0x{host:016x}"),
    };
    let name = name_of(piece.name);
    line(number, &format_args!("Copying data from {places}, Size={size}, Name={name}"));
}

/// A variable has no device counterpart.
pub(crate) fn without_counterpart(number: usize, name: Option<Name>) {
    let name = name_of(name);
    line(number, &format_args!("variable {name} does not have a valid device counterpart"));
}

/// A kernel is launched.
pub(crate) fn launched(number: usize, launch: &Launch<'_>) {
    let (name, blocks, threads) = (launch.name, launch.teams.max(1), launch.limit.max(1));
    report::raw(&format!(
        "\"PluginInterface\" device {number} info: Launching kernel {name} with {blocks} blocks and \
         {threads} threads in Generic mode\n"
    ));
}
