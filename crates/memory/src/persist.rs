//! Data that outlive the program: files in a folder, each with two places for its bytes, and one file that says what
//! counts.
//!
//! A commit writes every changed piece of data beside its last committed bytes, with a number and a checksum, and
//! has the system write it out; then one file with the number replaces its predecessor. Before that
//! moment all old bytes count, after it all new ones. What a killed program has left half written has a number that
//! nobody has committed, and is cleared by the next. Damaged bytes are found by their checksum and told.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process;

/// What is wrong with data that persist. Fields: files, numbers of bytes and of layouts.
#[allow(missing_docs, reason = "the names of fields say it")]
#[derive(Debug)]
pub enum Problem {
    /// The system refuses.
    System { doing: &'static str, path: PathBuf, error: io::Error },
    /// Another program has the folder.
    InUse { path: PathBuf },
    /// The file is not one of ours.
    Foreign { path: PathBuf },
    /// Another version of the layout of files.
    Version { path: PathBuf, found: u32 },
    /// The variable had another size.
    Size { path: PathBuf, found: u64, wanted: u64 },
    /// Bytes were changed behind our back, or lost.
    Damaged { path: PathBuf },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::System { doing, path, error } => {
                write!(f, "{doing} `{}` failed: {error}", path.display())
            }
            Problem::InUse { path } => write!(f, "another program uses `{}`", path.display()),
            Problem::Foreign { path } => {
                write!(f, "`{}` does not hold data that persist", path.display())
            }
            Problem::Version { path, found } => {
                write!(
                    f,
                    "`{}` has layout {found}, this library has layout {VERSION}",
                    path.display()
                )
            }
            Problem::Size { path, found, wanted } => write!(
                f,
                "`{}` holds {found} bytes, and the variable has {wanted} now",
                path.display()
            ),
            Problem::Damaged { path } => {
                write!(
                    f,
                    "`{}` is damaged: its bytes are not those that were committed",
                    path.display()
                )
            }
        }
    }
}

impl Problem {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Problem::System { .. } => {
                "FERRY_PERSISTENT names a folder that can be written and has room"
            }
            Problem::InUse { .. } => "wait for it, or give this one a folder in FERRY_PERSISTENT",
            Problem::Foreign { .. } | Problem::Damaged { .. } => {
                "move the file away to begin anew, or put back a copy of it"
            }
            Problem::Version { .. } | Problem::Size { .. } => {
                "move the file away to begin anew, or use the program that wrote it"
            }
        }
    }
}

const MAGIC: [u8; 8] = *b"ferrymem";
const VERSION: u32 = 1;
/// A header takes a page, so that writing one never touches data.
const PAGE: u64 = 4096;
const HEADER: usize = 48;
const STATE: &str = "committed";
const SUFFIX: &str = ".data";

/// Mixes bytes into a number that tells any change of them with near certainty.
fn checksum(seed: u64, bytes: &[u8]) -> u64 {
    const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut sum = seed ^ (bytes.len() as u64).wrapping_mul(MIX);
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
        sum = (sum.rotate_left(29) ^ u64::from_le_bytes(word)).wrapping_mul(MIX);
        sum ^= sum >> 32;
    }
    sum
}

fn io<T>(doing: &'static str, path: &Path, answer: io::Result<T>) -> Result<T, Problem> {
    answer.map_err(|error| Problem::System { doing, path: path.to_owned(), error })
}

/// A folder with data.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    /// Held as long as the folder is used.
    _lock: File,
    committed: u64,
    /// The process that has opened it: a copy of it must not write what its parent goes on with.
    process: u32,
}

/// A header of one of the two places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header {
    version: u32,
    size: u64,
    number: u64,
    sum: u64,
}

impl Header {
    fn read(file: &File, at: u64) -> io::Result<Option<Header>> {
        let mut bytes = [0_u8; HEADER];
        match file.read_exact_at(&mut bytes, at) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            answer => answer?,
        }
        let word = |from: usize| {
            let mut word = [0; 8];
            let found = bytes.iter().skip(from);
            word.iter_mut().zip(found).for_each(|(to, from)| *to = *from);
            u64::from_le_bytes(word)
        };
        let is_ours =
            bytes.starts_with(&MAGIC) && word(40) == checksum(0, bytes.get(..40).unwrap_or(&[]));
        let header =
            Header { version: word(8) as u32, size: word(16), number: word(24), sum: word(32) };
        Ok(is_ours.then_some(header))
    }

    fn bytes(self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for word in [u64::from(self.version), self.size, self.number, self.sum] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(checksum(0, &bytes).to_le_bytes());
        bytes
    }
}

