//! Elementary functions and the language's arithmetic on the emulated device: the bits of
//! `pointful-math`, and of Rust.

use pointful_runtime::cuda::{Emulation, Kernel, Unit, launch};
use pointful_runtime::private::Buf;
use pointful_runtime::{Device, kernel::OutBuf};

/// Numbers that look random and are the same each time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// A number that a kernel takes and gives.
trait Sampled: Copy + PartialEq + std::fmt::Debug + 'static {
    const NAME: &'static str;
    /// One of all kinds of numbers.
    fn sample(random: &mut Random, number: usize) -> Self;
    /// Whether two are the same, to the bit; what is no number is as good as another.
    fn same(self, other: Self) -> bool;
}

macro_rules! float {
    ($T:ident, $Bits:ident) => {
        impl Sampled for $T {
            const NAME: &'static str = stringify!($T);

            fn sample(random: &mut Random, number: usize) -> Self {
                const SPECIAL: [$T; 20] = [
                    0.0,
                    -0.0,
                    1.0,
                    -1.0,
                    0.5,
                    -0.5,
                    2.0,
                    3.0,
                    -3.0,
                    1e-9,
                    1e9,
                    $T::INFINITY,
                    $T::NEG_INFINITY,
                    $T::NAN,
                    $T::MAX,
                    $T::MIN_POSITIVE,
                    $T::EPSILON,
                    4096.0,
                    1048576.0,
                    88.5,
                ];
                let bits = random.next();
                match number {
                    0..400 => {
                        SPECIAL[if number / 20 % 2 == 0 {
                            number % 20
                        } else {
                            number / 20
                        }]
                    }
                    // Of any magnitude, near one, of moderate size, and integers.
                    _ if number % 4 == 0 => $T::from_bits(bits as $Bits),
                    _ if number % 4 == 1 => (bits >> 11) as $T / (1_u64 << 52) as $T - 1.0,
                    _ if number % 4 == 2 => (bits as i64 >> 20) as $T / (1_u64 << 36) as $T,
                    _ => (bits % 200) as $T - 100.0,
                }
            }

            fn same(self, other: Self) -> bool {
                self.to_bits() == other.to_bits() || self.is_nan() && other.is_nan()
            }
        }
    };
}

float!(f32, u32);
float!(f64, u64);

macro_rules! integer {
    ($($T:ident)*) => {$(
        impl Sampled for $T {
            const NAME: &'static str = stringify!($T);

            fn sample(random: &mut Random, number: usize) -> Self {
                const SPECIAL: [$T; 5] = [0, 1, $T::MAX, $T::MIN, $T::MAX - 1];
                let bits = random.next();
                match number {
                    0..25 => SPECIAL[if number / 5 % 2 == 0 { number % 5 } else { number / 5 }],
                    _ if number % 2 == 0 => bits as $T,
                    _ => (bits % 17) as $T,
                }
            }

            fn same(self, other: Self) -> bool {
                self == other
            }
        }
    )*};
}

integer!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

impl Sampled for bool {
    const NAME: &'static str = "bool";

    fn sample(random: &mut Random, _: usize) -> Self {
        random.next().is_multiple_of(2)
    }

    fn same(self, other: Self) -> bool {
        self == other
    }
}

/// An expression of `x` and `y`, and what it is to give.
struct Case<T, U> {
    text: &'static str,
    expected: fn(T, T) -> U,
}

