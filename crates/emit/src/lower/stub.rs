//! The text of a call to the runtime: its tables, its location, its device.
//!
//! In: [`Entries`] and what clauses say of the device. Out: declarations and the call, as C. The
//! names used here are declared by [`super::frame`].

use ir::construct::{Clause, ClauseKind, DeviceModifier, IteratorVar, Leaf};
use ir::program::{ExprId, Typed};

use super::entries::{Entries, Entry, Repeat};
use crate::c::{Out, Printer};

/// A place in the user's source.
#[derive(Clone, Debug)]
pub(super) struct At {
    pub(super) file: String,
    pub(super) function: String,
    pub(super) line: u32,
    pub(super) column: u32,
    /// What stands there, for tools.
    pub(super) directive: abi::call::Directive,
    /// Last line of the construct, first and last line of the function.
    pub(super) lines: [u32; 3],
}

impl At {
    /// As the runtime reads it.
    pub(super) fn ident(&self) -> String {
        let [end, first, last] = self.lines;
        format!(
            ";{};{};{};{};;{};{end};{first};{last};",
            self.file, self.function, self.line, self.column, self.directive as i32
        )
    }
}

/// A C string literal.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'?' => out.push_str("\\?"),
            0x20..=0x7e => out.push(char::from(byte)),
            _ => out.push_str(&format!("\\{byte:03o}")),
        }
    }
    out.push('"');
    out
}

/// The names that a call's tables have in the block it stands in.
pub(super) struct Tables {
    /// Number of entries, as text.
    pub(super) count: String,
    pub(super) has_mappers: bool,
    pub(super) is_empty: bool,
}

impl Tables {
    /// The arguments of a data call after the device.
    pub(super) fn arguments(&self) -> String {
        if self.is_empty {
            return "0, 0, 0, 0, 0, 0, 0".to_owned();
        }
        let mappers = if self.has_mappers { "__fm" } else { "0" };
        format!("{}, __fb, __fp, __fs, (__ferry_i64 *)__ft, (void **)__fn, {mappers}", self.count)
    }

    /// The initialiser of a kernel's arguments.
    pub(super) fn kernel_arguments(&self, teams: &str, trips: &str) -> String {
        if self.is_empty {
            return format!("{{ 3, 0, 0, 0, 0, 0, 0, 0, {trips}, 0, {{ {teams} }}, {{ 0 }}, 0 }}");
        }
        let mappers = if self.has_mappers { "__fm" } else { "0" };
        format!(
            "{{ 3, {}, __fb, __fp, __fs, (__ferry_i64 *)__ft, (void **)__fn, {mappers}, {trips}, 0, \
             {{ {teams} }}, {{ 0 }}, 0 }}",
            self.count
        )
    }
}

/// Declares the location of a call.
pub(super) fn location(out: &mut Out<'_>, at: &At) {
    let ident = at.ident();
    out.line(&format!(
        "static const struct __ferry_ident __fi = {{ 0, 2, 0, {}, {} }};",
        ident.len(),
        quoted(&ident)
    ));
}

/// Declares the tables of a call.
pub(super) fn tables(out: &mut Out<'_>, entries: &Entries, at: &At) -> Tables {
    let list = &entries.list;
    let has_mappers = list.iter().any(|it| it.mapper.is_some());
    if list.is_empty() {
        return Tables { count: "0".to_owned(), has_mappers, is_empty: true };
    }
    strided(out, list);
    if list.iter().any(|it| !it.repeats.is_empty()) {
        let count = repeated(out, list, at, has_mappers);
        return Tables { count, has_mappers, is_empty: false };
    }
    let count = list.len();
    let row =
        |text: &dyn Fn(&Entry) -> String| list.iter().map(text).collect::<Vec<_>>().join(", ");
    out.line(&format!("void *__fb[{count}] = {{ {} }};", row(&|it| it.base.clone())));
    out.line(&format!("void *__fp[{count}] = {{ {} }};", begins(list).join(", ")));
    out.line(&format!("__ferry_i64 __fs[{count}] = {{ {} }};", row(&size)));
    out.line(&format!("static const __ferry_i64 __ft[{count}] = {{ {} }};", row(&bits)));
    out.line(&format!(
        "static const char *const __fn[{count}] = {{ {} }};",
        row(&|it| name(it, at))
    ));
    if has_mappers {
        let mapper =
            |it: &Entry| it.mapper.clone().map_or("0".to_owned(), |it| format!("(void *){it}"));
        out.line(&format!("void *__fm[{count}] = {{ {} }};", row(&mapper)));
    }
    Tables { count: count.to_string(), has_mappers, is_empty: false }
}