/// Where the second place begins.
fn second(size: u64) -> u64 {
    PAGE + size.next_multiple_of(PAGE)
}

impl Store {
    /// Opens a folder, or makes it.
    pub fn open(folder: &Path) -> Result<Store, Problem> {
        io("making", folder, fs::create_dir_all(folder))?;
        let path = folder.join("lock");
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let lock = io("opening", &path, lock)?;
        if !exclusive(&lock) {
            return Err(Problem::InUse { path: folder.to_owned() });
        }
        let committed = committed(folder)?;
        for entry in io("reading", folder, fs::read_dir(folder))?.flatten() {
            if entry.path().to_string_lossy().ends_with(SUFFIX) {
                forget(&entry.path(), committed)?;
            }
        }
        Ok(Store { folder: folder.to_owned(), _lock: lock, committed, process: process::id() })
    }

    /// Opens a piece of data, of which committed bytes are copied to `bytes`; what was never committed leaves them as they
    /// are.
    pub fn data(&self, name: &str, bytes: &mut [u8]) -> Result<Data, Problem> {
        let safe: String = name
            .chars()
            .map(|it| if it.is_alphanumeric() || "._-".contains(it) { it } else { '_' })
            .collect();
        let path = self.folder.join(safe + SUFFIX);
        let file =
            OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&path);
        let file = io("opening", &path, file)?;
        let size = bytes.len() as u64;
        let whole = 2 * second(size);
        let len = io("reading", &path, file.metadata())?.len();
        let mut data = Data { path, file, size, current: None, sum: 0 };
        if len == 0 {
            // Room that is not there is found now, and not by the first commit.
            io("making room in", &data.path, allocate(&data.file, whole))?;
            return Ok(data);
        }
        let first = io("reading", &data.path, Header::read(&data.file, 0))?;
        let other = io("reading", &data.path, Header::read(&data.file, len / 2))?;
        let known = [first, other]
            .into_iter()
            .flatten()
            .find(|it| it.version != VERSION || it.size != size);
        match known {
            Some(it) if it.version != VERSION => {
                return Err(Problem::Version { path: data.path, found: it.version });
            }
            Some(it) => {
                return Err(Problem::Size { path: data.path, found: it.size, wanted: size });
            }
            None => {}
        }
        if len != whole {
            return Err(Problem::Foreign { path: data.path });
        }
        let places = [(first, 0), (other, second(size))];
        let counts = places.into_iter().filter_map(|(it, at)| it.map(|it| (it, at)));
        let best = counts.filter(|it| it.0.number <= self.committed).max_by_key(|it| it.0.number);
        let Some((header, at)) = best else {
            // Nothing but zeros: made and never committed. Anything else was committed once, or is not ours.
            let is_new = first.is_none() && other.is_none() && self.is_blank(&data)?;
            let is_begun = first.or(other).is_some();
            return if is_new || is_begun {
                Ok(data)
            } else {
                Err(Problem::Damaged { path: data.path })
            };
        };
        let mut found = vec![0; bytes.len()];
        io("reading", &data.path, data.file.read_exact_at(&mut found, at + PAGE))?;
        if checksum(header.number, &found) != header.sum {
            return Err(Problem::Damaged { path: data.path });
        }
        bytes.copy_from_slice(&found);
        data.current = Some(at);
        data.sum = checksum(0, bytes);
        Ok(data)
    }

    /// Whether the headers of a file are still empty.
    fn is_blank(&self, data: &Data) -> Result<bool, Problem> {
        let mut bytes = [0; HEADER];
        for at in [0, second(data.size)] {
            io("reading", &data.path, data.file.read_exact_at(&mut bytes, at))?;
            if bytes.iter().any(|it| *it != 0) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether this process has opened it, and not one that it is a copy of.
    pub fn is_ours(&self) -> bool {
        self.process == process::id()
    }

    /// Makes these bytes count, all of them or none.
    pub fn commit(&mut self, all: &mut [(&mut Data, &[u8])]) -> Result<(), Problem> {
        if !self.is_ours() {
            return Err(Problem::InUse { path: self.folder.clone() });
        }
        let number = self.committed + 1;
        let mut changed: Vec<(&mut Data, u64, u64)> = Vec::new();
        for (data, bytes) in all.iter_mut() {
            let sum = checksum(0, bytes);
            if data.current.is_some() && data.sum == sum {
                continue;
            }
            let at = if data.current == Some(0) { second(data.size) } else { 0 };
            let header =
                Header { version: VERSION, size: data.size, number, sum: checksum(number, bytes) };
            io("writing", &data.path, data.file.write_all_at(bytes, at + PAGE))?;
            io("writing", &data.path, data.file.write_all_at(&header.bytes(), at))?;
            changed.push((data, at, sum));
        }
        if changed.is_empty() {
            return Ok(());
        }
        for (data, ..) in &changed {
            io("writing", &data.path, data.file.sync_data())?;
        }
        let (path, new) = (self.folder.join(STATE), self.folder.join("committed.new"));
        let sum = checksum(number, &MAGIC);
        let text = format!("ferry {VERSION}\n{number}\n{sum:016x}\n");
        let write = || {
            let mut file = File::create(&new)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, &path)?;
            File::open(&self.folder)?.sync_all()
        };
        io("writing", &path, write())?;
        self.committed = number;
        for (data, at, sum) in changed {
            data.current = Some(at);
            data.sum = sum;
        }
        Ok(())
    }
}