/// Compiles all expressions as kernels of one unit and compares what they give for many numbers.
fn agree<T: Sampled, U: Sampled>(cases: &[Case<T, U>], count: usize) {
    let mut text = String::new();
    let mut kernels = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let (name, from, to) = (format!("case_{number}"), T::NAME, U::NAME);
        text.push_str(&format!(
            "KERNEL(256, 1) {name}(usize n, const {from}* xs, const {from}* ys, {to}* out) {{
               for (usize i = (usize)blockIdx.x * 256 + threadIdx.x; i < n; i += (usize)gridDim.x * 256) {{
                 {from} x = LD(xs, i), y = LD(ys, i);
                 ST(out, i, ({to})({}));
               }}
             }}\n",
            case.text
        ));
        kernels.push(Kernel {
            name: name.leak(),
            block: 256,
        });
    }
    let unit: &'static Unit = Box::leak(Box::new(Unit {
        name: "cases.cu",
        text: text.leak(),
        kernels: kernels.leak(),
        definitions: &[],
    }));
    let random = &mut Random(1);
    let xs: Vec<T> = (0..count).map(|k| T::sample(random, k)).collect();
    // Each special one with each other.
    let ys: Vec<T> = (0..count)
        .map(|k| T::sample(random, k / 20 + k % 20 * 20))
        .collect();
    let device = Device::emulate(Emulation::default());
    let moved = |values: &[T]| {
        Buf::from_vec(values.to_vec())
            .to_device(&device)
            .expect("moved")
    };
    let (there, theirs) = (moved(&xs), moved(&ys));
    for (kernel, case) in unit.kernels.iter().zip(cases) {
        let mut out = OutBuf::<U>::on(&device, count).expect("there is memory");
        let arguments = [
            count.into(),
            pointful_runtime::cuda::Argument::buffer("x", &there),
            pointful_runtime::cuda::Argument::buffer("y", &theirs),
            out.argument("out"),
        ];
        // SAFETY: as the kernel declares, which writes all of `out`.
        let found = unsafe {
            launch(unit, kernel.name, [2, 1, 1], &arguments).expect("it runs");
            out.assume_init()
        };
        let found = found.to_host().expect("moved back");
        for ((&x, &y), &found) in xs.iter().zip(&ys).zip(found.iter()) {
            let expected = (case.expected)(x, y);
            assert!(
                expected.same(found),
                "{} of {x:?} and {y:?} in {}: {found:?}, not {expected:?}",
                case.text,
                T::NAME
            );
        }
    }
}

/// Cases whose function is one of `pointful-math`.
macro_rules! elementary {
    ($($unary:ident)*; $($binary:ident)*) => {
        &[
            $(Case { text: concat!("math::", stringify!($unary), "(x)"), expected: |x, _| pointful_math::$unary(x) },)*
            $(Case { text: concat!("math::", stringify!($binary), "(x, y)"), expected: |x, y| pointful_math::$binary(x, y) },)*
        ]
    };
}

macro_rules! all_elementary {
    () => {
        elementary!(
            exp exp2 exp_m1 ln log2 log10 ln_1p sin cos tan asin acos atan sinh cosh tanh asinh acosh
            atanh cbrt; atan2 powf hypot
        )
    };
}

#[test]
fn elementary_functions_have_the_bits_of_the_host_in_singles() {
    agree::<f32, f32>(all_elementary!(), 20_000);
}

#[test]
fn elementary_functions_have_the_bits_of_the_host_in_doubles() {
    agree::<f64, f64>(all_elementary!(), 20_000);
}

macro_rules! case {
    ($text:literal, |$x:ident, $y:ident| $expected:expr) => {
        Case {
            text: $text,
            expected: |$x, $y| {
                let _ = $y;
                $expected
            },
        }
    };
}

macro_rules! of_floats {
    ($T:ident) => {
        agree::<$T, $T>(
            &[
                case!("fmod(x, y)", |x, y| x % y),
                case!("least_of(x, y)", |x, y| pointful_runtime::kernel::min(x, y)),
                case!("greatest_of(x, y)", |x, y| pointful_runtime::kernel::max(
                    x, y
                )),
                case!("mul_absorb(x, y)", |x, y| {
                    pointful_runtime::kernel::mul_absorb(x, y)
                }),
                case!("div_absorb(x, y)", |x, y| {
                    pointful_runtime::kernel::div_absorb(x, y)
                }),
                case!("signum_of_float(x)", |x, y| x.signum()),
                case!("div_euclid(x, y)", |x, y| x.div_euclid(y)),
                case!("rem_euclid(x, y)", |x, y| x.rem_euclid(y)),
                case!("powi(x, 5)", |x, y| std::hint::black_box(x)
                    .powi(std::hint::black_box(5))),
                case!("powi(x, -3)", |x, y| std::hint::black_box(x)
                    .powi(std::hint::black_box(-3))),
                case!("fma(x, y, x)", |x, y| x.mul_add(y, x)),
                case!("sqrt(x)", |x, y| x.sqrt()),
                case!("copysign(x, y)", |x, y| x.copysign(y)),
                case!("floor(x)", |x, y| x.floor()),
                case!("ceil(x)", |x, y| x.ceil()),
                case!("round(x)", |x, y| x.round()),
                case!("trunc(x)", |x, y| x.trunc()),
            ],
            4000,
        );
        agree::<$T, bool>(
            &[
                case!("is_finite(x)", |x, y| x.is_finite()),
                case!("is_sign_negative(x)", |x, y| x.is_sign_negative()),
            ],
            4000,
        );
        agree::<$T, i8>(&[case!("saturating<i8>(x)", |x, y| x as i8)], 4000);
        agree::<$T, i32>(&[case!("saturating<i32>(x)", |x, y| x as i32)], 4000);
        agree::<$T, i64>(&[case!("saturating<i64>(x)", |x, y| x as i64)], 4000);
        agree::<$T, u16>(&[case!("saturating<u16>(x)", |x, y| x as u16)], 4000);
        agree::<$T, u64>(&[case!("saturating<u64>(x)", |x, y| x as u64)], 4000);
    };
}

