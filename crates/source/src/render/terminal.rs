//! Diagnostics for people: the message, the written lines with the places underlined, and what
//! to know and do about it, in the manner of `rustc`.

use std::ops::Range;
use std::rc::Rc;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::excerpt::{Excerpt, last_line};
use crate::lines::offset;
use crate::locate::{Place, Text};
use crate::{Diagnostic, Label, Locator, Severity};

/// Labels farther apart than this many lines get snippets of their own.
const FAR_APART: u32 = 30;
/// Lines wider than this are cut around their labels.
const WIDTH: usize = 160;
/// A label over more lines than this is shown by its first line.
const TALL: u32 = 60;

/// Whether the report is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Text alone.
    Never,
    /// With ANSI escape sequences.
    Always,
}

/// Renders diagnostics one after another, an empty line after each.
pub fn terminal<'d>(
    diagnostics: impl IntoIterator<Item = &'d Diagnostic>,
    locator: &Locator<'_>,
    colour: Colour,
) -> String {
    let renderer = match colour {
        Colour::Never => Renderer::plain(),
        Colour::Always => Renderer::styled(),
    };
    let renderer = renderer.term_width(WIDTH);
    let mut report = String::new();
    for diagnostic in diagnostics {
        report.push_str(&render_one(diagnostic, locator, &renderer));
        report.push_str("\n\n");
    }
    report
}

/// A label that is to be shown in a snippet.
struct Shown<'d> {
    label: &'d Label,
    place: Place,
    /// Bytes of the place's text.
    range: Range<usize>,
    is_primary: bool,
}

fn render_one(diagnostic: &Diagnostic, locator: &Locator<'_>, renderer: &Renderer) -> String {
    let level = match diagnostic.severity {
        Severity::Info => Level::INFO,
        Severity::Warning => Level::WARNING,
        Severity::Error => Level::ERROR,
    };
    let mut shown = Vec::new();
    let mut unplaced = Vec::new();
    let primary = diagnostic.primary.iter().map(|it| (it, true));
    for (label, is_primary) in primary.chain(diagnostic.secondary.iter().map(|it| (it, false))) {
        match locator.place(label.span) {
            Some(place) => {
                shown.push(Shown { label, range: visible(&place), place, is_primary });
            }
            None if label.text.is_empty() => {}
            None => unplaced.push(label.text.as_str()),
        }
    }
    let mut group =
        Group::with_title(level.primary_title(diagnostic.message.as_str()).id(diagnostic.code));
    for cluster in clusters(shown) {
        group = add_snippet(group, &cluster);
    }
    let notes = unplaced.into_iter().chain(diagnostic.notes.iter().map(String::as_str));
    group = group.elements(notes.map(|it| Level::NOTE.message(it)));
    group = group.elements(diagnostic.helps.iter().map(|it| Level::HELP.message(it.as_str())));
    renderer.render(&[group])
}

/// The bytes to underline: tall labels shrink to their first line.
fn visible(place: &Place) -> Range<usize> {
    let text = &place.text;
    let first = text.lines.line_of(offset(place.range.start));
    if last_line(&text.lines, &place.range) - first <= TALL {
        return place.range.clone();
    }
    let line = text.lines.content(first, &text.bytes);
    place.range.start..line.end.max(place.range.start)
}

/// Labels that fit into one snippet together: of one text, and not far apart. The primary label's
/// come first, the others in the order of the text.
fn clusters(mut shown: Vec<Shown<'_>>) -> Vec<Vec<Shown<'_>>> {
    let mut order: Vec<Rc<Text>> = Vec::new();
    for it in &shown {
        if !order.iter().any(|known| Rc::ptr_eq(known, &it.place.text)) {
            order.push(Rc::clone(&it.place.text));
        }
    }
    let rank = |it: &Shown<'_>| order.iter().position(|known| Rc::ptr_eq(known, &it.place.text));
    shown.sort_by_key(|it| (rank(it), it.range.start));
    let mut clusters: Vec<Vec<Shown<'_>>> = Vec::new();
    let mut end_line = 0;
    for it in shown {
        let lines = &it.place.text.lines;
        let line = lines.line_of(offset(it.range.start));
        let last = last_line(lines, &it.range);
        match clusters.last_mut() {
            Some(cluster)
                if cluster.iter().all(|other| Rc::ptr_eq(&other.place.text, &it.place.text))
                    && line.saturating_sub(end_line) <= FAR_APART =>
            {
                end_line = last.max(end_line);
                cluster.push(it);
            }
            _ => {
                end_line = last;
                clusters.push(vec![it]);
            }
        }
    }
    clusters.sort_by_key(|cluster| !cluster.iter().any(|it| it.is_primary));
    clusters
}

fn add_snippet<'d>(group: Group<'d>, cluster: &[Shown<'d>]) -> Group<'d> {
    let Some(leader) = cluster.iter().find(|it| it.is_primary).or(cluster.first()) else {
        return group;
    };
    let ranges: Vec<Range<usize>> = cluster.iter().map(|it| it.range.clone()).collect();
    let excerpt = Excerpt::of(&leader.place.text, &ranges);
    let annotations = cluster.iter().zip(excerpt.ranges).map(|(it, range)| {
        let kind = if it.is_primary { AnnotationKind::Primary } else { AnnotationKind::Context };
        let text = it.label.text.as_str();
        kind.span(range).label((!text.is_empty()).then_some(text))
    });
    let snippet = Snippet::source(excerpt.text)
        .line_start(excerpt.first_line as usize)
        .path(leader.place.location.file.to_string())
        .annotations(annotations);
    group.element(snippet)
}
