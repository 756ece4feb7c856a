//! Finding CUDA's libraries, and asking them whether they will do.
//!
//! The driver is opened by the name that the loader knows, or where systems keep it. NVRTC is looked
//! for where the user says first.

use std::ffi::{OsString, c_int};
use std::fs;
use std::path::{Path, PathBuf};

use libloading::Library;

use super::compile::Nvrtc;
use super::driver::api::{Api, function};
use super::loader_words;
use crate::error::Error;

/// The oldest driver that will do: of CUDA 12.0, as the driver counts.
const OLDEST: c_int = 12_000;

/// What the driver is called.
const DRIVER: &str = "libcuda.so.1";

/// Where systems keep the driver that do not tell the loader.
const DRIVER_FOLDERS: &[&str] = &[
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib/wsl/lib",
    "/usr/local/nvidia/lib64",
    "/run/opengl-driver/lib",
];

/// A driver that will do.
pub(super) struct Driver {
    pub(super) api: Api,
    /// The CUDA that it is of: 12, and not what comes after the point.
    pub(super) major: i32,
    /// How many cards it finds.
    pub(super) cards: usize,
}

pub(super) fn unavailable(reason: impl Into<String>) -> Error {
    Error::CudaUnavailable {
        reason: reason.into(),
    }
}

/// Asks the driver whether it will do, before anybody else asks it for anything.
pub(super) fn driver() -> Result<Driver, Error> {
    let library = open_driver().map_err(|error| {
        let words = loader_words(&error);
        unavailable(format!("no driver can be opened: {words}"))
    })?;
    let mut version = 0;
    // SAFETY: so CUDA declares it; it writes a number, and needs no initialization.
    let code = unsafe {
        function::<unsafe extern "C" fn(*mut c_int) -> c_int>(&library, "cuDriverGetVersion")?(
            &mut version,
        )
    };
    if code != 0 {
        return Err(unavailable(format!(
            "the driver does not say what it is: `cuDriverGetVersion` gives error {code}"
        )));
    }
    if version < OLDEST {
        return Err(unavailable(format!(
            "the driver is of CUDA {}.{}, and 12.0 or later is needed",
            version / 1000,
            version % 1000 / 10
        )));
    }
    let api = Api::of(library)?;
    Ok(Driver {
        cards: started(&api)?,
        api,
        major: version / 1000,
    })
}

/// Starts the driver: how many cards it finds, of which there is one at least.
fn started(api: &Api) -> Result<usize, Error> {
    let failed = |error, does_not: &str| match error {
        // CUDA_ERROR_STUB_LIBRARY, CUDA_ERROR_NO_DEVICE.
        Error::Cuda { code: 34, .. } => {
            unavailable("the `libcuda` that was found is a stub for linkers")
        }
        Error::Cuda { code: 100, .. } => unavailable("there is no card"),
        Error::Cuda { call, code } => unavailable(format!(
            "the driver does not {does_not}: `{call}` gives error {code}"
        )),
        other => other,
    };
    let mut cards = 0;
    // SAFETY: the one takes no flags and may be called at any time; the other writes a number.
    unsafe {
        api.init(0).map_err(|error| failed(error, "start"))?;
        api.device_count(&mut cards)
            .map_err(|error| failed(error, "count cards"))?;
    }
    match usize::try_from(cards) {
        Ok(cards) if cards > 0 => Ok(cards),
        _ => Err(unavailable("there is no card")),
    }
}

/// The driver, or what the loader says of it.
fn open_driver() -> Result<Library, libloading::Error> {
    // SAFETY: the driver may be loaded at any time.
    let open = |path: &Path| unsafe { Library::new(path) };
    let folders = DRIVER_FOLDERS.iter().map(Path::new);
    open(Path::new(DRIVER)).or_else(|error| {
        folders
            .map(|folder| folder.join(DRIVER))
            .filter(|path| path.is_file())
            .find_map(|path| open(&path).ok())
            .ok_or(error)
    })
}

