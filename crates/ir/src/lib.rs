//! The typed program and its offload regions; the centre of the compiler.
//!
//! Types and their layout, the one [`construct::Construct`], typed expressions and statements,
//! regions with the variables they touch. Sema makes it, analyses read it, passes change it,
//! printers spell it. No spelling of any directive is known here.

pub mod arith;
mod compatible;
pub mod construct;
pub mod layout;
pub mod print;
pub mod program;
mod query;
pub mod region;
mod spell;
pub mod types;
pub mod verify;
pub mod walk;
