//! What can go wrong when tables and extents are made, and the words it is said in.

use std::fmt;

/// Everything that can go wrong at run time and that a caller may want to handle.
///
/// The panicking forms of this crate's functions panic with the [`Display`](fmt::Display) form of
/// one of these.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Two parameters of a function should have rows of the same lengths and have not.
    RowMismatch {
        /// The function that was called.
        function: &'static str,
        /// The first row of different lengths, by its number.
        row: usize,
        /// The parameter that fixed the lengths.
        left: &'static str,
        /// How long the row is in `left`.
        left_length: usize,
        /// The parameter that disagrees.
        right: &'static str,
        /// How long the row is in `right`.
        right_length: usize,
    },
    /// An offset of rows of different lengths is too small or too large.
    Offsets {
        /// Its position.
        position: usize,
        /// The offset.
        value: usize,
        /// The smallest that it may be: that before it, of the last one the number of values.
        least: usize,
        /// The largest that it may be: the number of values, of the first one zero.
        most: usize,
    },
    /// Rows of different lengths were to be made of no offsets: there is one more than rows.
    NoOffsets,
    /// Two parameters of a function disagree on the size of an index set they share.
    ExtentMismatch {
        /// The function that was called.
        function: &'static str,
        /// The index set, as the function's signature names it.
        set: &'static str,
        /// The parameter that fixed the size.
        left: &'static str,
        /// The size of the set in `left`.
        left_size: String,
        /// The parameter that disagrees.
        right: &'static str,
        /// The size of the set in `right`.
        right_size: String,
    },
    /// A table was given another number of elements than its index set has members.
    Length {
        /// The index set.
        set: String,
        /// How many members it has.
        expected: usize,
        /// How many elements there were.
        found: usize,
    },
    /// A vector was to be made of another number of coordinates than it has.
    Coordinates {
        /// How many it has.
        expected: usize,
        /// How many there were.
        found: usize,
    },
    /// An index set would have more members than memory could ever hold elements.
    Overflow {
        /// The index set.
        set: String,
        /// The size asked for.
        size: String,
    },
    /// An element of a table of indices is no member of the set the table indexes.
    InvalidIndex {
        /// The position of the element, in row-major order.
        position: usize,
        /// The element.
        value: usize,
        /// The set it should be a member of.
        set: String,
        /// How many members the set has.
        len: usize,
    },
    /// An index is outside the set it should be a member of.
    IndexOutOfRange {
        /// What was indexed.
        what: String,
        /// The index.
        index: i64,
        /// How many members the set has.
        len: usize,
    },
    /// An array's number of axes is not the rank of the index set it should become a table over.
    Rank {
        /// The index set.
        set: String,
        /// Its rank.
        expected: usize,
        /// The array's number of axes.
        found: usize,
    },
    /// An axis of an array has not the length that an index set of fixed size prescribes.
    Axis {
        /// The index set.
        set: String,
        /// Its number of members.
        expected: usize,
        /// The axis' length.
        found: usize,
    },
    /// The length of an axis does not tell the size of the index set, so the extent must be given.
    Undetermined {
        /// The index set.
        set: String,
    },
    /// An array that should be viewed as a table without a copy is not contiguous in row-major
    /// order.
    NotContiguous,
    /// A function was given a table that lives on a device, and does not run there.
    #[cfg(feature = "device")]
    OnDevice {
        /// The function that was called.
        function: &'static str,
        /// The first of its parameters that lives there.
        parameter: &'static str,
        /// The device.
        device: String,
        /// Why it does not run there.
        reason: String,
    },
    /// Two parameters of a function live in different places.
    #[cfg(feature = "device")]
    Devices {
        /// The function that was called.
        function: &'static str,
        /// A parameter.
        left: &'static str,
        /// Where `left` lives.
        left_device: String,
        /// The parameter that lives elsewhere.
        right: &'static str,
        /// Where `right` lives.
        right_device: String,
    },
    /// A device has not as much memory as was asked for.
    #[cfg(feature = "device")]
    OutOfDeviceMemory {
        /// The device.
        device: String,
        /// How many bytes were asked for.
        bytes: usize,
    },
    /// The text of kernels does not compile.
    #[cfg(feature = "device")]
    Compilation {
        /// What the text is called.
        unit: String,
        /// What the compiler said.
        log: String,
    },
    /// There is no CUDA device to be had.
    #[cfg(feature = "cuda")]
    CudaUnavailable {
        /// What is missing.
        reason: String,
    },
    /// A call of CUDA's failed: this one, or the work that was queued before it.
    #[cfg(feature = "cuda")]
    Cuda {
        /// The function of CUDA's.
        call: &'static str,
        /// What it returned.
        code: i32,
    },
    /// There is no compiler for the emulated device.
    #[cfg(feature = "emulated")]
    EmulationUnavailable {
        /// What is missing.
        reason: String,
    },
    /// A kernel on the emulated device did what it may not do.
    #[cfg(feature = "emulated")]
    KernelFault {
        /// The kernel.
        kernel: String,
        /// What it did, and which thread and block it was.
        fault: String,
    },
}