/// The compiler of kernels: the first that is found whose CUDA is no later than `newest`, since a
/// driver need not load what a later one makes.
pub(super) fn nvrtc(newest: Option<i32>) -> Result<Nvrtc, Error> {
    let mut refused = Vec::new();
    let (named, others) = folders(&|name| std::env::var_os(name));
    let by_name = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"].map(PathBuf::from);
    let candidates = named
        .iter()
        .flat_map(|folder| in_folder(folder))
        .chain(by_name)
        .chain(others.iter().flat_map(|folder| in_folder(folder)));
    for candidate in candidates {
        match Nvrtc::open(&candidate) {
            Ok(found) if newest.is_some_and(|newest| found.version().0 > newest) => {
                let (major, minor) = found.version();
                refused.push(format!(
                    "`{}` is of CUDA {major}.{minor}, which is later than the driver's",
                    candidate.display()
                ));
            }
            Ok(found) => return Ok(found),
            // A name that the loader does not know is no news; a file that is there is.
            Err(reason) if candidate.is_absolute() => refused.push(reason),
            Err(_) => {}
        }
    }
    let mut reason = "NVRTC (`libnvrtc.so`) was not found, which compiles kernels; \
                      `pip install nvidia-cuda-nvrtc-cu12` has it, and POINTFUL_CUDA_PATH says where it is"
        .to_owned();
    for refused in refused {
        reason.push_str("; ");
        reason.push_str(&refused);
    }
    Err(unavailable(reason))
}

/// Where NVRTC may be: what the user named, which goes first, and what comes after the loader's
/// path.
fn folders(environment: &dyn Fn(&str) -> Option<OsString>) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let of = |name: &str| {
        environment(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let with_libraries = |root: PathBuf| [root.join("lib64"), root.join("lib"), root];
    let named = of("POINTFUL_CUDA_PATH")
        .into_iter()
        .flat_map(with_libraries)
        .collect();
    let toolkits = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(of);
    let mut others: Vec<PathBuf> = toolkits
        .chain([PathBuf::from("/usr/local/cuda")])
        .flat_map(with_libraries)
        .collect();
    for root in ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(of) {
        others.push(root.join("lib"));
        others.extend(wheels(&root));
    }
    (named, others)
}

/// `lib/python3.*/site-packages/nvidia/*/lib` of a Python environment.
fn wheels(root: &Path) -> Vec<PathBuf> {
    let inside = |folder: PathBuf| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        paths
    };
    let pythons = inside(root.join("lib")).into_iter();
    pythons
        .flat_map(|python| inside(python.join("site-packages/nvidia")))
        .map(|package| package.join("lib"))
        .filter(|folder| folder.is_dir())
        .collect()
}

/// The files of a folder that are NVRTC, the latest first.
fn in_folder(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default();
            name.to_string_lossy().starts_with("libnvrtc.so")
        })
        .collect();
    files.sort();
    files.reverse();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_names_is_looked_at_first() {
        let environment = |name: &str| match name {
            "POINTFUL_CUDA_PATH" => Some(OsString::from("/mine")),
            "CUDA_HOME" => Some(OsString::from("/toolkit")),
            "CUDA_PATH" => Some(OsString::new()),
            _ => None,
        };
        let (named, others) = folders(&environment);
        assert_eq!(
            named,
            ["/mine/lib64", "/mine/lib", "/mine"].map(PathBuf::from)
        );
        assert_eq!(
            others,
            [
                "/toolkit/lib64",
                "/toolkit/lib",
                "/toolkit",
                "/usr/local/cuda/lib64",
                "/usr/local/cuda/lib",
                "/usr/local/cuda",
            ]
            .map(PathBuf::from)
        );
    }

    #[test]
    fn wheels_of_a_python_environment_are_found_and_the_latest_is_first() {
        let root = std::env::temp_dir().join(format!("pointful-wheels-{}", std::process::id()));
        let folder = root.join("lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib");
        fs::create_dir_all(&folder).expect("a folder");
        for name in [
            "libnvrtc.so.12",
            "libnvrtc.so.13",
            "libnvrtc-builtins.so.12.9",
            "libnvrtc.alt.so.12",
        ] {
            fs::write(folder.join(name), "").expect("a file");
        }
        let environment =
            |name: &str| (name == "VIRTUAL_ENV").then(|| root.clone().into_os_string());
        let (_, others) = folders(&environment);
        let found: Vec<PathBuf> = others.iter().flat_map(|folder| in_folder(folder)).collect();
        fs::remove_dir_all(&root).expect("it is there");
        let mine: Vec<_> = found
            .iter()
            .filter(|path| path.starts_with(&root))
            .collect();
        assert_eq!(
            mine,
            [
                &folder.join("libnvrtc.so.13"),
                &folder.join("libnvrtc.so.12")
            ]
        );
    }
}
