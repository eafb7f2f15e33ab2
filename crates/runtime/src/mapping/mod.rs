//! Walks over the entries of a call: what each maps, copies and gives back on one device.
//!
//! The ranges that they change are in [`crate::ranges`]; a thread keeps the table or calls the device, never both.
//!
//! - [`begin`], [`end`], [`update`]: the three walks over the entries of a call
//! - [`present`]: both for regions that find all their data
//! - [`attach`]: pointers on the device that point to device data
//! - [`transfer`]: copies that leave attached pointers alone
//! - [`components`]: what user-defined mappers push

pub(crate) mod attach;
pub(crate) mod begin;
pub(crate) mod components;
pub(crate) mod end;
pub(crate) mod present;
pub(crate) mod strided;
pub(crate) mod transfer;
pub(crate) mod update;

use abi::MapType;
use device::{DeviceError, Stream};

use crate::args::{Item, MapArgs, Place};
use crate::devices::DeviceState;
use crate::error::{Error, Section};
use crate::steps::Later;
use crate::table::{Counter, Mapped};
use crate::tool::Phase;
use crate::watch::Watch;
use crate::{left, settings, tool};

/// What every step of a call knows.
#[derive(Clone, Copy)]
pub(crate) struct Cx<'a> {
    pub(crate) device: &'a DeviceState,
    pub(crate) place: Place,
    pub(crate) watch: Watch,
    /// The program requires that unmapped data be used in place.
    pub(crate) unified: bool,
    /// Where steps go that wait for their turn; `None`: they are taken at once.
    pub(crate) later: Option<&'a Later>,
    /// Where copies and launches go; `None`: each is waited for.
    pub(crate) stream: Option<&'a dyn Stream>,
}

impl<'a> Cx<'a> {
    /// A stream for the copies and launches of one call, unless somebody watches how long things take.
    pub(crate) fn open_stream(&self) -> Option<Box<dyn Stream + 'a>> {
        let may = self.later.is_none() && self.stream.is_none() && !self.watch.is_on();
        may.then(|| self.device.plugin.stream()).flatten()
    }

    /// Waits for what is in the stream.
    pub(crate) fn synchronise(&self) -> Result<(), DeviceError> {
        self.stream.map_or(Ok(()), |it| it.synchronise())
    }

    /// Leaves what is in the stream, if the program cannot tell; comes before anybody else may take away what it uses.
    pub(crate) fn leave(&self) {
        let Some(stream) = self.stream else { return };
        let is_told = self.watch.has_tools() || self.watch.wants_counts();
        if is_told || self.unified || settings::waits_always() || self.device.is_known() {
            return;
        }
        left::leave(stream);
    }

    /// Waits for what is in the stream, unless it is left.
    pub(crate) fn wait_unless_left(&self) -> Result<(), DeviceError> {
        match self.stream {
            Some(stream) if !stream.is_left() || self.device.is_known() => stream.synchronise(),
            _ => Ok(()),
        }
    }

    /// Tells a tool what a construct maps.
    pub(crate) fn tell_mapped(&self, args: &MapArgs, phase: Phase) {
        let mapping = &self.device.mapping;
        tool::mapped(self.watch, args, phase, |it| {
            mapping.look_up(it.begin, it.size).1.map_or(0, |it| it.device.0)
        });
    }
}

/// The counter that a map type asks for.
pub(crate) fn counter(map: MapType) -> Counter {
    if map.has(MapType::HOLD) { Counter::Hold } else { Counter::Dynamic }
}

/// Only a part of what the entry asks for is mapped.
pub(crate) fn overlap(item: &Item, mapped: &Mapped) -> Error {
    let is_required = item.map.has(MapType::PRESENT);
    Error::Overlap { what: Section::of(item), mapped: section(mapped), is_required }
}

/// A range of the table as users know it.
pub(crate) fn section(mapped: &Mapped) -> Section {
    Section { name: mapped.name.map(|it| it.to_string()), at: mapped.begin, size: mapped.size() }
}
