//! Programs that do without our runtime: the host's text calls a few functions of two files that are
//! written beside it ([`host_header`], [`host_file`]), and people read it.
//!
//! In: the same regions, entries and rows as for the runtime. Out: [`Standalone`], the pieces that go into the
//! user's own file. The marks of an entry keep their meaning and get names. What those two files
//! cannot do is refused by name ([`Lowering::not_standalone`]).

use std::ops::Range;

use abi::{MapType, names};
use ir::construct::{ClauseKind, Construct, Requirement};
use ir::program::{ExprKind, Typed};
use ir::walk::Part;
use rustc_hash::FxHashSet;
use source::{Diagnostic, Edits, Span};

use super::Lowering;
use super::entries::{Entries, Entry};
use super::frame::Row;
use super::stub::{self, At, Tables};
use crate::c::{Grid, Out};

/// What is declared in such programs.
const HEADER: &str = include_str!("../standalone/ferry_host.h");
/// The table of what is mapped, and regions.
const TABLE: &str = include_str!("../standalone/table.c");
/// Routines of the standards.
const API: &str = include_str!("../standalone/api.c");
/// What is asked of OpenCL.
const OPENCL: &str = include_str!("../standalone/opencl.c");
/// Where memory comes from there, by version.
const OPENCL_SHARED: &str = include_str!("../standalone/opencl_shared.c");
const OPENCL_BUFFERS: &str = include_str!("../standalone/opencl_buffers.c");
/// What is asked of HIP.
const HIP: &str = include_str!("../standalone/hip.c");
/// What is asked of CUDA's driver.
const CUDA: &str = include_str!("../standalone/cuda.c");

/// The header of such programs.
pub fn host_header(grid: Grid) -> String {
    HEADER.replace("@ENDING@", kernel_ending(grid))
}

/// The file with the functions that their host's text calls.
pub fn host_file(grid: Grid) -> String {
    let opencl = |version: &str, target: &str, memory: &str| {
        OPENCL
            .replace("@VERSION@", version)
            .replace("@TARGET@", target)
            .replace("@MEMORY@\n", memory)
    };
    let vendor = match grid {
        Grid::OpenCl => opencl("2.0", "300", OPENCL_SHARED),
        Grid::OpenCl12 | Grid::Fpga(_) => opencl("1.2", "120", OPENCL_BUFFERS),
        Grid::Cuda => CUDA.to_owned(),
        Grid::Hip => HIP.to_owned(),
    };
    vendor.replace("@TABLE@\n", &[TABLE, API].concat())
}

/// What the name of a file with kernels has more than that of its `.c` file.
pub fn kernel_ending(grid: Grid) -> &'static str {
    match grid {
        Grid::OpenCl | Grid::OpenCl12 | Grid::Fpga(_) => "l",
        Grid::Cuda => "u",
        Grid::Hip => ".hip",
    }
}

/// The host's side of such a program, to be put into the file as written.
#[derive(Clone, Debug, Default)]
pub struct Standalone {
    /// What stands before everything else.
    pub head: String,
    /// What stands in the place of bytes of the preprocessed text.
    pub changes: Vec<(Range<usize>, String)>,
    /// What stands behind everything else.
    pub tail: String,
}

impl Standalone {
    pub(super) fn new((head, tail): (String, String), edits: &Edits) -> Standalone {
        let change = |(range, text): (Range<usize>, &[u8])| {
            (range, readable(&String::from_utf8_lossy(text)))
        };
        let changes = edits.iter().map(change).collect();
        Standalone { head: readable(&head), changes, tail: readable(&tail) }
    }
}

/// A text without line markers, and without the underscores that keep our names away from the user's. Words are
/// looked at whole: what literals and comments hold is the user's, and so are words that only contain one of ours.
pub(super) fn readable(text: &str) -> String {
    let lines = text.split_inclusive('\n').filter(|it| !is_marker(it));
    let text: String = lines.collect();
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let is_word = |it: char| it.is_alphanumeric() || it == '_' || it == '$';
        let length = match first {
            '"' | '\'' => literal(rest, first),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |it| it + 2),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            _ if is_word(first) => rest.find(|it| !is_word(it)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (piece, behind) = rest.split_at(length);
        match plain(piece) {
            Some(name) => out.push_str(&name),
            None => out.push_str(piece),
        }
        rest = behind;
    }
    out
}

