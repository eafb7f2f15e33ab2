//! What the program's binaries have registered: regions, variables, images, requirements.
//!
//! Readers see a whole state and take no lock; a registration makes the next state. Nothing is loaded here
//! ([`crate::images`]); what is kept for each device is only held.
#![allow(unsafe_code, reason = "tables and images of the program, by address")]

use std::ffi::{CStr, CString};
use std::slice;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use abi::entry::{self, FerryRegion, KernelFn};
use abi::image::Container;
use abi::names::region_of;
use abi::{BinaryDescriptor, Entry, requires};
use arc_swap::{ArcSwap, Guard};
use device::{DeviceError, Held, Kernel, Module};
use rustc_hash::FxHashMap;

use crate::args::Place;
use crate::error::Error;
use crate::{fork, llvm, loaded};

/// One state of the registry.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    /// Grows with every change.
    pub(crate) version: u64,
    pub(crate) requires: u32,
    pub(crate) binaries: Vec<Arc<Binary>>,
    pub(crate) regions: FxHashMap<usize, Arc<Region>>,
}

/// One value per device of the list, made when it is first asked for.
#[derive(Debug)]
pub(crate) struct PerDevice<T>(OnceLock<Box<[OnceLock<T>]>>);

impl<T> Default for PerDevice<T> {
    fn default() -> PerDevice<T> {
        PerDevice(OnceLock::new())
    }
}

impl<T> PerDevice<T> {
    /// `count`: how many devices there are.
    pub(crate) fn get_or_init(
        &self,
        device: usize,
        count: fn() -> usize,
        make: impl FnOnce() -> T,
    ) -> Option<&T> {
        let all = fork::once(&self.0, || (0..count()).map(|_| OnceLock::new()).collect());
        all.get(device).map(|it| fork::once(it, make))
    }

    pub(crate) fn get(&self, device: usize) -> Option<&T> {
        self.0.get()?.get(device)?.get()
    }

    /// Nobody has asked.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.get().is_none()
    }
}

/// An executable or shared library.
#[derive(Debug)]
pub(crate) struct Binary {
    /// The address of its descriptor.
    pub(crate) id: usize,
    /// Its file, for messages.
    pub(crate) name: String,
    pub(crate) images: Vec<(usize, usize)>,
    pub(crate) variables: Vec<Variable>,
    /// Symbols of the tables of functions that are called through pointers.
    pub(crate) function_tables: Vec<CString>,
    pub(crate) regions: Vec<usize>,
    /// The devices that each of its files was built for, in the order of preference, as `FERRY_DEVICE` has them.
    pub(crate) built_for: Vec<String>,
    /// Its kernels are LLVM's, which are in images on every device.
    pub(crate) is_llvm: bool,
    /// Its image on each device, with its variables; `None` inside: no image is for that device.
    pub(crate) modules: PerDevice<Result<Option<Module>, DeviceError>>,
    /// The same images, for all tables of a binary that have them.
    pub(crate) loaded: Arc<Loaded>,
}

/// Images of a binary that are loaded. One of files by Ferry and by LLVM has two tables and one image for both.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) modules: PerDevice<Result<Option<Module>, DeviceError>>,
    pub(crate) users: AtomicUsize,
}

/// A variable or function that exists on both sides.
#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) address: usize,
    pub(crate) name: CString,
    pub(crate) size: usize,
    pub(crate) is_indirect: bool,
    /// It is mapped on demand, to the image's room for it.
    pub(crate) is_room: bool,
}

/// A region of the program.
#[derive(Debug)]
pub(crate) struct Region {
    /// What people call it: `main:8`.
    pub(crate) name: String,
    /// Its kernel's name in images.
    pub(crate) symbol: CString,
    /// The version for the host, where the region is ours.
    pub(crate) host: Option<KernelFn>,
    pub(crate) binary: Arc<Binary>,
    pub(crate) kernels: PerDevice<Result<Kernel, Error>>,
    /// Where it stands in the program, once that was asked.
    pub(crate) source: OnceLock<String>,
}

static REGISTRY: LazyLock<ArcSwap<Registry>> = LazyLock::new(ArcSwap::default);
static CHANGING: Mutex<()> = Mutex::new(());
static VERSIONS: AtomicU64 = AtomicU64::new(0);

/// The current state.
pub(crate) fn current() -> Guard<Arc<Registry>> {
    REGISTRY.load()
}

impl Registry {
    pub(crate) fn region(&self, id: usize) -> Option<&Arc<Region>> {
        self.regions.get(&id)
    }

