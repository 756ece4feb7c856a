//! A device that is the host: kernels are compiled by the system's C++ compiler and run thread by
//! thread by a machine (`prelude/machine.cpp`) that looks at each access to memory.
//!
//! It is for tests. Nothing on it is done later than asked for.

use std::alloc::{self, Layout};
use std::collections::{BTreeMap, HashMap};
use std::ffi::{CString, OsString, c_char, c_void};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use libloading::Library;

use super::Driver;
use crate::cuda::loader_words;
use crate::cuda::unit::{Kernel, Unit};
use crate::error::Error;

/// What stands in front of a unit's text.
pub(in crate::cuda) const PRELUDE: [(&str, &str); 2] = [
    ("machine.cpp", include_str!("../prelude/machine.cpp")),
    ("emulated.cu", include_str!("../prelude/emulated.cu")),
];

/// What is asked of the compiler: nothing that changes a bit of a float, and not much else, because
/// compiling takes longer than running.
const OPTIONS: &[&str] = &[
    "-std=c++17",
    "-O1",
    "-ffp-contract=off",
    "-fwrapv",
    // Its `longjmp` takes a stack that is not deeper for a mistake.
    "-U_FORTIFY_SOURCE",
    "-fno-exceptions",
    "-fno-rtti",
    "-fPIC",
    "-shared",
    "-w",
];

/// Names of functions that run a kernel begin so.
const RUN: &str = "pointful_run_";

/// What an emulated device is like.
#[derive(Clone, Copy, Debug)]
pub struct Emulation {
    /// What the order of threads and blocks is drawn from.
    pub seed: u64,
    /// How many bytes of memory it has.
    pub memory: usize,
    /// The most blocks that it has of kernels whose threads go through any number of points.
    pub blocks: u64,
}

impl Default for Emulation {
    fn default() -> Self {
        Emulation {
            seed: 0,
            memory: 1 << 32,
            blocks: 3,
        }
    }
}

/// The device.
pub(in crate::cuda) struct Emulated {
    name: String,
    emulation: Emulation,
    state: Mutex<State>,
}

/// What it has.
#[derive(Default)]
struct State {
    /// By address.
    allocations: BTreeMap<u64, Memory>,
    used: usize,
    loaded: Vec<Arc<Compiled>>,
}

/// Memory of the device, and which of its bytes have been written.
struct Memory {
    start: NonNull<u8>,
    layout: Layout,
    written: Vec<bool>,
}

// SAFETY: the memory belongs to this value alone.
unsafe impl Send for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: it came from the allocator with this layout.
        unsafe { alloc::dealloc(self.start.as_ptr(), self.layout) }
    }
}

