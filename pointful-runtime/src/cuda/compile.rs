//! Compiling a unit for a card, by NVRTC.

use std::ffi::{CStr, CString, c_char, c_int};
use std::path::Path;
use std::ptr;

use libloading::Library;

use super::library;
use super::loader_words;
use super::unit::Unit;
use crate::error::Error;

/// What stands in front of a unit's text.
const PRELUDE: [(&str, &str); 1] = [("card.cu", include_str!("prelude/card.cu"))];

/// What is compiled: text, and what is asked of the compiler.
pub(super) struct Request {
    /// What messages call the text.
    pub(super) name: &'static str,
    pub(super) source: String,
    pub(super) options: Vec<String>,
}

impl Request {
    /// A unit for cards of this compute capability.
    pub(super) fn new(unit: &Unit, capability: (i32, i32)) -> Self {
        Request {
            name: unit.name,
            source: unit.source(&PRELUDE),
            options: options(capability),
        }
    }
}

/// What is asked of NVRTC for cards of this compute capability.
///
/// Products and sums are fused only where the text says so. Without further options division and
/// square root are IEEE's, and numbers near zero are kept.
fn options((major, minor): (i32, i32)) -> Vec<String> {
    vec![
        format!("--gpu-architecture=sm_{major}{minor}"),
        "--std=c++17".to_owned(),
        "--fmad=false".to_owned(),
    ]
}

/// What NVRTC made of a request.
#[derive(Debug)]
pub struct Compiled {
    /// Code for the card.
    pub cubin: Vec<u8>,
    /// What the compiler said all the same.
    pub log: String,
}

/// Compiles a unit by the NVRTC that is found, with options besides ours.
///
/// # Errors
/// [`Error::CudaUnavailable`] if there is no NVRTC; [`Error::Compilation`] with its words.
pub fn compile_with(
    unit: &Unit,
    capability: (i32, i32),
    more: &[&str],
) -> Result<(Compiled, (i32, i32)), Error> {
    let nvrtc = library::nvrtc(None)?;
    let mut request = Request::new(unit, capability);
    request
        .options
        .extend(more.iter().map(|option| (*option).to_owned()));
    Ok((nvrtc.compile(&request)?, nvrtc.version()))
}

/// A program of NVRTC's.
type Program = *mut std::ffi::c_void;

/// NVRTC, opened.
pub struct Nvrtc {
    version: (i32, i32),
    create: unsafe extern "C" fn(
        *mut Program,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> c_int,
    compile: unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int,
    destroy: unsafe extern "C" fn(*mut Program) -> c_int,
    cubin_size: unsafe extern "C" fn(Program, *mut usize) -> c_int,
    cubin: unsafe extern "C" fn(Program, *mut c_char) -> c_int,
    log_size: unsafe extern "C" fn(Program, *mut usize) -> c_int,
    log: unsafe extern "C" fn(Program, *mut c_char) -> c_int,
    error: unsafe extern "C" fn(c_int) -> *const c_char,
    /// What the functions are in.
    _library: Library,
}

impl Nvrtc {
    /// The library in this file, or of this name; in words, why it will not do.
    pub(super) fn open(path: &Path) -> Result<Nvrtc, String> {
        // SAFETY: NVRTC may be loaded at any time.
        let library = unsafe { Library::new(path) }.map_err(|error| {
            format!(
                "`{}` cannot be opened: {}",
                path.display(),
                loader_words(&error)
            )
        })?;
        macro_rules! function {
            ($name:literal) => {{
                // SAFETY: so NVRTC declares it, from CUDA 11.1 on.
                let found = unsafe { library.get($name.as_bytes()) };
                *found.map_err(|_| format!("`{}` has no `{}`", path.display(), $name))?
            }};
        }
        let version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int =
            function!("nvrtcVersion");
        let (mut major, mut minor) = (0, 0);
        // SAFETY: it writes two numbers.
        unsafe { version(&mut major, &mut minor) };
        Ok(Nvrtc {
            version: (major, minor),
            create: function!("nvrtcCreateProgram"),
            compile: function!("nvrtcCompileProgram"),
            destroy: function!("nvrtcDestroyProgram"),
            cubin_size: function!("nvrtcGetCUBINSize"),
            cubin: function!("nvrtcGetCUBIN"),
            log_size: function!("nvrtcGetProgramLogSize"),
            log: function!("nvrtcGetProgramLog"),
            error: function!("nvrtcGetErrorString"),
            _library: library,
        })
    }

