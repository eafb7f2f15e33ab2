//! Builds for devices that were made before: by the compiler, and by drivers when a program runs.
//!
//! A build is found by a hash of everything that goes into it. Entries carry a hash of themselves, so
//! a damaged one is built anew; they appear by renaming, so builds that run at the same time see a
//! whole entry or none. A cache that cannot be used costs time and nothing else. What others may have written is not
//! used ([`Cache::refusal`] says why): it is code, and runs with the user's rights.

mod trust;

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

use sha2::{Digest, Sha256};

pub use trust::setting;

/// Entries in each of the 256 folders; beyond that the oldest half goes.
const MOST_ENTRIES: usize = 64;
const HASH: usize = 32;

/// What a build is made of.
#[derive(Clone, Debug)]
pub struct Key(Sha256);

impl Key {
    /// A kind of build, by this version of Ferry.
    pub fn new(kind: &str) -> Key {
        Key(Sha256::new()).with(kind.as_bytes()).with(env!("CARGO_PKG_VERSION").as_bytes())
    }

    /// And this; the length is part of it, so that parts cannot run into each other.
    pub fn with(mut self, part: &[u8]) -> Key {
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
        self
    }

    /// In hexadecimal.
    pub fn text(&self) -> String {
        self.0.clone().finalize().iter().map(|it| format!("{it:02x}")).collect()
    }
}

/// Where builds are kept.
#[derive(Debug)]
pub struct Cache {
    /// None: nowhere.
    folder: Option<PathBuf>,
    /// Why it, or something in it, is not used.
    refused: OnceLock<String>,
}

impl Cache {
    /// The user's cache: FERRY_CACHE, or `ferry` in the folder for such things.
    pub fn of_user(is_wanted: bool) -> Cache {
        let named = |name: &str| setting(name).map(PathBuf::from);
        let folder = named("FERRY_CACHE")
            .or_else(|| named("XDG_CACHE_HOME").map(|it| it.join("ferry")))
            .or_else(|| named("HOME").map(|it| it.join(".cache/ferry")));
        // A relative folder would be another one for each build.
        Cache::at(folder.filter(|it| is_wanted && it.is_absolute()))
    }

    /// One in a folder of its own.
    pub fn in_folder(folder: &Path) -> Cache {
        Cache::at(Some(folder.to_owned()))
    }

    fn at(folder: Option<PathBuf>) -> Cache {
        let cache = Cache { folder, refused: OnceLock::new() };
        match cache.folder.as_deref().map(trust::folder) {
            Some(Err(why)) => {
                cache.refuse(why);
                Cache { folder: None, ..cache }
            }
            Some(Ok(())) | None => cache,
        }
    }

    /// Why the cache, or something in it, is not used; nothing if all is well.
    pub fn refusal(&self) -> Option<&str> {
        self.refused.get().map(String::as_str)
    }

    fn refuse(&self, why: String) {
        // The first reason is enough.
        let _ = self.refused.set(why);
    }

    /// The folder, if there is a cache.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// What was built for `key`, or what `build` gives now.
    pub fn get<E>(
        &self,
        key: &Key,
        build: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Vec<u8>, E> {
        if let Some(bytes) = self.find(key) {
            return Ok(bytes);
        }
        let bytes = build()?;
        self.keep(key, &bytes);
        Ok(bytes)
    }

    /// What was built for `key`, if it is there and whole.
    pub fn find(&self, key: &Key) -> Option<Vec<u8>> {
        let path = self.file(key)?;
        match self.read(&path) {
            Ok(entry) => sound(&entry?),
            Err(why) => {
                self.refuse(why);
                None
            }
        }
    }

    /// Keeps what was built for `key`.
    pub fn keep(&self, key: &Key, bytes: &[u8]) {
        if let Some(file) = self.file(key) {
            if let Err(why) = trust::folder(file.parent().unwrap_or(&file)) {
                return self.refuse(why);
            }
            // No room, no permission: the build is no worse for it.
            let _ = keep(&file, bytes);
        }
    }

    /// The bytes of an entry, if there is one; why it is not used, if others may have written it.
    fn read(&self, path: &Path) -> Result<Option<Vec<u8>>, String> {
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let Ok(mut file) = OpenOptions::new().read(true).custom_flags(flags).open(path) else {
            return Ok(None);
        };
        // Of what is open, so that nobody puts another in its place.
        let Ok(found) = file.metadata() else { return Ok(None) };
        trust::folder(path.parent().unwrap_or(path))?;
        trust::file(path, &found)?;
        let mut bytes = Vec::new();
        Ok(file.read_to_end(&mut bytes).is_ok().then_some(bytes))
    }

    fn file(&self, key: &Key) -> Option<PathBuf> {
        let name = key.text();
        let (first, rest) = name.split_at_checked(2)?;
        Some(self.folder.as_ref()?.join(first).join(rest))
    }
}

/// The build in an entry, if that is as it was written.
fn sound(entry: &[u8]) -> Option<Vec<u8>> {
    let (hash, bytes) = entry.split_at_checked(HASH)?;
    (Sha256::digest(bytes).as_slice() == hash).then(|| bytes.to_vec())
}

fn keep(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut neighbour = tempfile::Builder::new().prefix(".new-").tempfile_in(folder)?;
    neighbour.write_all(&Sha256::digest(bytes))?;
    neighbour.write_all(bytes)?;
    neighbour.persist(file).map_err(|it| it.error)?;
    tidy(folder)
}

/// Keeps a folder from growing without end.
fn tidy(folder: &Path) -> std::io::Result<()> {
    let mut entries: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        entries.push((entry.metadata()?.modified()?, entry.path()));
    }
    if entries.len() > MOST_ENTRIES {
        entries.sort();
        for (_, path) in entries.iter().take(MOST_ENTRIES / 2) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn cache() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::in_folder(&folder.path().join("deep/ferry"));
        (folder, cache)
    }

