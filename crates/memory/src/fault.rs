//! What is wrong with a call about memory, in words, with what to do about it.

use std::fmt;

use crate::kinds::Kind;

/// What is wrong. Fields: addresses, bytes, handles, and who called, as text.
#[allow(missing_docs, reason = "the names of fields say it")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No allocator has such a handle.
    NoAllocator { handle: usize },
    /// An alignment that is no power of two.
    Alignment { align: usize },
    /// There is no memory, and the allocator says that the program then ends.
    Aborted { bytes: usize, kind: Kind, pool: usize },
    /// No allocator has given this address, or it was given back.
    NotAllocated { at: usize },
    /// It is given back to another allocator than the one that gave it.
    WrongAllocator { at: usize, owner: usize, named: usize },
    /// It was given back before.
    Twice { at: usize, bytes: usize, made: String, freed: String },
    /// Bytes behind its end were written.
    Overrun { at: usize, bytes: usize, behind: usize, made: String },
    /// It was written after it was given back.
    Late { at: usize, bytes: usize, byte: usize, made: String, freed: String },
}

/// An allocator for people.
pub fn handle_name(handle: usize) -> String {
    const NAMES: [&str; 9] = [
        "omp_null_allocator",
        "omp_default_mem_alloc",
        "omp_large_cap_mem_alloc",
        "omp_const_mem_alloc",
        "omp_high_bw_mem_alloc",
        "omp_low_lat_mem_alloc",
        "omp_cgroup_mem_alloc",
        "omp_pteam_mem_alloc",
        "omp_thread_mem_alloc",
    ];
    match NAMES.get(handle) {
        Some(name) => format!("`{name}`"),
        None => format!("allocator {handle:#x}"),
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::NoAllocator { handle } => write!(f, "there is no {}", handle_name(*handle)),
            Fault::Alignment { align } => write!(f, "alignment {align} is no power of two"),
            Fault::Aborted { bytes, kind, pool: usize::MAX } => {
                write!(f, "there are no {bytes} bytes of {}", kind.name())
            }
            Fault::Aborted { bytes, kind, pool } => write!(
                f,
                "there are no {bytes} bytes of {} for an allocator of at most {pool} bytes",
                kind.name()
            ),
            Fault::NotAllocated { at } => {
                write!(f, "{at:#x} is not the beginning of memory that an allocator has given")
            }
            Fault::WrongAllocator { at, owner, named } => write!(
                f,
                "{at:#x} is memory of {} and is given back to {}",
                handle_name(*owner),
                handle_name(*named)
            ),
            Fault::Twice { at, bytes, made, freed } => write!(
                f,
                "the {bytes} bytes at {at:#x}, allocated by {made}, are given back again: {freed} has \
                 done so before"
            ),
            Fault::Overrun { at, bytes, behind, made } => write!(
                f,
                "byte {behind} behind the end of the {bytes} bytes at {at:#x}, allocated by {made}, was \
                 written"
            ),
            Fault::Late { at, bytes, byte, made, freed } => write!(
                f,
                "byte {byte} of the {bytes} bytes at {at:#x}, allocated by {made}, was written after \
                 {freed} had given them back"
            ),
        }
    }
}

impl Fault {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Fault::NoAllocator { .. } => {
                "make it with omp_init_allocator, look at its answer, and destroy it after its last use"
            }
            Fault::Alignment { .. } => "say 1, 2, 4, 8 and so on",
            Fault::Aborted { .. } => {
                "ask for less, or choose another fall-back than `abort_fb` for the allocator"
            }
            Fault::NotAllocated { .. } => {
                "give back what omp_alloc has answered, once; FERRY_MEMORY_CHECK=1 tells more"
            }
            Fault::WrongAllocator { .. } => {
                "name the allocator that the memory is from, or omp_null_allocator"
            }
            Fault::Twice { .. } => "give memory back once",
            Fault::Overrun { .. } => "look for an index that is too large",
            Fault::Late { .. } => "do not use memory after it was given back",
        }
    }
}