/// The length of a literal, with its quotes.
fn literal(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, it) in text.char_indices().skip(1) {
        if it == quote && !is_escaped {
            return at + it.len_utf8();
        }
        is_escaped = it == '\\' && !is_escaped;
    }
    text.len()
}

/// What our names begin with.
const OURS: &str = "__ferry_";

/// The name that people read in the place of one of ours.
fn plain(word: &str) -> Option<String> {
    // Names may be made of names.
    if word.starts_with(OURS) {
        return Some(word.replace(OURS, "ferry_"));
    }
    let numbered = [("__fv", "ferry_on"), ("__fg", "ferry_scope"), ("__fd", "ferry_steps")];
    numbered.iter().find_map(|(ours, plain)| {
        let number = word.strip_prefix(ours)?;
        number.bytes().all(|it| it.is_ascii_digit()).then(|| format!("{plain}{number}"))
    })
}

fn is_marker(line: &str) -> bool {
    line.strip_prefix("# ").is_some_and(|it| it.starts_with(|it: char| it.is_ascii_digit()))
}

impl At {
    /// `"a.c:12"`
    fn place(&self) -> String {
        stub::quoted(&format!("{}:{}", self.file, self.line))
    }
}

impl Lowering<'_> {
    /// What such a program cannot do is said, with the place.
    pub(super) fn not_standalone(&self, span: Span, what: &str) {
        let message = format!("{what} cannot be written for a program without libferry yet");
        let fault = Diagnostic::error("F0720", message)
            .at(span, "needed here")
            .help("`ferry cc` compiles it, for a program with libferry");
        let mut state = self.state.borrow_mut();
        if !state.faults.iter().any(|it| *it == fault) {
            state.faults.push(fault);
        }
    }

    /// Declares the location of a call, if somebody asks for it.
    pub(super) fn location(&self, out: &mut Out<'_>, at: &At) {
        if !self.standalone {
            stub::location(out, at);
        }
    }

    /// The directive that a call stands for.
    pub(super) fn said_before(&self, span: Span, out: &mut Out<'_>) {
        if self.standalone {
            out.line(&format!("/* {} */", self.quoted_directive(span)));
        }
    }

    /// The words of a directive, on one line and fit for a comment.
    pub(super) fn quoted_directive(&self, span: Span) -> String {
        let (text, base) = self.text;
        let bytes = text.get(super::lines(text, base, span)).unwrap_or_default();
        let words = String::from_utf8_lossy(bytes);
        let words: Vec<&str> = words.split_whitespace().collect();
        words.join(" ").replace("*/", "* /")
    }

    /// Declares the tables of a call.
    pub(super) fn tables(
        &self,
        out: &mut Out<'_>,
        entries: &Entries,
        at: &At,
        span: Span,
    ) -> Tables {
        if !self.standalone {
            return stub::tables(out, entries, at);
        }
        let list = &entries.list;
        let (has_mappers, is_empty) = (false, list.is_empty());
        if list.iter().any(|it| it.mapper.is_some()) {
            self.not_standalone(span, "a mapper of the user's own");
        }
        if is_empty {
            return Tables { count: "0".to_owned(), has_mappers, is_empty };
        }
        stub::strided(out, list);
        if list.iter().any(|it| !it.repeats.is_empty()) {
            repeated(out, list, at);
            return Tables { count: "__ferry_count".to_owned(), has_mappers, is_empty };
        }
        out.line("struct __ferry_item __ferry_items[] = {");
        out.indented(|out| {
            for (entry, begin) in list.iter().zip(stub::begins(list)) {
                let how = how(entry.bits, entry.parent.map(|it| it.to_string()));
                out.line(&format!("{},", row(entry, &begin, &how)));
            }
        });
        out.line("};");
        Tables { count: list.len().to_string(), has_mappers, is_empty }
    }

    /// A call that moves data or ties its life.
    pub(super) fn data_call_text(
        &self,
        call: &str,
        device: &str,
        tables: &Tables,
        at: &At,
    ) -> String {
        if !self.standalone {
            return format!("{call}(&__fi, {device}, {});", tables.arguments());
        }
        let name = match call {
            names::DATA_BEGIN => "__ferry_enter_data",
            names::DATA_END => "__ferry_exit_data",
            _ => "__ferry_update",
        };
        format!("{name}({}, {device}, {});", at.place(), items(tables))
    }

    /// A call that runs a region.
    pub(super) fn run_text(
        &self,
        kernel: &str,
        device: &str,
        tables: &Tables,
        trips: &str,
        at: &At,
    ) -> String {
        let (place, items) = (at.place(), items(tables));
        format!("__ferry_run({place}, {device}, &__ferry_{kernel}, {items}, {trips});")
    }

    /// A call that ties the life of data to a scope.
    pub(super) fn scope_text(&self, scope: &str, device: &str, tables: &Tables, at: &At) -> String {
        if !self.standalone {
            return format!("__ferry_enter(&{scope}, &__fi, {device}, {});", tables.arguments());
        }
        let (place, items) = (at.place(), items(tables));
        format!("__ferry_enter_scope(&{scope}, {place}, {device}, {items});")
    }

    /// The two words for devices that need no number: the default one, and the host.
    pub(super) fn device_words(&self) -> [String; 2] {
        match self.standalone {
            true => ["FERRY_DEVICE", "FERRY_HOST"].map(str::to_owned),
            false => [abi::DEVICE_DEFAULT, abi::DEVICE_HOST].map(|it| it.to_string()),
        }
    }

    /// The declaration of a kernel in the host's text.
    pub(super) fn standalone_kernel(&self, name: &str, has_host: bool) -> String {
        let (declared, host) = match has_host {
            true => (format!("static void {name}(void *const *);\n"), name),
            false => (String::new(), "0"),
        };
        let quoted = stub::quoted(name);
        format!(
            "{declared}static struct __ferry_kernel __ferry_{name} = FERRY_KERNEL({quoted}, {host});\n"
        )
    }

    /// Memory that both sides share is nothing that those files know of.
    pub(super) fn check_requirements(&self, construct: &Construct<Typed>) {
        let shares = |it: &ClauseKind<Typed>| {
            matches!(
                it,
                ClauseKind::Require(Requirement::UnifiedSharedMemory | Requirement::SelfMaps, _)
            )
        };
        if self.standalone && construct.kinds().any(shares) {
            self.not_standalone(construct.span, "memory that host and device share");
        }
    }

    /// Whether a name is free for a kernel.
    pub(super) fn is_free_name(&self, name: &str) -> bool {
        let program = self.program;
        !program.functions.iter().any(|(_, it)| program.names.text(it.name) == name)
            && !program
                .vars
                .iter()
                .any(|(_, it)| it.name.is_some_and(|it| program.names.text(it) == name))
    }

    /// What stands before and behind the user's text.
    pub(super) fn standalone_frame(&self) -> (String, String) {
        self.refuse_own_names();
        self.refuse_routines();
        let state = self.state.borrow();
        let is_needed =
            !(state.rows.is_empty() && state.declarations.is_empty() && !state.is_framed);
        if !is_needed {
            return (String::new(), String::new());
        }
        let mut head = "#include \"ferry_host.h\"\n".to_owned();
        if !state.rows.is_empty() {
            head.push_str("static struct __ferry_module __ferry_module;\n");
        }
        state.declarations.iter().for_each(|it| head.push_str(it));
        let mut tail = String::new();
        state.functions.iter().for_each(|it| tail.push_str(it));
        if !state.rows.is_empty() {
            tail.push_str(&module(&state.rows));
        }
        (head, tail)
    }

    /// Calls on the host of routines that nobody would answer.
    fn refuse_routines(&self) {
        let program = self.program;
        let bodies = program.functions.iter().filter_map(|(_, it)| it.body);
        let mut open: Vec<Part> = bodies.map(Part::Stmt).collect();
        let mut seen: FxHashSet<Part> = FxHashSet::default();
        while let Some(part) = open.pop() {
            if !seen.insert(part) {
                continue;
            }
            if let Part::Expr(id) = part
                && let ExprKind::Function(function) = program.exprs[id].kind
            {
                let name = program.names.text(program.functions[function].name);
                let is_answered = directive::STANDALONE_ROUTINES.contains(&name)
                    || program.functions[function].body.is_some();
                if directive::asks_devices(name) && !is_answered {
                    self.not_standalone(program.exprs[id].span, &format!("`{name}`"));
                }
            }
            program.parts(part, &mut |it| open.push(it));
        }
    }

    /// Whether the text has a name in that place.
    fn is_in_text(&self, name: &str, span: Span) -> bool {
        let (text, base) = self.text;
        let place = super::offset(base, span.start)..super::offset(base, span.end);
        let bytes = text.get(place).unwrap_or_default();
        String::from_utf8_lossy(bytes).contains(name)
    }

    /// Names of the user's that would meet ours.
    fn refuse_own_names(&self) {
        let program = self.program;
        let functions = program.functions.iter().map(|(_, it)| (Some(it.name), it.span));
        let vars = program.vars.iter().map(|(_, it)| (it.name, it.span));
        let tags = program.types.records.iter().map(|(_, it)| (it.tag, it.span));
        let named = functions.chain(vars).chain(tags);
        let taken: Vec<(&str, Span)> = named
            .filter_map(|(name, span)| Some((program.names.text(name?), span)))
            .filter(|(name, _)| name.starts_with("ferry_") || plain(name).is_some())
            // Others were made for calls.
            .filter(|(name, span)| self.is_in_text(name, *span))
            .collect();
        for (name, span) in taken {
            self.not_standalone(span, &format!("`{name}`, a name like ours,"));
        }
    }
}