/// Descriptors of updates whose elements do not follow each other.
pub(super) fn strided(out: &mut Out<'_>, list: &[Entry]) {
    for (at, entry) in list.iter().enumerate() {
        let Some(dims) = &entry.strided else { continue };
        let mut rows: Vec<String> = dims
            .iter()
            .map(|it| {
                let stride = it.stride.as_deref().unwrap_or("1");
                format!("{{ 0, {}, ({stride}) * {} }}", it.length, it.step)
            })
            .collect();
        let element = dims.last().map_or("1", |it| it.step.as_str());
        rows.push(format!("{{ 0, 1, {element} }}"));
        let count = rows.len();
        out.line(&format!("struct __ferry_dim __fd{at}[{count}] = {{ {} }};", rows.join(", ")));
    }
}

pub(super) fn begins(list: &[Entry]) -> Vec<String> {
    list.iter()
        .enumerate()
        .map(|(at, it)| match it.strided {
            Some(_) => format!("__fd{at}"),
            None => it.begin.clone(),
        })
        .collect()
}

pub(super) fn size(entry: &Entry) -> String {
    match &entry.strided {
        Some(dims) => (dims.len() + 1).to_string(),
        None => entry.size.clone(),
    }
}

/// The bits of all entries.
pub(super) fn all_bits(list: &[Entry]) -> impl Iterator<Item = String> {
    list.iter().map(bits)
}

fn bits(entry: &Entry) -> String {
    let bits = match entry.parent {
        Some(parent) => entry.bits.member_of(parent).unwrap_or(entry.bits),
        None => entry.bits,
    };
    format!("{:#x}", bits.0)
}

fn name(entry: &Entry, at: &At) -> String {
    if entry.name.is_empty() {
        return "0".to_owned();
    }
    quoted(&format!(";{};{};{};{};;", entry.name, at.file, at.line, at.column))
}

/// Memory of a block that is given back where that is left.
const TABLE: &str = "__attribute__((cleanup(__ferry_drop_table))) __ferry_i64 *__fo";

