//! What compiled programs and the runtime agree on: structures, bits, names; no behaviour.
//!
//! The layouts are those of LLVM 19's offload interface on 64-bit little-endian hosts, so programs
//! of our compiler and of clang or flang run on one library. What is ours alone: [`FerryRegion`],
//! [`entry::FERRY_REGION`], [`DEVICE_HOST`]. Compiler and runtime meet here and nowhere else.
//!
//! - [`map`]: the bits of a map type
//! - [`entry`]: offload entries, binary descriptors, regions and how they are registered
//! - [`call`]: what a call hands over: source location, kernel arguments, strides
//! - [`cluster`]: what programs of the simulated cluster and their device agree on
//! - [`control`]: what is said about devices outside of regions
//! - [`image`]: the container that device images travel in
//! - [`queue`]: queues and dependences
//! - [`remote`]: what programs of other machines and the library that starts them agree on
//! - [`names`]: names of functions, sections and symbols that generated code spells

pub mod call;
pub mod cluster;
pub mod control;
pub mod entry;
pub mod facts;
pub mod image;
pub mod mailbox;
pub mod map;
pub mod names;
pub mod queue;
pub mod remote;
pub mod settings;
pub mod target;

pub use call::{Dimension, Ident, KernelArgs, Split};
pub use entry::{BinaryDescriptor, DeviceImage, Entry, FerryRegion};
pub use map::MapType;

/// Bytes of a pointer of the host program; the layouts of this crate are checked against it.
pub const POINTER_SIZE: usize = 8;

/// Device argument of every call: the default device.
pub const DEVICE_DEFAULT: i64 = -1;

/// Device argument of every call: run on the host (a false `if` clause, the initial device).
/// The number of devices says the same.
pub const DEVICE_HOST: i64 = -10;

/// Device argument of every call in device code: the device that launched the kernel it is in.
pub const DEVICE_ANCESTOR: i64 = -11;

/// Set in the default-device variable of the host's threading runtime while a kernel runs in
/// process; the low bits are the device. Every thread the kernel starts inherits it, and so knows
/// where it is.
pub const DEVICE_MARK: i32 = 0x4000_0000;

/// What a program may ask of a device that it knows only by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum TraitAxis {
    /// `host`, `nohost`, `cpu`, `gpu`; `any` is true of every device there is.
    Kind = 0,
    /// Its architecture.
    Arch = 1,
    /// Instructions that it has.
    Isa = 2,
}

/// What a program requires of its devices: the data of an entry with [`entry::REQUIRES`].
pub mod requires {
    /// The unit has the directive but none of the clauses below.
    pub const NONE: u32 = 0x1;
    /// Device code may call back into the host.
    pub const REVERSE_OFFLOAD: u32 = 0x2;
    /// A device pointer is a valid value on the host and the other way round.
    pub const UNIFIED_ADDRESS: u32 = 0x4;
    /// Unmapped data are used in place.
    pub const UNIFIED_SHARED_MEMORY: u32 = 0x8;
    /// Allocators work on the device without being named.
    pub const DYNAMIC_ALLOCATORS: u32 = 0x10;
    /// The bits in which all units of a program must agree.
    pub const AGREED: u32 = 0x1e;
}