/// The variables of a file that are on the device by themselves, and its kernels.
fn module(rows: &[Row]) -> String {
    let variables: Vec<String> = rows
        .iter()
        .filter(|it| matches!(it.flags, abi::entry::ORDINARY | abi::entry::LINK | abi::entry::ROOM))
        .map(|it| {
            let is_room = i32::from(it.flags == abi::entry::ROOM);
            let name = stub::quoted(&plain(&it.name).unwrap_or_else(|| it.name.clone()));
            format!("  {{ (void *){}, {name}, {}, {is_room} }},\n", it.address, it.size)
        })
        .collect();
    if variables.is_empty() {
        return "\nFERRY_MODULE(0, 0)\n".to_owned();
    }
    format!(
        "\nstatic struct __ferry_variable __ferry_variables[] = {{\n{}}};\n\
         FERRY_MODULE(__ferry_variables, {})\n",
        variables.concat(),
        variables.len()
    )
}

fn items(tables: &Tables) -> String {
    match tables.is_empty {
        true => "0, 0".to_owned(),
        false => format!("__ferry_items, {}", tables.count),
    }
}

/// `{ y, &y[0], n * sizeof(double), FERRY_TO, "y[0:n]" }`
fn row(entry: &Entry, begin: &str, how: &str) -> String {
    let name = if entry.name.is_empty() { "0".to_owned() } else { stub::quoted(&entry.name) };
    format!("{{ {}, {begin}, {}, {how}, {name} }}", entry.base, stub::size(entry))
}

