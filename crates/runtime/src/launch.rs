//! A region on a device: map, build the arguments, launch, unmap. In a queue only the launch is kept for
//! later, and the copies around it (see [`crate::steps`]).
//!
//! In: a region and the arrays of its call. The arguments are the entries marked as parameters, in
//! their order: a value, a private buffer, or the device address of mapped data. What is not mapped
//! keeps its host address.
#![allow(unsafe_code, reason = "private copies of the program's data, launches")]

use std::sync::Arc;

use abi::{KernelArgs, MapType, POINTER_SIZE};
use device::{Convention, DeviceError, DevicePtr, Launch};
use smallvec::SmallVec;

use crate::args::{Item, MapArgs};
use crate::error::{Error, Section};
use crate::mapping::present::Present;
use crate::mapping::transfer;
use crate::mapping::{Cx, begin, end};
use crate::piece::Piece;
use crate::prepared::{Kept, Prepared, Shape, Words};
use crate::registry::Region;
use crate::steps::Step;
use crate::tool::{self, Kind, Phase};
use crate::watch::Watch;
use crate::{llvm, llvm_info, runner};

/// Runs a region on a device, or leaves that for later.
pub(crate) fn launch(
    cx: &Cx<'_>,
    region: &Arc<Region>,
    args: &MapArgs,
    shape: &Shape,
) -> Result<(), Error> {
    let (prepared, first) = Prepared::new(cx, region, shape)?;
    let stream = cx.open_stream();
    let cx = &Cx { stream: stream.as_deref().or(cx.stream), ..*cx };
    with_data(cx, args, first, |words| {
        let Some(later) = cx.later else {
            prepared.run(cx, region, (args, words), |_, item| is_mapped(cx, item))?;
            cx.leave();
            return Ok(());
        };
        // Only a message needs it, and on devices in process nobody can write one.
        let mapped = match cx.device.plugin.runs_in_process() {
            true => Vec::new(),
            false => args.items().map(|(_, it)| is_mapped(cx, &it)).collect(),
        };
        let words = std::mem::take(words);
        let kept = Kept { prepared, words, region: Arc::clone(region), mapped };
        later.put(Step::Launch(Box::new(kept)));
        Ok(())
    })
    .map_err(|error| {
        // The first call to wait for the kernel finds it dead.
        if let Error::Device { error: fault @ DeviceError::Fault { .. }, .. } = &error {
            return crash(region, args, fault.clone(), |_, item| is_mapped(cx, item));
        }
        error
    })?;
    cx.wait_unless_left().map_err(|error| crash(region, args, error, |_, item| is_mapped(cx, item)))
}

/// Runs `go` with the arguments that the entries become, `first` before them, while their data are on
/// the device.
pub(crate) fn with_data(
    cx: &Cx<'_>,
    args: &MapArgs,
    first: Option<u64>,
    go: impl FnOnce(&mut Words) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut present = Present::default();
    if present.acquire(cx, args) {
        return with_present(cx, args, first, &present, go);
    }
    if args.count > 0 {
        let _span = tool::implied(cx.watch, Kind::EnterData);
        begin::begin(cx, args, false)?;
        cx.tell_mapped(args, Phase::Begin);
    }
    let mut arguments = Arguments::default();
    arguments.words.extend(first);
    arguments.build(cx, args, None)?;
    go(&mut arguments.words)?;
    if args.count > 0 {
        let _span = tool::implied(cx.watch, Kind::ExitData);
        end::end(cx, args)?;
    }
    arguments.free_private(cx)
}

/// The same where all data are there.
fn with_present(
    cx: &Cx<'_>,
    args: &MapArgs,
    first: Option<u64>,
    present: &Present,
    go: impl FnOnce(&mut Words) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut arguments = Arguments::default();
    arguments.words.extend(first);
    arguments.build(cx, args, Some(present))?;
    go(&mut arguments.words)?;
    // Nobody takes the data away before the kernel is done, or all that comes is behind it.
    cx.wait_unless_left().map_err(|error| Error::Device {
        doing: "waiting for the region",
        what: None,
        error,
    })?;
    if !present.release(cx) {
        end::end(cx, args)?;
    }
    arguments.free_private(cx)
}

