//! What the devices of several makers of GPUs have in common: which texts are linked, and images that nobody links.
//!
//! A text that needs what other files define is compiled to be linked. One that has what others may need is
//! compiled both ways, as nobody knows yet whether somebody does; all others stand alone.

use std::collections::{BTreeMap, BTreeSet};

use abi::facts::Facts;
use abi::image::ImageKind;

use super::args::{Arguments, Step};
use super::bundle::Code;
use super::image::Part;

/// What the name of a GPU ends with in containers with code that must be linked.
pub(crate) const LINKED: &str = "+linked";

/// The ways to compile a text: whether it is to be linked.
pub(crate) fn ways(text: &[u8]) -> &'static [bool] {
    let facts = Facts::read(&String::from_utf8_lossy(text));
    match (facts.needs_others, facts.is_for_others) {
        (true, _) => &[true],
        (false, true) => &[false, true],
        (false, false) => &[false],
    }
}

/// Of code that stands alone and code that must be linked, what a program needs: the former, unless some
/// file needs others. Apart: what stands alone, and what is to be linked, with the plain names of its GPUs.
pub(crate) fn chosen(parts: Vec<Part>) -> (Vec<Part>, Vec<Part>) {
    let (mut linked, mut alone): (Vec<Part>, Vec<Part>) =
        parts.into_iter().partition(|it| it.code.arch.ends_with(LINKED));
    let names =
        |parts: &[Part]| -> BTreeSet<String> { parts.iter().map(|it| it.name.clone()).collect() };
    let both = names(&linked);
    if both.is_subset(&names(&alone)) {
        return (alone, Vec::new());
    }
    alone.retain(|it| !both.contains(&it.name));
    for part in &mut linked {
        let plain = part.code.arch.strip_suffix(LINKED).map(str::to_owned);
        part.code.arch = plain.unwrap_or_default();
    }
    (alone, linked)
}

/// The images of a program of several files: one of each kind and GPU, of all files that have device
/// code, in the order that `rank` gives them.
pub(crate) fn join<K: Ord>(
    parts: Vec<Part>,
    rank: impl Fn(&Code) -> K,
) -> Result<Vec<Code>, String> {
    let mut files: Vec<String> = Vec::new();
    // The files that have code of a rank, and that code.
    let mut images: BTreeMap<K, (Vec<String>, Vec<Code>)> = BTreeMap::new();
    for Part { name, code } in parts {
        let (names, codes) = images.entry(rank(&code)).or_default();
        if !files.contains(&name) {
            files.push(name.clone());
        }
        names.push(name);
        codes.push(code);
    }
    let is_whole = |names: &[String]| files.iter().all(|it| names.contains(it));
    if !images.is_empty() && !images.values().any(|(names, _)| is_whole(names)) {
        return Err(format!(
            "no GPU can run the device code of all these files: {}\n  help: compile all of them for \
             the same `--device`",
            files.join(", ")
        ));
    }
    let whole = images.into_values().filter(|(names, _)| is_whole(names));
    Ok(whole.map(|(_, codes)| joined(codes)).collect())
}

/// One image of several: in containers, one behind the other.
fn joined(mut codes: Vec<Code>) -> Code {
    if codes.len() == 1
        && let Some(only) = codes.pop()
    {
        return only;
    }
    let bytes = codes.iter().flat_map(Code::container).collect();
    let first = codes.into_iter().next();
    let (kind, triple, arch) = first
        .map_or((ImageKind::Object, String::new(), String::new()), |it| {
            (it.kind, it.triple, it.arch)
        });
    Code { kind, triple, arch, bytes }
}

/// What to say of a function or variable that a file uses and none has for a device.
pub(crate) fn not_defined(file: &str, name: &str, device: &str) -> String {
    format!(
        "device code of `{file}` uses `{name}`, which no file defines for `{device}`\n  help: define it in a \
         file that is compiled for the same `--device`, between `declare target` directives or with \
         a `routine`; if it is there, directives in it share work among threads, or take a lock, and such \
         functions are used in the same file only"
    )
}

/// Whether kernels are to know the lines of the user's file.
pub(crate) fn has_lines(arguments: &Arguments) -> bool {
    let is_asked =
        |word: &str| word.starts_with("-g") && word != "-g0" && !word.starts_with("-gno");
    arguments.flags(&[Step::Everywhere]).filter_map(|it| it.to_str()).any(is_asked)
}
