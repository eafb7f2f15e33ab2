//! The explanation as one page: the source with marks, and for each region its loops, who runs them, and the data
//! that moves, drawn.
//!
//! In: records of files and their sources. Out: HTML that needs nothing but itself; no scripts. Colours follow the
//! reader's preference for light or dark.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use source::Locator;
use source::render::{self, Colour};

use super::drawing;
use super::records::{FileRecord, FindingRecord, Place, RegionRecord};

const STYLE: &str = include_str!("page.css");

/// A page in the making.
pub(crate) struct Page {
    body: String,
    files: usize,
}

/// Something to be seen at a line.
struct Mark {
    class: &'static str,
    label: String,
    title: String,
    link: String,
}

/// What is to be seen in a file.
#[derive(Default)]
struct Marks {
    lines: BTreeMap<u32, Vec<Mark>>,
    /// Column and text of accesses that stood in the way.
    accesses: BTreeMap<u32, Vec<(u32, String)>>,
}

impl Page {
    pub(crate) fn new() -> Page {
        Page { body: String::new(), files: 0 }
    }

    /// Adds what is to be told of a file.
    pub(crate) fn add(&mut self, file: &FileRecord, locator: &Locator<'_>) {
        let number = self.files;
        self.files += 1;
        // Writing to a string cannot fail.
        let _ = write_file(&mut self.body, number, file, locator);
    }

    /// Adds what was drawn elsewhere.
    pub(crate) fn push(&mut self, drawn: &str) {
        self.body.push_str(drawn);
    }

    /// The whole page.
    pub(crate) fn finish(self) -> String {
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>ferry explain</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{}\
             <footer>ferry {}</footer>\n</body>\n</html>\n",
            self.body,
            env!("CARGO_PKG_VERSION")
        )
    }
}

fn write_file(
    out: &mut String,
    number: usize,
    file: &FileRecord,
    locator: &Locator<'_>,
) -> fmt::Result {
    writeln!(out, "<h1>{}</h1>", escape(&file.file))?;
    write_summary(out, file)?;
    let mut sources: BTreeMap<String, Marks> = BTreeMap::new();
    for region in &file.regions {
        mark_region(&mut sources, number, region);
    }
    writeln!(out, "<div class=\"columns\">\n<section class=\"source\">")?;
    for (index, (name, marks)) in sources.iter().enumerate() {
        write_source(out, &format!("f{number}s{index}"), name, marks, locator)?;
    }
    writeln!(out, "</section>\n<section class=\"regions\">")?;
    let source_of = |place: &Place| {
        let index = sources.keys().position(|it| *it == place.file).unwrap_or_default();
        format!("f{number}s{index}l{}", place.line)
    };
    if !file.kept.is_empty() {
        writeln!(out, "<article class=\"advice\">\n<h2>Data that could stay on the device</h2>")?;
        for kept in &file.kept {
            let line = source_of(&kept.place);
            write!(
                out,
                "<p><a href=\"#{line}\">line {}</a>: {}",
                kept.place.line,
                code(&kept.message)
            )?;
            if let Some(advice) = &kept.advice {
                let around = if kept.is_loop {
                    "around the loop".to_owned()
                } else {
                    format!("up to line {}", kept.last_line)
                };
                write!(
                    out,
                    "<br><span class=\"fix\"><code>{}</code> {around}</span>",
                    escape(advice)
                )?;
            }
            if let Some(provided) = &kept.provided {
                write!(out, "<br><span class=\"note\">provided {}</span>", code(provided))?;
            }
            writeln!(out, "</p>")?;
        }
        writeln!(out, "</article>")?;
    }
    for region in &file.regions {
        write_region(out, number, region, &source_of, locator)?;
    }
    writeln!(out, "</section>\n</div>")
}

/// How many regions, loops and copies there are.
fn write_summary(out: &mut String, file: &FileRecord) -> fmt::Result {
    let findings = || file.regions.iter().flat_map(|it| &it.findings);
    let count = |kinds: &[&str]| findings().filter(|it| kinds.contains(&it.parallel)).count();
    let moves = file.regions.iter().flat_map(|it| &it.moves);
    let wasted = moves.filter(|it| !it.redundant.is_empty()).count() + file.kept.len();
    let cells = [
        ("regions", file.regions.len(), "region"),
        ("loops proven independent", count(&["proven"]), "proven"),
        ("loops taken at the user's word", count(&["user"]), "user"),
        ("loops in order or not proven", count(&["if", "no", "ordered"]), "no"),
        ("copies to spare", wasted, "waste"),
    ];
    writeln!(out, "<ul class=\"summary\">")?;
    for (words, number, class) in cells {
        writeln!(out, "<li class=\"{class}\"><b>{number}</b> {words}</li>")?;
    }
    writeln!(out, "</ul>")
}

