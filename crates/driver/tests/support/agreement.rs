//! What `ferry explain --device` says of regions is what `ferry cc` does.

use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::support::{ferry, told};

/// What `ferry explain` says of regions otherwise than `ferry cc`, which has compiled them or refused to; nothing if they agree.
pub(crate) fn explained(
    source: &str,
    device: &str,
    level: &str,
    built: &Output,
    folder: &Path,
) -> Option<String> {
    let ran = ferry(&["explain", "--json", "--device", device, source, "--", level], folder);
    let Ok(said) = serde_json::from_slice::<Value>(&ran.stdout) else {
        return Some(format!("`ferry explain` tells nothing: {}", told(&ran)));
    };
    let text = |it: &Value, key: &str| it.get(key).map(Value::to_string).unwrap_or_default();
    let place =
        |it: &Value| ["line", "column", "function", "directive"].map(|key| text(it, key)).join(" ");
    let what = |it: &Value| ["outcome", "loops", "data"].map(|key| text(it, key)).join(" ");
    let Some(regions) = said.get("regions").and_then(Value::as_array) else {
        return Some("`ferry explain` tells of no regions".to_owned());
    };
    let devices = |it: &Value| it.get("devices").and_then(|it| it.get(0)).cloned();
    let mut said: Vec<String> = Vec::new();
    let mut done: Vec<String> = Vec::new();
    for region in regions {
        let Some(on) = devices(region) else {
            return Some(format!("`ferry explain` says nothing of {}", place(region)));
        };
        said.push(format!("{} {}", place(region), what(&on)));
        if !built.status.success() {
            done.push(format!("{} \"refused\"  ", place(region)));
        }
    }
    if built.status.success() {
        let report = String::from_utf8_lossy(&built.stdout);
        let verdicts = report.lines().filter_map(|it| serde_json::from_str::<Value>(it).ok());
        done.extend(verdicts.map(|it| format!("{} {}", place(&it), what(&it))));
    }
    said.sort();
    done.sort();
    let other = said.iter().zip(&done).find(|(said, done)| said != done);
    match other {
        Some((said, done)) => Some(format!("`ferry explain` says {said}, `ferry cc` {done}")),
        None if said.len() != done.len() => Some(format!(
            "`ferry explain` tells of {} regions, `ferry cc` of {}",
            said.len(),
            done.len()
        )),
        None => None,
    }
}