impl Kept {
    /// Makes it. `args` are the arrays of its call.
    pub(crate) fn run(&self, cx: &Cx<'_>, args: &MapArgs) -> Result<(), Error> {
        let was_mapped = |index, _: &Item| self.mapped.get(index).copied().unwrap_or(false);
        self.prepared.run(cx, &self.region, (args, &self.words), was_mapped)
    }
}

impl Prepared {
    /// And what is to stand before its arguments.
    pub(crate) fn new(
        cx: &Cx<'_>,
        region: &Region,
        shape: &Shape,
    ) -> Result<(Prepared, Option<u64>), Error> {
        let kernel = region.kernel(cx.device)?;
        let convention = match region.host {
            Some(_) => Convention::Slots,
            None => Convention::Parameters,
        };
        // The launch environment; all ones: the kernel has no reduction across teams.
        let has_environment =
            convention == Convention::Parameters && shape.version >= KernelArgs::VERSION;
        let prepared = Prepared { kernel, convention, shape: *shape };
        Ok((prepared, has_environment.then_some(u64::MAX)))
    }

    /// Makes it with these arguments, which the arrays of the call have become.
    pub(crate) fn run(
        &self,
        cx: &Cx<'_>,
        region: &Region,
        (args, words): (&MapArgs, &[u64]),
        is_mapped: impl Fn(usize, &Item) -> bool,
    ) -> Result<(), Error> {
        let plugin = &*cx.device.plugin;
        let source = match cx.watch.is_on() || !plugin.runs_in_process() {
            true => region.source(&cx.place),
            false => "",
        };
        let launch = Launch {
            convention: self.convention,
            teams: self.shape.teams,
            limit: self.shape.limit,
            trip_count: self.shape.trip_count,
            group_memory: self.shape.group_memory,
            name: &region.name,
            source,
        };
        if cx.watch.has_llvm(llvm_info::LAUNCHES) {
            llvm_info::launched(cx.device.number, &launch);
        }
        // SAFETY: the kernel is of this device and the arguments are what its compiler said it takes;
        // what they point to is mapped, or private, and freed after this.
        let go = || unsafe { plugin.launch(self.kernel, words, &launch) };
        let launched = tool::submit(cx.watch, &launch, || match cx.stream {
            // SAFETY: as above.
            Some(stream) => unsafe { stream.launch(self.kernel, words, &launch) },
            None if plugin.runs_in_process() && (region.host.is_some() || !llvm::is_program()) => {
                runner::run(cx.device.number, go)
            }
            None => go(),
        });
        if cx.watch.wants_counts()
            && let Some(counts) = plugin.account()
        {
            Watch::counted(&cx.place, &region.name, &counts);
        }
        launched.map_err(|error| crash(region, args, error, is_mapped))
    }
}

/// Whether the device has the data of an entry.
fn is_mapped(cx: &Cx<'_>, item: &Item) -> bool {
    !item.is_unmapped()
        && item.size > 0
        && cx.device.mapping.translate(item.begin, item.size).is_some()
}

