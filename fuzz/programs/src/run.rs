//! Compiles files of checks for a device, runs them, and says of every check what became of it.

use crate::check::Check;
use crate::file;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What became of a check.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// All comparisons hold.
    Right,
    /// These do not.
    Wrong(String),
    /// The program ended before it was done, or never did.
    Ended(String),
    /// Ferry says by name that the device cannot have it.
    Refused(String),
    /// It was not compiled for another reason.
    NotCompiled(String),
}

/// How checks are compiled and run.
pub struct Setting {
    /// The command that compiles.
    pub ferry: PathBuf,
    /// The device, as `FERRY_DEVICE` names it.
    pub device: String,
    /// More options for the compiler.
    pub options: Vec<String>,
    /// Where files may be written.
    pub folder: PathBuf,
    /// How long a program may run.
    pub limit: Duration,
}

impl Setting {
    /// What `--device` is told for the device.
    pub fn target(&self) -> &str {
        match self.device.as_str() {
            "cpu" | "cpu:separate" | "cpu:copy" | "none" => "cpu,cpu:separate",
            other => other,
        }
    }

    /// The argument that tells programs how the device's memory is.
    pub fn memory(&self) -> &'static str {
        match self.device.as_str() {
            "cpu" => "shared",
            "none" => "host",
            _ => "separate",
        }
    }

    /// The outcomes of all checks, in their order. They must fit into one file.
    pub fn run(&self, checks: &[&Check]) -> io::Result<Vec<Outcome>> {
        let Some(first) = checks.first() else { return Ok(Vec::new()) };
        let source = self.folder.join(format!("{}-{}.c", first.seed, checks.len()));
        fs::write(&source, file::text(checks))?;
        let program = source.with_extension("out");
        let built = self.compile(&source, &program)?;
        fs::remove_file(&source)?;
        let outcomes = match built {
            Ok(()) => self.execute(&program, checks),
            Err(_) if checks.len() > 1 => Ok(None),
            Err(why)
                if ["F0710", "F0527", ": device code has "].iter().any(|it| why.contains(it)) =>
            {
                Ok(Some(vec![Outcome::Refused(why)]))
            }
            Err(why) => Ok(Some(vec![Outcome::NotCompiled(why)])),
        };
        let _ = fs::remove_file(&program);
        if let Some(outcomes) = outcomes? {
            return Ok(outcomes);
        }
        // One of them spoils it for all: each half by itself.
        let (a, b) = checks.split_at(checks.len() / 2);
        let mut all = self.run(a)?;
        all.extend(self.run(b)?);
        Ok(all)
    }

    fn compile(&self, source: &Path, program: &Path) -> io::Result<Result<(), String>> {
        let mut command = Command::new(&self.ferry);
        command
            .args(["cc", "--device", self.target(), "-w"])
            .args(&self.options)
            .arg(source)
            .arg("-o")
            .arg(program)
            .arg("-lm");
        let (status, text) = output(command, self.limit * 4)?;
        if status == Some(0) {
            return Ok(Ok(()));
        }
        Ok(Err(text))
    }

    /// Outcomes of a program that was compiled; none if its driver does not take the code for the device, so that no check ran.
    fn execute(&self, program: &Path, checks: &[&Check]) -> io::Result<Option<Vec<Outcome>>> {
        let mut command = Command::new(program);
        command.arg(self.memory()).env("FERRY_DEVICE", &self.device);
        if let [one] = checks {
            command.arg(one.seed.to_string());
        }
        let (status, text) = output(command, self.limit)?;
        let done = text.lines().any(|it| it == "ok" || it == "FAILED");
        if let Some(line) = text.lines().find(|it| it.starts_with("begin: ")) {
            return Ok(Some(checks.iter().map(|_| Outcome::Ended(line.to_string())).collect()));
        }
        if done && matches!(status, Some(0 | 1)) {
            return Ok(Some(checks.iter().map(|it| verdict(&text, it.seed)).collect()));
        }
        if let [_] = checks {
            let how = status.map_or("no end".to_string(), |it| format!("status {it}"));
            return Ok(Some(vec![Outcome::Ended(format!("{how}\n{text}"))]));
        }
        if text.contains("loading an image failed") {
            return Ok(None);
        }
        let mut all = Vec::new();
        for it in checks {
            all.extend(self.execute(program, std::slice::from_ref(it))?.unwrap_or_default());
        }
        Ok(Some(all))
    }
}

/// What the output says of one check.
fn verdict(text: &str, seed: u64) -> Outcome {
    let head = format!("seed {seed} ");
    let lines: Vec<&str> = text.lines().filter(|it| it.starts_with(&head)).collect();
    if lines.is_empty() { Outcome::Right } else { Outcome::Wrong(lines.join("\n")) }
}

/// Runs a command: its status (none if it was ended by a signal or ran too long) and all it printed.
fn output(mut command: Command, limit: Duration) -> io::Result<(Option<i32>, String)> {
    let (mut reader, writer) = io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn()?;
    // The pipe's other end lives in the command's own handles.
    drop(command);
    let text = std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = reader.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    });
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status.code();
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            break None;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    };
    Ok((status, text.join().unwrap_or_default()))
}
