//! Loop nests in regions against the same text in the host's own parallel loops.
//!
//! `offload/loops/*.c` are compiled three times, with `-O3`: as plain loops by the host's compiler, as
//! regions in the words of either standard by ferry. All are linked into one program, which runs them
//! turn about on the same memory and threads and compares their results: nothing differs but the code.
//!
//! Where code lies matters more than what is to be shown: equal instructions differ by a tenth between
//! one address and another. So each nest is linked many times, with the sides in another order and gaps
//! between them, and the ratio is the mean over these programs.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use crate::samples::{Ratio, Samples, cell};
use crate::{Tools, compile};

const MAIN: &str = include_str!("../offload/loops/main.c");
const HEADER: &str = include_str!("../offload/loops/loops.h");
const NESTS: [(&str, &str); 7] = [
    ("2mm", include_str!("../offload/loops/2mm.c")),
    ("3mm", include_str!("../offload/loops/3mm.c")),
    ("atax", include_str!("../offload/loops/atax.c")),
    ("bicg", include_str!("../offload/loops/bicg.c")),
    ("conv2d", include_str!("../offload/loops/conv2d.c")),
    ("covariance", include_str!("../offload/loops/covariance.c")),
    ("gemm", include_str!("../offload/loops/gemm.c")),
];
/// How often each nest is linked anew, and its turns then.
const PROGRAMS: usize = 40;
const TURNS: &str = "20";

pub(crate) fn run(tools: &Tools) -> Result<(), Box<dyn Error>> {
    let cc = &tools.cc;
    let folder = tempfile::tempdir()?;
    let path = folder.path();
    std::fs::write(path.join("loops.h"), HEADER)?;
    std::fs::write(path.join("main.c"), MAIN)?;
    let build = |command: &mut Command, side: &str, from: &str, to: &str| {
        let command = command.args(["-O3", "-fopenmp", side, "-c", from, "-o", to]);
        compile(command.current_dir(path))
    };
    build(&mut Command::new(cc), "-DMAIN", "main.c", "main.o")?;
    println!(
        "| milliseconds, median (least) | {cc} | OpenMP | OpenACC | OpenMP to {cc} | OpenACC to OpenMP |"
    );
    println!("|---|---:|---:|---:|---:|---:|");
    for (name, text) in NESTS {
        std::fs::write(path.join("nest.c"), text)?;
        build(&mut Command::new(cc), "-DPLAIN", "nest.c", "plain.o")?;
        build(Command::new(&tools.ferry).arg("cc"), "-DOPENMP", "nest.c", "openmp.o")?;
        build(Command::new(&tools.ferry).arg("cc"), "-DOPENACC", "nest.c", "openacc.o")?;
        let mut programs = Vec::new();
        for layout in 0..PROGRAMS {
            link(tools, path, layout)?;
            let mut samples = Samples::default();
            samples.gather(Command::new(path.join("program")).arg(TURNS))?;
            programs.push(samples);
        }
        row(name, &programs);
    }
    println!();
    println!(
        "Ratios: of the turn in the middle, mean over {PROGRAMS} layouts (and where it lies with 95 %)."
    );
    println!();
    Ok(())
}

/// Links the sides in one of their orders, each behind a gap of its own.
fn link(tools: &Tools, folder: &Path, layout: usize) -> Result<(), Box<dyn Error>> {
    let mut sides = vec!["plain", "openmp", "openacc"];
    let mut link = Command::new(&tools.ferry);
    link.args(["cc", "-fopenmp", "main.o"]);
    // The digits of a linear congruence: the same gaps in every run, without a pattern in them.
    let mut state = layout as u32;
    let mut draw = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % below
    };
    while !sides.is_empty() {
        let side = sides.swap_remove(draw(sides.len() as u32) as usize);
        let gap = format!("gap-{side}");
        // Functions begin at multiples of 16; a page is the most that caches and predictors look at.
        let skip = 16 * draw(256);
        let text = format!(".text\n.skip {skip}\n.section .note.GNU-stack,\"\",@progbits\n");
        std::fs::write(folder.join(format!("{gap}.s")), text)?;
        let mut assemble = Command::new(&tools.cc);
        compile(assemble.args(["-c", &format!("{gap}.s")]).current_dir(folder))?;
        link.arg(format!("{gap}.o")).arg(format!("{side}.o"));
    }
    compile(link.args(["-lm", "-o", "program"]).current_dir(folder))
}

fn row(name: &str, programs: &[Samples]) {
    let mut samples = Samples::default();
    programs.iter().for_each(|it| samples.extend(it));
    let time = |side| {
        let milli = |it: Option<f64>| cell(it.map(|it| it * 1000.0), 3);
        format!("{} ({})", milli(samples.median(side)), milli(samples.least(side)))
    };
    let ratio = |of, to| {
        Ratio::over(programs, of, to).map_or_else(
            || "–".to_owned(),
            |it| format!("{:.3} ({:.3}–{:.3})", it.mean, it.from, it.to),
        )
    };
    let (plain, openmp, openacc) = ("plain", "openmp", "openacc");
    println!(
        "| {name} | {} | {} | {} | {} | {} |",
        time(plain),
        time(openmp),
        time(openacc),
        ratio(openmp, plain),
        ratio(openacc, openmp),
    );
}
