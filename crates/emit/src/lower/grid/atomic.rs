//! One thread at a time: atomic accesses and critical sections.
//!
//! Both are done under one lock of the image. The lock is taken in a loop whose body does the work,
//! so that threads which run in step cannot wait for each other.

use ir::program::RegionId;

use crate::c::{Out, Printer};
use crate::lower::Lowering;

impl Lowering<'_> {
    /// The body of a region, by one thread of the grid at a time.
    pub(super) fn locked(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        let region = &self.program.regions[id];
        let Some(body) = region.body else { return };
        out.beside(region.span);
        out.line("for (int __ferry_done = 0; !__ferry_done; )");
        out.line("if (__ferry_try())");
        out.line("{");
        out.indented(|out| {
            printer.stmt(body, out);
            out.leave();
            out.line("__ferry_give();");
            out.line("__ferry_done = 1;");
        });
        out.line("}");
    }
}
