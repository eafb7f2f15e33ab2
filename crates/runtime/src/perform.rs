//! The steps of a call, when their turn has come: copies, launches, memory that is given back.

use crate::args::MapArgs;
use crate::error::Error;
use crate::mapping::{Cx, transfer};
use crate::steps::{Step, Steps};

impl Step {
    /// `args` are the arrays of the call.
    fn run(self, cx: &Cx<'_>, args: &MapArgs) -> Result<(), Error> {
        match self {
            Step::CopyIn(piece) => transfer::copy_in(cx, &piece),
            Step::CopyOut(piece) => transfer::copy_out(cx, &piece),
            Step::Point(slot, value) => transfer::write_pointer(cx, &slot, value),
            Step::Clear(at, bytes) => transfer::clear(cx, at, bytes).map_err(|error| {
                Error::Device { doing: "clearing device memory", what: None, error }
            }),
            Step::Free(at, bytes, name) => transfer::free(cx, at, bytes, name),
            Step::Launch(kept) => kept.run(cx, args),
        }
    }
}

impl Steps {
    /// Takes them, now; the caller has seen to how they are waited for.
    pub(crate) fn take_all(self, cx: &Cx<'_>, args: &MapArgs) -> Result<(), Error> {
        self.0.into_iter().try_for_each(|it| it.run(cx, args))
    }

    /// Takes them, now.
    pub(crate) fn run(self, cx: &Cx<'_>, args: &MapArgs) -> Result<(), Error> {
        let stream = cx.open_stream();
        let cx = &Cx { stream: stream.as_deref().or(cx.stream), ..*cx };
        self.take_all(cx, args)?;
        cx.synchronise().map_err(|error| Error::Device { doing: "waiting", what: None, error })
    }
}