    /// The region whose kernel has that name.
    pub(crate) fn named(&self, kernel: &str) -> Option<&Arc<Region>> {
        self.regions.values().find(|it| it.symbol.to_bytes() == kernel.as_bytes())
    }

    /// What each file of the program was built for, see [`Binary::built_for`].
    pub(crate) fn built_for(&self) -> impl Iterator<Item = &str> {
        self.binaries.iter().flat_map(|it| &it.built_for).map(String::as_str)
    }

    /// Does the program require that unmapped data be used in place?
    pub(crate) fn is_unified(&self) -> bool {
        self.requires & requires::UNIFIED_SHARED_MEMORY != 0
    }
}

impl Region {
    /// Where it stands in the program; a call of it has told the place.
    pub(crate) fn source(&self, place: &Place) -> &str {
        self.source.get_or_init(|| place.to_string())
    }
}

/// Tells of images that say how their devices are started.
fn offer(images: &[(usize, usize)]) {
    for (start, len) in images {
        // SAFETY: the descriptor said that the image lies there, in the constants of a binary that is registered.
        let bytes = unsafe { slice::from_raw_parts(*start as *const u8, *len) };
        device::remote::offer(Container::read(bytes).map_or(bytes, |it| it.payload));
    }
}

/// Adds a binary.
///
/// # Safety
/// The descriptor and all it leads to are constants that stay until [`take_out`].
pub(crate) unsafe fn register(descriptor: &BinaryDescriptor) -> Result<(), Error> {
    let id = std::ptr::from_ref(descriptor) as usize;
    // SAFETY: the caller's promise: two arrays, given by begin and end or number.
    let (entries, images) = unsafe {
        let entries = between(descriptor.entries_begin, descriptor.entries_end);
        let count = usize::try_from(descriptor.image_count).unwrap_or(0);
        let images = if descriptor.images.is_null() { 0 } else { count };
        (
            entries,
            if images == 0 { &[][..] } else { slice::from_raw_parts(descriptor.images, images) },
        )
    };
    let images: Vec<(usize, usize)> = images
        .iter()
        .map(|it| (it.start as usize, (it.end as usize).saturating_sub(it.start as usize)))
        .filter(|(start, len)| *start != 0 && *len != 0)
        .collect();
    offer(&images);
    let variables = entries.iter().filter_map(variable).collect();
    let function_tables = entries.iter().filter_map(function_table).collect();
    let kernels: Vec<&Entry> = entries.iter().filter(|it| is_kernel(it)).collect();
    let built_for: Vec<String> = entries.iter().filter_map(built_for).collect();
    if !built_for.is_empty() {
        llvm::saw_link();
    }
    let is_ours =
        |it: &Entry| matches!(it.flags, entry::FERRY_REGION | entry::DEVICES | entry::ROOM);
    let is_llvm = !entries.is_empty() && !entries.iter().any(is_ours);
    let same =
        current().binaries.iter().find(|it| it.images == images && !images.is_empty()).cloned();
    let loaded = same.map(|it| Arc::clone(&it.loaded)).unwrap_or_default();
    loaded.users.fetch_add(1, Ordering::AcqRel);
    let binary = Arc::new(Binary {
        id,
        name: loaded::file_of(id),
        images,
        variables,
        function_tables,
        regions: kernels.iter().map(|it| it.addr as usize).collect(),
        built_for,
        is_llvm,
        loaded,
        modules: PerDevice::default(),
    });

    let _changing = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    let before = current();
    let mut regions = before.regions.clone();
    for kernel in kernels {
        // SAFETY: an entry of the table, with a name.
        let region = unsafe { region(kernel, &binary) };
        llvm::saw_kernel(region.host.is_some());
        // The first binary with an image for it keeps a region that several of them have.
        let known = regions.get(&(kernel.addr as usize));
        if known.is_none_or(|it: &Arc<Region>| it.binary.images.is_empty()) {
            regions.insert(kernel.addr as usize, Arc::new(region));
        }
    }
    let mut binaries = before.binaries.clone();
    binaries.push(binary);
    let required = entries.iter().filter(|it| it.flags == entry::REQUIRES);
    let requires = required.map(|it| it.data as u32).try_fold(before.requires, merge_requires)?;
    publish(Registry { version: 0, requires, binaries, regions });
    Ok(())
}

