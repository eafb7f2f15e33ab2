//! The figure: bars for each kernel and size, above with assignment, below without.

use std::fmt::Write as _;

use super::{BUILDS, Row};

const BAR: f64 = 9.0;
const GAP: f64 = 14.0;
const HEIGHT: f64 = 150.0;
const LEFT: f64 = 60.0;
const COLOURS: [&str; 3] = ["#4477aa", "#ee6677", "#228833"];

/// An SVG of its own.
pub(super) fn draw(rows: &[Row]) -> String {
    let group = 3.0 * BAR + GAP;
    let width = LEFT + group * rows.len() as f64 + 20.0;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{:.0}\" font-family=\"sans-serif\" \
         font-size=\"9\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        2.0 * HEIGHT + 150.0
    );
    let overhead = |ratio: f64| (ratio - 1.0) * 100.0;
    panel(
        &mut text,
        rows,
        30.0,
        "with assignment: per cent more cycles than 32 bits",
        0,
        &overhead,
    );
    panel(&mut text, rows, 90.0 + HEIGHT, "without: times the cycles of 32 bits", 3, &|it| it);
    for (index, (build, colour)) in BUILDS.iter().zip(COLOURS).enumerate() {
        let x = LEFT + 90.0 * index as f64;
        let y = 2.0 * HEIGHT + 130.0;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"9\" height=\"9\" fill=\"{colour}\"/><text x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
            y - 8.0,
            x + 13.0,
            build.name
        );
    }
    text.push_str("</svg>\n");
    text
}

/// One half of it: bars from `first` on among the builds.
fn panel(
    text: &mut String,
    rows: &[Row],
    top: f64,
    title: &str,
    first: usize,
    value: &dyn Fn(f64) -> f64,
) {
    let group = 3.0 * BAR + GAP;
    let shown = |row: &Row| -> Vec<f64> {
        row.ratios.iter().skip(first).take(3).map(|it| value(*it)).collect()
    };
    let most = rows.iter().flat_map(&shown).fold(1.0_f64, f64::max).ceil();
    let bottom = top + HEIGHT;
    let _ =
        writeln!(text, "<text x=\"{LEFT}\" y=\"{:.1}\" font-size=\"12\">{title}</text>", top - 8.0);
    for step in 0..=4 {
        let level = most * f64::from(step) / 4.0;
        let y = bottom - HEIGHT * f64::from(step) / 4.0;
        let end = LEFT + group * rows.len() as f64;
        let _ = writeln!(
            text,
            "<line x1=\"{LEFT}\" x2=\"{end:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#cccccc\"/><text x=\"{:.1}\" \
             y=\"{:.1}\" text-anchor=\"end\">{level:.1}</text>",
            LEFT - 4.0,
            y + 3.0
        );
    }
    for (index, row) in rows.iter().enumerate() {
        let x = LEFT + GAP / 2.0 + group * index as f64;
        for (bar, value) in shown(row).into_iter().enumerate() {
            let height = (value.max(0.0) / most * HEIGHT).min(HEIGHT);
            let colour = COLOURS.get(bar).copied().unwrap_or("black");
            let _ = writeln!(
                text,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{BAR}\" height=\"{height:.1}\" fill=\"{colour}\"><title>{} {}: {value:.2}</title></rect>",
                x + BAR * bar as f64,
                bottom - height,
                row.kernel,
                row.size
            );
        }
        let middle = x + 1.5 * BAR;
        let _ = writeln!(
            text,
            "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text><text x=\"{middle:.1}\" y=\"{:.1}\" \
             text-anchor=\"middle\">{}</text>",
            bottom + 11.0,
            row.kernel,
            bottom + 21.0,
            row.size
        );
    }
}
