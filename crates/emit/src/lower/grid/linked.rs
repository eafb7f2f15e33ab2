//! Functions and variables of other files, for devices whose images are linked.
//!
//! A text says whether it needs what others have, and whether it has what others may need. Of a function in
//! another file nobody knows whether its threads would have to work together: so only functions that
//! each thread runs by itself are offered, and callers rely on that.

use ir::construct::Leaf;
use ir::program::{FunctionId, VarStorage};
use rustc_hash::FxHashSet;

use crate::c::{Grid, Selection};
use crate::lower::Lowering;
use crate::lower::kernel::regions_in;

impl Lowering<'_> {
    /// Whether the images of several files are linked. A text without our runtime stands alone.
    pub(in crate::lower) fn links(&self) -> bool {
        self.grid == Some(Grid::Cuda) && !self.standalone
    }

    /// Whether other files may call a function of this one.
    pub(in crate::lower) fn offers(&self, id: FunctionId) -> bool {
        let function = &self.program.functions[id];
        let is_for_others = !function.is_static && (!function.is_inline || function.is_external);
        function.device.declared
            && !function.device.host_only
            && function.body.is_some()
            && is_for_others
            && self.is_run_alone(id)
    }

    /// Whether each thread runs a function by itself: nothing that it reaches asks for other threads.
    fn is_run_alone(&self, id: FunctionId) -> bool {
        let program = self.program;
        let mut seen: FxHashSet<FunctionId> = FxHashSet::default();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            let function = &program.functions[id];
            let name = program.names.text(function.name);
            let asks = directive::RUNTIME_SYMBOLS.iter().any(|it| name.starts_with(it));
            if !function.indirect_calls.is_empty() || function.body.is_none() && asks {
                return false;
            }
            let regions = function.body.map(|it| regions_in(program, it)).unwrap_or_default();
            let is_alone = |leaf: &Leaf| matches!(leaf, Leaf::Simd | Leaf::Atomic);
            if !regions.iter().all(|it| program.regions[*it].construct.leaves.iter().all(is_alone))
            {
                return false;
            }
            open.extend(&function.calls);
        }
        true
    }

    /// What stands at the end of a text for whoever links it.
    pub(super) fn link_words(&self, selection: &Selection) -> String {
        if !self.links() {
            return String::new();
        }
        let is_global = |it: &ir::program::VarId| {
            let var = &self.program.vars[*it];
            var.storage == VarStorage::Global && var.device.is_some()
        };
        let offers = selection.functions.iter().any(|it| self.offers(*it))
            || selection.vars.iter().any(is_global);
        let needs = self.state.borrow().needs_others;
        let mut text = String::new();
        if needs || offers {
            text.push_str(&format!(
                "#ifdef __FERRY_LINKED\nextern \"C\" {{ __device__ char {}{:016x}; }}\n#endif\n",
                abi::image::LINKED,
                self.unit
            ));
        }
        text.push_str(if needs { abi::image::NEEDS_OTHERS } else { "" });
        text.push_str(if offers { abi::image::FOR_OTHERS } else { "" });
        text
    }
}
