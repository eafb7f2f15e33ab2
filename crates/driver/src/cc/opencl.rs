//! Texts of several files in OpenCL C: the driver links them when the program begins. Here is seen that it can.

use std::collections::{BTreeMap, BTreeSet};

use abi::facts::Facts;
use abi::image::ImageKind;
use abi::target::Kind;

use super::bundle::Code;
use super::compile::Job;
use super::gpus::not_defined;
use super::image::Part;
use super::numbers::Numbers;
use super::toolchain::{Program, Texts, Toolchain};
use super::{Context, Failure, hardware, native, unread};

/// Drivers of OpenCL devices, which compile and link texts when a program begins.
pub(crate) struct Driver;

impl Toolchain for Driver {
    fn compile(
        &self,
        cx: &Context<'_>,
        job: &Job<'_>,
        texts: &Texts<'_>,
        _: &Numbers,
    ) -> Result<Vec<Code>, Failure> {
        let older = texts.grid(emit::Grid::OpenCl12);
        if let Some(text) = older {
            cx.save(&job.input.path, "1.2.cl", text)?;
        }
        let mut made = Vec::new();
        if let Some(text) = texts.grid(emit::Grid::OpenCl) {
            cx.save(&job.input.path, "cl", text)?;
            // One image: the driver's version says which of the two it is given.
            made.push(Code::of([text, older.unwrap_or_default()].concat()));
        }
        for (grid, text) in texts.grids.iter().filter(|it| it.0.vendor().is_some()) {
            let ending = format!("{}.cl", grid.name());
            cx.save(&job.input.path, &ending, text)?;
            made.push(Code::of(text.clone()));
        }
        Ok(made)
    }

    fn owns(&self, code: &Code) -> bool {
        let is_others =
            unread::is_note(code) || native::is_note(code) || code.triple == hardware::TRIPLE;
        code.kind == ImageKind::Source && !is_others
    }

    fn link(
        &self,
        _: &Context<'_>,
        parts: Vec<Part>,
        _: &Program<'_>,
    ) -> Result<Vec<Code>, Failure> {
        let mut images: Vec<(Vec<u8>, Vec<Part>)> = Vec::new();
        for part in parts {
            let first = part.code.bytes.split_inclusive(|it| *it == b'\n').next();
            let mark = first.unwrap_or_default().to_vec();
            match images.iter_mut().find(|it| it.0 == mark) {
                Some((_, parts)) => parts.push(part),
                None => images.push((mark, vec![part])),
            }
        }
        let join = |(_, parts)| Ok(Code::of(join(parts).map_err(|why| Failure::told(&why))?));
        images.into_iter().map(join).collect()
    }
}

/// The image of a program of several files: all texts, one behind the other.
fn join(parts: Vec<Part>) -> Result<Vec<u8>, String> {
    let facts: Vec<(&str, Facts)> = parts
        .iter()
        .map(|it| (it.name.as_str(), Facts::read(&String::from_utf8_lossy(&it.code.bytes))))
        .collect();
    // What files have, and what each of it calls in others.
    let has: BTreeMap<&str, &[String]> = facts
        .iter()
        .flat_map(|(_, it)| it.has.iter().map(|(name, calls)| (name.as_str(), calls.as_slice())))
        .collect();
    for (file, facts) in &facts {
        if let Some(name) = facts.uses.iter().find(|it| !has.contains_key(it.as_str())) {
            return Err(not_defined(file, name, Kind::OpenCl.target().name));
        }
    }
    if let Some(name) = has.keys().find(|it| calls_itself(it, &has)) {
        return Err(format!(
            "device code: `{name}` calls itself by way of another file, which `opencl` has no form for\n  help: \
             compile for other devices: `--device cpu`, `--device cuda`"
        ));
    }
    Ok(parts.into_iter().flat_map(|it| it.code.bytes).collect())
}

fn calls_itself(name: &str, has: &BTreeMap<&str, &[String]>) -> bool {
    let called = |name: &str| has.get(name).into_iter().copied().flatten().map(String::as_str);
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut open: Vec<&str> = called(name).collect();
    while let Some(next) = open.pop() {
        if next == name {
            return true;
        }
        if seen.insert(next) {
            open.extend(called(next));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(texts: &[&str]) -> Result<Vec<u8>, String> {
        let part = |(number, text): (usize, &&str)| Part {
            name: format!("{number}.c"),
            code: Code::of(format!("{}{text}", abi::image::OPENCL).into_bytes()),
        };
        join(texts.iter().enumerate().map(part).collect())
    }

    #[test]
    fn what_is_used_must_be_there() {
        let uses = "// ferry: uses f\n";
        assert!(joined(&[uses, "// ferry: has f\n"]).is_ok());
        let said = joined(&["", uses, "// ferry: has g\n"]).expect_err("nobody has it");
        assert!(said.contains("`1.c` uses `f`"), "{said}");
    }

    #[test]
    fn functions_of_several_files_do_not_call_each_other_in_circles() {
        let circle = ["// ferry: has f g\n", "// ferry: has g h\n// ferry: has h f\n"];
        assert!(joined(&circle).is_err_and(|it| it.contains("`f` calls itself")));
        assert!(joined(&["// ferry: has f g\n", "// ferry: has g h\n// ferry: has h\n"]).is_ok());
    }
}
