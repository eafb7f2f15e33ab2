//! What is told of loops and data: who runs them, what is mapped, and what stood in the way.

use source::Span;

/// What a note is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// A loop: who runs it.
    Loop,
    /// Loops of cores: which blocks of iterations run together.
    Blocks,
    /// A loop of a cluster: which arrays it brings into the scratchpad.
    Scratchpad,
    /// Data behind a pointer that no clause names.
    Data,
}

/// The code of what is said of advice for other hardware.
pub const ADVICE: &str = "F0706";

/// What became of one loop, or of some data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Which of them.
    pub about: About,
    /// The construct that sends it to a device.
    pub region: Span,
    /// The loop, or the construct.
    pub span: Span,
    /// The variable that counts it, and who runs it: `i: threads`; the pointer, and what of it is mapped.
    pub text: String,
    /// What stood in the way of more.
    pub at: Option<Span>,
}
