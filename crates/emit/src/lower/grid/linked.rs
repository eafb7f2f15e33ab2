//! Functions and variables of other files, for devices whose images are linked.
//!
//! A text says whether it needs what others have, and whether it has what others may need. Of a function in
//! another file nobody knows whether its threads would have to work together: so only functions that
//! each thread runs by itself are offered, and callers rely on that.

use std::collections::BTreeSet;

use abi::facts::Facts;
use ir::construct::Leaf;
use ir::program::{FunctionId, VarId, VarStorage};
use ir::walk::Part;
use rustc_hash::FxHashSet;

use crate::c::{Grid, Selection, Used};
use crate::lower::Lowering;
use crate::lower::kernel::regions_in;

impl Lowering<'_> {
    /// Whether the images of several files are linked. A text without our runtime stands alone, and so does one whose
    /// functions are told of their thread.
    pub(in crate::lower) fn links(&self) -> bool {
        self.grid.is_some_and(|it| !it.names_memory()) && !self.standalone
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
            let is_alone = |leaf: &Leaf| {
                matches!(leaf, Leaf::Simd | Leaf::Cache | Leaf::Nothing)
                    || *leaf == Leaf::Atomic && self.agrees_on_atomics()
            };
            let mut constructs = regions.iter().map(|it| &program.regions[*it].construct);
            if !constructs.all(|it| it.goes_back() || it.leaves.iter().all(is_alone)) {
                return false;
            }
            // What the host runs of it calls functions of the host.
            let mut used = Used::on_device();
            function.body.into_iter().for_each(|it| used.part(program, Part::Stmt(it)));
            open.extend(used.functions);
        }
        true
    }

    /// Whether atomic accesses of this file and of others keep clear of each other: under the one lock that linked
    /// texts have in OpenCL C, or by exchanges alone.
    pub(super) fn agrees_on_atomics(&self) -> bool {
        self.grid.is_some_and(Grid::is_opencl) || self.only_exchanges()
    }

    /// Whether a text needs others, or others may need it.
    pub(super) fn can_be_linked(&self, selection: &Selection) -> bool {
        self.links() && (!self.state.borrow().uses.is_empty() || self.has_for_others(selection))
    }

    fn has_for_others(&self, selection: &Selection) -> bool {
        selection.functions.iter().any(|it| self.offers(*it))
            || selection.vars.iter().any(|it| self.is_for_others(*it))
    }

    fn is_for_others(&self, id: VarId) -> bool {
        let var = &self.program.vars[id];
        var.storage == VarStorage::Global && var.device.is_some()
    }

    /// What stands at the end of a text for whoever links it.
    pub(super) fn link_words(&self, grid: Grid, selection: &Selection) -> String {
        if !self.can_be_linked(selection) {
            return String::new();
        }
        let mut text = match grid {
            Grid::Cuda | Grid::Hip => format!(
                "#ifdef __FERRY_LINKED\nextern \"C\" {{ __device__ char {}{:016x}; }}\n#endif\n",
                abi::image::LINKED,
                self.unit
            ),
            Grid::OpenCl | Grid::OpenCl12 | Grid::Fpga(_) => self.linked_parts(),
        };
        let uses = &self.state.borrow().uses;
        let mut facts = Facts {
            needs_others: !uses.is_empty(),
            is_for_others: self.has_for_others(selection),
            ..Facts::default()
        };
        if grid.is_opencl() {
            facts.file = Some(format!("{:016x}", self.unit));
            facts.uses = uses.iter().cloned().collect();
            let functions = selection.functions.iter().filter(|it| self.offers(**it));
            let vars = selection.vars.iter().filter(|it| self.is_for_others(**it));
            let vars = vars.map(|it| (self.symbol(*it), Vec::new()));
            facts.has = functions.map(|it| self.with_calls(*it, uses)).chain(vars).collect();
        }
        text.push_str(&facts.write());
        text
    }

    /// A function, and what it calls in other files.
    fn with_calls(&self, id: FunctionId, uses: &BTreeSet<String>) -> (String, Vec<String>) {
        let name = |id: FunctionId| self.program.names.text(self.program.functions[id].name);
        let first = name(id).to_owned();
        let mut calls = Vec::new();
        let (mut seen, mut open) = (FxHashSet::default(), vec![id]);
        while let Some(id) = open.pop() {
            if seen.insert(id) {
                let function = &self.program.functions[id];
                let is_used = function.body.is_none() && uses.contains(name(id));
                calls.extend(is_used.then(|| name(id).to_owned()));
                open.extend(&function.calls);
            }
        }
        (first, calls)
    }

    /// Names that every linked text has for itself.
    pub(super) fn names_when_linked(&self, selection: &Selection) -> String {
        if !self.can_be_linked(selection) {
            return String::new();
        }
        let file = format!("{:016x}", self.unit);
        let define = |name: &str| format!("#define {name} {}\n", abi::names::of_file(name, &file));
        let both = [abi::names::VARIABLES_SIZE, abi::names::VARIABLES_INIT].map(define);
        format!("#ifdef __FERRY_LINKED\n{}#endif\n", both.concat())
    }

    /// What others call in a linked text.
    fn linked_parts(&self) -> String {
        let enter = abi::names::of_file(abi::image::ENTER, &format!("{:016x}", self.unit));
        let finders = self.finders();
        format!(
            "#ifdef __FERRY_LINKED\nvoid {enter}(unsigned long at) {{ __ferry_vars = at; }}\n{finders}#endif\n"
        )
    }
}
