//! The explanation for people: one paragraph a region.

use std::fmt::Write;

use source::render::{self, Colour};
use source::{Diagnostics, Locator};

use super::collect::REFUSED;
use super::moves::bytes_words;
use super::records::{
    AttributeRecord, DeviceRecord, FileRecord, LoopRecord, MoveRecord, PointeeRecord, RegionRecord,
    VariableRecord,
};

/// The whole file in words.
pub(crate) fn render(file: &FileRecord, locator: &Locator<'_>, colour: Colour) -> String {
    let mut out = String::new();
    let show = |remarks: &Diagnostics| render::terminal(remarks, locator, colour);
    // Writing to a string cannot fail.
    let _ = write_file(&mut out, file, &show);
    out
}

fn write_file(
    out: &mut String,
    file: &FileRecord,
    show: &dyn Fn(&Diagnostics) -> String,
) -> std::fmt::Result {
    let count = file.regions.len();
    let plural = if count == 1 { "" } else { "s" };
    writeln!(out, "{}: {count} region{plural}", file.file)?;
    for declaration in &file.declarations {
        let place = &declaration.place;
        writeln!(out, "\n{}:{}: {}", place.file, place.line, declaration.directive)?;
        if !declaration.functions.is_empty() {
            writeln!(out, "  functions  {}", declaration.functions.join(", "))?;
        }
        if !declaration.variables.is_empty() {
            writeln!(out, "  variables  {}", declaration.variables.join(", "))?;
        }
        for it in &declaration.memory {
            writeln!(out, "  memory     {}: {}", it.variable, it.kind)?;
            writeln!(out, "               {}", it.instances)?;
            writeln!(out, "               lies in {}", it.lies)?;
        }
    }
    for region in &file.regions {
        writeln!(out)?;
        write_region(out, region)?;
        write_remarks(out, &region.remarks, show)?;
    }
    write_remarks(out, &file.remarks, show)?;
    writeln!(out)
}

/// What is shown with the source, after an empty line.
fn write_remarks(
    out: &mut String,
    remarks: &Diagnostics,
    show: &dyn Fn(&Diagnostics) -> String,
) -> std::fmt::Result {
    if remarks.is_empty() {
        return Ok(());
    }
    let shown = show(remarks);
    writeln!(out, "\n{}", shown.trim_end())
}

