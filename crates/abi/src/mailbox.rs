//! What kernels and the host agree on where regions that go back to the host are handed over in memory that both see
//! while a kernel runs: a page of a few words and a piece of data.
//!
//! The first word says whose turn it is. A kernel that has the lock writes a region (its frame is that of
//! [`crate::remote::frame::REGION`]) and gives the turn away; the host answers with what it wants of the kernel's memory, one
//! thing at a time, and at last with [`kind::DONE`].

use std::fmt::Write as _;

/// Words before the data: turn, lock, kind, and five more.
pub const WORDS: usize = 8;

/// Bytes of the data at most.
pub const PIECE: usize = 64 << 10;

/// The word that says whose turn it is: 0 the kernel's, 1 the host's.
pub const TURN: usize = 0;

/// Where the words of a message begin: its kind, then what it needs.
pub const MESSAGE: usize = 2;

/// Kinds of messages, and the words behind the kind.
pub mod kind {
    /// To the host: bytes of the frame, which are the data. A region is to run.
    pub const REGION: u64 = 1;
    /// To the kernel: the region is done.
    pub const DONE: u64 = 2;
    /// To the kernel: address, bytes. Answered with the data that are there.
    pub const READ: u64 = 3;
    /// To the kernel: address, bytes. The data are to be put there.
    pub const WRITE: u64 = 4;
    /// To the kernel: number of a mapper, base, begin, size, type. Answered with how many components the mapper has
    /// pushed, and their base, begin, size and type as data.
    pub const MAPPER: u64 = 5;
}

/// The name and number of each, for C.
pub const NUMBERS: [(&str, u64); 5] = [
    ("REGION", kind::REGION),
    ("DONE", kind::DONE),
    ("READ", kind::READ),
    ("WRITE", kind::WRITE),
    ("MAPPER", kind::MAPPER),
];

/// All of this as C.
pub fn header() -> String {
    let mut text = String::new();
    for (name, number) in NUMBERS {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "#define __FERRY_{name} {number}ul");
    }
    let _ = writeln!(text, "#define __FERRY_PIECE {PIECE}ul");
    text
}