/// Clears what was written into a file and not committed: its number will be used again.
fn forget(path: &Path, committed: u64) -> Result<(), Problem> {
    let Ok(file) = OpenOptions::new().read(true).write(true).open(path) else { return Ok(()) };
    let len = io("reading", path, file.metadata())?.len();
    for at in [0, len / 2] {
        let found = io("reading", path, Header::read(&file, at))?;
        if found.is_some_and(|it| it.version == VERSION && it.number > committed) {
            io("writing", path, file.write_all_at(&[0; HEADER], at))?;
            io("writing", path, file.sync_data())?;
        }
    }
    Ok(())
}

/// A piece of data.
#[derive(Debug)]
pub struct Data {
    path: PathBuf,
    file: File,
    size: u64,
    /// The place with the committed bytes.
    current: Option<u64>,
    sum: u64,
}

impl Data {
    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether committed bytes were found.
    pub fn is_restored(&self) -> bool {
        self.current.is_some()
    }
}

/// What was committed last in a folder.
fn committed(folder: &Path) -> Result<u64, Problem> {
    let path = folder.join(STATE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(Problem::System { doing: "reading", path, error }),
    };
    let mut lines = text.lines();
    let version =
        lines.next().and_then(|it| it.strip_prefix("ferry ")).and_then(|it| it.parse().ok());
    match version {
        None => return Err(Problem::Foreign { path }),
        Some(found) if found != VERSION => return Err(Problem::Version { path, found }),
        Some(_) => {}
    }
    let number = lines.next().and_then(|it| it.parse().ok());
    let sum = lines.next().and_then(|it| u64::from_str_radix(it, 16).ok());
    match (number, sum) {
        (Some(number), Some(sum)) if checksum(number, &MAGIC) == sum => Ok(number),
        _ => Err(Problem::Damaged { path }),
    }
}

#[allow(unsafe_code, reason = "a call of the kernel")]
fn exclusive(file: &File) -> bool {
    // SAFETY: a descriptor of ours.
    unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) == 0 }
}