fn write_region(out: &mut String, region: &RegionRecord) -> std::fmt::Result {
    let place = &region.place;
    writeln!(out, "{}:{}: {}", place.file, place.line, region.directive)?;
    write!(out, "  in         {}()", region.function)?;
    match region.parent {
        Some(parent) => writeln!(out, ", region {} inside region {parent}", region.id)?,
        None => writeln!(out, ", region {}", region.id)?,
    }
    for (index, construct) in region.constructs.iter().enumerate() {
        let head = if index == 0 { "does" } else { "" };
        writeln!(out, "  {head:<9}  {}", construct.meaning)?;
    }
    for (index, it) in region.loops.iter().enumerate() {
        let head = if index == 0 { "loops" } else { "" };
        writeln!(out, "  {head:<9}  {}", loop_line(it))?;
    }
    for (index, it) in region.findings.iter().enumerate() {
        let head = if index == 0 { "finds" } else { "" };
        let indent = "  ".repeat(it.depth);
        let loop_name = it.variable.as_ref().map_or("a loop", |it| it.as_str());
        writeln!(out, "  {head:<9}  {indent}{loop_name}, line {}: {}", it.place.line, it.message)?;
        for assumed in &it.assumed {
            writeln!(out, "  {:<9}  {indent}  assumed: {assumed}", "")?;
        }
    }
    for (index, it) in region.mapping.iter().enumerate() {
        let head = if index == 0 { "mapping" } else { "" };
        writeln!(out, "  {head:<9}  on {}, line {}: {}", it.profile, it.line, it.why)?;
    }
    for (index, it) in region.devices.iter().enumerate() {
        let head = if index == 0 { "becomes" } else { "" };
        writeln!(out, "  {head:<9}  on {}: {}", it.device, becomes(it))?;
    }
    for (index, it) in region.scratchpad.iter().enumerate() {
        let head = if index == 0 { "tiles" } else { "" };
        let at = it.at.as_ref().map(|it| format!(" (line {})", it.line)).unwrap_or_default();
        writeln!(out, "  {head:<9}  line {}: {}{at}", it.line, it.message)?;
    }
    write_moves(out, &region.moves)?;
    // What has no attribute here merely happens to be used; JSON tells of it too.
    let told: Vec<_> = region
        .variables
        .iter()
        .filter(|it| !it.mappings.is_empty() || it.sharing.is_some())
        .collect();
    let width = told.iter().map(|it| it.name.chars().count()).max().unwrap_or(0);
    for (index, it) in told.into_iter().enumerate() {
        let head = if index == 0 { "data" } else { "" };
        for (row, words) in variable_lines(it).iter().enumerate() {
            let (head, name) = if row == 0 { (head, it.name.as_str()) } else { ("", "") };
            writeln!(out, "  {head:<9}  {name:<width$}  {words}")?;
        }
    }
    if !region.reaches.is_empty() {
        let names = region.reaches.iter().map(|it| {
            let where_from = if it.defined { "" } else { " (not in this file)" };
            format!("{}{where_from}", it.name)
        });
        writeln!(out, "  {:<9}  {}", "calls", names.collect::<Vec<_>>().join(", "))?;
    }
    for call in &region.indirect_calls {
        let line = call.line;
        writeln!(out, "  {:<9}  through a pointer, line {line}: any function may run", "calls")?;
    }
    Ok(())
}

/// `its body is a kernel; loop i: threads`, `refused: … (F0710), line 12`
fn becomes(it: &DeviceRecord) -> String {
    let place = match &it.at {
        Some(at) => format!(", line {}", at.line),
        None => String::new(),
    };
    let code = it.code.map_or_else(String::new, |it| format!(" ({it})"));
    let refused = if it.outcome == REFUSED { "refused: " } else { "" };
    let mut text = format!("{refused}{}{code}{place}", it.reason);
    it.loops.iter().for_each(|it| text += &format!("; loop {it}"));
    it.data.iter().for_each(|it| text += &format!("; data {it}"));
    text
}

/// What is copied, scalars together; what lives on the device without copies is told as data.
fn write_moves(out: &mut String, moves: &[MoveRecord]) -> std::fmt::Result {
    let is_copied = |it: &&MoveRecord| it.motion != "alloc" && it.held_by.is_none();
    let (scalars, others): (Vec<&MoveRecord>, Vec<&MoveRecord>) =
        moves.iter().filter(is_copied).partition(|it| it.scalar && it.advice.is_none());
    let held: Vec<&str> =
        moves.iter().filter(|it| it.held_by.is_some()).map(|it| it.item.as_str()).collect();
    let width = others.iter().map(|it| it.item.chars().count()).max().unwrap_or(0);
    let mut head = "moves";
    for it in &others {
        let size = it
            .size
            .as_ref()
            .map_or_else(|| "size not known".to_owned(), |size| bytes_words(it.bytes, size));
        let way = way_words(it.motion);
        writeln!(out, "  {head:<9}  {:<width$}  {way}, {size}: {}", it.item, move_origin(it))?;
        head = "";
        for why in &it.redundant {
            writeln!(out, "  {head:<9}  {:<width$}    {}", "", why.message)?;
        }
        if let Some(advice) = &it.advice {
            writeln!(out, "  {head:<9}  {:<width$}    `{advice}` would do", "")?;
        }
    }
    for motion in ["to", "from", "tofrom"] {
        let of: Vec<&&MoveRecord> = scalars.iter().filter(|it| it.motion == motion).collect();
        if of.is_empty() {
            continue;
        }
        let names: Vec<&str> = of.iter().map(|it| it.item.as_str()).collect();
        let bytes: u64 = of.iter().filter_map(|it| it.bytes).sum();
        let way = way_words(motion);
        writeln!(out, "  {head:<9}  scalars {way}, {bytes} bytes: {}", names.join(", "))?;
        head = "";
    }
    if !held.is_empty() {
        writeln!(out, "  {head:<9}  there already: {}", held.join(", "))?;
    }
    Ok(())
}