/// Items whose number is known when the program runs.
fn repeated(out: &mut Out<'_>, list: &[Entry], at: &At) {
    let single = list.iter().filter(|it| it.repeats.is_empty()).count();
    let mut total = vec![single.to_string()];
    for entry in list.iter().filter(|it| !it.repeats.is_empty()) {
        let trips: Vec<String> = entry.repeats.iter().map(|it| it.trips()).collect();
        total.push(trips.join(" * "));
    }
    let (table, place) =
        ("__attribute__((cleanup(__ferry_free_items))) struct __ferry_item *", at.place());
    let total = total.join(" + ");
    out.line(&format!("{table}__ferry_items = __ferry_new_items({place}, {total});"));
    out.line("int __ferry_count = 0;");
    for (index, (entry, begin)) in list.iter().zip(stub::begins(list)).enumerate() {
        if list.iter().any(|it| it.parent == Some(index)) {
            // Where it is depends on how often others before it are repeated.
            out.line(&format!("const int __ferry_place{index} = __ferry_count;"));
        }
        let how = how(entry.bits, entry.parent.map(|it| format!("__ferry_place{it}")));
        let put = format!("(struct __ferry_item){}", row(entry, &begin, &how));
        stub::iterator_loops(out, entry);
        // Elements one by one lie on the device side by side, as what they are.
        match entry.repeats.is_empty() {
            true => out.line(&format!("__ferry_items[__ferry_count++] = {put};")),
            false => out.line(&format!(
                "  __ferry_count = __ferry_add_item(__ferry_items, __ferry_count, {put});"
            )),
        }
    }
}

