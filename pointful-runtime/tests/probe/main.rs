//! What a program is told that asks for a card, by drivers and compilers of all kinds that are not
//! there or will not do. The program aborts where it would panic.
//!
//! The drivers are one file of C, which the system's compiler compiles.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const FAKE: &str = include_str!("fake.c");

/// What every program prints for which everything is there.
const WELL: &str = "cuda:0 has done everything";

/// The program, compiled with `panic = "abort"`.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        // With the features of this build, whose artifacts it is linked of.
        let mut features = vec!["cuda"];
        features.extend(cfg!(feature = "emulated").then_some("emulated"));
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .parent()
            .expect("it lies in the build's folder");
        let built = Command::new(env!("CARGO"))
            .args(["rustc", "--quiet", "--offline", "--example", "probe"])
            .arg("--features")
            .arg(features.join(","))
            .arg("--manifest-path")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
            .arg("--target-dir")
            .arg(target)
            .args(["--", "-C", "panic=abort"])
            .status();
        assert!(built.expect("cargo runs").success());
        target.join("debug/examples/probe")
    })
}

/// Folders with libraries, gone when this is dropped.
struct Libraries(PathBuf);

impl Libraries {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("probe-{name}"));
        let _ = fs::remove_dir_all(&folder);
        for inner in ["driver", "nvrtc", "cache"] {
            fs::create_dir_all(folder.join(inner)).expect("a folder");
        }
        Libraries(folder)
    }

    /// Both of them, without these functions.
    fn without(name: &str, missing: &[&str]) -> Self {
        let libraries = Self::new(name);
        let text = libraries.0.join("fake.c");
        fs::write(&text, FAKE).expect("written");
        let driver = libraries.0.join("driver/libcuda.so.1");
        let compiled = Command::new(
            std::env::var_os("CC")
                .as_deref()
                .unwrap_or(OsStr::new("cc")),
        )
        .args(["-shared", "-fPIC", "-w", "-o"])
        .arg(&driver)
        .arg(&text)
        .args(missing.iter().map(|name| format!("-D{name}=absent_{name}")))
        .status();
        assert!(compiled.expect("there is a C compiler").success());
        fs::copy(&driver, libraries.0.join("nvrtc/libnvrtc.so.12")).expect("copied");
        libraries
    }

    /// What the program prints, which must end well, where the libraries answer so.
    fn run(&self, answers: &str) -> String {
        let output = Command::new(program())
            .env("LD_LIBRARY_PATH", self.0.join("driver"))
            .env("POINTFUL_CUDA_PATH", self.0.join("nvrtc"))
            .env("XDG_CACHE_HOME", self.0.join("cache"))
            .env("FAKE_CUDA", format!(" {answers}"))
            .env_remove("CUDA_HOME")
            .env_remove("CUDA_PATH")
            .output()
            .expect("it runs");
        let (said, wrong) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert_eq!(output.status.code(), Some(0), "{answers}: {said}{wrong}");
        said.trim_end().to_owned()
    }

    #[track_caller]
    fn says(&self, answers: &str, expected: &str) {
        assert_eq!(self.run(answers), expected, "{answers}");
    }

    #[track_caller]
    fn is_unavailable(&self, answers: &str, reason: &str) {
        self.says(answers, &format!("CUDA is not available: {reason}"));
    }
}

impl Drop for Libraries {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn without_a_driver_there_is_a_reason_and_no_panic() {
    let libraries = Libraries::new("none");
    let said = libraries.run("");
    // Where this machine has a driver, that is found.
    assert!(
        said.starts_with("CUDA is not available: ") || said == WELL,
        "{said}"
    );
    let driver = libraries.0.join("driver/libcuda.so.1");
    fs::write(&driver, "no library").expect("written");
    let said = libraries.run("");
    let reason = "CUDA is not available: no driver can be opened: ";
    assert!(
        said.starts_with(reason) && said.contains("libcuda.so.1") || said == WELL,
        "{said}"
    );
}

#[test]
fn with_everything_tables_go_there_and_kernels_run() {
    let libraries = Libraries::without("all", &[]);
    libraries.says("", WELL);
    // What is kept on disk needs no compiler.
    libraries.says("nvrtcCompileProgram=6", WELL);
    fs::remove_dir_all(libraries.0.join("nvrtc")).expect("it was there");
    libraries.says("", WELL);
}

#[test]
fn a_driver_that_lacks_a_function_is_named_with_it() {
    let names = FAKE
        .split("\nCALL(")
        .skip(1)
        .filter_map(|call| call.split(',').next())
        .filter(|name| name.starts_with("cu"));
    let names: Vec<&str> = names.collect();
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        let libraries = Libraries::without("missing", &[name]);
        libraries.is_unavailable("", &format!("the driver has no `{name}`"));
    }
}