fn way_words(motion: &str) -> &'static str {
    match motion {
        "to" => "to the device",
        "from" => "back",
        "tofrom" => "to the device and back",
        "release" => "released",
        "delete" => "deleted",
        _ => "without copies",
    }
}

fn move_origin(it: &MoveRecord) -> String {
    let line = it.at.as_ref().map_or_else(String::new, |at| format!(", line {}", at.line));
    match it.origin {
        "rule" | "inferred" => it.because.clone(),
        origin => format!("{origin} `{}`{line}", it.because),
    }
}

/// `i from 0 while i < n, step +1; runs 100 times; line 12`
fn loop_line(it: &LoopRecord) -> String {
    let LoopRecord { variable, begin, test, bound, step, .. } = it;
    let mut line = format!("{variable} from {begin} while {variable} {test} {bound}, step {step}");
    if let Some(trips) = it.trips {
        let times = if trips == 1 { "once".to_owned() } else { format!("{trips} times") };
        let _ = write!(line, "; runs {times}");
    }
    if !it.rectangular {
        line.push_str("; bounds depend on an outer loop");
    }
    let _ = write!(line, "; line {}", it.place.line);
    line
}

/// `float *, read, 8 bytes; points to data that is written`, then a line per attribute.
fn variable_lines(it: &VariableRecord) -> Vec<String> {
    let use_words = match (it.read, it.written) {
        (true, true) => "read and written",
        (true, false) => "read",
        (false, true) => "written",
        (false, false) => "named only",
    };
    let size = it.bytes.map_or_else(String::new, |it| format!(", {it} bytes"));
    let pointee = it.pointee.as_ref().map_or_else(String::new, pointee_words);
    let mut lines = vec![format!("{}, {use_words}{size}{pointee}", it.ty)];
    let mappings: Vec<String> = it.mappings.iter().map(attribute_line).collect();
    let sharing = it.sharing.as_ref().map(attribute_line);
    if mappings.as_slice() == sharing.as_slice() {
        lines.extend(sharing.map(|it| format!("  {it}")));
    } else {
        lines.extend(mappings.iter().map(|it| format!("  on the device  {it}")));
        lines.extend(sharing.map(|it| format!("  among threads  {it}")));
    }
    lines
}

/// `; points to data that is read and written`
fn pointee_words(it: &PointeeRecord) -> String {
    let seen = match (it.read, it.written) {
        (true, true) => "is read and written",
        (true, false) => "is read",
        (false, true) => "is written",
        (false, false) => "",
    };
    let unseen = match (it.escapes, it.written) {
        (false, _) => "",
        (true, true) => "code not seen here may use",
        (true, false) => "code not seen here may write",
    };
    let and = if seen.is_empty() || unseen.is_empty() { "" } else { " and that " };
    format!("; points to data that {seen}{and}{unseen}")
}

/// `map to the device: clause map(to: x[0:n]), line 12`
fn attribute_line(it: &AttributeRecord) -> String {
    let line = it.at.as_ref().map_or_else(String::new, |at| format!(", line {}", at.line));
    match it.origin {
        "rule" => format!("{}: {}", it.attribute, it.because),
        "enclosing" => {
            format!("{}: clause `{}` of an enclosing region{line}", it.attribute, it.because)
        }
        origin => format!("{}: {origin} `{}`{line}", it.attribute, it.because),
    }
}
