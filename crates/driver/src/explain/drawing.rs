//! The data that a region moves, drawn: host on the left, device on the right, an arrow for each copy.

use std::fmt::{self, Write};

use super::html::escape;
use super::moves::bytes_words;
use super::records::MoveRecord;

/// Height of a row, and where things stand in it.
const ROW: usize = 30;
const TOP: usize = 34;
const WIDTH: usize = 680;
const HOST: usize = 200;
const DEVICE: usize = 480;

/// The drawing, as part of a page.
pub(super) fn moves(moves: &[MoveRecord]) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = draw(&mut out, moves);
    out
}

fn draw(out: &mut String, moves: &[MoveRecord]) -> fmt::Result {
    // Scalars that nobody needs to think of are one row.
    let is_small = |it: &&MoveRecord| it.scalar && it.redundant.is_empty() && it.held_by.is_none();
    let (scalars, rows): (Vec<&MoveRecord>, Vec<&MoveRecord>) = moves.iter().partition(is_small);
    let count = rows.len() + usize::from(!scalars.is_empty());
    let height = TOP + count * ROW + 12;
    writeln!(
        out,
        "<svg class=\"moves\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-label=\"data that moves between host and device\">"
    )?;
    let below = height - 4;
    for (left, right, name) in [(4, HOST, "host"), (DEVICE, WIDTH - 4, "device")] {
        let width = right - left;
        writeln!(
            out,
            "<rect x=\"{left}\" y=\"4\" width=\"{width}\" height=\"{}\" rx=\"6\"/>\
             <text class=\"side\" x=\"{}\" y=\"22\">{name}</text>",
            below - 4,
            left + 10
        )?;
    }
    let mut y = TOP + ROW / 2;
    for it in rows {
        let size = it
            .size
            .as_ref()
            .map_or("size not known".to_owned(), |size| bytes_words(it.bytes, size));
        row(out, y, &it.item, &size, it.motion, Look::of(it))?;
        y += ROW;
    }
    if !scalars.is_empty() {
        let bytes: u64 = scalars.iter().filter_map(|it| it.bytes).sum();
        let goes = scalars.iter().any(|it| matches!(it.motion, "to" | "tofrom"));
        let returns = scalars.iter().any(|it| matches!(it.motion, "from" | "tofrom"));
        let motion = match (goes, returns) {
            (true, true) => "tofrom",
            (true, false) => "to",
            (false, true) => "from",
            (false, false) => "alloc",
        };
        let name = match scalars.len() {
            1 => "1 scalar".to_owned(),
            many => format!("{many} scalars"),
        };
        row(out, y, &name, &bytes_words(Some(bytes), ""), motion, Look::default())?;
    }
    writeln!(out, "</svg>")
}

/// How the copies of a thing are drawn.
#[derive(Clone, Copy, Default)]
struct Look {
    is_held: bool,
    /// Copies that make no difference.
    goes_in_vain: bool,
    returns_in_vain: bool,
}

impl Look {
    fn of(it: &MoveRecord) -> Look {
        let returns = |it: &str| matches!(it, "not-written" | "not-needed");
        Look {
            is_held: it.held_by.is_some(),
            goes_in_vain: it.redundant.iter().any(|it| !returns(it.reason)),
            returns_in_vain: it.redundant.iter().any(|it| returns(it.reason)),
        }
    }
}

/// One thing: its name on both sides, and arrows for its copies.
fn row(
    out: &mut String,
    y: usize,
    item: &str,
    size: &str,
    motion: &str,
    look: Look,
) -> fmt::Result {
    let name = escape(&short(item));
    let class = if look.is_held { "held" } else { "copy" };
    writeln!(out, "<g class=\"{class}\"><title>{}: {}</title>", escape(item), escape(size))?;
    writeln!(out, "<text x=\"14\" y=\"{}\">{name}</text>", y + 4)?;
    writeln!(out, "<text x=\"{}\" y=\"{}\">{name}</text>", DEVICE + 10, y + 4)?;
    let (goes, returns) = (matches!(motion, "to" | "tofrom"), matches!(motion, "from" | "tofrom"));
    let (from, to) = (HOST + 8, DEVICE - 8);
    if look.is_held {
        let middle = (from + to) / 2;
        let at = y + 4;
        writeln!(out, "<text class=\"size\" x=\"{middle}\" y=\"{at}\">there already</text>")?;
        return writeln!(out, "</g>");
    }
    let both = goes && returns;
    if goes {
        let y = if both { y.saturating_sub(4) } else { y };
        arrow(out, from, to, y, look.goes_in_vain)?;
    }
    if returns {
        let y = if both { y + 5 } else { y };
        arrow(out, to, from, y, look.returns_in_vain)?;
    }
    if !goes && !returns {
        writeln!(out, "<line class=\"none\" x1=\"{from}\" y1=\"{y}\" x2=\"{to}\" y2=\"{y}\"/>")?;
    }
    let above = y.saturating_sub(8);
    writeln!(
        out,
        "<text class=\"size\" x=\"{}\" y=\"{above}\">{}</text></g>",
        (from + to) / 2,
        escape(&short(size))
    )
}

fn arrow(out: &mut String, from: usize, to: usize, y: usize, in_vain: bool) -> fmt::Result {
    let class = if in_vain { "wasted" } else { "wanted" };
    let back = if to > from { to - 8 } else { to + 8 };
    let (up, down) = (y.saturating_sub(4), y + 4);
    writeln!(
        out,
        "<path class=\"{class}\" d=\"M{from} {y}L{to} {y}\"/>\
         <path class=\"{class} head\" d=\"M{back} {up}L{to} {y}L{back} {down}\"/>"
    )
}

/// What fits into a box.
fn short(text: &str) -> String {
    const MOST: usize = 26;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    text.chars().take(MOST - 1).chain(['…']).collect()
}
