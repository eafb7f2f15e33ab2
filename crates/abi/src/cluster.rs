//! What programs of the simulated cluster and the device that runs them agree on.
//!
//! A kernel begins with [`KERNEL`] and [`SLOTS`] written by the host. What a program cannot do by itself it asks for
//! with `ecall`: the number of a [`Ask`] in `a0`, and in `a1` the address of a structure of 8-byte words, or a number.

/// The first number of an ELF file's `e_machine`: RISC-V.
pub const MACHINE: u16 = 243;

/// The kind of machine, as containers name it.
pub const TRIPLE: &str = "riscv32-ferry-cluster";

/// The section of a program that holds the description of the cluster it was made for.
pub const DESCRIPTION: &str = ".ferry.cluster";

/// Where all cores begin.
pub const START: &str = "_start";

/// A word: the address of the kernel that is to run.
pub const KERNEL: &str = "ferry_kernel";

/// Words of 8 bytes: what the kernel is given.
pub const SLOTS: &str = "ferry_slots";

/// How many there are.
pub const MOST_SLOTS: usize = 256;

/// Bytes that a kernel leaves for the plan of a loop whose arrays are brought into the scratchpad.
pub const NEAR_ROOM: usize = 1280;

/// The stream whose texts go into the account of a region.
pub const ACCOUNT_STREAM: u64 = 3;

/// What a program asks the host for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Ask {
    /// `format, slots, stream, done, into, room`: prints to stream 1 or 2, into the account for 3, or for 0 into memory;
    /// answers `done`.
    Print = 1,
    /// `address, bytes, align`: memory of the device; answers `address`, 0 if there is none.
    Allocate = 2,
    /// `address`: gives it back.
    Free = 3,
    /// A status: ends the program.
    Stop = 4,
    /// `text`: the kernel cannot go on.
    Crash = 5,
    /// `address, bytes`: answers how many bytes were allocated there.
    Size = 6,
    /// `address, bytes, writes, is_there`: answers whether one piece of mapped data has this range, and nobody else
    /// writes to it meanwhile if the cluster does.
    Range = 7,
    /// `kind, five words, data, bytes`: hands a region back to the host, with the messages of [`crate::mailbox`]; data are at an
    /// address. Answers what the host wants.
    Region = 8,
}

impl Ask {
    /// All, with the names that C gives them.
    pub const ALL: [(&'static str, Ask); 8] = [
        ("ASK_PRINT", Ask::Print),
        ("ASK_ALLOCATE", Ask::Allocate),
        ("ASK_FREE", Ask::Free),
        ("ASK_STOP", Ask::Stop),
        ("ASK_CRASH", Ask::Crash),
        ("ASK_SIZE", Ask::Size),
        ("ASK_RANGE", Ask::Range),
        ("ASK_REGION", Ask::Region),
    ];

    /// By its number.
    pub fn of(number: u32) -> Option<Ask> {
        Ask::ALL.iter().map(|it| it.1).find(|it| *it as u32 == number)
    }
}
