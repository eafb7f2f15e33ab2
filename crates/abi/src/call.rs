//! What a call hands over: the source location, the arguments of a kernel, strides, mappers.
//!
//! These lie on the caller's stack or in its constants and are never kept by the runtime.

use std::ffi::{c_char, c_void};
use std::mem::{offset_of, size_of};

/// Which directive a place is of, for tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Directive {
    /// A region of several teams or threads.
    Parallel = 0,
    /// A region whose parallelism the compiler finds.
    Kernels = 1,
    /// Data live on the device during a body.
    Data = 3,
    /// Data begin to live there.
    EnterData = 4,
    /// Data cease to live there.
    ExitData = 5,
    /// Host code sees device addresses.
    HostData = 6,
    /// Data live there as long as a scope.
    Declare = 8,
    /// Devices are prepared.
    Init = 9,
    /// Devices are let go of.
    Shutdown = 10,
    /// Defaults are set.
    Set = 11,
    /// Data are copied.
    Update = 12,
    /// Queues are waited for.
    Wait = 14,
    /// None: a routine is called by hand.
    Routine = 15,
    /// A region of one thread.
    Serial = 16,
}

/// A place in the source. The text is `;file;function;line;column;;`, then a [`Directive`] and three more
/// lines, each followed by a semicolon: the last of the directive, the first and last of the function.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Ident {
    /// 0
    pub reserved_1: i32,
    /// Bits of LLVM's; 0x2 in all of them.
    pub flags: i32,
    /// 0
    pub reserved_2: i32,
    /// Bytes of the text.
    pub length: i32,
    /// The text, ended by a zero byte.
    pub text: *const c_char,
}

// SAFETY: points to a constant that nobody writes.
#[allow(unsafe_code, reason = "says that constants may be shared")]
unsafe impl Sync for Ident {}

impl Ident {
    /// Bit of all of them.
    pub const FLAGS: i32 = 0x2;

    /// The place of a routine that is called by hand: `;name;name;0;0;;15;` and a zero byte.
    pub const fn routine(text: &'static [u8]) -> Ident {
        let length = text.len() as i32 - 1;
        let text = text.as_ptr().cast();
        Ident { reserved_1: 0, flags: Ident::FLAGS, reserved_2: 0, length, text }
    }
}

/// Arguments of `__tgt_target_kernel`, version 3.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct KernelArgs {
    /// [`KernelArgs::VERSION`]; below 3, teams and limit come only from the call, and kernels of
    /// LLVM's images have no leading launch environment.
    pub version: u32,
    /// Number of map entries (not of kernel parameters).
    pub count: u32,
    /// Per entry: where the object begins that the section is part of.
    pub bases: *mut *mut c_void,
    /// Per entry: where the section begins.
    pub begins: *mut *mut c_void,
    /// Per entry: bytes.
    pub sizes: *mut i64,
    /// Per entry: a [`crate::MapType`].
    pub types: *mut i64,
    /// Per entry: `;name;file;line;column;;`; null as a whole or one by one.
    pub names: *mut *mut c_void,
    /// Per entry: a [`MapperFn`]; null as a whole or one by one.
    pub mappers: *mut *mut c_void,
    /// Iterations of the region's loop; 0 if unknown.
    pub trip_count: u64,
    /// [`KernelArgs::NOWAIT`]
    pub flags: u64,
    /// Teams asked for; 0 unspecified, -1 (as `u32`) in the first: no teams at all.
    pub teams: [u32; 3],
    /// Threads per team at most; 0 unspecified.
    pub limit: [u32; 3],
    /// Bytes of dynamic group memory.
    pub group_memory: u32,
}

impl KernelArgs {
    /// The layout described here.
    pub const VERSION: u32 = 3;
    /// Bit of `flags`: called from a task that may return before the kernel is done.
    pub const NOWAIT: u64 = 1;
}

/// Joins sums: gives those of the second list their first values if the number is not 0, else adds them to those of the first.
pub type JoinFn = unsafe extern "C" fn(*const *mut c_void, *const *mut c_void, i32);

/// Says which bytes of arrays iterations touch: for the bases of a call, two numbers for each array, counted from its base;
/// the second is less than the first if that is not known.
pub type WindowFn = unsafe extern "C" fn(*const *mut c_void, *mut i64);

/// What the loop of a region is told of whose iterations host and devices share. Two arguments of the region are values that the loop runs
/// from and to.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Split {
    /// How many iterations there are.
    pub trips: i64,
    /// The value of the first.
    pub begin: i64,
    /// What each adds.
    pub step: i64,
    /// What is added to the value of the last iteration of a part, for the test to end behind it.
    pub behind: i64,
    /// The entry with the value that the loop runs from.
    pub begin_entry: i32,
    /// The entry with the value that it runs to.
    pub bound_entry: i32,
    /// How many sums there are.
    pub sum_count: i32,
    /// Of how many arrays is it known what iterations touch.
    pub window_count: i32,
    /// The entries of the sums.
    pub sums: *const i32,
    /// Joins them.
    pub join: Option<JoinFn>,
    /// The entries of the arrays.
    pub windows: *const i32,
    /// Says which bytes of them.
    pub window: Option<WindowFn>,
}

/// One dimension of a strided update, outermost first. The stride of the last is the element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Dimension {
    /// First index.
    pub offset: u64,
    /// Number of indices.
    pub count: u64,
    /// Bytes from one index to the next.
    pub stride: u64,
}

/// A user-defined mapper: pushes the components of one object through the handle.
pub type MapperFn = unsafe extern "C" fn(
    handle: *mut c_void,
    base: *mut c_void,
    begin: *mut c_void,
    size: i64,
    map_type: i64,
    name: *mut c_void,
);

const _: () = {
    assert!(size_of::<Ident>() == 24);
    assert!(offset_of!(Ident, flags) == 4 && offset_of!(Ident, length) == 12);
    assert!(offset_of!(Ident, text) == 16);
    assert!(size_of::<KernelArgs>() == 104);
    assert!(offset_of!(KernelArgs, count) == 4);
    assert!(offset_of!(KernelArgs, bases) == 8 && offset_of!(KernelArgs, begins) == 16);
    assert!(offset_of!(KernelArgs, sizes) == 24 && offset_of!(KernelArgs, types) == 32);
    assert!(offset_of!(KernelArgs, names) == 40 && offset_of!(KernelArgs, mappers) == 48);
    assert!(offset_of!(KernelArgs, trip_count) == 56 && offset_of!(KernelArgs, flags) == 64);
    assert!(offset_of!(KernelArgs, teams) == 72 && offset_of!(KernelArgs, limit) == 84);
    assert!(offset_of!(KernelArgs, group_memory) == 96);
    assert!(size_of::<Dimension>() == 24);
    assert!(size_of::<Split>() == 80 && offset_of!(Split, sums) == 48);
};