/// Runs a region of ours on the host, with the host's own data.
pub(crate) fn launch_on_host(region: &Region, args: &MapArgs) -> Result<(), Error> {
    let Some(function) = region.host else {
        return Err(Error::BadCall("a region without a version for the host"));
    };
    let mut words = Words::new();
    let mut copies: Vec<Box<[u128]>> = Vec::new();
    for (index, item) in args.items().filter(|(_, it)| it.map.has(MapType::TARGET_PARAM)) {
        let is_private = item.map.has(MapType::PRIVATE) && !item.map.has(MapType::LITERAL);
        if is_private {
            args.check_size(index, &item)?;
        }
        words.push(match is_private && item.size > 0 {
            false => host_base(&item) as u64,
            true => {
                let mut copy = vec![0u128; item.size.div_ceil(16)].into_boxed_slice();
                if item.map.has(MapType::TO) {
                    // SAFETY: the program says that its data lie there; the copy has room for them.
                    unsafe {
                        let to = copy.as_mut_ptr().cast::<u8>();
                        std::ptr::copy_nonoverlapping(item.begin as *const u8, to, item.size);
                    }
                }
                let at = copy.as_ptr() as usize;
                copies.push(copy);
                at.wrapping_add(item.base.wrapping_sub(item.begin)) as u64
            }
        });
    }
    // SAFETY: the function takes one word per parameter, as its compiler said.
    runner::run_on_host(|| unsafe { function(words.as_ptr().cast()) });
    Ok(())
}

/// The base of an entry on the host: the pointer's value where the entry is a pointee.
fn host_base(item: &Item) -> usize {
    let is_pointee = item.map.has(MapType::PTR_AND_OBJ) && !item.map.has(MapType::LITERAL);
    if is_pointee { transfer::host_pointer(item.base) } else { item.base }
}

/// The same where data are mapped from.
fn base_of(cx: &Cx<'_>, item: &Item) -> Result<usize, Error> {
    let is_pointee = item.map.has(MapType::PTR_AND_OBJ) && !item.map.has(MapType::LITERAL);
    if is_pointee { transfer::pointer(cx, item.base) } else { Ok(item.base) }
}

/// Private memory of a region on the device: where, and how many bytes.
pub(crate) type Private = SmallVec<[(DevicePtr, usize); 4]>;

#[derive(Default)]
pub(crate) struct Arguments {
    pub(crate) words: Words,
    pub(crate) private: Private,
}

impl Arguments {
    /// `present`: where data lie, if that is known.
    pub(crate) fn build(
        &mut self,
        cx: &Cx<'_>,
        args: &MapArgs,
        present: Option<&Present>,
    ) -> Result<(), Error> {
        let is_identity = cx.device.shares_memory && cx.device.mapping.is_identity();
        let first = self.words.len();
        for (index, item) in args.items() {
            if !item.map.has(MapType::TARGET_PARAM) {
                let capture = MapType::PTR_AND_OBJ | MapType::LITERAL | MapType::IMPLICIT;
                if item.map.has(capture) && !is_identity {
                    self.fill_capture(cx, args, first, &item)?;
                }
                continue;
            }
            let base = base_of(cx, &item)?;
            let before = base.wrapping_sub(item.begin) as u64;
            let word = if item.map.has(MapType::LITERAL) {
                item.base as u64
            } else if item.map.has(MapType::PRIVATE) {
                args.check_size(index, &item)?;
                self.private_copy(cx, &item)?.0.wrapping_add(before)
            } else if is_identity {
                base as u64
            } else if let Some(place) = present.and_then(|it| it.places.get(index)) {
                place.wrapping_add(before)
            } else {
                let found = cx.device.mapping.look_up(item.begin, item.size).1;
                let at = match found {
                    Some(found) => found.device.0,
                    // Nothing was mapped, but the device may know the place.
                    None => begin::original(cx, &item)?.map_or(item.begin as u64, |it| it.address),
                };
                at.wrapping_add(before)
            };
            self.words.push(word);
        }
        Ok(())
    }

    fn private_copy(&mut self, cx: &Cx<'_>, item: &Item) -> Result<DevicePtr, Error> {
        if item.size == 0 {
            return Ok(DevicePtr(item.begin as u64));
        }
        let align = 1usize << item.begin.trailing_zeros().clamp(4, 7);
        let device = transfer::alloc(cx, item.begin, item.size, align).map_err(|error| {
            Error::device("allocating private memory", Section::of(item), error)
        })?;
        self.private.push((device, item.size));
        if item.map.has(MapType::TO) {
            let (host, name) = (item.begin, item.name);
            let piece = Piece { host, device, size: item.size, name, skip: Vec::new() };
            transfer::copy_in_own(cx, &piece)?;
        }
        Ok(device)
    }