    /// The CUDA that it is of.
    pub(super) fn version(&self) -> (i32, i32) {
        self.version
    }

    pub(super) fn compile(&self, request: &Request) -> Result<Compiled, Error> {
        let failed = |log: String| Error::Compilation {
            unit: request.name.to_owned(),
            log,
        };
        let text = |text: &str| CString::new(text).map_err(|error| failed(error.to_string()));
        let (source, name) = (text(&request.source)?, text(request.name)?);
        let options: Vec<CString> = request
            .options
            .iter()
            .map(|option| text(option))
            .collect::<Result<_, _>>()?;
        let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();

        let mut program = ptr::null_mut();
        // SAFETY: both strings end in a zero and are alive; there are no headers.
        let code = unsafe {
            (self.create)(
                &mut program,
                source.as_ptr(),
                name.as_ptr(),
                0,
                ptr::null(),
                ptr::null(),
            )
        };
        if code != 0 {
            return Err(failed(self.words(code)));
        }
        let program = Guard {
            program,
            nvrtc: self,
        };
        // SAFETY: the program is alive, and so are the options.
        let code =
            unsafe { (self.compile)(program.program, options.len() as c_int, options.as_ptr()) };
        let log = program.bytes(self.log_size, self.log);
        let log = log.map(|log| {
            String::from_utf8_lossy(&log)
                .trim_end_matches('\0')
                .to_owned()
        });
        if code != 0 {
            let log = log.unwrap_or_default();
            let words = self.words(code);
            return Err(failed(format!(
                "{words} (NVRTC {}.{})\n{log}",
                self.version.0, self.version.1
            )));
        }
        match (program.bytes(self.cubin_size, self.cubin), log) {
            (Ok(cubin), Ok(log)) => Ok(Compiled { cubin, log }),
            (Err(code), _) | (_, Err(code)) => Err(failed(self.words(code))),
        }
    }

    /// What a code means.
    fn words(&self, code: c_int) -> String {
        // SAFETY: it gives a string that is never freed, for any code.
        let words = unsafe { (self.error)(code) };
        if words.is_null() {
            return format!("error {code}");
        }
        // SAFETY: as above.
        unsafe { CStr::from_ptr(words) }
            .to_string_lossy()
            .into_owned()
    }
}

/// A program, destroyed when this is dropped.
struct Guard<'a> {
    program: Program,
    nvrtc: &'a Nvrtc,
}

impl Guard<'_> {
    /// What a pair of functions gives: its length, and it.
    fn bytes(
        &self,
        size: unsafe extern "C" fn(Program, *mut usize) -> c_int,
        get: unsafe extern "C" fn(Program, *mut c_char) -> c_int,
    ) -> Result<Vec<u8>, c_int> {
        let mut length = 0;
        // SAFETY: the program is alive.
        match unsafe { size(self.program, &mut length) } {
            0 => {}
            code => return Err(code),
        }
        let mut bytes = vec![0_u8; length];
        // SAFETY: as many bytes are there as it says.
        match unsafe { get(self.program, bytes.as_mut_ptr().cast()) } {
            0 => Ok(bytes),
            code => Err(code),
        }
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        // SAFETY: it was created, and is not used any more.
        unsafe { (self.nvrtc.destroy)(&mut self.program) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_fused_but_what_the_text_fuses() {
        assert_eq!(
            options((9, 0)),
            ["--gpu-architecture=sm_90", "--std=c++17", "--fmad=false"]
        );
    }

    #[test]
    fn a_request_is_prelude_definitions_and_text_in_this_order() {
        let unit = Unit {
            name: "some.cu",
            text: "// the text",
            kernels: &[],
            definitions: &[("N", "3"), ("SCALE", "2.5f")],
        };
        let request = Request::new(&unit, (8, 0));
        let places = [
            "#line 1 \"card.cu\"\n",
            "#line 1 \"base.cu\"\n",
            "#line 1 \"definitions\"\n#define N 3\n#define SCALE 2.5f\n",
            "#line 1 \"some.cu\"\n// the text\n",
        ]
        .map(|part| request.source.find(part).expect(part));
        assert!(places.is_sorted());
        assert_eq!(request.options[0], "--gpu-architecture=sm_80");
    }

    #[test]
    fn what_is_no_library_is_refused_in_words() {
        let reason = Nvrtc::open(Path::new("/nowhere/libnvrtc.so.12"))
            .err()
            .expect("refused");
        assert!(
            reason.starts_with("`/nowhere/libnvrtc.so.12` cannot be opened: "),
            "{reason}"
        );
    }
}