/// Tables whose length is known when the program runs: entries that are repeated for the values of
/// iterators. Gives the name of the count.
fn repeated(out: &mut Out<'_>, list: &[Entry], at: &At, has_mappers: bool) -> String {
    let single = list.iter().filter(|it| it.repeats.is_empty()).count();
    let mut total = vec![single.to_string()];
    for entry in list.iter().filter(|it| !it.repeats.is_empty()) {
        let trips: Vec<String> = entry.repeats.iter().map(Repeat::trips).collect();
        total.push(trips.join(" * "));
    }
    out.line(&format!("const __ferry_i64 __fc = {};", total.join(" + ")));
    // They may be more than a stack holds.
    out.line(&format!("{TABLE} = __ferry_table(__fc, 6 * sizeof(__ferry_i64));"));
    let column =
        |at: u32, ty: &str, name: &str| format!("{ty}{name} = ({ty})(__fo + {at} * __fc);");
    out.line(&column(0, "void **", "__fb"));
    out.line(&column(1, "void **", "__fp"));
    out.line(&column(2, "__ferry_i64 *", "__fs"));
    out.line(&column(3, "__ferry_i64 *", "__ft"));
    out.line(&column(4, "const char **", "__fn"));
    if has_mappers {
        out.line(&column(5, "void **", "__fm"));
    }
    // The runtime says that there is no room for them.
    out.line("int __fj = __fo ? 0 : -1;");
    out.line("if (__fo) {");
    for (index, entry) in list.iter().enumerate() {
        if list.iter().any(|it| it.parent == Some(index)) {
            // Where it is depends on how often others before it are repeated.
            out.line(&format!("const __ferry_i64 __fw{index} = __ferry_member(__fj + 1);"));
        }
        iterator_loops(out, entry);
        let bits = match entry.parent {
            Some(parent) => format!("{:#x} | __fw{parent}", entry.bits.0),
            None => format!("{:#x}", entry.bits.0),
        };
        // Elements one by one lie on the device side by side, as what they are.
        let follows = match entry.repeats.is_empty() || entry.mapper.is_some() {
            true => String::new(),
            false => format!(
                "if (__fj && __fb[__fj - 1] == {} && __ft[__fj - 1] == ({bits}) && __fs[__fj - 1] > 0 && \
                 (char *)__fp[__fj - 1] + __fs[__fj - 1] == (char *){}) __fs[__fj - 1] += {}; else ",
                entry.base,
                entry.begin,
                size(entry)
            ),
        };
        let mapper = match (&entry.mapper, has_mappers) {
            (Some(mapper), _) => format!(" __fm[__fj] = (void *){mapper};"),
            (None, true) => " __fm[__fj] = 0;".to_owned(),
            (None, false) => String::new(),
        };
        out.line(&format!(
            "{follows}{{ __fb[__fj] = {}; __fp[__fj] = {}; __fs[__fj] = {}; __ft[__fj] = {bits}; \
             __fn[__fj] = {};{mapper} __fj++; }}",
            entry.base,
            entry.begin,
            size(entry),
            name(entry, at)
        ));
    }
    out.line("}");
    "__fj".to_owned()
}

/// The heads of the loops that repeat an entry.
pub(super) fn iterator_loops(out: &mut Out<'_>, entry: &Entry) {
    entry.repeats.iter().for_each(|it| out.line(&it.head()));
}

/// The head of the loop over the values of an iterator.
pub(super) fn iterator_loop(out: &mut Out<'_>, printer: &Printer<'_>, it: &IteratorVar<Typed>) {
    out.line(&Repeat::of(printer, it).head());
}

/// How many values an iterator has.
pub(super) fn trips(printer: &Printer<'_>, it: &IteratorVar<Typed>) -> String {
    Repeat::of(printer, it).trips()
}

/// The device a construct is for: a number as the runtime takes it, of which two have words: the default
/// one, and the host.
pub(super) fn device(
    printer: &Printer<'_>,
    clauses: &[Clause<Typed>],
    [default, host]: [String; 2],
) -> String {
    let mut device = default;
    for clause in clauses {
        if let ClauseKind::Device(modifier, number) = &clause.kind {
            device = match modifier {
                DeviceModifier::Ancestor => abi::DEVICE_ANCESTOR.to_string(),
                DeviceModifier::Unsaid | DeviceModifier::DeviceNum => {
                    format!("__ferry_device({})", printer.expr(*number))
                }
            };
        }
    }
    let mut terms: Vec<String> =
        condition(clauses).map(|it| printer.expr(it)).into_iter().collect();
    for clause in clauses {
        match &clause.kind {
            ClauseKind::SelfExec(Some(condition)) => {
                terms.push(format!("!{}", printer.primary(*condition)));
            }
            ClauseKind::SelfExec(None) => terms.push("0".to_owned()),
            _ => {}
        }
    }
    if terms.len() > 1 {
        terms.iter_mut().for_each(|it| *it = format!("({it})"));
    }
    match terms.is_empty() {
        true => device,
        false => format!("({}) ? {device} : {host}", terms.join(" && ")),
    }
}

/// The condition under which the construct leaves the host.
pub(super) fn condition(clauses: &[Clause<Typed>]) -> Option<ExprId> {
    let about_device = |leaf: Leaf| {
        matches!(
            leaf,
            Leaf::Offload
                | Leaf::Kernels
                | Leaf::DataRegion
                | Leaf::EnterData
                | Leaf::ExitData
                | Leaf::Update
        )
    };
    clauses.iter().find_map(|it| match &it.kind {
        ClauseKind::If(condition) if it.on.is_none_or(about_device) => Some(*condition),
        _ => None,
    })
}
