//! Names that a translation between the standards needs: routines, headers and macros.

use ir::construct::Dialect;

use crate::{OPENACC, OPENMP};

/// The standard that says who runs what.
pub const PRESCRIPTIVE: Dialect = OPENMP;
/// The standard that says what may run in any order, and at which level.
pub const DESCRIPTIVE: Dialect = OPENACC;

/// The macro that compilers of the descriptive standard define.
pub const MACRO_OF_LEVELS: &str = "_OPENACC";
/// The macro that compilers of the prescriptive standard define.
pub const MACRO_OF_TEAMS: &str = "_OPENMP";

/// Marks conditions around what comes besides a directive that is kept: those that a second translation leaves alone.
pub const TRANSLATED: &str = "/* translated */";

/// Whether the line of a directive is one of the descriptive standard.
pub fn is_of_levels(line: &str) -> bool {
    let words = line.trim_start_matches('#').split_whitespace().nth(1);
    words.is_some_and(|it| matches!(it, "acc" | "openarc"))
}

/// What says a standard by the word of the user.
pub fn standard_called(word: &str) -> Option<Dialect> {
    match word {
        "openmp" | "omp" => Some(OPENMP),
        "openacc" | "acc" => Some(OPENACC),
        _ => None,
    }
}

/// The standards, as the user may call them.
pub const STANDARD_WORDS: &str = "openmp or openacc";

/// The header with what no directive can say.
pub const TRANSLATION_HEADER: &str = "ferry_acc.h";
/// Its text.
pub const TRANSLATION_HEADER_TEXT: &str = include_str!("../../../include/ferry/ferry_acc.h");
/// The function of that header that names the object which stands for a queue.
pub const QUEUE_TOKEN: &str = "ferry_acc_queue";
/// The queue of work that names none.
pub const QUEUE_UNNAMED: &str = "acc_async_noval";

/// The queue that is none.
pub const QUEUE_NONE: &str = "acc_async_sync";
/// Functions of that header: storage filled with zeros if it is new, and let go with or without a copy.
pub const CREATE_ZERO: &str = "ferry_acc_create_zero";
#[allow(missing_docs, reason = "said above")]
pub const LET_OUT: &str = "acc_copyout";
#[allow(missing_docs, reason = "said above")]
pub const LET_GO: &str = "acc_delete";
/// Settings of that runtime.
pub const SET_DEFAULT_QUEUE: &str = "acc_set_default_async";
#[allow(missing_docs, reason = "said above")]
pub const SET_DEVICE_TYPE: &str = "acc_set_device_type";
/// The constant of that runtime for a type of device that a directive names.
pub fn device_type(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "host" | "multicore" => "acc_device_host",
        "nvidia" => "acc_device_nvidia",
        "radeon" => "acc_device_radeon",
        "default" | "*" => "acc_device_default",
        "not_host" => "acc_device_not_host",
        _ => return None,
    })
}

/// Whether a function belongs to the runtime of the descriptive standard.
pub fn is_level_call(name: &str) -> bool {
    name.starts_with("acc_")
}

/// Whether a call of that runtime may end the life of data on the device.
pub fn ends_data(name: &str) -> bool {
    ["acc_delete", "acc_copyout", "acc_unmap_data", "acc_shutdown"]
        .iter()
        .any(|it| name.starts_with(it))
}

/// Whether a call of that runtime makes a pointer on the device lead to data there.
pub fn attaches(name: &str) -> bool {
    name.starts_with("acc_attach")
}

/// Functions of the header that undo it, once and for good.
pub const DETACH: &str = "acc_detach";
#[allow(missing_docs, reason = "said above")]
pub const DETACH_ALL: &str = "acc_detach_finalize";

/// What replaces a function on devices, and where: the text of a directive.
pub fn replaced_on_devices(by: &str) -> String {
    format!("#pragma omp declare variant({by}) match(device={{kind(nohost)}})")
}

/// Calls of that runtime for which the other has nothing.
pub const LEVEL_CALLS_WITHOUT: &[&str] = &[
    "acc_get_cuda_stream",
    "acc_set_cuda_stream",
    "acc_get_current_cuda_device",
    "acc_get_current_cuda_context",
    "acc_get_current_opencl_device",
    "acc_get_current_opencl_context",
    "acc_get_opencl_queue",
    "acc_set_opencl_queue",
    "acc_prof_register",
    "acc_prof_unregister",
    "acc_prof_lookup",
];