/// Takes a binary out, if it is known.
pub(crate) fn take_out(id: usize) -> Option<Arc<Binary>> {
    let _changing = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    let before = current();
    let gone = before.binaries.iter().find(|it| it.id == id).cloned()?;
    let mut regions = before.regions.clone();
    for region in &gone.regions {
        if regions.get(region).is_some_and(|it| Arc::ptr_eq(&it.binary, &gone)) {
            regions.remove(region);
        }
    }
    let binaries = before.binaries.iter().filter(|it| it.id != id).cloned().collect();
    publish(Registry { version: 0, requires: before.requires, binaries, regions });
    Some(gone)
}

/// Lets nobody change the registry until the answer is dropped.
pub(crate) fn hold() -> Box<dyn Held> {
    Box::new(CHANGING.lock().unwrap_or_else(PoisonError::into_inner))
}

fn publish(registry: Registry) {
    let version = VERSIONS.fetch_add(1, Ordering::Relaxed) + 1;
    REGISTRY.store(Arc::new(Registry { version, ..registry }));
}

/// All units that say something must say the same.
fn merge_requires(before: u32, now: u32) -> Result<u32, Error> {
    const CLAUSES: &[(u32, &str)] = &[
        (requires::REVERSE_OFFLOAD, "reverse_offload"),
        (requires::UNIFIED_ADDRESS, "unified_address"),
        (requires::UNIFIED_SHARED_MEMORY, "unified_shared_memory"),
        (requires::DYNAMIC_ALLOCATORS, "dynamic_allocators"),
    ];
    if before == 0 || now == 0 {
        return Ok(before | now);
    }
    match CLAUSES.iter().find(|(bit, _)| before & bit != now & bit) {
        Some((_, clause)) => Err(Error::Requires { clause }),
        None => Ok(before | now),
    }
}

fn is_kernel(entry: &Entry) -> bool {
    !entry.addr.is_null()
        && entry.size == 0
        && !entry.name.is_null()
        && matches!(entry.flags, entry::ORDINARY | entry::FERRY_REGION)
}

/// The devices that a file was built for, if that is what the row tells.
fn built_for(entry: &Entry) -> Option<String> {
    let is_list = entry.flags == entry::DEVICES && !entry.name.is_null();
    // SAFETY: names of entries end with a zero byte.
    is_list.then(|| unsafe { CStr::from_ptr(entry.name) }.to_string_lossy().into_owned())
}

/// The symbol of a table of functions, if that is what the row tells.
fn function_table(entry: &Entry) -> Option<CString> {
    let is_table = entry.flags == entry::FUNCTIONS && !entry.name.is_null();
    // SAFETY: names of entries end with a zero byte.
    is_table.then(|| unsafe { CStr::from_ptr(entry.name) }.to_owned())
}

fn variable(entry: &Entry) -> Option<Variable> {
    let is_variable = entry.size > 0 && !entry.addr.is_null() && !entry.name.is_null();
    if !is_variable || entry.flags == entry::REQUIRES {
        return None;
    }
    Some(Variable {
        address: entry.addr as usize,
        // SAFETY: names of entries end with a zero byte.
        name: unsafe { CStr::from_ptr(entry.name) }.to_owned(),
        size: usize::try_from(entry.size).ok()?,
        is_indirect: entry.flags & entry::INDIRECT != 0,
        is_room: entry.flags == entry::ROOM,
    })
}

/// # Safety
/// A kernel's entry of a registered table.
unsafe fn region(entry: &Entry, binary: &Arc<Binary>) -> Region {
    // SAFETY: names of entries end with a zero byte; the flag says what the address is of.
    let (symbol, host) = unsafe {
        let region = match entry.flags {
            entry::FERRY_REGION => entry.addr.cast::<FerryRegion>().as_ref(),
            _ => None,
        };
        let region = region.filter(|it| it.version == FerryRegion::VERSION);
        (CStr::from_ptr(entry.name).to_owned(), region.and_then(|it| it.cpu))
    };
    let symbol_text = symbol.to_string_lossy();
    let name = llvm::region_of(&symbol_text).unwrap_or_else(|| region_of(&symbol_text));
    Region {
        name,
        symbol,
        host,
        binary: Arc::clone(binary),
        kernels: PerDevice::default(),
        source: OnceLock::new(),
    }
}

/// # Safety
/// Null, or the begin and end of one array.
unsafe fn between(begin: *const Entry, end: *const Entry) -> Vec<Entry> {
    let bytes = (end as usize).saturating_sub(begin as usize);
    let count = if begin.is_null() { 0 } else { bytes / Entry::SIZE };
    // SAFETY: the caller's promise. Linkers do not align the section.
    (0..count).map(|index| unsafe { begin.add(index).read_unaligned() }).collect()
}