#[allow(unsafe_code, reason = "a call of the kernel")]
fn allocate(file: &File, bytes: u64) -> io::Result<()> {
    let bytes = libc::off_t::try_from(bytes).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: a descriptor of ours.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes) } {
        0 => Ok(()),
        error => {
            let _ = file.set_len(0);
            Err(io::Error::from_raw_os_error(error))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(store: &mut Store, data: &mut Data, bytes: &[u8]) {
        store.commit(&mut [(data, bytes)]).unwrap();
    }

    /// What a new program finds.
    fn found(folder: &Path, name: &str, size: usize) -> Result<Vec<u8>, Problem> {
        let mut bytes = vec![7; size];
        let store = Store::open(folder)?;
        store.data(name, &mut bytes)?;
        Ok(bytes)
    }

    #[test]
    fn what_was_committed_last_is_found() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(found(folder.path(), "a", 3).unwrap(), [7, 7, 7]);
        for round in 0..5_u8 {
            let mut store = Store::open(folder.path()).unwrap();
            let mut bytes = [0; 3];
            let mut data = store.data("a", &mut bytes).unwrap();
            assert_eq!(data.is_restored(), round > 0);
            put(&mut store, &mut data, &[round, 1, 2]);
            put(&mut store, &mut data, &[round, 1, 2]);
            put(&mut store, &mut data, &[round, 3, 4]);
            drop((store, data));
            assert_eq!(found(folder.path(), "a", 3).unwrap(), [round, 3, 4]);
        }
    }

    #[test]
    fn what_was_written_and_not_committed_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        let (mut one, mut two) =
            (store.data("one", &mut [0; 8]).unwrap(), store.data("two", &mut [0; 8]).unwrap());
        store.commit(&mut [(&mut one, &[1; 8]), (&mut two, &[1; 8])]).unwrap();
        let old = fs::read(folder.path().join(STATE)).unwrap();
        store.commit(&mut [(&mut one, &[2; 8]), (&mut two, &[2; 8])]).unwrap();
        drop((store, one, two));
        // As if the program had been killed before its last step.
        fs::write(folder.path().join(STATE), old).unwrap();
        assert_eq!(found(folder.path(), "one", 8).unwrap(), [1; 8]);
        // A later commit of one does not make the other's leavings count.
        let mut store = Store::open(folder.path()).unwrap();
        let mut one = store.data("one", &mut [0; 8]).unwrap();
        put(&mut store, &mut one, &[3; 8]);
        drop((store, one));
        assert_eq!(found(folder.path(), "one", 8).unwrap(), [3; 8]);
        assert_eq!(found(folder.path(), "two", 8).unwrap(), [1; 8]);
    }

    #[test]
    fn a_copy_of_the_process_commits_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        let mut data = store.data("a", &mut [0; 3]).unwrap();
        put(&mut store, &mut data, &[1, 2, 3]);
        store.process += 1;
        assert!(matches!(store.commit(&mut [(&mut data, &[4, 5, 6])]), Err(Problem::InUse { .. })));
        drop((store, data));
        assert_eq!(found(folder.path(), "a", 3).unwrap(), [1, 2, 3]);
    }

    #[test]
    fn every_damaged_byte_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        let mut data = store.data("a", &mut [0; 100]).unwrap();
        put(&mut store, &mut data, &[1; 100]);
        let path = data.path().to_owned();
        drop((store, data));
        let good = fs::read(&path).unwrap();
        for at in (0..HEADER as u64).chain(PAGE..PAGE + 100) {
            let mut bad = good.clone();
            bad[at as usize] ^= 0x10;
            fs::write(&path, bad).unwrap();
            let problem = found(folder.path(), "a", 100).unwrap_err();
            assert!(matches!(problem, Problem::Damaged { .. }), "{at}: {problem}");
        }
        fs::write(&path, &good).unwrap();
        assert_eq!(found(folder.path(), "a", 100).unwrap(), [1; 100]);
        fs::write(&path, &good[..5000]).unwrap();
        found(folder.path(), "a", 100).unwrap_err();
        fs::write(folder.path().join(STATE), "ferry 1\n5\n0\n").unwrap();
        assert!(matches!(found(folder.path(), "a", 100), Err(Problem::Damaged { .. })));
    }

    #[test]
    fn other_sizes_layouts_and_files_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        assert!(matches!(Store::open(folder.path()), Err(Problem::InUse { .. })));
        let mut data = store.data("a", &mut [0; 100]).unwrap();
        put(&mut store, &mut data, &[1; 100]);
        assert!(matches!(
            store.data("a", &mut [0; 200]),
            Err(Problem::Size { found: 100, wanted: 200, .. })
        ));
        fs::create_dir(folder.path().join("b.data")).unwrap();
        assert!(matches!(store.data("b", &mut [0; 8]), Err(Problem::System { .. })));
        fs::write(folder.path().join("c.data"), [1; 100]).unwrap();
        assert!(matches!(store.data("c", &mut [0; 8]), Err(Problem::Foreign { .. })));
        let old = Header { version: 9, size: 8, number: 1, sum: 0 };
        fs::write(folder.path().join("d.data"), old.bytes()).unwrap();
        let problem = store.data("d", &mut [0; 8]).unwrap_err();
        assert!(matches!(problem, Problem::Version { found: 9, .. }), "{problem}");
        drop(store);
        fs::write(folder.path().join(STATE), "ferry 9\n").unwrap();
        assert!(matches!(Store::open(folder.path()), Err(Problem::Version { found: 9, .. })));
        assert!(matches!(Store::open(Path::new("/proc/none")), Err(Problem::System { .. })));
    }
}
