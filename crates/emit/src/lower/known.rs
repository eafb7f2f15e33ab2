//! What the host's compiler compiles by itself: the parts of directives that it knows.
//!
//! The measure is gcc 12, which reads version 5.0 and some of 5.1. What is not known to be known is
//! lowered here or refused; a directive that a compiler may skip must not reach it.

use ir::construct::{Construct, Leaf};
use ir::program::Typed;

/// Whether the host's compiler does all parts of the construct.
pub(super) fn by_host(construct: &Construct<Typed>) -> bool {
    construct.dialect == directive::HOST_DIALECT && construct.leaves.iter().all(|it| leaf(*it))
}

fn leaf(leaf: Leaf) -> bool {
    matches!(
        leaf,
        Leaf::Teams
            | Leaf::Distribute
            | Leaf::Parallel
            | Leaf::For
            | Leaf::Simd
            | Leaf::Loop
            | Leaf::Sections
            | Leaf::Section
            | Leaf::Single
            | Leaf::Masked
            | Leaf::Master
            | Leaf::Scope
            | Leaf::Critical
            | Leaf::Ordered
            | Leaf::OrderedPoint
            | Leaf::Task
            | Leaf::Taskloop
            | Leaf::Taskgroup
            | Leaf::Taskwait
            | Leaf::Taskyield
            | Leaf::Barrier
            | Leaf::Flush
            | Leaf::Atomic
            | Leaf::Cancel
            | Leaf::CancellationPoint
            | Leaf::Scan
            | Leaf::Depobj
            | Leaf::Error
            | Leaf::Nothing
            | Leaf::DeclareSimd
            | Leaf::DeclareReduction
            | Leaf::DeclareVariant
            | Leaf::Threadprivate
    )
}