fn mark_region(sources: &mut BTreeMap<String, Marks>, number: usize, region: &RegionRecord) {
    let link = format!("#f{number}r{}", region.id);
    let mut add = |place: &Place, mark: Mark| {
        let marks = sources.entry(place.file.clone()).or_default();
        marks.lines.entry(place.line).or_default().push(mark);
    };
    let label = format!("R{}", region.id);
    let title = region.directive.clone();
    add(&region.place, Mark { class: "region", label, title, link: link.clone() });
    for it in &region.findings {
        let label = it.variable.clone().unwrap_or_else(|| "loop".to_owned());
        let title = it.message.clone();
        let class = verdict(it);
        add(&it.place, Mark { class, label, title, link: link.clone() });
    }
    for access in region.findings.iter().flat_map(|it| &it.accesses) {
        let marks = sources.entry(access.place.file.clone()).or_default();
        let of_line = marks.accesses.entry(access.place.line).or_default();
        of_line.push((access.place.column, access.text.clone()));
    }
}

fn verdict(it: &FindingRecord) -> &'static str {
    match (it.parallel, it.verdict) {
        ("proven", _) => "proven",
        ("user", "carried") => "doubtful",
        ("user", _) => "user",
        ("if", _) => "if",
        (_, "carried") => "carried",
        _ => "no",
    }
}

fn write_source(
    out: &mut String,
    id: &str,
    name: &str,
    marks: &Marks,
    locator: &Locator<'_>,
) -> fmt::Result {
    let Some(bytes) = locator.written(name) else {
        return writeln!(out, "<p class=\"note\">{} cannot be read</p>", escape(name));
    };
    writeln!(out, "<h2>{}</h2>\n<div class=\"code\"><table>", escape(name))?;
    let text = String::from_utf8_lossy(&bytes);
    for (line, text) in (1u32..).zip(text.lines()) {
        let found = marks.lines.get(&line);
        let class = if found.is_some() { " class=\"marked\"" } else { "" };
        write!(
            out,
            "<tr id=\"{id}l{line}\"{class}><td class=\"number\">{line}</td><td class=\"marks\">"
        )?;
        for mark in found.into_iter().flatten() {
            write!(
                out,
                "<a class=\"mark {}\" href=\"{}\" title=\"{}\">{}</a>",
                mark.class,
                mark.link,
                escape(&mark.title),
                escape(&mark.label)
            )?;
        }
        let accesses = marks.accesses.get(&line).map_or(&[][..], Vec::as_slice);
        writeln!(out, "</td><td><pre>{}</pre></td></tr>", with_accesses(text, accesses))?;
    }
    writeln!(out, "</table></div>")
}

/// A line whose accesses are underlined.
fn with_accesses(line: &str, accesses: &[(u32, String)]) -> String {
    let letters: Vec<char> = line.chars().collect();
    let mut is_in = vec![false; letters.len()];
    for (column, text) in accesses {
        let from = (*column as usize).saturating_sub(1);
        let to = from.saturating_add(text.chars().count());
        let is_here = letters.get(from..to).is_some_and(|it| it.iter().copied().eq(text.chars()));
        let to = if is_here { to } else { letters.len() };
        is_in.iter_mut().take(to).skip(from).for_each(|it| *it = true);
    }
    let mut out = String::new();
    let mut open = false;
    for (letter, inside) in letters.iter().zip(is_in) {
        if inside != open {
            out.push_str(if inside { "<u>" } else { "</u>" });
            open = inside;
        }
        out.push_str(&escape(letter.encode_utf8(&mut [0; 4])));
    }
    if open {
        out.push_str("</u>");
    }
    out
}

