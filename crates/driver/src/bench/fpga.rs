//! `ferry bench fpga`: programs as pipelines of FPGAs, without a board.
//!
//! Ten applications and three programs whose regions hand data on by channels (`fpga/*.c`). Each is built three times: by the host's
//! compiler, for the emulated device (`fpga-intel`), and as hardware that is simulated cycle by cycle (`fpga-rtl`); all must
//! print the same. Cycles that were told before are compared with those that were simulated. For the sizes of the
//! dissertation that this follows ([D] of `devices.toml`) all else is modelled: what each pass gains alone, what a program takes
//! on each device, and what the registers of a sum do to its interval. Every table says which of these it is.

mod model;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use model::{Model, Told};

use super::other_isa_chart;
use crate::options::BenchOptions;
use crate::progress::Progress;
use crate::report::{self, Stream, reason};

const SUPPORT: &str = include_str!("fpga/support.h");

/// A program.
struct Application {
    name: &'static str,
    text: &'static str,
    /// What makes it as large as in the dissertation.
    size: &'static [&'static str],
}

macro_rules! application {
    ($name:literal, $($size:literal),*) => {
        Application {
            name: $name,
            text: include_str!(concat!("fpga/", $name, ".c")),
            size: &[$($size),*],
        }
    };
}

const APPLICATIONS: [Application; 13] = [
    application!("sobel", "W=1920", "H=1080"),
    application!("fd3d", "D=64"),
    application!("hotspot", "N=1024"),
    application!("srad", "N=4096"),
    application!("nw", "N=4096"),
    application!("pathfinder", "COLS=1000000", "ROWS=1000"),
    application!("cfd", "N=1048576"),
    application!("jacobi", "N=8192"),
    application!("matmul", "N=2048"),
    application!("evaleos", "N=91125"),
    application!("fft1d", "LOG=12"),
    application!("fft2d", "LOG=10"),
    application!("srad_pipes", "N=4096"),
];

/// The device whose figures the dissertation has most of.
const FIRST: &str = "stratix-v";
/// One on which loads of an array take turns.
const TURNS: &str = "alveo-u250";
/// Numbers that are not integers may differ by so much: sums are taken in another order.
const TOLERANCE: f64 = 1e-4;