#[test]
fn arithmetic_of_floats_is_rusts() {
    of_floats!(f32);
    of_floats!(f64);
}

macro_rules! of_integers {
    ($($T:ident)*) => {$(
        agree::<$T, $T>(
            &[
                case!("wrapping_add(x, y)", |x, y| x.wrapping_add(y)),
                case!("wrapping_sub(x, y)", |x, y| x.wrapping_sub(y)),
                case!("wrapping_mul(x, y)", |x, y| x.wrapping_mul(y)),
                case!("wrapping_neg(x)", |x, y| x.wrapping_neg()),
                case!("wrapping_pow(x, (u32)y & 31)", |x, y| x.wrapping_pow(y as u32 & 31)),
                case!("shl(x, (u32)y)", |x, y| x.wrapping_shl(y as u32)),
                case!("shr(x, (u32)y)", |x, y| x.wrapping_shr(y as u32)),
                case!("rotate_left(x, (u32)y)", |x, y| x.rotate_left(y as u32)),
                case!("rotate_right(x, (u32)y)", |x, y| x.rotate_right(y as u32)),
                case!("reverse_bits(x)", |x, y| x.reverse_bits()),
                case!("swap_bytes(x)", |x, y| x.swap_bytes()),
                case!("divides(x, y) ? quotient(x, y) : x", |x, y| x.checked_div(y).unwrap_or(x)),
                case!("divides(x, y) ? remainder_of(x, y) : x", |x, y| x.checked_rem(y).unwrap_or(x)),
                case!("divides(x, y) ? quotient_euclid(x, y) : x", |x, y| x.checked_div_euclid(y).unwrap_or(x)),
                case!("divides(x, y) ? remainder_euclid(x, y) : x", |x, y| x.checked_rem_euclid(y).unwrap_or(x)),
            ],
            1000,
        );
        agree::<$T, u32>(
            &[
                case!("count_ones(x)", |x, y| x.count_ones()),
                case!("leading_zeros(x)", |x, y| x.leading_zeros()),
                case!("trailing_zeros(x)", |x, y| x.trailing_zeros()),
            ],
            1000,
        );
        agree::<$T, usize>(
            &[
                case!("wrap((i64)x, 7)", |x, y| pointful_runtime::kernel::Place::wrap_here(x, 7)),
                case!("clamp_to((i64)x, 7)", |x, y| pointful_runtime::kernel::Place::clamp_here(x, 7)),
                case!("mirror((i64)x, 7)", |x, y| pointful_runtime::kernel::Place::mirror_here(x, 7)),
                case!("mirror((i64)x, 1)", |x, y| pointful_runtime::kernel::Place::mirror_here(x, 1)),
            ],
            1000,
        );
    )*};
}

#[test]
fn arithmetic_of_integers_is_rusts() {
    of_integers!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);
    macro_rules! signed {
        ($($T:ident)*) => {$(
            agree::<$T, $T>(
                &[
                    case!("wrapping_abs(x)", |x, y| x.wrapping_abs()),
                    case!("signum(x)", |x, y| x.signum()),
                ],
                1000,
            );
        )*};
    }
    signed!(i8 i16 i32 i64 isize);
}