/// `1 member`, `3 members`.
struct Members(usize);

impl fmt::Display for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.0 == 1 { "" } else { "s" };
        write!(f, "{} member{plural}", self.0)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::ExtentMismatch {
                function,
                set,
                left,
                left_size,
                right,
                right_size,
            } => write!(
                f,
                "`{function}`: parameters `{left}` and `{right}` disagree on the size of `{set}`: \
                 {left_size} in `{left}`, {right_size} in `{right}`"
            ),
            Error::RowMismatch {
                function,
                row,
                left,
                left_length,
                right,
                right_length,
            } => write!(
                f,
                "`{function}`: parameters `{left}` and `{right}` disagree on the length of row {row}: \
                 {left_length} in `{left}`, {right_length} in `{right}`"
            ),
            Error::Offsets {
                position,
                value,
                least,
                most,
            } => {
                write!(f, "offset {position} is {value}, but should be ")?;
                match least == most {
                    true => write!(f, "{most}"),
                    false => write!(f, "from {least} to {most}"),
                }
            }
            Error::NoOffsets => {
                write!(f, "there is one offset more than rows, but there were none")
            }
            Error::Length {
                set,
                expected,
                found,
            } => {
                let (have, plural) = if *found == 1 {
                    ("was", "")
                } else {
                    ("were", "s")
                };
                write!(
                    f,
                    "`{set}` has {}, but there {have} {found} element{plural}",
                    Members(*expected)
                )
            }
            Error::Coordinates { expected, found } => {
                let plural = if *expected == 1 { "" } else { "s" };
                write!(
                    f,
                    "a vector of {expected} coordinate{plural} cannot be made of {found}"
                )
            }
            Error::Overflow { set, size } => {
                write!(
                    f,
                    "`{set}` of size {size} has more members than fit in memory"
                )
            }
            Error::InvalidIndex {
                position,
                value,
                set,
                len,
            } => write!(
                f,
                "element {position} is {value}, which is no member of `{set}`, a set of {}",
                Members(*len)
            ),
            Error::IndexOutOfRange { what, index, len } => {
                write!(
                    f,
                    "index {index} is out of range for {what} of {}",
                    Members(*len)
                )
            }
            Error::Rank {
                set,
                expected,
                found,
            } => {
                let plural = if *expected == 1 { "axis" } else { "axes" };
                write!(
                    f,
                    "`{set}` has {expected} {plural}, but the array has {found}"
                )
            }
            Error::Axis {
                set,
                expected,
                found,
            } => {
                write!(
                    f,
                    "`{set}` has {}, but the array's axis has length {found}",
                    Members(*expected)
                )
            }
            Error::Undetermined { set } => {
                write!(
                    f,
                    "the length of an axis does not tell the size of `{set}`: give the extent"
                )
            }
            Error::NotContiguous => {
                write!(
                    f,
                    "the array is not contiguous in row-major order, so it cannot be viewed without a copy"
                )
            }
            #[cfg(feature = "device")]
            Error::OnDevice {
                function,
                parameter,
                device,
                reason,
            } => write!(
                f,
                "`{function}`: `{parameter}` lives on {device}, and {reason}: `to_host()` brings it here"
            ),
            #[cfg(feature = "device")]
            Error::Devices {
                function,
                left,
                left_device,
                right,
                right_device,
            } => write!(
                f,
                "`{function}`: `{left}` lives on {left_device}, and `{right}` on {right_device}"
            ),
            #[cfg(feature = "device")]
            Error::OutOfDeviceMemory { device, bytes } => write!(
                f,
                "{bytes} bytes of memory were asked for, and {device} has not as many"
            ),
            #[cfg(feature = "device")]
            Error::Compilation { unit, log } => {
                write!(
                    f,
                    "the kernels of `{unit}` do not compile: {}",
                    log.trim_end()
                )
            }
            #[cfg(feature = "cuda")]
            Error::CudaUnavailable { reason } => write!(f, "CUDA is not available: {reason}"),
            #[cfg(feature = "cuda")]
            Error::Cuda { call, code } => write!(f, "`{call}` failed with CUDA's error {code}"),
            #[cfg(feature = "emulated")]
            Error::EmulationUnavailable { reason } => {
                write!(f, "there is no emulated device: {reason}")
            }
            #[cfg(feature = "emulated")]
            Error::KernelFault { kernel, fault } => write!(f, "kernel `{kernel}`: {fault}"),
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_reads_as_promised() {
        let cases = [
            (
                Error::ExtentMismatch {
                    function: "matmul",
                    set: "K",
                    left: "a",
                    left_size: "3".into(),
                    right: "b",
                    right_size: "4".into(),
                },
                "`matmul`: parameters `a` and `b` disagree on the size of `K`: 3 in `a`, 4 in `b`",
            ),
            (
                Error::Length {
                    set: "Fin<3>".into(),
                    expected: 3,
                    found: 2,
                },
                "`Fin<3>` has 3 members, but there were 2 elements",
            ),
            (
                Error::Length {
                    set: "()".into(),
                    expected: 1,
                    found: 0,
                },
                "`()` has 1 member, but there were 0 elements",
            ),
            (
                Error::RowMismatch {
                    function: "dot",
                    row: 2,
                    left: "a",
                    left_length: 3,
                    right: "b",
                    right_length: 0,
                },
                "`dot`: parameters `a` and `b` disagree on the length of row 2: 3 in `a`, 0 in `b`",
            ),
            (
                Error::Offsets {
                    position: 0,
                    value: 1,
                    least: 0,
                    most: 0,
                },
                "offset 0 is 1, but should be 0",
            ),
            (
                Error::Offsets {
                    position: 3,
                    value: 1,
                    least: 2,
                    most: 7,
                },
                "offset 3 is 1, but should be from 2 to 7",
            ),
            (
                Error::NoOffsets,
                "there is one offset more than rows, but there were none",
            ),
            (
                Error::Overflow {
                    set: "(Dyn, Dyn)".into(),
                    size: "(1, 2)".into(),
                },
                "`(Dyn, Dyn)` of size (1, 2) has more members than fit in memory",
            ),
            (
                Error::InvalidIndex {
                    position: 2,
                    value: 7,
                    set: "Pixel".into(),
                    len: 5,
                },
                "element 2 is 7, which is no member of `Pixel`, a set of 5 members",
            ),
            (
                Error::IndexOutOfRange {
                    what: "`x`".into(),
                    index: -1,
                    len: 5,
                },
                "index -1 is out of range for `x` of 5 members",
            ),
            (
                Error::Rank {
                    set: "(Row, Col)".into(),
                    expected: 2,
                    found: 3,
                },
                "`(Row, Col)` has 2 axes, but the array has 3",
            ),
            (
                Error::Axis {
                    set: "Fin<3>".into(),
                    expected: 3,
                    found: 4,
                },
                "`Fin<3>` has 3 members, but the array's axis has length 4",
            ),
            (
                Error::Undetermined {
                    set: "Either<Row, Col>".into(),
                },
                "the length of an axis does not tell the size of `Either<Row, Col>`: give the extent",
            ),
            (
                Error::NotContiguous,
                "the array is not contiguous in row-major order, so it cannot be viewed without a copy",
            ),
        ];
        for (error, text) in cases {
            assert_eq!(error.to_string(), text);
        }
    }
}
