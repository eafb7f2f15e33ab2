//! The profiling interface: what tools hear of, from the same places as those of the other standard.
//!
//! - [`layout`]: the structures of the header
//! - [`register`]: tools and their callbacks
//! - [`events`]: what is told, and when
#![allow(unsafe_code, reason = "functions that tools call, and callbacks of theirs")]

mod events;
pub(crate) mod layout;
pub mod register;

pub(crate) use events::{Detail, Span, construct, moment, part, routine, waiting};
pub(crate) use layout::Event;
pub(crate) use register::hold;
