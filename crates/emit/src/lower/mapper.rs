//! Users' mappers: which one maps a type, and the functions they become.
//!
//! In: the declarations of a program. Out: for a type and a mapper's name the function that the
//! runtime calls with one object (or an array of them) and that pushes its components.

use abi::MapType;
use ir::construct::{Args, Leaf};
use ir::program::{Declaration, Program, VarId};
use ir::types::Ty;
use source::{Name, Span};

use super::Lowering;
use super::entries::{self, Entries, Entry};
use super::stub;
use crate::c::{Out, Setting};

/// All mappers of a unit.
#[derive(Debug, Default)]
pub(super) struct Mappers {
    pub(super) list: Vec<Mapper>,
}

/// One mapper.
#[derive(Debug)]
pub(super) struct Mapper {
    /// Its name; none is `default`.
    pub(super) name: Option<Name>,
    /// The type it maps.
    pub(super) ty: Ty,
    /// The variable that stands for the object in its clauses.
    pub(super) var: Option<VarId>,
    /// Index into the program's declarations.
    pub(super) declaration: usize,
    /// The function it becomes.
    pub(super) function: String,
}

impl Mappers {
    pub(super) fn new(program: &Program) -> Mappers {
        let mut list = Vec::new();
        for (at, declaration) in program.declarations.iter().enumerate() {
            let Args::Mapper(decl) = &declaration.construct.args else { continue };
            if !declaration.construct.has(Leaf::DeclareMapper) {
                continue;
            }
            list.push(Mapper {
                name: decl.name,
                ty: decl.ty,
                var: declaration.vars.first().copied(),
                declaration: at,
                function: format!("__ferry_mapper_{at}"),
            });
        }
        Mappers { list }
    }

    /// The mapper of that name for `ty` or what it is an array of, as seen from a clause at `from`;
    /// without a name the default one, if the program declares any.
    pub(super) fn of(
        &self,
        program: &Program,
        name: Option<Name>,
        ty: Ty,
        from: Span,
    ) -> Option<String> {
        let is_default = |it: Option<Name>| it.is_none_or(|it| program.names.text(it) == "default");
        let record = program.types.record_of(program.types.innermost_element(ty))?;
        let is_before = |it: &Declaration| it.construct.span.start < from.start;
        let seen: Vec<usize> =
            program.declarations_seen(from).filter(|it| is_before(it.1)).map(|it| it.0).collect();
        self.list
            .iter()
            .filter(|it| program.types.record_of(it.ty) == Some(record))
            .filter(|it| if is_default(name) { is_default(it.name) } else { it.name == name })
            .rfind(|it| seen.contains(&it.declaration))
            .map(|it| it.function.clone())
    }
}

impl Lowering<'_> {
    /// The functions that users' mappers become.
    pub(super) fn mapper_functions(&self) {
        self.mappers.list.iter().for_each(|it| self.mapper_function(it));
    }

    /// Those that these entries need.
    pub(super) fn mappers_of(&self, entries: &Entries) {
        for name in entries.list.iter().filter_map(|it| it.mapper.as_ref()) {
            let mapper = self.mappers.list.iter().find(|it| it.function == *name);
            mapper.into_iter().for_each(|it| self.mapper_function(it));
        }
    }

    fn mapper_function(&self, mapper: &Mapper) {
        let Some(var) = mapper.var else { return };
        let Some(declaration) = self.program.declarations.get(mapper.declaration) else { return };
        let function = &mapper.function;
        let signature = format!(
            "static void {function}(void *__h, void *__base, void *__begin, \
             __ferry_i64 __size, __ferry_i64 __type, void *__name)"
        );
        let declared = format!("{signature};\n");
        if self.state.borrow().declarations.contains(&declared) {
            return;
        }
        self.state.borrow_mut().declarations.push(declared);
        let setting = if self.is_device { Setting::Alone } else { Setting::Appended };
        let mut printer = self.printer(setting);
        printer.substitute(var, "(*__v)");
        let entries = entries::of_mapper(&printer, &self.mappers, &declaration.construct);
        self.mappers_of(&entries);
        let mut out = Out::new();
        out.raw(&format!("# 1 \"<ferry>\" 3\n{signature}\n{{"));
        out.indented(|out| {
            let push = abi::names::PUSH_COMPONENT;
            // The runtime does not count the first component; so it is one that maps nothing.
            let count = abi::names::COMPONENT_COUNT;
            out.line(&format!("if (!{count}(__h)) {push}(__h, __base, __begin, 0, 0, __name);"));
            // All objects of an array lie side by side; what follows is part of them.
            out.line(&format!("const __ferry_i64 __whole = __ferry_member({count}(__h) + 1);"));
            out.line(&format!(
                "{push}(__h, __base, __begin, __size, __ferry_storage(__type), __name);"
            ));
            let object = printer.declare(mapper.ty, "(*__v)");
            out.line(&format!("{object} = __begin;"));
            out.line("const __ferry_i64 __count = __size / (__ferry_i64)sizeof(*__v);");
            out.line("__ferry_i64 __i;");
            out.line("for (__i = 0; __i < __count; __i++, __v++) {");
            out.indented(|out| components(out, &entries));
            out.line("}");
        });
        out.raw("}");
        self.state.borrow_mut().functions.push(out.into_text());
    }
}

/// Pushes the entries of one object.
fn components(out: &mut Out<'_>, entries: &Entries) {
    let push = abi::names::PUSH_COMPONENT;
    for entry in entries.list.iter().filter(|it| is_more_than_storage(it)) {
        stub::iterator_loops(out, entry);
        let bits = format!("__ferry_decay({:#x}, __type) | __whole", entry.bits.0);
        let name = stub::quoted(&format!(";{};unknown;0;0;;", entry.name));
        match &entry.mapper {
            Some(mapper) => out.line(&format!(
                "{mapper}(__h, {}, {}, {}, {bits}, (void *){name});",
                entry.base, entry.begin, entry.size
            )),
            None => out.line(&format!(
                "{push}(__h, {}, {}, {}, {bits}, (void *){name});",
                entry.base, entry.begin, entry.size
            )),
        }
    }
}

/// Whether an entry asks for more than a place in the object, which is there as a whole.
pub(super) fn is_more_than_storage(entry: &Entry) -> bool {
    entry.mapper.is_some() || entry.bits.has_any(MapType::TO | MapType::FROM | MapType::PTR_AND_OBJ)
}