impl Emulated {
    pub(in crate::cuda) fn new(number: usize, emulation: Emulation) -> Self {
        Emulated {
            name: format!("emulated:{number}"),
            emulation,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // What it holds is whole after every statement.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Which of so many bytes have been written.
    ///
    /// # Panics
    /// If they lie in no allocation: the caller promised otherwise.
    fn written(&mut self, address: u64, bytes: usize) -> &mut [bool] {
        let (start, memory) = self
            .allocations
            .range_mut(..=address)
            .next_back()
            .expect("an address of this device");
        let offset = (address - start) as usize;
        &mut memory.written[offset..offset + bytes]
    }
}

/// An address as a pointer; the device's memory was exposed when it was allocated.
fn pointer(address: u64) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

impl Driver for Emulated {
    fn name(&self) -> &str {
        &self.name
    }

    fn most_blocks(&self) -> u64 {
        self.emulation.blocks
    }

    fn allocate(&self, bytes: usize) -> Result<u64, Error> {
        let mut state = self.state();
        let refused = || Error::OutOfDeviceMemory {
            device: self.name.clone(),
            bytes,
        };
        let used = state.used.checked_add(bytes).ok_or_else(refused)?;
        let layout = Layout::from_size_align(bytes, 256).map_err(|_| refused())?;
        if used > self.emulation.memory {
            return Err(refused());
        }
        // SAFETY: the size is not zero.
        let start = NonNull::new(unsafe { alloc::alloc(layout) }).ok_or_else(refused)?;
        // What is read all the same shows.
        // SAFETY: so many bytes have just been allocated.
        unsafe { start.as_ptr().write_bytes(0xf4, bytes) };
        let address = start.as_ptr().expose_provenance() as u64;
        let memory = Memory {
            start,
            layout,
            written: vec![false; bytes],
        };
        state.used = used;
        state.allocations.insert(address, memory);
        Ok(address)
    }

    unsafe fn free(&self, address: u64, bytes: usize) {
        let mut state = self.state();
        state.allocations.remove(&address);
        state.used -= bytes;
    }

    unsafe fn upload(&self, to: u64, from: *const u8, bytes: usize) -> Result<(), Error> {
        let mut state = self.state();
        state.written(to, bytes).fill(true);
        // SAFETY: promised by the caller.
        unsafe { pointer(to).copy_from_nonoverlapping(from, bytes) };
        Ok(())
    }

    unsafe fn download(&self, to: *mut u8, from: u64, bytes: usize) -> Result<(), Error> {
        let mut state = self.state();
        if let Some(unwritten) = state
            .written(from, bytes)
            .iter()
            .position(|&written| !written)
        {
            return Err(Error::KernelFault {
                kernel: "to_host".to_owned(),
                fault: format!("byte {unwritten} of {bytes} is read, which nobody has written"),
            });
        }
        // SAFETY: promised by the caller.
        unsafe { to.copy_from_nonoverlapping(pointer(from), bytes) };
        Ok(())
    }

    unsafe fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), Error> {
        let mut state = self.state();
        let written = state.written(from, bytes).to_vec();
        state.written(to, bytes).copy_from_slice(&written);
        // SAFETY: promised by the caller.
        unsafe { pointer(to).copy_from_nonoverlapping(pointer(from), bytes) };
        Ok(())
    }

    fn load(&self, unit: &Unit) -> Result<usize, Error> {
        let compiled = Compiled::of(unit)?;
        let mut state = self.state();
        state.loaded.push(compiled);
        Ok(state.loaded.len() - 1)
    }

    unsafe fn launch(
        &self,
        loaded: usize,
        kernel: &Kernel,
        grid: [u32; 3],
        arguments: &[&[u8]],
    ) -> Result<(), Error> {
        let mut state = self.state();
        let compiled = Arc::clone(&state.loaded[loaded]);
        let allocations: Vec<RawAllocation> = state
            .allocations
            .values_mut()
            .map(|memory| RawAllocation {
                start: memory.start.as_ptr().cast(),
                bytes: memory.layout.size() as u64,
                written: memory.written.as_mut_ptr(),
            })
            .collect();
        // SAFETY: the state is locked, so the allocations stay what they are; the rest is promised by the caller.
        unsafe { compiled.run(kernel, grid, arguments, &allocations, self.emulation.seed) }.map_err(
            |fault| Error::KernelFault {
                kernel: kernel.name.to_owned(),
                fault,
            },
        )
    }

    fn wait(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// `emu::Allocation`.
#[repr(C)]
struct RawAllocation {
    start: *mut c_char,
    bytes: u64,
    written: *mut bool,
}

/// `emu::Launch`.
#[repr(C)]
struct RawLaunch {
    kernel: *const c_char,
    grid: [u32; 3],
    block: u32,
    seed: u64,
    arguments: *const *const c_void,
    sizes: *const u64,
    argument_count: u64,
    allocations: *const RawAllocation,
    allocation_count: u64,
    report: *mut c_char,
    report_bytes: u64,
}

/// A unit that the system's compiler has compiled.
struct Compiled {
    /// The machine in it has one state, which is whoever's holds this.
    opened: Mutex<Library>,
}

/// What has been compiled in this process, by its text: it is the same for all emulated devices.
static COMPILED: Mutex<Option<HashMap<String, Arc<Compiled>>>> = Mutex::new(None);

impl Compiled {
    /// The unit, compiled once in a process.
    fn of(unit: &Unit) -> Result<Arc<Compiled>, Error> {
        let source = source(unit);
        let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
        let compiled = compiled.get_or_insert_default();
        if let Some(known) = compiled.get(&source) {
            return Ok(Arc::clone(known));
        }
        let library = Arc::new(Compiled {
            opened: Mutex::new(compile(unit.name, &source)?),
        });
        compiled.insert(source, Arc::clone(&library));
        Ok(library)
    }

    /// Runs a kernel; what it did that it may not do, if anything.
    ///
    /// # Safety
    /// The allocations are alive, nobody else touches them, and the kernel touches nothing but through the prelude.
    unsafe fn run(
        &self,
        kernel: &Kernel,
        grid: [u32; 3],
        arguments: &[&[u8]],
        allocations: &[RawAllocation],
        seed: u64,
    ) -> Result<(), String> {
        let library = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let name = CString::new(kernel.name).map_err(|error| error.to_string())?;
        // Values may lie anywhere among bytes, and the kernel reads them as what they are.
        let values: Vec<[u64; 2]> = arguments
            .iter()
            .map(|bytes| {
                let mut value = [0; 2];
                // SAFETY: no argument has more than eight bytes, and both are alive.
                unsafe {
                    std::ptr::copy_nonoverlapping(
                        bytes.as_ptr(),
                        (&raw mut value).cast(),
                        bytes.len().min(16),
                    )
                };
                value
            })
            .collect();
        let pointers: Vec<*const c_void> = values
            .iter()
            .map(|value| (&raw const *value).cast())
            .collect();
        let sizes: Vec<u64> = arguments.iter().map(|bytes| bytes.len() as u64).collect();
        let mut report = vec![0_u8; 1024];
        let launch = RawLaunch {
            kernel: name.as_ptr(),
            grid,
            block: kernel.block,
            seed,
            arguments: pointers.as_ptr(),
            sizes: sizes.as_ptr(),
            argument_count: sizes.len() as u64,
            allocations: allocations.as_ptr(),
            allocation_count: allocations.len() as u64,
            report: report.as_mut_ptr().cast(),
            report_bytes: report.len() as u64,
        };
        let symbol = format!("{RUN}{}", kernel.name);
        // SAFETY: `source` declares each of these functions so.
        let run = unsafe {
            library.get::<unsafe extern "C" fn(*const RawLaunch) -> bool>(symbol.as_bytes())
        };
        let run = run.map_err(|_| "the unit has no such kernel".to_owned())?;
        // SAFETY: all that the launch points to is alive until it returns; the lock is held.
        if unsafe { run(&launch) } {
            return Ok(());
        }
        let end = report
            .iter()
            .position(|&byte| byte == 0)
            .unwrap_or(report.len());
        Err(String::from_utf8_lossy(&report[..end]).into_owned())
    }
}

/// What the compiler is given: behind the unit, a function for each kernel that is found by its
/// name and knows the kernel's parameters.
pub(in crate::cuda) fn source(unit: &Unit) -> String {
    let mut source = unit.source(&PRELUDE);
    source.push_str("#line 1 \"launches\"\n");
    for Kernel { name, .. } in unit.kernels {
        source.push_str(&format!(
            "extern \"C\" bool {RUN}{name}(const emu::Launch* launch) {{ return emu::run(launch, {name}); }}\n"
        ));
    }
    source
}

/// The compiler and what is asked of it besides: `CXX`, or the first of the usual names that `PATH`
/// has.
fn compiler() -> Result<Vec<OsString>, Error> {
    if let Some(named) = std::env::var("CXX")
        .ok()
        .filter(|named| !named.trim().is_empty())
    {
        return Ok(named.split_whitespace().map(OsString::from).collect());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    ["c++", "g++", "clang++"]
        .into_iter()
        .find(|name| std::env::split_paths(&path).any(|folder| folder.join(name).is_file()))
        .map(|name| vec![OsString::from(name)])
        .ok_or_else(|| {
            no_compiler("there is no `c++`, `g++` or `clang++` in PATH, and CXX is not set")
        })
}

fn no_compiler(reason: impl Into<String>) -> Error {
    Error::EmulationUnavailable {
        reason: reason.into(),
    }
}

/// A folder of our own among those for temporary files, gone when this is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> std::io::Result<Folder> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("pointful-{}-{number}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            match fs::create_dir(&folder) {
                Ok(()) => return Ok(Folder(folder)),
                // Left behind by another process of this number.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is open stays; a folder that stays is no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Compiles and opens a text.
fn compile(name: &str, source: &str) -> Result<Library, Error> {
    let command = compiler()?;
    let failed = |error: std::io::Error| {
        no_compiler(format!(
            "a file for the compiler cannot be written: {error}"
        ))
    };
    let folder = Folder::new().map_err(failed)?;
    let (text, object) = (folder.0.join("unit.cpp"), folder.0.join("unit.so"));
    fs::write(&text, source).map_err(failed)?;
    let run = Command::new(&command[0])
        .args(&command[1..])
        .args(OPTIONS)
        .arg("-o")
        .arg(&object)
        .arg(&text)
        .output();
    let output = run.map_err(|error| {
        no_compiler(format!(
            "the C++ compiler `{}` cannot be run: {error}",
            command[0].to_string_lossy()
        ))
    })?;
    if !output.status.success() {
        return Err(Error::Compilation {
            unit: name.to_owned(),
            log: String::from_utf8_lossy(&output.stderr).into_owned(),
        });
    }
    open(&object)
}

fn open(object: &Path) -> Result<Library, Error> {
    // SAFETY: it was compiled just now, and does nothing when it is loaded.
    unsafe { Library::new(object) }.map_err(|error| {
        no_compiler(format!(
            "what was compiled cannot be opened: {}",
            loader_words(&error)
        ))
    })
}
