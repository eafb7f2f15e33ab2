//! Dispatched calls: what the directive does around the call. Which function is called has been
//! decided, and stands in the body.
//!
//! The call is made at once: what `nowait` allows to be later may be now.

use ir::construct::{ClauseKind, DeviceModifier, Leaf};
use ir::program::RegionId;

use super::Lowering;
use crate::c::{Out, Printer};

impl Lowering<'_> {
    pub(super) fn dispatch(&self, printer: &Printer<'_>, id: RegionId, out: &mut Out<'_>) {
        self.declare_questions();
        let region = &self.program.regions[id];
        let device = region.construct.kinds().find_map(|it| match it {
            ClauseKind::Device(DeviceModifier::Unsaid | DeviceModifier::DeviceNum, number) => {
                Some(printer.expr(*number))
            }
            _ => None,
        });
        out.beside(region.span);
        out.line("{");
        out.indented(|out| {
            if let Some(wait) = self.wait_before(printer, id) {
                out.raw(&wait);
            }
            if let Some(device) = &device {
                let (get, set) = (directive::DEFAULT_DEVICE, directive::SET_DEFAULT_DEVICE);
                out.line(&format!("const int __fd = {get}(); {set}({device});"));
            }
            if let Some(body) = region.body {
                printer.stmt(body, out);
            }
            if device.is_some() {
                out.line(&format!("{}(__fd);", directive::SET_DEFAULT_DEVICE));
            }
        });
        out.line("}");
    }

    /// Tasks that the call depends on are waited for.
    fn wait_before(&self, printer: &Printer<'_>, id: RegionId) -> Option<String> {
        let mut construct = self.program.regions[id].construct.clone();
        construct.clauses.retain(|it| matches!(it.kind, ClauseKind::Depend(_)));
        if construct.clauses.is_empty() {
            return None;
        }
        construct.leaves = vec![Leaf::Taskwait];
        match directive::write(&printer.spelled(&construct), directive::HOST_DIALECT) {
            Ok(text) => Some(format!("#pragma {text}")),
            Err(why) => {
                self.refuse(construct.span, &why);
                None
            }
        }
    }
}