/// Calls of that runtime that gcc's does not have.
const LEVEL_CALLS_NEWEST: &[&str] = &[
    "acc_async_test_all_device",
    "acc_async_test_device",
    "acc_get_default_async",
    "acc_init_device",
    "acc_memcpy_d2d",
    "acc_memcpy_d2d_async",
    "acc_memcpy_device",
    "acc_memcpy_device_async",
    "acc_set_default_async",
    "acc_shutdown_device",
    "acc_update_host",
    "acc_update_host_async",
    "acc_wait_all_device",
    "acc_wait_all_device_async",
    "acc_wait_any",
    "acc_wait_any_device",
    "acc_wait_device",
    "acc_wait_device_async",
];

/// Whether a text begins with such a call.
pub fn is_newest_level_call(text: &str) -> bool {
    let text = text.trim_start_matches('(');
    let end = text.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(text.len());
    text.get(..end).is_some_and(|it| LEVEL_CALLS_NEWEST.contains(&it))
}

/// Calls that the header answers as far as it can, and how far that is.
pub const LEVEL_CALLS_LIMITED: &[(&str, &str)] = &[
    (
        "acc_get_property",
        "no device can be asked for its memory: the host's is told, less what `acc_malloc` holds; \
         define FERRY_ACC_MEMORY as the bytes that yours has",
    ),
    ("acc_get_property_string", "names are not known: the answer is a null pointer"),
    (
        "acc_hostptr",
        "addresses are known that `acc_deviceptr`, `acc_copyin` and `acc_create` have given; at others \
         the program stops",
    ),
    ("acc_async_test", WAITS),
    ("acc_async_test_device", WAITS),
    ("acc_async_test_all", WAITS),
    ("acc_async_test_all_device", WAITS),
    ("acc_wait_any", WAITS),
    ("acc_wait_any_device", WAITS),
];
const WAITS: &str = "who asks whether a queue is done waits for it";

/// What changes in a line for the preprocessor: where, what goes, what comes.
pub fn preprocessor_changes(line: &str) -> Vec<(usize, String, String)> {
    let Some(rest) = line.trim_start().strip_prefix('#') else { return Vec::new() };
    let word = rest.trim_start();
    if word.starts_with("include") {
        let change = |old: &str| {
            let at = line.find(old)?;
            Some(vec![(at, old.to_owned(), format!("\"{TRANSLATION_HEADER}\""))])
        };
        let quoted = format!("\"{BACK_HEADER}\"");
        let names = ["<openacc.h>", "\"openacc.h\"", quoted.as_str()];
        return names.into_iter().find_map(change).unwrap_or_default();
    }
    changed_condition(line, MACRO_OF_LEVELS, MACRO_OF_TEAMS).into_iter().collect()
}

/// What changes in a condition on the macro of the standard that is left.
fn changed_condition(line: &str, own: &str, other: &str) -> Option<(usize, String, String)> {
    let word = line.trim_start().strip_prefix('#')?.trim_start();
    let is_condition = ["if", "elif"].iter().any(|it| word.starts_with(it));
    // Who has said it for both has nothing to say.
    if !is_condition || line.contains(other) {
        return None;
    }
    let both = format!("(defined({own}) || defined({other}))");
    let forms = [
        (format!("ifdef {own}"), format!("if {both}")),
        (format!("ifndef {own}"), format!("if !{both}")),
        (format!("defined({own})"), both.clone()),
        (format!("defined ({own})"), both.clone()),
        (format!("defined {own}"), both),
    ];
    let found = forms.into_iter().find_map(|(old, new)| Some((line.find(&old)?, old, new)));
    if found.is_some() {
        return found;
    }
    // At least this version: whoever reads the new directives has all that they need.
    let at = line.find(own)?;
    let rest = line.get(at + own.len()..)?.trim_start();
    let number = [">=", ">"].iter().find_map(|it| rest.strip_prefix(it))?.trim();
    let digits = number.trim_end_matches(['l', 'L']);
    let before = line.get(..at)?.trim_end();
    let is_whole = ["if", "elif"].iter().any(|it| before.ends_with(it));
    let is_number = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
    (is_whole && is_number).then_some(())?;
    let old = line.get(at..)?.trim_end().to_owned();
    let new = format!("({old} || defined({other}))");
    Some((at, old, new))
}

