//! What sema says of regions: faults by code and marked text, variables and loops as short lines.
//!
//! Every rule has a program that breaks it and a neighbour that keeps it.

mod regions {
    pub(crate) mod atomics;
    pub(crate) mod calls;
    pub(crate) mod clauses;
    pub(crate) mod declarations;
    pub(crate) mod growth;
    pub(crate) mod loops;
    pub(crate) mod nesting;
    pub(crate) mod pointees;
    pub(crate) mod support;
    pub(crate) mod variables;
}
