//! What `ferry bench fpga` asks of the model: a program of one size, on any device, with and without passes.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use fpga::channels::{Piece, Single, channels};
use fpga::device::Device;
use fpga::graph::Resources;
use fpga::plan::{Kind, Part, passed, plan};
use opt::passes::pipeline::run_pipelined;
use opt::passes::{Fabric, Fabrics};
use source::Locator;

use crate::front;
use crate::options::{Input, Model as DataModel};

/// A program.
pub(super) struct Model {
    pub(super) name: String,
    kernels: emit::dialect::Kernels,
    /// Where its regions stand.
    lines: Vec<u32>,
}

/// What is told of a region.
pub(super) struct Told {
    pub(super) line: u32,
    pub(super) cycles: Option<u64>,
    pub(super) seconds: Option<f64>,
    pub(super) memory_seconds: Option<f64>,
    pub(super) joules: Option<f64>,
    pub(super) resources: Resources,
    /// The largest of its loops.
    pub(super) interval: Option<u64>,
    /// It runs at the same time as a region that ends later: what both take is told there.
    pub(super) is_part: bool,
}

impl Told {
    /// The largest share of a device that all regions take together.
    pub(super) fn share(all: &[Told], device: &Device) -> f64 {
        all.iter().fold(Resources::default(), |sum, it| sum.and(it.resources)).share(device)
    }
}

impl Model {
    /// Reads a program that is in a folder, with these macros.
    pub(super) fn new(folder: &Path, name: &str, size: &[&str]) -> Result<Model, String> {
        let path = folder.join(format!("{name}.c"));
        let input = Input {
            files: vec![path.clone()],
            cc: None,
            include: Vec::new(),
            define: size.iter().map(OsString::from).collect(),
            undefine: Vec::new(),
            std: None,
            model: DataModel::Lp64,
            flags: Vec::new(),
        };
        let unit = front::check(&path, &input);
        let wrong = || format!("{name} is no program");
        let program = unit.program.as_ref().filter(|_| unit.diagnostics.errors() == 0);
        let (program, file) = (program.ok_or_else(wrong)?, unit.map.files().next());
        let read = crate::input::written;
        let locator = Locator::new(&unit.map, &read);
        let kernels = emit::dialect::kernels(program, &unit.map, file.ok_or_else(wrong)?, &locator);
        if let Some((_, refusal)) = kernels.refused.first() {
            return Err(format!("{name}: {}", refusal.why));
        }
        let line = |span| locator.locate(span).map_or(0, |it| it.line);
        let lines = kernels.module.kernels.iter().map(|it| line(it.span)).collect();
        Ok(Model { name: name.to_owned(), kernels, lines })
    }

    /// Its regions on a device, without some of the passes; `depth`: registers of a sum, else as many as its operator takes
    /// cycles.
    pub(super) fn regions(
        &self,
        device: &str,
        without: &'static [&'static str],
        depth: Option<u64>,
    ) -> Result<Vec<Told>, String> {
        let device = crate::profiles::fpga(device)?;
        let mut fabric = Fabric { without, ..device.fabric() };
        if let Some(depth) = depth {
            fabric.add = [depth; 4];
        }
        self.planned(&device, &fabric.into())
    }

    /// Where regions stand, in the order of the text.
    fn spans(&self) -> Vec<source::Span> {
        let mut all: Vec<_> = self.lines.iter().zip(&self.kernels.module.kernels).collect();
        all.sort_by_key(|it| it.0);
        all.into_iter().map(|it| it.1.span).collect()
    }

    /// Its regions as someone has picked them: lanes and units of each, with windows.
    pub(super) fn picked(&self, device: &str, picks: &[(u64, u64)]) -> Result<Vec<Told>, String> {
        let device = crate::profiles::fpga(device)?;
        let all = device.fabric();
        let reads = all.reads.max(1);
        let one =
            |(lanes, units): &(u64, u64)| Fabric { lanes: *lanes, units: *units, reads, ..all };
        let own = self.spans().into_iter().zip(picks.iter().map(one)).collect();
        self.planned(&device, &Fabrics { all, own })
    }

    /// Its regions as the search has found them.
    pub(super) fn searched(&self, device: &str) -> Result<Vec<Told>, String> {
        let device = crate::profiles::fpga(device)?;
        let given = BTreeMap::new();
        let fabrics = crate::designs::searched(&self.kernels, &[], &device, &given, false);
        self.planned(&device, &fabrics)
    }

    fn planned(&self, device: &Device, fabrics: &Fabrics) -> Result<Vec<Told>, String> {
        let (mut told, mut singles) = (Vec::new(), Vec::new());
        let mut program = self.kernels.module.program.clone();
        for (line, kernel) in self.lines.iter().zip(&self.kernels.module.kernels) {
            let fabric = fabrics.of(kernel.span);
            let made = run_pipelined(&mut program, kernel, fabric, None)
                .map_err(|it| format!("{}: {}", self.name, it.why))?;
            let plan = plan(&program, &made, device, &BTreeMap::new());
            singles.push(Single { kernel: made, rounds: plan.rounds });
            told.push(Told {
                line: *line,
                cycles: plan.cycles,
                seconds: plan.seconds,
                memory_seconds: plan.memory_seconds,
                joules: plan.joules,
                resources: plan.resources,
                interval: largest(&plan.parts),
                is_part: false,
            });
        }
        let passed: Vec<_> = singles.iter().map(|it| passed(&program, &it.kernel)).collect();
        let pieces = singles.iter().zip(&passed);
        let pieces: Vec<Piece<'_>> =
            pieces.map(|(it, passed)| Piece { kernel: &it.kernel, passed }).collect();
        let rounds = singles.iter().flat_map(|it| &it.rounds).map(|it| (*it.0, *it.1)).collect();
        for group in channels(&program, &pieces, device).groups {
            if let Some(cycles) = group.cycles(&rounds) {
                together(&mut told, &group.members, cycles, device);
            }
        }
        told.sort_by_key(|it| it.line);
        Ok(told)
    }
}

/// What regions take that run at the same time is told of the last.
fn together(told: &mut [Told], members: &[usize], cycles: u64, device: &Device) {
    let (mut resources, mut slow) = (Resources::default(), 0.0);
    for it in members.iter().filter_map(|it| told.get(*it)) {
        resources = resources.and(it.resources);
        slow += it.memory_seconds.unwrap_or(0.0);
    }
    let seconds = (cycles as f64 / (device.clock * 1e6)).max(slow);
    let watts = device.idle + (device.full - device.idle) * resources.share(device).min(1.0);
    for (at, member) in members.iter().enumerate() {
        let Some(it) = told.get_mut(*member) else { continue };
        it.is_part = at + 1 < members.len();
        let all = (Some(cycles), Some(seconds), Some(slow), Some(seconds * watts));
        let (cycles, seconds, slow, joules) =
            if it.is_part { (Some(0), Some(0.0), Some(0.0), Some(0.0)) } else { all };
        (it.cycles, it.seconds, it.memory_seconds, it.joules) = (cycles, seconds, slow, joules);
    }
}

fn largest(parts: &[Part]) -> Option<u64> {
    let of = |part: &Part| match part {
        Part::Straight(_) | Part::Refused(_) => None,
        Part::Either(a, b) => largest(a).max(largest(b)),
        Part::Loop(it) => match &it.kind {
            Kind::Pipelined(it) => Some(it.interval),
            Kind::Serial(parts) => largest(parts),
        },
    };
    parts.iter().filter_map(of).max()
}
