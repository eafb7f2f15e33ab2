//! The figures of `ferry bench hybrid` in one drawing: a panel each, a line for each program.

use std::fmt::Write as _;

use super::hybrid::Figure;

const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 50.0;
const TOP: f64 = 30.0;
const COLOURS: [&str; 6] = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377"];

/// An SVG of its own.
pub(super) fn draw(figures: &[Figure]) -> String {
    let panel = HEIGHT + 70.0;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0}\" height=\"{:.0}\" font-family=\"sans-serif\" font-size=\"10\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        WIDTH + LEFT + 110.0,
        panel * figures.len() as f64 + 20.0
    );
    for (index, figure) in figures.iter().enumerate() {
        draw_one(&mut text, figure, TOP + panel * index as f64);
    }
    text.push_str("</svg>\n");
    text
}

fn draw_one(text: &mut String, figure: &Figure, top: f64) {
    let values = figure.lines.iter().flat_map(|it| &it.values);
    let most = values.map(|(value, interval)| value + interval).fold(1e-9, f64::max);
    let step = WIDTH / figure.columns.len().max(1) as f64;
    let x = |at: usize| LEFT + step * (at as f64 + 0.5);
    let y = |value: f64| top + HEIGHT * (1.0 - value / most);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "<text x=\"{LEFT}\" y=\"{:.1}\">{}</text>", top - 10.0, figure.title);
    for part in 0..=4 {
        let value = most * f64::from(part) / 4.0;
        let _ = writeln!(
            text,
            "<line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#ddd\"/><text x=\"4\" y=\"{:.1}\">{value:.2}</text>",
            LEFT + WIDTH,
            y(value) + 3.0,
            y = y(value),
        );
    }
    for (at, column) in figure.columns.iter().enumerate() {
        let _ = writeln!(
            text,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{column}</text>",
            x(at),
            top + HEIGHT + 15.0
        );
    }
    for (index, (line, colour)) in figure.lines.iter().zip(COLOURS.iter().cycle()).enumerate() {
        let mut points = String::new();
        for (at, (value, interval)) in line.values.iter().enumerate() {
            let _ = write!(points, "{:.1},{:.1} ", x(at), y(*value));
            let _ = writeln!(
                text,
                "<circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"2.5\" fill=\"{colour}\"/>\
                 <line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\"/>",
                y(*value),
                y(value - interval),
                y(value + interval),
                x = x(at),
            );
        }
        let (at, right) = (top + 12.0 + 14.0 * index as f64, LEFT + WIDTH + 10.0);
        let _ = writeln!(
            text,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\"/>",
            points.trim_end()
        );
        let _ = writeln!(
            text,
            "<text x=\"{right:.1}\" y=\"{at:.1}\" fill=\"{colour}\">{}</text>",
            line.name
        );
    }
}