/// The marks of an entry, in words.
fn how(bits: MapType, parent: Option<String>) -> String {
    const WORDS: &[(MapType, &str)] = &[
        (MapType::TO, "FERRY_TO"),
        (MapType::FROM, "FERRY_FROM"),
        (MapType::ALWAYS, "FERRY_ALWAYS"),
        (MapType::DELETE, "FERRY_DELETE"),
        (MapType::PTR_AND_OBJ, "FERRY_POINTEE"),
        (MapType::TARGET_PARAM, "FERRY_ARGUMENT"),
        (MapType::RETURN_PARAM, "FERRY_RETURN"),
        (MapType::PRIVATE, "FERRY_PRIVATE"),
        (MapType::LITERAL, "FERRY_VALUE"),
        (MapType::IMPLICIT, "FERRY_IMPLICIT"),
        (MapType::CLOSE, "FERRY_CLOSE"),
        (MapType::PRESENT, "FERRY_PRESENT"),
        (MapType::HOLD, "FERRY_HOLD"),
        (MapType::ATTACH, "FERRY_ATTACH"),
        (MapType::OPTIONAL, "FERRY_OPTIONAL"),
        (MapType::ZERO, "FERRY_ZERO"),
        (MapType::UNCOUNTED, "FERRY_UNCOUNTED"),
        (MapType::DETACH, "FERRY_DETACH"),
        (MapType::WHOLE, "FERRY_WHOLE"),
        (MapType::EXACT, "FERRY_EXACT"),
        (MapType::OBJECT, "FERRY_OBJECT"),
        (MapType::NON_CONTIG, "FERRY_STRIDED"),
    ];
    let mut words: Vec<String> =
        WORDS.iter().filter(|it| bits.has(it.0)).map(|it| it.1.to_owned()).collect();
    words.extend(parent.map(|it| format!("FERRY_MEMBER_OF({it})")));
    if words.is_empty() { "FERRY_ALLOC".to_owned() } else { words.join(" | ") }
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn names_of_ours_lose_their_underscores_and_nothing_else_is_touched() {
        let cases = [
            (
                "__ferry_run(__fv, __fg2, __fd10);",
                "ferry_run(ferry_on, ferry_scope2, ferry_steps10);",
            ),
            ("# 3 \"a.c\"\nx = __fv;\n", "x = ferry_on;\n"),
            (
                "f(\"__ferry_x __fv \\\" __fd9\", __fv)",
                "f(\"__ferry_x __fv \\\" __fd9\", ferry_on)",
            ),
            ("L\"__fd\" '\"' __fd '\\'' __fd", "L\"__fd\" '\"' ferry_steps '\\'' ferry_steps"),
            ("g__fv.a__fd->__ferry + x__ferry_y", "g__fv.a__fd->__ferry + x__ferry_y"),
            ("__fd_mask __fds_bits[__fdelt(1)] __fvx", "__fd_mask __fds_bits[__fdelt(1)] __fvx"),
            (
                "/* __ferry_a */ __ferry_a // __ferry_a\n__fv",
                "/* __ferry_a */ ferry_a // __ferry_a\nferry_on",
            ),
            ("é__fv + __fv / 2", "é__fv + ferry_on / 2"),
        ];
        for (text, wanted) in cases {
            assert_eq!(readable(text), wanted);
        }
    }
}