#[test]
fn a_driver_that_will_not_do_is_told_why() {
    let libraries = Libraries::without("refused", &[]);
    for (answers, reason) in [
        (
            "version=11080",
            "the driver is of CUDA 11.8, and 12.0 or later is needed",
        ),
        (
            "cuDriverGetVersion=999",
            "the driver does not say what it is: `cuDriverGetVersion` gives error 999",
        ),
        (
            "cuInit=34",
            "the `libcuda` that was found is a stub for linkers",
        ),
        ("cuInit=100", "there is no card"),
        (
            "cuInit=803",
            "the driver does not start: `cuInit` gives error 803",
        ),
        (
            "cuInit=123456",
            "the driver does not start: `cuInit` gives error 123456",
        ),
        ("cards=0", "there is no card"),
        ("cuDeviceGetCount=100", "there is no card"),
        (
            "cuDeviceGetCount=54321",
            "the driver does not count cards: `cuDeviceGetCount` gives error 54321",
        ),
        (
            "major=7 minor=5",
            "card 0 is of compute capability 7.5, and 8.0 or later is needed",
        ),
        (
            "pools=0",
            "card 0 has no stream-ordered memory, which is switched off where it is shared out",
        ),
    ] {
        libraries.is_unavailable(answers, reason);
    }
}

#[test]
fn a_call_that_fails_is_named_with_its_code() {
    let libraries = Libraries::without("failing", &[]);
    for call in [
        "cuDeviceGet",
        "cuDeviceGetAttribute",
        "cuDevicePrimaryCtxRetain",
        "cuCtxSetCurrent",
        "cuStreamCreate",
        "cuDeviceGetDefaultMemPool",
        "cuMemPoolSetAttribute",
        "cuMemAllocAsync",
        "cuMemHostAlloc",
        "cuEventCreate",
        "cuEventRecord",
        "cuEventSynchronize",
        "cuMemcpyHtoDAsync_v2",
        "cuMemcpyDtoHAsync_v2",
        "cuMemcpyDtoDAsync_v2",
        "cuModuleLoadData",
        "cuModuleGetFunction",
        "cuLaunchKernel",
        "cuStreamSynchronize",
    ] {
        // One that CUDA has, and one that it does not have yet.
        for code in [700, 54321] {
            let name = call.trim_end_matches("_v2");
            let answers = format!("{call}={code}");
            libraries.says(
                &answers,
                &format!("`{name}` failed with CUDA's error {code}"),
            );
        }
    }
    libraries.says(
        "cuMemAllocAsync=2",
        "8 bytes of memory were asked for, and cuda:0 has not as many",
    );
}

#[test]
fn a_compiler_that_will_not_do_is_told_why() {
    let libraries = Libraries::without("nvrtc", &[]);
    let path = libraries.0.join("nvrtc/libnvrtc.so.12");
    let path = path.display();
    libraries.says(
        "nvrtcCompileProgram=6",
        "the kernels of `kernels.cu` do not compile: NVRTC_ERROR_COMPILATION (NVRTC 12.8)\nkernels.cu(1): error: it was to fail",
    );
    libraries.says(
        "nvrtcCreateProgram=77",
        "the kernels of `kernels.cu` do not compile: error 77",
    );
    let refused = |libraries: &Libraries, answers: &str, reason: &str| {
        let said = libraries.run(answers);
        let start =
            "CUDA is not available: NVRTC (`libnvrtc.so`) was not found, which compiles kernels; ";
        assert!(said.starts_with(start) && said.contains(reason), "{said}");
    };
    let later = format!("; `{path}` is of CUDA 13.8, which is later than the driver's");
    refused(&libraries, "nvrtc=13", &later);
    fs::write(libraries.0.join("nvrtc/libnvrtc.so.12"), "no library").expect("written");
    refused(&libraries, "", &format!("; `{path}` cannot be opened: "));
    fs::remove_file(libraries.0.join("nvrtc/libnvrtc.so.12")).expect("it was there");
    refused(&libraries, "", "POINTFUL_CUDA_PATH says where it is");

    let libraries = Libraries::without("old-nvrtc", &["nvrtcGetCUBIN"]);
    refused(&libraries, "", "libnvrtc.so.12` has no `nvrtcGetCUBIN`");
}