fn write_region(
    out: &mut String,
    number: usize,
    region: &RegionRecord,
    source_of: &dyn Fn(&Place) -> String,
    locator: &Locator<'_>,
) -> fmt::Result {
    let RegionRecord { id, function, directive, place, .. } = region;
    writeln!(out, "<article id=\"f{number}r{id}\">")?;
    writeln!(
        out,
        "<h2><span class=\"mark region\">R{id}</span> {} <small>in {}(), <a href=\"#{}\">line {}</a></small></h2>",
        escape(directive),
        escape(function),
        source_of(place),
        place.line
    )?;
    if let Some(parent) = region.parent {
        writeln!(
            out,
            "<p class=\"note\">inside <a href=\"#f{number}r{parent}\">R{parent}</a></p>"
        )?;
    }
    writeln!(out, "<p><code>{}</code></p>", escape(&region.written))?;
    write_loops(out, region, source_of)?;
    if !region.mapping.is_empty() {
        writeln!(out, "<h3>Who runs the loops</h3>\n<table class=\"mapping\">")?;
        for it in &region.mapping {
            writeln!(
                out,
                "<tr><th>{}</th><td class=\"where\">line {}</td><td>{}<br><span class=\"note\">{}</span></td></tr>",
                escape(&it.profile),
                it.line,
                escape(&it.shape),
                code(&it.why)
            )?;
        }
        writeln!(out, "</table>")?;
    }
    if !region.scratchpad.is_empty() {
        writeln!(out, "<h3>Arrays in the scratchpad</h3>\n<table class=\"mapping\">")?;
        for it in &region.scratchpad {
            let (line, message) = (it.line, code(&it.message));
            writeln!(out, "<tr><td class=\"where\">line {line}</td><td>{message}</td></tr>")?;
        }
        writeln!(out, "</table>")?;
    }
    if !region.moves.is_empty() {
        writeln!(out, "<h3>Data</h3>\n{}", drawing::moves(&region.moves))?;
        for it in region.moves.iter().filter(|it| !it.redundant.is_empty()) {
            let why: Vec<&str> = it.redundant.iter().map(|it| it.message).collect();
            write!(
                out,
                "<p class=\"waste\"><code>{}</code>: {}",
                escape(&it.item),
                why.join("; ")
            )?;
            if let Some(advice) = &it.advice {
                write!(out, ". <span class=\"fix\">Write <code>{}</code></span>", escape(advice))?;
            }
            writeln!(out, "</p>")?;
        }
    }
    if !region.remarks.is_empty() {
        let shown = render::terminal(&region.remarks, locator, Colour::Never);
        writeln!(out, "<details><summary>With the source</summary>")?;
        writeln!(out, "<pre>{}</pre></details>", escape(shown.trim_end()))?;
    }
    writeln!(out, "</article>")
}

/// The loops of a region as nested lists.
fn write_loops(
    out: &mut String,
    region: &RegionRecord,
    source_of: &dyn Fn(&Place) -> String,
) -> fmt::Result {
    if region.findings.is_empty() {
        return Ok(());
    }
    writeln!(out, "<h3>Loops</h3>")?;
    let mut open = 0;
    for it in &region.findings {
        // A loop stands one deeper than the one around it, or beside or outside of the last.
        while open > it.depth + 1 {
            write!(out, "</li></ul>")?;
            open -= 1;
        }
        if open == it.depth + 1 {
            writeln!(out, "</li>")?;
        }
        while open < it.depth + 1 {
            writeln!(out, "<ul class=\"loops\">")?;
            open += 1;
        }
        let name = it.variable.as_deref().unwrap_or("loop");
        let trips = it.trips.as_ref().map_or_else(String::new, |it| format!(", {it} times"));
        write!(
            out,
            "<li><span class=\"mark {}\">{}</span> <a href=\"#{}\">line {}</a>{}: {}",
            verdict(it),
            escape(name),
            source_of(&it.place),
            it.place.line,
            escape(&trips),
            code(&it.message)
        )?;
        for assumed in &it.assumed {
            write!(out, "<div class=\"note\">assumed: {}</div>", code(assumed))?;
        }
    }
    for _ in 0..open {
        write!(out, "</li></ul>")?;
    }
    writeln!(out)
}

/// Text in which what stands between backticks is code.
fn code(text: &str) -> String {
    let mut out = String::new();
    for (index, piece) in text.split('`').enumerate() {
        match index % 2 {
            0 => out.push_str(&escape(piece)),
            _ => out.push_str(&format!("<code>{}</code>", escape(piece))),
        }
    }
    out
}

/// Text as it may stand in a page, between tags and in attributes.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // A page may not hold these, whatever a program does.
            '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}' => out.push('\u{fffd}'),
            _ => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_program_becomes_a_tag() {
        assert_eq!(escape("a<b && \"c\">"), "a&lt;b &amp;&amp; &quot;c&quot;&gt;");
        assert_eq!(code("x `a<b` y"), "x <code>a&lt;b</code> y");
        assert_eq!(with_accesses("a<b;", &[(1, "a<b".into())]), "<u>a&lt;b</u>;");
        assert_eq!(with_accesses("ab", &[(2, "other".into())]), "a<u>b</u>");
        assert_eq!(with_accesses("ab", &[(9, "c".into())]), "ab");
    }
}