/// Where a text names the macro of the standard that is left otherwise than in conditions that change: its value means nothing
/// to who reads the other. Comments and literals say nothing.
pub fn value_of_macro(text: &[u8], of_levels: bool) -> Option<(usize, &'static str)> {
    let (own, other) = match of_levels {
        true => (MACRO_OF_LEVELS, MACRO_OF_TEAMS),
        false => (MACRO_OF_TEAMS, MACRO_OF_LEVELS),
    };
    let places = crate::api::words(text)
        .into_iter()
        .filter(|it| text.get(it.clone()) == Some(own.as_bytes()));
    let is_value = |at: usize| {
        let start = text.get(..at)?.iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1);
        let line = text.get(start..)?.split(|it| *it == b'\n').next()?;
        let line = String::from_utf8_lossy(line);
        let word = line.trim_start().strip_prefix('#').map(str::trim_start);
        let is_condition = word.is_some_and(|it| it.starts_with("if") || it.starts_with("elif"));
        let is_said = is_condition
            && (line.contains(other) || changed_condition(&line, own, other).is_some());
        let is_undone = word.is_some_and(|it| {
            it.starts_with("undef") || it.starts_with("endif") || it.starts_with("else")
        });
        Some(!is_said && !is_undone)
    };
    let mut values = places.map(|it| it.start).filter(|at| is_value(*at) == Some(true));
    values.next().map(|at| (at, own))
}

/// The first words of a standard's directives.
fn sentinels(dialect: Dialect) -> &'static [&'static [u8]] {
    if dialect == OPENACC { &[b"acc"] } else { &[b"omp", b"ompx"] }
}

/// Whether the arguments of a macro, from their parenthesis on, are a directive of a standard.
pub fn is_given(text: &[u8], dialect: Dialect) -> bool {
    let Some(inside) = text.trim_ascii_start().strip_prefix(b"(") else { return false };
    let inside = inside.trim_ascii_start();
    begins_with_sentinel(inside.strip_prefix(b"\"").unwrap_or(inside), dialect)
}

fn begins_with_sentinel(text: &[u8], dialect: Dialect) -> bool {
    let word =
        text.trim_ascii_start().split(|it| !it.is_ascii_alphanumeric() && *it != b'_').next();
    word.is_some_and(|it| sentinels(dialect).contains(&it))
}

/// Whether a directive of the prescriptive standard, from its first byte on, is about devices by its own words.
pub fn is_for_devices(line: &str) -> bool {
    let mut words = line.split(|it: char| !it.is_alphanumeric() && it != '_');
    words.any(|it| it.starts_with("target")) && !line.contains(" end ")
}

/// Where the directives of a standard begin in a file as written: lines whose first word after `#pragma`
/// is its own, and `_Pragma` with a string that begins with it, outside of comments. Those that the preprocessor
/// leaves out are among them.
pub fn directives_in(text: &[u8], dialect: Dialect) -> Vec<usize> {
    let sentinel = sentinels(dialect);
    let mut found = Vec::new();
    let mut start = 0;
    let mut in_comment = false;
    for line in text.split_inclusive(|it| *it == b'\n') {
        let begin = line.len() - line.trim_ascii_start().len();
        let mut words = line
            .get(begin..)
            .and_then(|it| it.strip_prefix(b"#"))
            .unwrap_or_default()
            .split(|it| it.is_ascii_whitespace())
            .filter(|it| !it.is_empty());
        if !in_comment
            && words.next() == Some(b"pragma")
            && words.next().is_some_and(|it| sentinel.contains(&it))
        {
            found.push(start + begin);
        }
        for at in operators(line, dialect) {
            let before = line.get(..at).unwrap_or_default();
            if !ends_in_comment(before, in_comment) && !contains(before, b"//") {
                found.push(start + at);
            }
        }
        in_comment = ends_in_comment(line, in_comment);
        start += line.len();
    }
    found
}

