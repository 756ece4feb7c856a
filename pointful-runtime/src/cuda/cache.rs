//! Compiled kernels on disk: what was compiled once need not be again, not even by NVRTC.
//!
//! A file holds one unit for one kind of card. Its name is a hash of everything that was asked of
//! the compiler, and the file holds that as well, so that two requests of one hash are not taken
//! for each other. A file that is not whole, or not of this format, is as good as none; so is one
//! that cannot be read or written.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::compile::Request;

/// What a file begins with; another format has another number.
const MAGIC: &[u8] = b"pointful cubin 1\n";

/// A folder of compiled kernels, or none.
pub(super) struct Cache {
    folder: Option<PathBuf>,
}

/// What a file holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The NVRTC that compiled it.
    pub(super) version: (i32, i32),
    pub(super) cubin: Vec<u8>,
}

impl Cache {
    /// The user's: `$XDG_CACHE_HOME/pointful`, or `.cache/pointful` at home.
    pub(super) fn of_user() -> Self {
        let absolute = |name| {
            std::env::var_os(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let caches = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
        Cache {
            folder: caches.map(|caches| caches.join("pointful")),
        }
    }

    /// What was compiled of a request before.
    pub(super) fn get(&self, request: &Request) -> Option<Entry> {
        let bytes = fs::read(self.path(request)?).ok()?;
        read(&bytes, &key(request))
    }

    /// Keeps what was compiled. It is a help and nothing more: where it cannot be kept, it is not.
    pub(super) fn put(&self, request: &Request, entry: &Entry) {
        let _ = self.try_put(request, entry);
    }

    fn try_put(&self, request: &Request, entry: &Entry) -> io::Result<()> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let Some(path) = self.path(request) else {
            return Ok(());
        };
        if let Some(folder) = &self.folder {
            fs::create_dir_all(folder)?;
        }
        // Whoever reads finds the old file or the new one, and nothing that is half written.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let unfinished = path.with_extension(format!("{}-{number}", std::process::id()));
        let written = fs::write(&unfinished, write(entry, &key(request)))
            .and_then(|()| fs::rename(&unfinished, &path));
        if written.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        written
    }

    fn path(&self, request: &Request) -> Option<PathBuf> {
        let name = format!("{:016x}.cubin", hash(&key(request)));
        Some(self.folder.as_ref()?.join(name))
    }
}

/// Everything that was asked of the compiler; options have no line feeds.
fn key(request: &Request) -> Vec<u8> {
    let mut key = request.options.join("\n");
    key.push_str("\n\n");
    key.push_str(&request.source);
    key.into_bytes()
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

/// Magic, the version, the key, the cubin, each with its length, and a hash of all that.
fn write(entry: &Entry, key: &[u8]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(entry.version.0.to_le_bytes());
    bytes.extend(entry.version.1.to_le_bytes());
    for part in [key, &entry.cubin] {
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend(part);
    }
    bytes.extend(hash(&bytes).to_le_bytes());
    bytes
}

fn read(bytes: &[u8], key: &[u8]) -> Option<Entry> {
    let (whole, sum) = bytes.split_last_chunk()?;
    (u64::from_le_bytes(*sum) == hash(whole)).then_some(())?;
    let mut rest = whole.strip_prefix(MAGIC)?;
    let mut number = || {
        let (first, others) = rest.split_first_chunk()?;
        rest = others;
        Some(i32::from_le_bytes(*first))
    };
    let version = (number()?, number()?);
    let mut part = || {
        let (length, others) = rest.split_first_chunk()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (part, others) = others.split_at_checked(length)?;
        rest = others;
        Some(part)
    };
    (part()? == key).then_some(())?;
    Some(Entry {
        version,
        cubin: part()?.to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(source: &str, option: &str) -> Request {
        Request {
            name: "some.cu",
            source: source.to_owned(),
            options: vec!["--std=c++17".to_owned(), option.to_owned()],
        }
    }

    fn entry(byte: u8) -> Entry {
        Entry {
            version: (12, 9),
            cubin: vec![byte; 1000],
        }
    }

    /// A cache of its own, in a folder that is gone afterwards.
    fn with_cache(name: &str, test: impl FnOnce(&Cache, &PathBuf)) {
        let folder = std::env::temp_dir().join(format!("pointful-{name}-{}", std::process::id()));
        let cache = Cache {
            folder: Some(folder.join("not there yet")),
        };
        test(&cache, &folder);
        let _ = fs::remove_dir_all(&folder);
    }

    #[test]
    fn what_was_kept_is_found_by_everything_that_was_asked() {
        with_cache("kept", |cache, _| {
            let one = request("text", "sm_80");
            assert_eq!(cache.get(&one), None);
            cache.put(&one, &entry(1));
            assert_eq!(cache.get(&one), Some(entry(1)));
            assert_eq!(cache.get(&request("text", "sm_90")), None);
            assert_eq!(cache.get(&request("test", "sm_80")), None);
            cache.put(&one, &entry(2));
            assert_eq!(cache.get(&one), Some(entry(2)));
            let folder = cache.folder.as_ref().expect("a folder");
            let files = fs::read_dir(folder).expect("it is there").count();
            assert_eq!(files, 1, "nothing unfinished is left");
        });
    }

    #[test]
    fn what_is_not_whole_is_as_good_as_none() {
        with_cache("broken", |cache, _| {
            let one = request("text", "sm_80");
            cache.put(&one, &entry(1));
            let path = cache.path(&one).expect("a path");
            let whole = fs::read(&path).expect("it is there");
            for length in [0, 5, MAGIC.len(), 100, whole.len() - 1] {
                fs::write(&path, &whole[..length]).expect("written");
                assert_eq!(cache.get(&one), None, "{length} bytes");
            }
            for at in 0..whole.len() {
                let mut changed = whole.clone();
                changed[at] ^= 1;
                assert_eq!(read(&changed, &key(&one)), None, "byte {at}");
            }
            fs::write(&path, &whole).expect("written");
            assert_eq!(cache.get(&one), Some(entry(1)));
        });
    }

    #[test]
    fn two_requests_of_one_hash_are_told_apart() {
        let bytes = write(&entry(1), b"one");
        assert_eq!(read(&bytes, b"one"), Some(entry(1)));
        assert_eq!(read(&bytes, b"two"), None);
    }

    #[test]
    fn without_a_folder_nothing_is_kept_and_nothing_fails() {
        let cache = Cache { folder: None };
        let one = request("text", "sm_80");
        cache.put(&one, &entry(1));
        assert_eq!(cache.get(&one), None);
        with_cache("a file", |cache, folder| {
            fs::write(folder, "no folder").expect("written");
            cache.put(&one, &entry(1));
            assert_eq!(cache.get(&one), None);
            fs::remove_file(folder).expect("it is there");
        });
    }
}
