//! Who runs which loop, said by the program itself: programs in, programs out, and no text.
//!
//! [`reshape`] writes directives anew in the shapes that `opt` chooses for a device, in the standard they are written in.
//! [`assign`] then gives every loop its level, in words that compilers of one standard know. Both rest on a
//! [`mapping::Mapping`]: the device, what is known of loops, and what people have pinned. What became of a loop is a [`Note`].
#![allow(clippy::wildcard_enum_match_arm, reason = "a rule names the clauses it is about")]

mod assign;
mod combined;
mod items;
pub mod mapping;
mod note;
pub mod reshape;
pub mod updates;

pub use assign::{
    Leveled, assign, assign_grid, assign_league, assigned_vars, counts, is_quiet_around,
    is_straight,
};
pub use combined::needs_copy;
pub use items::{base, plain};
pub use note::{ADVICE, About, Note};
