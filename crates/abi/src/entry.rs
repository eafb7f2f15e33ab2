//! Offload entries, binary descriptors and regions: how a program tells the runtime what it has.
//!
//! A binary (executable or shared library) registers once, with one [`BinaryDescriptor`]: its table
//! of [`Entry`] rows and its device images. For a kernel of ours the row's address is that of a
//! [`FerryRegion`], which always knows the version for the host; a kernel of clang has an opaque
//! address and no such version.

use std::ffi::{c_char, c_void};
use std::mem::{align_of, offset_of, size_of};

/// Entry flags: a kernel, or an ordinary variable for the device.
pub const ORDINARY: i32 = 0;
/// Entry flags: a reference pointer to a variable that is mapped only on demand (`link`).
pub const LINK: i32 = 0x1;
/// Entry flags: a function that is called through pointers; the image's symbol holds its address.
pub const INDIRECT: i32 = 0x8;
/// Entry flags, compared as a whole: `data` holds [`crate::requires`] bits.
pub const REQUIRES: i32 = 0x10;
/// Entry flags: the address is that of a [`FerryRegion`].
pub const FERRY_REGION: i32 = 0x100;

/// Entry flags: a variable that no directive names; the image has room for it, which maps use.
pub const ROOM: i32 = 0x200;

/// Entry flags, compared as a whole: the name is the list of devices that a file with regions was built for, in the order of
/// preference, as `FERRY_DEVICE` has it.
pub const DEVICES: i32 = 0x400;

/// Entry flags, compared as a whole: the image's symbol is a table of functions that are called through pointers, for one
/// file: how many, then the host's address and the device's of each.
pub const FUNCTIONS: i32 = 0x800;
/// So many functions such a table has room for.
pub const MOST_FUNCTIONS: usize = 511;

/// One row of a binary's table, in section [`crate::names::ENTRY_SECTION`].
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Entry {
    /// Region id of a kernel, host address of a variable or function, null for a requirement.
    pub addr: *mut c_void,
    /// What to look up in the image.
    pub name: *mut c_char,
    /// Bytes of a variable; 0 for a kernel.
    pub size: u64,
    /// One of the constants above.
    pub flags: i32,
    /// Requirement bits, else 0.
    pub data: i32,
}

impl Entry {
    /// Bytes of a row.
    pub const SIZE: usize = size_of::<Entry>();
}

/// One device image of a binary.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DeviceImage {
    /// First byte.
    pub start: *const c_void,
    /// One past the last byte.
    pub end: *const c_void,
    /// The binary's table again.
    pub entries_begin: *const Entry,
    /// One past its last row.
    pub entries_end: *const Entry,
}

/// What a binary registers.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct BinaryDescriptor {
    /// Number of images; 0 is allowed and leaves the devices that share the host's memory.
    pub image_count: i32,
    /// The images; may be null when there are none.
    pub images: *const DeviceImage,
    /// The table.
    pub entries_begin: *const Entry,
    /// One past its last row.
    pub entries_end: *const Entry,
}

/// Every kernel of ours, on the host and in our images: one 8-byte slot per parameter, each the
/// address of the data or, for a literal, the value itself.
pub type KernelFn = unsafe extern "C" fn(args: *const *mut c_void);

/// A region of our compiler. Its address is the region id.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct FerryRegion {
    /// [`FerryRegion::VERSION`].
    pub version: u32,
    /// No bit is defined yet; 0.
    pub flags: u32,
    /// The kernel's name, in images too.
    pub name: *const c_char,
    /// The kernel compiled for the host.
    pub cpu: Option<KernelFn>,
}

impl FerryRegion {
    /// The layout described here.
    pub const VERSION: u32 = 1;
}

const _: () = {
    assert!(size_of::<Entry>() == 32 && align_of::<Entry>() == 8);
    assert!(offset_of!(Entry, name) == 8 && offset_of!(Entry, size) == 16);
    assert!(offset_of!(Entry, flags) == 24 && offset_of!(Entry, data) == 28);
    assert!(size_of::<DeviceImage>() == 32);
    assert!(offset_of!(DeviceImage, end) == 8);
    assert!(offset_of!(DeviceImage, entries_begin) == 16);
    assert!(offset_of!(DeviceImage, entries_end) == 24);
    assert!(size_of::<BinaryDescriptor>() == 32);
    assert!(offset_of!(BinaryDescriptor, images) == 8);
    assert!(offset_of!(BinaryDescriptor, entries_begin) == 16);
    assert!(offset_of!(BinaryDescriptor, entries_end) == 24);
    assert!(size_of::<FerryRegion>() == 24);
    assert!(offset_of!(FerryRegion, flags) == 4);
    assert!(offset_of!(FerryRegion, name) == 8 && offset_of!(FerryRegion, cpu) == 16);
};