pub(super) fn run(options: &BenchOptions) -> Result<ExitCode, String> {
    let folder =
        tempfile::tempdir().map_err(|it| format!("no folder for the programs: {}", reason(&it)))?;
    report::write_file(&folder.path().join("support.h"), SUPPORT.as_bytes())?;
    for it in &APPLICATIONS {
        let path = folder.path().join(format!("{}.c", it.name));
        report::write_file(&path, it.text.as_bytes())?;
    }
    let mut progress = Progress::new("measuring", APPLICATIONS.len());
    let (mut runs, mut models) = (Vec::new(), Vec::new());
    for it in &APPLICATIONS {
        progress.step(Path::new(it.name));
        let ran = run_one(folder.path(), it)?;
        let small = Model::new(folder.path(), it.name, &[])?;
        runs.push(Checked { cycles: compared(it.name, &ran, &small)?, ran });
        models.push(Model::new(folder.path(), it.name, it.size)?);
    }
    progress.clear();
    let turns = passes(&models, TURNS)?;
    let passes = passes(&models, FIRST)?;
    let devices = devices(&models)?;
    let depths = depths(&models)?;
    let picks = picks(&models)?;
    let text =
        [checked(&runs), passes.text(), turns.text(), devices.text(), depths.text(), picks.text()]
            .concat();
    report::show(&text, Stream::Out)?;
    if let Some(folder) = &options.output {
        fs::create_dir_all(folder)
            .map_err(|error| format!("cannot make `{}`: {}", folder.display(), reason(&error)))?;
        report::write_file(&folder.join("fpga.md"), text.as_bytes())?;
        let tables = [
            ("passes", &passes),
            ("turns", &turns),
            ("devices", &devices),
            ("depths", &depths),
            ("picks", &picks),
        ];
        for (name, it) in tables {
            let path = folder.join(format!("fpga-{name}.svg"));
            report::write_file(&path, it.drawn().as_bytes())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What the three builds of a program have done.
struct Ran {
    /// What the simulation has told: the line of each region, and its cycles; or why it is no hardware.
    simulated: Result<Vec<(u32, u64)>, String>,
    /// Seconds until the hardware was there.
    built: f64,
}

struct Checked {
    ran: Ran,
    /// Cycles of all regions that are both told and simulated.
    cycles: Option<(u64, u64)>,
}

fn run_one(folder: &Path, it: &Application) -> Result<Ran, String> {
    let source = format!("{}.c", it.name);
    let mut host = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    host.args(["-O1", "-w", "-ffp-contract=off", &source, "-o", "host", "-lm"]);
    built(&mut host, folder)?;
    let expected = said(Command::new(folder.join("host")).output(), it.name)?.0;
    let ferry = std::env::current_exe().map_err(|it| reason(&it))?;
    let device = |device: &str| {
        let mut build = Command::new(&ferry);
        build.args(["cc", "-O1", "-w", "-ffp-contract=off", "--device", device]);
        build.args([&source, "-o", "device", "-lm"]);
        built(&mut build, folder)
    };
    let answer = |name: &str| {
        let mut run = Command::new(folder.join("device"));
        let (found, told) =
            said(run.env("FERRY_DEVICE", name).env("FERRY_INFO", "1").output(), it.name)?;
        match told.contains(&format!("({name})")) {
            true => Ok((found, told)),
            false => Err(format!("{}: regions do not run on {name}: {told}", it.name)),
        }
    };
    device("fpga-intel")?;
    same(it.name, "emulated", &expected, &answer("fpga-intel")?.0)?;
    let began = Instant::now();
    let hardware = device(&format!("fpga-rtl:{FIRST}"));
    let built = began.elapsed().as_secs_f64();
    let simulated = match hardware {
        Err(why) if !why.contains("is no hardware") => return Err(why),
        Err(why) => Err(why.lines().next().unwrap_or_default().to_owned()),
        Ok(()) => {
            let (found, told) = answer("fpga-rtl")?;
            same(it.name, "simulated", &expected, &found)?;
            Ok(told.lines().filter_map(|line| cycles(line, &source)).collect())
        }
    };
    Ok(Ran { simulated, built })
}

fn built(command: &mut Command, folder: &Path) -> Result<(), String> {
    let output = command.current_dir(folder).output().map_err(|it| reason(&it))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// What a program has printed, and what was said of it.
fn said(
    output: std::io::Result<std::process::Output>,
    name: &str,
) -> Result<(String, String), String> {
    let output = output.map_err(|it| reason(&it))?;
    let [out, told] = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it));
    match output.status.success() {
        true => Ok((out.into_owned(), told.into_owned())),
        false => Err(format!("{name} failed: {told}")),
    }
}

/// Words are equal, numbers with a fraction nearly.
fn same(name: &str, how: &str, expected: &str, found: &str) -> Result<(), String> {
    let (a, b): (Vec<_>, Vec<_>) =
        (expected.split_whitespace().collect(), found.split_whitespace().collect());
    let number = |it: &str| it.parse::<f64>().ok().filter(|_| it.contains('.'));
    let is_near = |it: (&&str, &&str)| match (number(it.0), number(it.1)) {
        (Some(x), Some(y)) => (x - y).abs() <= TOLERANCE * x.abs().max(1e-3),
        (_, _) => it.0 == it.1,
    };
    match !a.is_empty() && a.len() == b.len() && a.iter().zip(&b).all(is_near) {
        true => Ok(()),
        false => Err(format!("{name} is wrong where it is {how}: {found}, not {expected}")),
    }
}

/// `ferry: a.c:10:13: main:10: 1215 cycles simulated, …`: the line and the cycles.
fn cycles(line: &str, source: &str) -> Option<(u32, u64)> {
    let rest = line.strip_prefix("ferry: ")?.strip_prefix(source)?.strip_prefix(':')?;
    let number = rest.split(':').next()?.parse().ok()?;
    let before = rest.split(" cycles simulated").next().filter(|it| it.len() < rest.len())?;
    Some((number, before.rsplit(' ').next()?.parse().ok()?))
}

/// Cycles told and simulated, of the first launch of each region.
fn compared(name: &str, ran: &Ran, model: &Model) -> Result<Option<(u64, u64)>, String> {
    let Ok(simulated) = &ran.simulated else { return Ok(None) };
    let (mut told, mut counted) = (0, 0);
    for it in model.regions(FIRST, &[], None)?.into_iter().filter(|it| !it.is_part) {
        let Some((_, cycles)) = simulated.iter().find(|that| that.0 == it.line) else {
            return Err(format!("{name}: nothing was simulated of the region of line {}", it.line));
        };
        told += it.cycles.unwrap_or(0);
        counted += cycles;
    }
    Ok(Some((told, counted)))
}

fn checked(runs: &[Checked]) -> String {
    let mut text = format!(
        "Emulated on OpenCL and simulated cycle by cycle, small sizes, latencies of {FIRST}; cycles of one launch of each region\n\n\
         | | emulated | simulated | cycles, simulated | cycles, told before | difference | seconds to hardware (measured) |\n\
         |---|---|---|---:|---:|---:|---:|\n"
    );
    for (it, Checked { ran, cycles }) in APPLICATIONS.iter().zip(runs) {
        // Writing to a string cannot fail.
        let _ = match (&ran.simulated, cycles) {
            (Ok(_), Some((told, counted))) => writeln!(
                text,
                "| {} | right | right | {counted} | {told} | {:+.2} % | {:.1} |",
                it.name,
                (*told as f64 / *counted as f64 - 1.0) * 100.0,
                ran.built
            ),
            (Ok(_), None) => writeln!(text, "| {} | right | right | | | | |", it.name),
            (Err(why), _) => writeln!(text, "| {} | right | {why} | | | | |", it.name),
        };
    }
    text
}

/// Numbers for each program, in columns: as a table, and in times of the first column as a drawing.
struct Table {
    title: String,
    columns: Vec<String>,
    /// A row has the number that is drawn and what is written.
    rows: Vec<(String, Vec<(f64, String)>)>,
    /// More is better: the drawing has the first over the others.
    is_cost: bool,
}

impl Table {
    fn text(&self) -> String {
        let mut text = format!("\n{}\n\n| |", self.title);
        self.columns.iter().for_each(|it| text.push_str(&format!(" {it} |")));
        let _ = writeln!(text, "\n|---|{}", "---:|".repeat(self.columns.len()));
        for (name, cells) in &self.rows {
            let cells: Vec<&str> = cells.iter().map(|it| it.1.as_str()).collect();
            let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
        }
        text
    }

    fn drawn(&self) -> String {
        let column = |at: usize| {
            let line = |(name, cells): &(String, Vec<(f64, String)>)| {
                let of = |at: usize| cells.get(at).map_or(1.0, |it| it.0);
                let times = if self.is_cost { of(0) / of(at) } else { of(at) / of(0) };
                (format!("kernel {name}"), times, String::new())
            };
            self.rows.iter().map(line).collect()
        };
        let columns: Vec<(&str, Vec<_>)> =
            self.columns.iter().enumerate().map(|(at, it)| (it.as_str(), column(at))).collect();
        other_isa_chart::draw(&self.title, &columns)
    }
}

/// What each pass gains alone, and all of them.
fn passes(models: &[Model], device: &str) -> Result<Table, String> {
    // None of them, each alone, all.
    const WITHOUT: [&[&str]; 6] = [
        &["lines", "counters", "window", "partial"],
        &["lines", "window", "partial"],
        &["lines", "counters", "partial"],
        &["counters", "window", "partial"],
        &["lines", "counters", "window"],
        &[],
    ];
    let mut rows = Vec::new();
    for model in models {
        let mut cells = Vec::new();
        for without in WITHOUT {
            let all = model.regions(device, without, None)?;
            let cycles: u64 = all.iter().filter_map(|it| it.cycles).sum();
            let most = all.iter().filter_map(|it| it.interval).max().unwrap_or(1);
            cells.push((cycles.max(1) as f64, format!("{cycles} (II {most})")));
        }
        rows.push((model.name.clone(), cells));
    }
    let columns =
        ["one thread", "counters", "window", "lines", "partial", "all"].map(str::to_owned);
    let title = format!(
        "Modelled, {device}: cycles of one launch of each region, and the largest interval, with each pass alone; drawn: times faster \
         than one thread"
    );
    Ok(Table { title, columns: columns.to_vec(), rows, is_cost: true })
}

/// What programs take on each device.
fn devices(models: &[Model]) -> Result<Table, String> {
    let names = fpga::device::Devices::built_in().names();
    let first = names.iter().filter(|it| *it == FIRST);
    let names: Vec<String> = first.chain(names.iter().filter(|it| *it != FIRST)).cloned().collect();
    let mut rows = Vec::new();
    for model in models {
        let mut cells = Vec::new();
        for name in &names {
            let all = model.regions(name, &[], None)?;
            let seconds: f64 = all.iter().filter_map(|it| it.seconds).sum();
            let joules: f64 = all.iter().filter_map(|it| it.joules).sum();
            let share = Told::share(&all, &crate::profiles::fpga(name)?) * 100.0;
            let slow: f64 = all.iter().filter_map(|it| it.memory_seconds).sum();
            let bound = if slow >= 0.99 * seconds { ", memory" } else { "" };
            let fits = if share > 100.0 { ", does not fit" } else { "" };
            let text = format!(
                "{:.2} ms, {:.1} mJ, {share:.0} %{bound}{fits}",
                seconds * 1e3,
                joules * 1e3
            );
            cells.push((seconds, text));
        }
        rows.push((model.name.clone(), cells));
    }
    let title = format!(
        "Modelled: time and energy of one launch of each region, the largest share of the device that all take, and whether memory \
         bounds the time; drawn: times faster than on {FIRST}"
    );
    Ok(Table { title, columns: names, rows, is_cost: true })
}

/// What the registers of a sum do to its interval: the reduction of SRAD.
fn depths(models: &[Model]) -> Result<Table, String> {
    const DEPTHS: [u64; 5] = [1, 2, 4, 8, 16];
    let mut rows = Vec::new();
    for model in models.iter().filter(|it| it.name == "srad") {
        let mut cells = Vec::new();
        for depth in DEPTHS {
            let all = model.regions(FIRST, &[], Some(depth))?;
            let Some(sum) = all.first() else { continue };
            let (cycles, logic) = (sum.cycles.unwrap_or(0), sum.resources.logic);
            let interval = sum.interval.unwrap_or(0);
            let text = format!("II {interval}, {cycles} cycles, {logic} of logic");
            cells.push((cycles.max(1) as f64, text));
        }
        rows.push((format!("{}, sum", model.name), cells));
    }
    let title = format!(
        "Modelled, {FIRST}: registers of a sum; drawn: times faster than with one register"
    );
    let columns = DEPTHS.map(|it| it.to_string()).to_vec();
    Ok(Table { title, columns, rows, is_cost: true })
}

/// Lanes and units of regions as the dissertation has picked them by hand, where it says so (sections 2.4.4 and 2.5): HotSpot's
/// window unrolled 16 times, the shift register and windows of SRAD (`swi_r4_sw8x4`), no more than a window for NW, the hybrid
/// Jacobi (`swi_sw16_x_nd_numc32`), EvalEOS with two lanes (`nd_simd2`).
const PICKS: [(&str, &[(u64, u64)]); 5] = [
    ("hotspot", &[(16, 1), (16, 1)]),
    ("srad", &[(1, 1), (8, 1), (4, 1)]),
    ("nw", &[(1, 1)]),
    ("jacobi", &[(16, 1), (1, 32)]),
    ("evaleos", &[(2, 1)]),
];
/// The device that it has picked them for.
const PICKED_FOR: &str = "arria-10";

/// What was picked by hand and what a search finds.
fn picks(models: &[Model]) -> Result<Table, String> {
    let device = crate::profiles::fpga(PICKED_FOR)?;
    let mut rows = Vec::new();
    for model in models {
        let cell = |all: &[Told], after: &str| {
            let seconds: f64 = all.iter().filter_map(|it| it.seconds).sum();
            let share = Told::share(all, &device) * 100.0;
            let fits = if share > 100.0 { ", does not fit" } else { "" };
            (seconds, format!("{:.3} ms, {share:.0} %{fits}{after}", seconds * 1e3))
        };
        let one = cell(&model.regions(PICKED_FOR, &[], None)?, "");
        let picked = match PICKS.iter().find(|it| it.0 == model.name) {
            Some((_, picks)) => cell(&model.picked(PICKED_FOR, picks)?, ""),
            None => (one.0, String::new()),
        };
        let began = Instant::now();
        let found = model.searched(PICKED_FOR)?;
        let took = format!(" (searched for {:.1} s)", began.elapsed().as_secs_f64());
        rows.push((model.name.clone(), vec![one, picked, cell(&found, &took)]));
    }
    let title = format!(
        "Modelled, {PICKED_FOR}: one lane and one unit, what the dissertation has picked by hand, and what the search finds (how long it \
         took: measured); drawn: times faster than one lane"
    );
    let columns = ["one lane", "picked by hand", "searched"].map(str::to_owned).to_vec();
    Ok(Table { title, columns, rows, is_cost: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_read_from_what_the_runtime_says() {
        let line = "ferry: a.c:10:13: main:10: 1215 cycles simulated, 8.804 us at 138 MHz, which is assumed";
        assert_eq!(cycles(line, "a.c"), Some((10, 1215)));
        assert_eq!(cycles(line, "b.c"), None);
        assert_eq!(cycles("ferry: a.c:10:13: main:10: 3 threads", "a.c"), None);
    }

    #[test]
    fn a_search_is_not_slower_than_what_was_picked_by_hand() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("support.h"), SUPPORT).unwrap();
        for it in APPLICATIONS.iter().filter(|it| ["nw", "evaleos"].contains(&it.name)) {
            fs::write(folder.path().join(format!("{}.c", it.name)), it.text).unwrap();
            let model = Model::new(folder.path(), it.name, it.size).unwrap();
            let table = picks(&[model]).unwrap();
            let cells = &table.rows.first().unwrap().1;
            let [one, picked, found] = cells.as_slice() else { panic!("three columns") };
            assert!(found.0 <= picked.0 * 1.0001 && found.0 <= one.0, "{}: {cells:?}", it.name);
            assert_eq!(found.0 < one.0 * 0.9, it.name == "evaleos", "{cells:?}");
        }
    }

    #[test]
    fn answers_are_compared_by_what_they_are() {
        assert!(same("a", "", "x 5 1.00000e+00", "x 5 1.00001e+00").is_ok());
        assert!(same("a", "", "x 5 1.00000e+00", "x 5 1.10000e+00").is_err());
        assert!(same("a", "", "x 5", "x 6").is_err());
        assert!(same("a", "", "x 5", "x").is_err());
        assert!(same("a", "", "", "").is_err());
    }

    #[test]
    fn a_table_is_drawn_in_times_of_its_first_column() {
        let cells = vec![(8.0, "eight".to_owned()), (2.0, "two".to_owned())];
        let rows = vec![("sum".to_owned(), cells)];
        let columns = vec!["one".to_owned(), "all".to_owned()];
        let table = Table { title: "cycles".to_owned(), columns, rows, is_cost: true };
        assert!(table.text().contains("| sum | eight | two |"), "{}", table.text());
        assert!(table.drawn().contains("<title>sum: 4.00"), "{}", table.drawn());
    }
}
