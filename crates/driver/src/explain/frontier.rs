//! Designs of regions as drawings: time by what they take of an FPGA.

use std::fmt::Write as _;

use fpga::device::Device;

use super::fpga::RegionRecord;
use super::html::escape;

const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 200.0;
const LEFT: f64 = 60.0;

/// What is told of a file: a drawing and a list for each region whose designs were searched.
pub(super) fn drawn(file: &str, device: &Device, regions: &[RegionRecord]) -> String {
    let mut text = format!(
        "<h1>{}</h1>\n<p>Regions as pipelines of {}; all of it is modelled.</p>\n",
        escape(file),
        escape(&device.about)
    );
    for region in regions {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "<h2>line {}: region of {}()</h2>",
            region.place.line,
            escape(&region.function)
        );
        if region.designs.is_empty() {
            text.push_str("<p class=\"note\">No design was searched for, or none fits.</p>\n");
            continue;
        }
        let _ = writeln!(
            text,
            "<p>Of {} designs these are beaten by none in time and size:</p>",
            region.planned
        );
        draw(&mut text, region);
        text.push_str("<ul>\n");
        for it in &region.designs {
            let mark = if it.chosen { " <b>chosen</b>" } else { "" };
            let _ = writeln!(text, "<li>{}: {}{mark}</li>", it.name(), it.cost());
        }
        text.push_str("</ul>\n");
    }
    text
}

/// A point for each design: across what it takes of the device, upwards its time, in logarithms.
fn draw(text: &mut String, region: &RegionRecord) {
    let times = || region.designs.iter().map(|it| it.seconds.max(1e-12).log10());
    let (low, high) =
        (times().fold(f64::INFINITY, f64::min), times().fold(f64::NEG_INFINITY, f64::max));
    let span = (high - low).max(0.1);
    let most = region.designs.iter().map(|it| it.share).fold(0.01, f64::max);
    let x = |share: f64| LEFT + share / most * WIDTH;
    let y = |seconds: f64| 10.0 + (high - seconds.max(1e-12).log10()) / span * HEIGHT;
    let _ = writeln!(
        text,
        "<svg width=\"{:.0}\" height=\"{:.0}\" font-size=\"11\" fill=\"currentColor\"><line x1=\"{LEFT}\" x2=\"{:.0}\" y1=\"{b:.0}\" \
         y2=\"{b:.0}\" stroke=\"currentColor\"/><text x=\"{LEFT}\" y=\"{:.0}\">0 to {:.1} % of the device</text>\
         <text x=\"2\" y=\"14\">{:.2e} s</text><text x=\"2\" y=\"{:.0}\">{:.2e} s</text>",
        WIDTH + LEFT + 20.0,
        HEIGHT + 40.0,
        LEFT + WIDTH,
        HEIGHT + 34.0,
        most * 100.0,
        10_f64.powf(high),
        HEIGHT + 10.0,
        10_f64.powf(low),
        b = HEIGHT + 18.0,
    );
    let points: Vec<String> = region
        .designs
        .iter()
        .map(|it| format!("{:.1},{:.1}", x(it.share), y(it.seconds)))
        .collect();
    let _ = writeln!(
        text,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"currentColor\" stroke-dasharray=\"3 3\"/>",
        points.join(" ")
    );
    for it in &region.designs {
        let _ = writeln!(
            text,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{}\"><title>{}: {}</title></circle>",
            x(it.share),
            y(it.seconds),
            if it.chosen { 6 } else { 3 },
            it.name(),
            it.cost()
        );
    }
    text.push_str("</svg>\n");
}
