//! Times that a program prints about itself: gathered, and put in order.

use std::collections::BTreeMap;
use std::error::Error;
use std::process::Command;

/// The times of everything that was timed, by name.
#[derive(Debug, Default)]
pub(crate) struct Samples(BTreeMap<String, Vec<f64>>);

impl Samples {
    /// Takes over what another has gathered.
    pub(crate) fn extend(&mut self, other: &Samples) {
        for (name, times) in &other.0 {
            self.0.entry(name.clone()).or_default().extend(times);
        }
    }

    /// Runs a program whose lines are words, the name, and a number, the time.
    pub(crate) fn gather(&mut self, command: &mut Command) -> Result<(), Box<dyn Error>> {
        let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{command:?}: {}: {said}", output.status).into());
        }
        for line in String::from_utf8(output.stdout)?.lines() {
            let (name, time) = line.rsplit_once(' ').ok_or("a line without a time")?;
            self.0.entry(name.to_owned()).or_default().push(time.parse()?);
        }
        Ok(())
    }

    /// A time that was taken here.
    pub(crate) fn add(&mut self, name: &str, time: f64) {
        self.0.entry(name.to_owned()).or_default().push(time);
    }

    /// The time in the middle: half of them took longer.
    pub(crate) fn median(&self, name: &str) -> Option<f64> {
        let mut times = self.0.get(name)?.clone();
        times.sort_by(f64::total_cmp);
        times.get(times.len() / 2).copied()
    }

    /// How much longer one took than the other in the turn in the middle.
    fn by_turns(&self, of: &str, to: &str) -> Option<f64> {
        let turns = self.0.get(of)?.iter().zip(self.0.get(to)?);
        let mut ratios: Vec<f64> = turns.map(|(of, to)| of / to).collect();
        ratios.sort_by(f64::total_cmp);
        ratios.get(ratios.len() / 2).copied()
    }

    /// The shortest time: what others on the machine could not prolong.
    pub(crate) fn least(&self, name: &str) -> Option<f64> {
        self.0.get(name)?.iter().copied().min_by(f64::total_cmp)
    }
}

/// A ratio of two times over several programs that differ in what should not matter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ratio {
    /// The geometric mean of their ratios.
    pub(crate) mean: f64,
    /// The true mean lies between this and …
    pub(crate) from: f64,
    /// … this with 95 of 100.
    pub(crate) to: f64,
}

impl Ratio {
    /// The ratio of two names in each of the programs, of which there are at least three.
    pub(crate) fn over(programs: &[Samples], of: &str, to: &str) -> Option<Ratio> {
        let logs: Option<Vec<f64>> =
            programs.iter().map(|it| it.by_turns(of, to).map(f64::ln)).collect();
        let logs = logs.filter(|it| it.len() > 2)?;
        let count = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / count;
        let variance = logs.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / (count - 1.0);
        // Student's factor for 95 of 100, from above: 2.09 for 20 programs, 2.31 for 9.
        let half = (1.96 + 2.8 / (count - 1.0)) * (variance / count).sqrt();
        Some(Ratio { mean: mean.exp(), from: (mean - half).exp(), to: (mean + half).exp() })
    }
}

/// A cell of a table.
pub(crate) fn cell(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "–".to_owned(), |it| format!("{it:.digits$}"))
}

/// How many times the second goes into the first.
pub(crate) fn ratio(of: Option<f64>, to: Option<f64>) -> Option<f64> {
    of.zip(to).map(|(of, to)| of / to)
}
