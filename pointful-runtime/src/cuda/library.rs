//! Finding CUDA's libraries, and asking them whether they will do.
//!
//! cudarc panics where a library is missing, or a function in one. So the driver is opened here
//! first, by the names and in the order in which cudarc looks for it, and asked for every function
//! that [`card`](super::driver::card) calls. NVRTC is opened here alone.

use std::ffi::{OsString, c_int, c_uint};
use std::fs;
use std::path::{Path, PathBuf};

use libloading::Library;

use super::compile::Nvrtc;
use super::loader_words;
use crate::error::Error;

/// The functions of the driver's that are called, but for those that [`probe`] calls itself.
const FUNCTIONS: &[&str] = &[
    "cuCtxSetCurrent",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetDefaultMemPool",
    "cuDevicePrimaryCtxRetain",
    "cuEventCreate",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuLaunchKernel",
    "cuMemAllocAsync",
    "cuMemFreeAsync",
    "cuMemHostAlloc",
    "cuMemPoolSetAttribute",
    "cuMemcpyDtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuModuleGetFunction",
    "cuModuleLoadData",
    "cuStreamCreate",
    "cuStreamSynchronize",
];

/// The oldest driver that will do: of CUDA 12.0, as the driver counts.
const OLDEST: c_int = 12_000;

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
        unavailable(format!("no driver can be opened: {}", loader_words(&error)))
    })?;
    let driver = probe(&library);
    // It has threads and handlers of its own once it was opened.
    std::mem::forget(library);
    driver
}

/// The driver that cudarc will find, or what the loader says.
fn open_driver() -> Result<Library, libloading::Error> {
    // SAFETY: the driver may be loaded at any time.
    let open = |path: &Path| unsafe { Library::new(path) };
    let by_name = || open(Path::new("libcuda.so")).or_else(|_| open(Path::new("libcuda.so.1")));
    by_name().or_else(|error| {
        let folders = DRIVER_FOLDERS.iter().map(Path::new);
        let found = folders
            .map(|folder| folder.join("libcuda.so.1"))
            .filter(|path| path.is_file())
            .find_map(|path| open(&path).ok())
            .ok_or(error)?;
        // What is open is found by the name that it has itself.
        let named = by_name();
        std::mem::forget(found);
        named
    })
}

fn probe(library: &Library) -> Result<Driver, Error> {
    // SAFETY: so CUDA declares them.
    let (init, version, count) = unsafe {
        (
            function::<unsafe extern "C" fn(c_uint) -> c_int>(library, "cuInit")?,
            function::<unsafe extern "C" fn(*mut c_int) -> c_int>(library, "cuDriverGetVersion")?,
            function::<unsafe extern "C" fn(*mut c_int) -> c_int>(library, "cuDeviceGetCount")?,
        )
    };
    let mut its_version = 0;
    // SAFETY: it writes a number, and needs no initialization.
    let code = unsafe { version(&mut its_version) };
    if code != 0 {
        return Err(unavailable(format!(
            "the driver does not say what it is: `cuDriverGetVersion` gives error {code}"
        )));
    }
    if its_version < OLDEST {
        return Err(unavailable(format!(
            "the driver is of CUDA {}.{}, and 12.0 or later is needed",
            its_version / 1000,
            its_version % 1000 / 10
        )));
    }
    for name in FUNCTIONS {
        // SAFETY: it is not called.
        unsafe { function::<unsafe extern "C" fn()>(library, name) }?;
    }
    // SAFETY: it takes no flags, and may be called at any time.
    match unsafe { init(0) } {
        0 => {}
        // CUDA_ERROR_STUB_LIBRARY, CUDA_ERROR_NO_DEVICE.
        34 => {
            return Err(unavailable(
                "the `libcuda` that was found is a stub for linkers",
            ));
        }
        100 => return Err(unavailable("there is no card")),
        code => {
            return Err(unavailable(format!(
                "the driver does not start: `cuInit` gives error {code}"
            )));
        }
    }
    let mut cards = 0;
    // SAFETY: it writes a number.
    match unsafe { count(&mut cards) } {
        0 if cards > 0 => Ok(Driver {
            major: its_version / 1000,
            cards: cards as usize,
        }),
        0 | 100 => Err(unavailable("there is no card")),
        code => Err(unavailable(format!(
            "the driver does not count cards: `cuDeviceGetCount` gives error {code}"
        ))),
    }
}

/// A function of the driver's.
///
/// # Safety
/// It is of this type.
unsafe fn function<F: Copy>(library: &Library, name: &str) -> Result<F, Error> {
    // SAFETY: promised by the caller.
    let found = unsafe { library.get::<F>(name.as_bytes()) };
    found
        .map(|function| *function)
        .map_err(|_| unavailable(format!("the driver has no `{name}`")))
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