    /// A pointer inside a closure that was passed by value: made to point to the device's data. `first` is
    /// where the arguments of the entries begin.
    fn fill_capture(
        &self,
        cx: &Cx<'_>,
        args: &MapArgs,
        first: usize,
        item: &Item,
    ) -> Result<(), Error> {
        let Some(parent) = item.map.parent().filter(|it| *it < args.count) else { return Ok(()) };
        let is_argument = |it: &(usize, Item)| it.1.map.has(MapType::TARGET_PARAM);
        let before = args.items().take(parent).filter(is_argument).count();
        let word = self.words.get(first + before);
        let Some(closure) = word else { return Ok(()) };
        let Some(value) = cx.device.mapping.translate(item.begin, item.size) else { return Ok(()) };
        let offset = item.base.wrapping_sub(args.item(parent).begin);
        let (host, device) = (item.base, DevicePtr(*closure).offset(offset));
        let slot = Piece { host, device, size: POINTER_SIZE, name: item.name, skip: Vec::new() };
        transfer::write_pointer(cx, &slot, value)
    }

    pub(crate) fn free_private(&self, cx: &Cx<'_>) -> Result<(), Error> {
        self.private.iter().try_for_each(|(at, bytes)| transfer::free(cx, *at, *bytes, None))
    }
}

/// A kernel died: which variable led it to the address it died at?
pub(crate) fn crash(
    region: &Region,
    args: &MapArgs,
    error: DeviceError,
    is_mapped: impl Fn(usize, &Item) -> bool,
) -> Error {
    let address = match &error {
        DeviceError::Fault { address, .. } => *address,
        DeviceError::Exited { status } => {
            return Error::Exited { region: region.name.clone(), status: *status };
        }
        DeviceError::Unsupported(_)
        | DeviceError::OutOfMemory { .. }
        | DeviceError::BadImage(_)
        | DeviceError::NotFound(_)
        | DeviceError::Earlier { .. }
        | DeviceError::Overrun { .. }
        | DeviceError::Stopped { .. }
        | DeviceError::Lost(_)
        | DeviceError::Failed(_) => None,
    };
    let suspect = address.and_then(|it| suspect(args, it, is_mapped));
    Error::Crash { region: region.name.clone(), suspect, error }
}

/// The pointer whose value lies next below an address: one that was passed and is not mapped, or one
/// inside of mapped data that nothing was attached to.
fn suspect(
    args: &MapArgs,
    address: u64,
    is_mapped: impl Fn(usize, &Item) -> bool,
) -> Option<String> {
    /// No object is larger than this, so an address further away comes from elsewhere.
    const REACH: u64 = 1 << 34;
    /// Below this nothing is mapped, and numbers that are not addresses are.
    const LOWEST: usize = 1 << 16;
    /// So much of each variable is looked through.
    const SEARCHED: usize = 1 << 16;
    let near = |value: usize| {
        let distance = address.checked_sub(value as u64);
        distance.filter(|it| value >= LOWEST && *it < REACH)
    };
    let mut found: Option<(u64, String)> = None;
    let mut consider = |value: usize, name: &dyn Fn() -> String| {
        if let Some(distance) = near(value)
            && found.as_ref().is_none_or(|(best, _)| distance < *best)
        {
            found = Some((distance, name()));
        }
    };
    for (index, item) in args.items() {
        let Some(name) = item.name else { continue };
        if !is_mapped(index, &item) {
            consider(item.begin, &|| format!("`{name}`"));
            continue;
        }
        for offset in (0..item.size.min(SEARCHED)).step_by(POINTER_SIZE) {
            if offset + POINTER_SIZE <= item.size {
                let value = transfer::host_pointer(item.begin + offset);
                consider(value, &|| format!("the pointer at byte {offset} of `{name}`"));
            }
        }
    }
    found.map(|(_, name)| name)
}
