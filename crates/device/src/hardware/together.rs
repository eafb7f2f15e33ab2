//! Kernels that run at the same time: launches of a group wait for each other.
//!
//! A launch of all but the last kernel of a group begins nothing: who launches the last runs all of them, cycle by cycle, with
//! channels between them. Nobody sees the difference, since what looks at memory that was there before, or launches another
//! kernel, makes those that wait run first, alone: then channels are the arrays that they stand for.

use std::sync::Arc;

use rtl::group::{Channel, End, Group, Waiting};

use super::Loadable;
use crate::{DeviceError, Module};

/// A group of an image.
#[derive(Debug)]
pub(super) struct Together {
    pub(super) module: Module,
    pub(super) group: Group,
}

/// A launch that waits.
#[derive(Debug)]
pub(super) struct Waits {
    pub(super) kernel: Arc<Loadable>,
    pub(super) args: Vec<u64>,
    /// As it is told.
    pub(super) name: String,
}

/// Launches of a group that wait for its last.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) together: Arc<Together>,
    pub(super) launches: Vec<Waits>,
    /// Blocks of memory that were not there when they were launched.
    pub(super) young: Vec<u64>,
}

impl Pending {
    /// Whether this launch is the next of the group, with the channels of those before it.
    pub(super) fn takes(&self, launch: &Waits) -> bool {
        let group = &self.together.group;
        let place = self.launches.len();
        let is_next = launch.kernel.module == self.together.module
            && group.members.get(place).is_some_and(|it| it.name == launch.kernel.name);
        let argument = |it: End| match it.member == place {
            true => launch.args.get(it.slot),
            false => self.launches.get(it.member)?.args.get(it.slot),
        };
        let is_one = |it: &Channel| argument(it.from) == argument(it.to);
        let into = group.channels.iter().filter(|it| it.to.member == place);
        is_next && into.into_iter().all(is_one)
    }

    /// Whether all are there.
    pub(super) fn is_whole(&self) -> bool {
        self.launches.len() == self.together.group.members.len()
    }

    /// Registers of all, as they begin.
    pub(super) fn registers(&self) -> Vec<Vec<u64>> {
        let members = self.together.group.members.iter().zip(&self.launches);
        members.map(|(it, launch)| it.design.begin(&launch.args)).collect()
    }

    /// What is said of kernels that wait for each other.
    pub(super) fn stuck(&self, waiting: &[Waiting]) -> DeviceError {
        let one = |it: &Waiting| {
            let name = self.launches.get(it.member).map_or("?", |it| &it.name);
            let channel = self.together.group.channels.get(it.channel);
            let channel = channel.map_or("?", |it| &it.name);
            let what = if it.is_full { "room in" } else { "an element of" };
            format!("{name} waits for {what} the channel `{channel}`")
        };
        let all: Vec<String> = waiting.iter().map(one).collect();
        DeviceError::Stopped { what: format!("nothing goes on any more: {}", all.join(", ")) }
    }
}