/// How often the word stands in a text that directives of a standard begin with.
pub fn named_in(text: &str, dialect: Dialect) -> usize {
    let sentinel = sentinels(dialect);
    let words = text.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
    words.filter(|it| sentinel.contains(&it.as_bytes())).count()
}

/// Where `_Pragma` stands in a line with a directive of a standard.
fn operators(line: &[u8], dialect: Dialect) -> Vec<usize> {
    let name = b"_Pragma";
    let is_one = |(at, part): &(usize, &[u8])| {
        let rest = line.get(at + name.len()..).unwrap_or_default().trim_ascii_start();
        let text = rest.strip_prefix(b"(").map(<[u8]>::trim_ascii_start);
        let text = text.and_then(|it| it.strip_prefix(b"\""));
        part == name && text.is_some_and(|it| begins_with_sentinel(it, dialect))
    };
    line.windows(name.len()).enumerate().filter(is_one).map(|it| it.0).collect()
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|it| it == part)
}

/// Whether a comment is open at the end of a line.
fn ends_in_comment(line: &[u8], mut inside: bool) -> bool {
    let mut at = 0;
    while let Some(two) = line.get(at..at + 2) {
        match (inside, two) {
            (true, b"*/") => {
                inside = false;
                at += 2;
            }
            (false, b"/*") => {
                inside = true;
                at += 2;
            }
            (false, b"//") => return false,
            _ => at += 1,
        }
    }
    inside
}

/// The header for programs that leave the prescriptive standard.
pub const BACK_HEADER: &str = "ferry_omp.h";
/// What it says.
pub const BACK_HEADER_TEXT: &str = include_str!("../../../include/ferry/ferry_omp.h");
/// Of that header: takes the number of a device as the prescriptive standard counts, gives what was
/// used before.
pub const CHOOSE_DEVICE: &str = "ferry_omp_choose_device";
/// Of that header: takes what the former gave.
pub const RETURN_TO_DEVICE: &str = "ferry_omp_return_to_device";

/// Whether a function belongs to the runtime of the prescriptive standard.
pub fn is_thread_call(name: &str) -> bool {
    name.starts_with("omp_")
}

/// Calls of that runtime about devices that the header says in other words.
pub const DEVICE_CALLS: &[&str] = &[
    "omp_get_num_devices",
    "omp_set_default_device",
    "omp_get_default_device",
    "omp_get_initial_device",
    "omp_get_device_num",
    "omp_is_initial_device",
    "omp_target_alloc",
    "omp_target_free",
    "omp_target_is_present",
    "omp_target_memcpy",
    "omp_target_memcpy_rect",
    "omp_target_associate_ptr",
    "omp_target_disassociate_ptr",
    "omp_get_mapped_ptr",
];

/// Calls of that runtime about devices for which the other has nothing.
pub const DEVICE_CALLS_WITHOUT: &[&str] = &[
    "omp_target_is_accessible",
    "omp_target_memcpy_async",
    "omp_target_memcpy_rect_async",
    "omp_target_memset",
    "omp_target_memset_async",
    "omp_pause_resource",
    "omp_pause_resource_all",
    "omp_get_uid_from_device",
    "omp_get_device_from_uid",
    "omp_fulfill_event",
    "omp_get_interop_int",
    "omp_get_interop_ptr",
    "omp_get_interop_str",
];

/// What changes in a line for the preprocessor when the prescriptive standard is left.
pub fn preprocessor_changes_back(line: &str) -> Vec<(usize, String, String)> {
    let Some(rest) = line.trim_start().strip_prefix('#') else { return Vec::new() };
    let word = rest.trim_start();
    if word.starts_with("include") {
        let change = |old: &str| {
            let at = line.find(old)?;
            Some(vec![(at, old.to_owned(), format!("\"{BACK_HEADER}\""))])
        };
        let quoted = format!("\"{TRANSLATION_HEADER}\"");
        let names = ["<omp.h>", "\"omp.h\"", quoted.as_str()];
        return names.into_iter().find_map(change).unwrap_or_default();
    }
    changed_condition(line, MACRO_OF_TEAMS, MACRO_OF_LEVELS).into_iter().collect()
}
