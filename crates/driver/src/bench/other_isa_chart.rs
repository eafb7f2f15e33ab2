//! The figures of `ferry bench other-isa` and `fpga`: a group of bars for each kernel, one for each place, in times of the first.

use std::fmt::Write as _;

use super::other_isa::Line;

const BAR: f64 = 8.0;
const GAP: f64 = 16.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 50.0;
const TOP: f64 = 30.0;
const COLOURS: [&str; 8] =
    ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb", "#000000"];

/// An SVG of its own. Bars are logarithms.
pub(super) fn draw(title: &str, columns: &[(&str, Vec<Line>)]) -> String {
    let first = columns.first().map(|it| it.1.as_slice()).unwrap_or_default();
    let kernel =
        |(row, it): (usize, &'_ Line)| Some((row, it.0.strip_prefix("kernel ")?.to_owned()));
    let kernels: Vec<(usize, String)> = first.iter().enumerate().filter_map(kernel).collect();
    let seconds = |lines: &[Line], row: usize| lines.get(row).map_or(0.0, |it| it.1);
    let ratio = |column: usize, row: usize| {
        let of = |at: usize| columns.get(at).map_or(0.0, |it| seconds(&it.1, row)).max(1e-5);
        of(column) / of(0)
    };
    let ratios = kernels.iter().flat_map(|it| (0..columns.len()).map(move |at| ratio(at, it.0)));
    let most = ratios.fold(10.0_f64, f64::max).log10().ceil();
    let group = BAR * columns.len() as f64 + GAP;
    let width = LEFT + group * kernels.len() as f64 + 20.0;
    let bottom = TOP + HEIGHT;
    let height = bottom + 40.0 + 14.0 * columns.len() as f64;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" font-family=\"sans-serif\" \
         font-size=\"9\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"{LEFT}\" y=\"18\" \
         font-size=\"12\">{title}</text>\n"
    );
    // From a tenth on.
    let span = most + 1.0;
    let level = |ratio: f64| ((ratio.log10() + 1.0).max(0.0) / span * HEIGHT).min(HEIGHT);
    for step in 0..=(span as u32) {
        let value = 10_f64.powi(step.cast_signed() - 1);
        let y = bottom - level(value);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "<line x1=\"{LEFT}\" x2=\"{width:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#cccccc\"/><text x=\"{:.1}\" \
             y=\"{:.1}\" text-anchor=\"end\">{value}</text>",
            LEFT - 4.0,
            y + 3.0
        );
    }
    for (at, (row, kernel)) in kernels.iter().enumerate() {
        let x = LEFT + GAP / 2.0 + group * at as f64;
        for column in 0..columns.len() {
            let value = ratio(column, *row);
            let bar = level(value);
            let _ = writeln!(
                text,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{BAR}\" height=\"{bar:.1}\" fill=\"{}\"><title>{kernel}: \
                 {value:.2}</title></rect>",
                x + BAR * column as f64,
                bottom - bar,
                colour(column)
            );
        }
        let middle = x + BAR * columns.len() as f64 / 2.0;
        let _ = writeln!(
            text,
            "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{kernel}</text>",
            bottom + 12.0
        );
    }
    for (at, (name, _)) in columns.iter().enumerate() {
        let y = bottom + 32.0 + 14.0 * at as f64;
        let _ = writeln!(
            text,
            "<rect x=\"{LEFT}\" y=\"{:.1}\" width=\"9\" height=\"9\" fill=\"{}\"/><text x=\"{:.1}\" y=\"{y:.1}\">{name}</text>",
            y - 8.0,
            colour(at),
            LEFT + 13.0
        );
    }
    text.push_str("</svg>\n");
    text
}

fn colour(at: usize) -> &'static str {
    COLOURS.get(at % COLOURS.len()).copied().unwrap_or("black")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_has_a_bar_for_each_place() {
        let lines = |seconds: f64| -> Vec<Line> {
            let line = |name: &str, number| (name.to_owned(), number, String::new());
            vec![line("away", 1.0), line("kernel ep", seconds), line("kernel cg", 2.0 * seconds)]
        };
        let text = draw("seconds", &[("cpu", lines(1.0)), ("remote", lines(100.0))]);
        assert_eq!(text.matches("<title>ep").count(), 2, "{text}");
        assert_eq!(text.matches("<title>cg: 100.00").count(), 1, "{text}");
        assert!(text.contains(">remote</text>"), "{text}");
    }
}
