//! Queues and dependences: numbers and structures of work that the caller does not wait for.

/// Queue argument: the queue of work without a number.
pub const NOVAL: i64 = -1;
/// Queue argument: none, the caller waits.
pub const SYNC: i64 = -2;
/// Queue argument: the default queue of the thread.
pub const DEFAULT: i64 = -3;

/// How work uses the data that it names; the numbers are those of GCC's runtime where it has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i64)]
pub enum DependenceKind {
    /// Reads them.
    In = 1,
    /// Writes them.
    Out = 2,
    /// Both.
    Inout = 3,
    /// In any order with its like, but not at the same time.
    Mutexinoutset = 4,
    /// In any order with its like.
    Inoutset = 5,
    /// The address is that of a dependence object: two words, address and kind.
    Object = 6,
}

/// One dependence of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Dependence {
    /// Where the data begin; 0: all memory.
    pub at: usize,
    /// A [`DependenceKind`].
    pub kind: i64,
}