    #[test]
    fn a_build_is_made_once_and_a_damaged_one_again() {
        let (_folder, cache) = cache();
        let key = Key::new("test").with(b"text");
        let built = || Ok::<_, ()>(b"object".to_vec());
        let unwanted = || Err::<Vec<u8>, _>(());
        assert_eq!(cache.get(&key, built), Ok(b"object".to_vec()));
        assert_eq!(cache.get(&key, unwanted), Ok(b"object".to_vec()));
        let file = cache.file(&key).expect("a file");
        let mut bytes = fs::read(&file).expect("kept");
        *bytes.last_mut().expect("bytes") ^= 1;
        fs::write(&file, bytes).expect("damaged");
        assert_eq!(cache.get(&key, unwanted), Err(()));
        assert_eq!(cache.get(&key, built), Ok(b"object".to_vec()));
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        let text = |parts: [&[u8]; 2]| Key::new("k").with(parts[0]).with(parts[1]).text();
        assert_ne!(text([b"ab", b"c"]), text([b"a", b"bc"]));
        assert_eq!(text([b"a", b"b"]), text([b"a", b"b"]));
        assert_ne!(Key::new("a").text(), Key::new("b").text());
    }

    #[test]
    fn a_failed_build_is_not_kept_and_no_cache_is_no_trouble() {
        let (_folder, cache) = cache();
        let key = Key::new("test");
        assert_eq!(cache.get(&key, || Err::<Vec<u8>, _>(7)), Err(7));
        assert_eq!(cache.get(&key, || Ok::<_, ()>(vec![1])), Ok(vec![1]));
        let none = Cache::at(None);
        assert_eq!(none.get(&key, || Ok::<_, ()>(vec![2])), Ok(vec![2]));
        let unusable = Cache::in_folder(Path::new("/dev/null/ferry"));
        assert_eq!(unusable.get(&key, || Ok::<_, ()>(vec![3])), Ok(vec![3]));
    }

    #[test]
    fn a_folder_does_not_grow_without_end() {
        let folder = tempfile::tempdir().expect("a folder");
        for number in 0..200 {
            keep(&folder.path().join(number.to_string()), b"x").expect("kept");
        }
        let left = fs::read_dir(folder.path()).expect("a folder").count();
        assert!(left <= MOST_ENTRIES, "{left}");
        assert!(folder.path().join("199").exists(), "the newest stays");
    }

    /// What is found of a build after `change` was made to the cache's folder, the entry's folder or the entry.
    #[track_caller]
    fn check(change: impl FnOnce(&Path, &Path), is_used: bool) {
        let (outer, cache) = cache();
        let key = Key::new("planted");
        cache.keep(&key, b"code");
        let file = cache.file(&key).expect("a file");
        change(outer.path(), &file);
        let cache = Cache::in_folder(&outer.path().join("deep/ferry"));
        assert_eq!(cache.find(&key).is_some(), is_used);
        let why = cache.refusal().map(str::to_owned);
        assert_eq!(why.is_none(), is_used, "{why:?}");
    }

    fn allow(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("a mode");
    }

    #[test]
    fn what_others_may_write_is_not_used_on_any_level() {
        check(|_, _| (), true);
        check(|outer, _| allow(outer, 0o755), true);
        check(|outer, _| allow(outer, 0o777), false);
        check(|outer, _| allow(outer, 0o1777), true);
        check(|outer, _| allow(&outer.join("deep"), 0o757), false);
        check(|outer, _| allow(&outer.join("deep/ferry"), 0o777), false);
        check(|outer, _| allow(&outer.join("deep/ferry"), 0o1777), false);
        check(|_, file| allow(file.parent().expect("a folder"), 0o777), false);
        check(|_, file| allow(file, 0o666), false);
        check(
            |outer, file| {
                let other = outer.join("other");
                fs::rename(file, &other).expect("moved");
                std::os::unix::fs::symlink(&other, file).expect("a link");
                // A link is no entry; nothing is refused that is not there.
                allow(outer, 0o777);
            },
            false,
        );
    }

    #[test]
    fn what_others_own_is_not_used_on_any_level() {
        let give = |path: &Path| std::os::unix::fs::lchown(path, Some(4242), None).is_ok();
        let (outer, _cache) = cache();
        if !give(outer.path()) {
            eprintln!("skipped: only root can give files away");
            return;
        }
        check(|outer, _| assert!(give(outer)), false);
        check(|outer, _| assert!(give(&outer.join("deep"))), false);
        check(|outer, _| assert!(give(&outer.join("deep/ferry"))), false);
        check(|_, file| assert!(give(file.parent().expect("a folder"))), false);
        check(|_, file| assert!(give(file)), false);
    }
}
