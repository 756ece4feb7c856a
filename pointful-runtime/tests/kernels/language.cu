// Every function of the preludes that texts are made of, in every type.

KERNEL(256, 1) elementary_f32(usize n, const f32* __restrict__ xs, f32* __restrict__ out) {
  for (usize i = (usize)blockIdx.x * 256 + threadIdx.x; i < n; i += (usize)gridDim.x * 256) {
    f32 x = LD(xs, i), y = x + 1;
    f32 sum = 0;
    sum = sum + math::exp(x);
    sum = sum + math::exp2(x);
    sum = sum + math::exp_m1(x);
    sum = sum + math::ln(x);
    sum = sum + math::log2(x);
    sum = sum + math::log10(x);
    sum = sum + math::ln_1p(x);
    sum = sum + math::sin(x);
    sum = sum + math::cos(x);
    sum = sum + math::tan(x);
    sum = sum + math::asin(x);
    sum = sum + math::acos(x);
    sum = sum + math::atan(x);
    sum = sum + math::sinh(x);
    sum = sum + math::cosh(x);
    sum = sum + math::tanh(x);
    sum = sum + math::asinh(x);
    sum = sum + math::acosh(x);
    sum = sum + math::atanh(x);
    sum = sum + math::cbrt(x);
    sum = sum + math::atan2(x, y);
    sum = sum + math::powf(x, y);
    sum = sum + math::hypot(x, y);
    sum = sum + fmod(x, y);
    sum = sum + least_of(x, y);
    sum = sum + greatest_of(x, y);
    sum = sum + mul_absorb(x, y);
    sum = sum + div_absorb(x, y);
    sum = sum + signum_of_float(x);
    sum = sum + div_euclid(x, y);
    sum = sum + rem_euclid(x, y);
    sum = sum + powi(x, 5);
    sum = sum + fma(x, y, x);
    sum = sum + sqrt(x);
    sum = sum + copysign(x, y);
    sum = sum + floor(x);
    sum = sum + ceil(x);
    sum = sum + round(x);
    sum = sum + trunc(x);
    sum = sum + fabs(x);
    sum = sum + is_finite(x) + is_sign_negative(x) + (f32)saturating<i8>(x) + (f32)saturating<u64>(x);
    ST(out, i, sum);
  }
}

KERNEL(256, 1) elementary_f64(usize n, const f64* __restrict__ xs, f64* __restrict__ out) {
  for (usize i = (usize)blockIdx.x * 256 + threadIdx.x; i < n; i += (usize)gridDim.x * 256) {
    f64 x = LD(xs, i), y = x + 1;
    f64 sum = 0;
    sum = sum + math::exp(x);
    sum = sum + math::exp2(x);
    sum = sum + math::exp_m1(x);
    sum = sum + math::ln(x);
    sum = sum + math::log2(x);
    sum = sum + math::log10(x);
    sum = sum + math::ln_1p(x);
    sum = sum + math::sin(x);
    sum = sum + math::cos(x);
    sum = sum + math::tan(x);
    sum = sum + math::asin(x);
    sum = sum + math::acos(x);
    sum = sum + math::atan(x);
    sum = sum + math::sinh(x);
    sum = sum + math::cosh(x);
    sum = sum + math::tanh(x);
    sum = sum + math::asinh(x);
    sum = sum + math::acosh(x);
    sum = sum + math::atanh(x);
    sum = sum + math::cbrt(x);
    sum = sum + math::atan2(x, y);
    sum = sum + math::powf(x, y);
    sum = sum + math::hypot(x, y);
    sum = sum + fmod(x, y);
    sum = sum + least_of(x, y);
    sum = sum + greatest_of(x, y);
    sum = sum + mul_absorb(x, y);
    sum = sum + div_absorb(x, y);
    sum = sum + signum_of_float(x);
    sum = sum + div_euclid(x, y);
    sum = sum + rem_euclid(x, y);
    sum = sum + powi(x, 5);
    sum = sum + fma(x, y, x);
    sum = sum + sqrt(x);
    sum = sum + copysign(x, y);
    sum = sum + floor(x);
    sum = sum + ceil(x);
    sum = sum + round(x);
    sum = sum + trunc(x);
    sum = sum + fabs(x);
    sum = sum + is_finite(x) + is_sign_negative(x) + (f64)saturating<i8>(x) + (f64)saturating<u64>(x);
    ST(out, i, sum);
  }
}

KERNEL(256, 1) arithmetic_i8(usize n, const i8* __restrict__ xs, i8* __restrict__ out, Panic* panic, u64 launch) {
  if (stopped(panic, launch)) return;
  for (usize i = (usize)blockIdx.x * 256 + threadIdx.x; i < n; i += (usize)gridDim.x * 256) {
    i8 x = LD(xs, i), y = 7;
    i8 sum = 0;
    sum = wrapping_add(sum, wrapping_add(x, y));
    sum = wrapping_add(sum, wrapping_sub(x, y));
    sum = wrapping_add(sum, wrapping_mul(x, y));
    sum = wrapping_add(sum, wrapping_neg(x));
    sum = wrapping_add(sum, wrapping_abs(x));
    sum = wrapping_add(sum, wrapping_pow(x, 9));
    sum = wrapping_add(sum, signum(x));
    sum = wrapping_add(sum, shl(x, 3));
    sum = wrapping_add(sum, shr(x, 3));
    sum = wrapping_add(sum, rotate_left(x, 3));
    sum = wrapping_add(sum, rotate_right(x, 3));
    sum = wrapping_add(sum, reverse_bits(x));
    sum = wrapping_add(sum, swap_bytes(x));
    sum = wrapping_add(sum, quotient(x, y));
    sum = wrapping_add(sum, remainder_of(x, y));
    sum = wrapping_add(sum, quotient_euclid(x, y));
    sum = wrapping_add(sum, remainder_euclid(x, y));
    sum = wrapping_add(sum, (i8)(count_ones(x)));
    sum = wrapping_add(sum, (i8)(leading_zeros(x)));
    sum = wrapping_add(sum, (i8)(trailing_zeros(x)));
    sum = wrapping_add(sum, (i8)(wrap((i64)x, 7)));
    sum = wrapping_add(sum, (i8)(clamp_to((i64)x, 7)));
    sum = wrapping_add(sum, (i8)(mirror((i64)x, 7)));
    sum = wrapping_add(sum, (i8)(part_begins(n, 7, i)));
    if (!divides(x, y) || !in_range((i64)x, n)) {
      const u64 shown[1] = {(u64)x};
      panic_at(panic, launch, i, 0, 1, shown);
      return;
    }
    ST(out, i, sum);
  }
}

KERNEL(256, 1) arithmetic_i16(usize n, const i16* __restrict__ xs, i16* __restrict__ out, Panic* panic, u64 launch) {
  if (stopped(panic, launch)) return;
  for (usize i = (usize)blockIdx.x * 256 + threadIdx.x; i < n; i += (usize)gridDim.x * 256) {
    i16 x = LD(xs, i), y = 7;
    i16 sum = 0;
    sum = wrapping_add(sum, wrapping_add(x, y));
    sum = wrapping_add(sum, wrapping_sub(x, y));
    sum = wrapping_add(sum, wrapping_mul(x, y));
    sum = wrapping_add(sum, wrapping_neg(x));
    sum = wrapping_add(sum, wrapping_abs(x));
    sum = wrapping_add(sum, wrapping_pow(x, 9));
    sum = wrapping_add(sum, signum(x));
    sum = wrapping_add(sum, shl(x, 3));
    sum = wrapping_add(sum, shr(x, 3));
    sum = wrapping_add(sum, rotate_left(x, 3));
    sum = wrapping_add(sum, rotate_right(x, 3));
    sum = wrapping_add(sum, reverse_bits(x));
    sum = wrapping_add(sum, swap_bytes(x));
    sum = wrapping_add(sum, quotient(x, y));
    sum = wrapping_add(sum, remainder_of(x, y));
    sum = wrapping_add(sum, quotient_euclid(x, y));
    sum = wrapping_add(sum, remainder_euclid(x, y));
    sum = wrapping_add(sum, (i16)(count_ones(x)));
    sum = wrapping_add(sum, (i16)(leading_zeros(x)));
    sum = wrapping_add(sum, (i16)(trailing_zeros(x)));
    sum = wrapping_add(sum, (i16)(wrap((i64)x, 7)));
    sum = wrapping_add(sum, (i16)(clamp_to((i64)x, 7)));
    sum = wrapping_add(sum, (i16)(mirror((i64)x, 7)));
    sum = wrapping_add(sum, (i16)(part_begins(n, 7, i)));
    if (!divides(x, y) || !in_range((i64)x, n)) {
      const u64 shown[1] = {(u64)x};
      panic_at(panic, launch, i, 0, 1, shown);
      return;
    }
    ST(out, i, sum);
  }
}

KERNEL(256, 1) arithmetic_i32(usize n, const i32* __restrict__ xs, i32* __restrict__ out, Panic* panic, u64 launch) {
  if (stopped(panic, launch)) return;
  for (usize i = (usize)blockIdx.x * 256 + threadIdx.x; i < n; i += (usize)gridDim.x * 256) {
    i32 x = LD(xs, i), y = 7;
    i32 sum = 0;
    sum = wrapping_add(sum, wrapping_add(x, y));
    sum = wrapping_add(sum, wrapping_sub(x, y));
    sum = wrapping_add(sum, wrapping_mul(x, y));
    sum = wrapping_add(sum, wrapping_neg(x));
    sum = wrapping_add(sum, wrapping_abs(x));
    sum = wrapping_add(sum, wrapping_pow(x, 9));
    sum = wrapping_add(sum, signum(x));
    sum = wrapping_add(sum, shl(x, 3));
    sum = wrapping_add(sum, shr(x, 3));
    sum = wrapping_add(sum, rotate_left(x, 3));
    sum = wrapping_add(sum, rotate_right(x, 3));
    sum = wrapping_add(sum, reverse_bits(x));
    sum = wrapping_add(sum, swap_bytes(x));
    sum = wrapping_add(sum, quotient(x, y));
    sum = wrapping_add(sum, remainder_of(x, y));
    sum = wrapping_add(sum, quotient_euclid(x, y));
    sum = wrapping_add(sum, remainder_euclid(x, y));
    sum = wrapping_add(sum, (i32)(count_ones(x)));
    sum = wrapping_add(sum, (i32)(leading_zeros(x)));
    sum = wrapping_add(sum, (i32)(trailing_zeros(x)));
    sum = wrapping_add(sum, (i32)(wrap((i64)x, 7)));
    sum = wrapping_add(sum, (i32)(clamp_to((i64)x, 7)));
    sum = wrapping_add(sum, (i32)(mirror((i64)x, 7)));
    sum = wrapping_add(sum, (i32)(part_begins(n, 7, i)));
    if (!divides(x, y) || !in_range((i64)x, n)) {
      const u64 shown[1] = {(u64)x};
      panic_at(panic, launch, i, 0, 1, shown);
      return;
    }
    ST(out, i, sum);
  }
}

KERNEL(256, 1) arithmetic_i64(usize n, const i64* __restrict__ xs, i64* __restrict__ out, Panic* panic, u64 launch) {
  if (stopped(panic, launch)) return;
  for (usize i = (usize)blockIdx.x * 256 + threadIdx.x; i < n; i += (usize)gridDim.x * 256) {
    i64 x = LD(xs, i), y = 7;
    i64 sum = 0;
    sum = wrapping_add(sum, wrapping_add(x, y));
    sum = wrapping_add(sum, wrapping_sub(x, y));
    sum = wrapping_add(sum, wrapping_mul(x, y));
    sum = wrapping_add(sum, wrapping_neg(x));
    sum = wrapping_add(sum, wrapping_abs(x));
    sum = wrapping_add(sum, wrapping_pow(x, 9));
    sum = wrapping_add(sum, signum(x));
    sum = wrapping_add(sum, shl(x, 3));
    sum = wrapping_add(sum, shr(x, 3));
    sum = wrapping_add(sum, rotate_left(x, 3));
    sum = wrapping_add(sum, rotate_right(x, 3));
    sum = wrapping_add(sum, reverse_bits(x));
    sum = wrapping_add(sum, swap_bytes(x));
    sum = wrapping_add(sum, quotient(x, y));
    sum = wrapping_add(sum, remainder_of(x, y));
    sum = wrapping_add(sum, quotient_euclid(x, y));
    sum = wrapping_add(sum, remainder_euclid(x, y));
    sum = wrapping_add(sum, (i64)(count_ones(x)));
    sum = wrapping_add(sum, (i64)(leading_zeros(x)));
    sum = wrapping_add(sum, (i64)(trailing_zeros(x)));
    sum = wrapping_add(sum, (i64)(wrap((i64)x, 7)));
    sum = wrapping_add(sum, (i64)(clamp_to((i64)x, 7)));
    sum = wrapping_add(sum, (i64)(mirror((i64)x, 7)));
    sum = wrapping_add(sum, (i64)(part_begins(n, 7, i)));
    if (!divides(x, y) || !in_range((i64)x, n)) {
      const u64 shown[1] = {(u64)x};
      panic_at(panic, launch, i, 0, 1, shown);
      return;
    }
    ST(out, i, sum);
  }
}

KERNEL(256, 1) arithmetic_u8(usize n, const u8* __restrict__ xs, u8* __restrict__ out, Panic* panic, u64 launch) {
  if (stopped(panic, launch)) return;
  for (usize i = (usize)blockIdx.x * 256 + threadIdx.x; i < n; i += (usize)gridDim.x * 256) {
    u8 x = LD(xs, i), y = 7;
    u8 sum = 0;
    sum = wrapping_add(sum, wrapping_add(x, y));
    sum = wrapping_add(sum, wrapping_sub(x, y));
    sum = wrapping_add(sum, wrapping_mul(x, y));
    sum = wrapping_add(sum, wrapping_neg(x));
    sum = wrapping_add(sum, wrapping_abs(x));
    sum = wrapping_add(sum, wrapping_pow(x, 9));
    sum = wrapping_add(sum, signum(x));
    sum = wrapping_add(sum, shl(x, 3));
    sum = wrapping_add(sum, shr(x, 3));
    sum = wrapping_add(sum, rotate_left(x, 3));
    sum = wrapping_add(sum, rotate_right(x, 3));
    sum = wrapping_add(sum, reverse_bits(x));
    sum = wrapping_add(sum, swap_bytes(x));
    sum = wrapping_add(sum, quotient(x, y));
    sum = wrapping_add(sum, remainder_of(x, y));
    sum = wrapping_add(sum, quotient_euclid(x, y));
    sum = wrapping_add(sum, remainder_euclid(x, y));
    sum = wrapping_add(sum, (u8)(count_ones(x)));
    sum = wrapping_add(sum, (u8)(leading_zeros(x)));
    sum = wrapping_add(sum, (u8)(trailing_zeros(x)));
    sum = wrapping_add(sum, (u8)(wrap((i64)x, 7)));
    sum = wrapping_add(sum, (u8)(clamp_to((i64)x, 7)));
    sum = wrapping_add(sum, (u8)(mirror((i64)x, 7)));
    sum = wrapping_add(sum, (u8)(part_begins(n, 7, i)));
    if (!divides(x, y) || !in_range((i64)x, n)) {
      const u64 shown[1] = {(u64)x};
      panic_at(panic, launch, i, 0, 1, shown);
      return;
    }
    ST(out, i, sum);
  }
}

KERNEL(256, 1) arithmetic_u16(usize n, const u16* __restrict__ xs, u16* __restrict__ out, Panic* panic, u64 launch) {
  if (stopped(panic, launch)) return;
  for (usize i = (usize)blockIdx.x * 256 + threadIdx.x; i < n; i += (usize)gridDim.x * 256) {
    u16 x = LD(xs, i), y = 7;
    u16 sum = 0;
    sum = wrapping_add(sum, wrapping_add(x, y));
    sum = wrapping_add(sum, wrapping_sub(x, y));
    sum = wrapping_add(sum, wrapping_mul(x, y));
    sum = wrapping_add(sum, wrapping_neg(x));
    sum = wrapping_add(sum, wrapping_abs(x));
    sum = wrapping_add(sum, wrapping_pow(x, 9));
    sum = wrapping_add(sum, signum(x));
    sum = wrapping_add(sum, shl(x, 3));
    sum = wrapping_add(sum, shr(x, 3));
    sum = wrapping_add(sum, rotate_left(x, 3));
    sum = wrapping_add(sum, rotate_right(x, 3));
    sum = wrapping_add(sum, reverse_bits(x));
    sum = wrapping_add(sum, swap_bytes(x));
    sum = wrapping_add(sum, quotient(x, y));
    sum = wrapping_add(sum, remainder_of(x, y));
    sum = wrapping_add(sum, quotient_euclid(x, y));
    sum = wrapping_add(sum, remainder_euclid(x, y));
    sum = wrapping_add(sum, (u16)(count_ones(x)));
    sum = wrapping_add(sum, (u16)(leading_zeros(x)));
    sum = wrapping_add(sum, (u16)(trailing_zeros(x)));
    sum = wrapping_add(sum, (u16)(wrap((i64)x, 7)));
    sum = wrapping_add(sum, (u16)(clamp_to((i64)x, 7)));
    sum = wrapping_add(sum, (u16)(mirror((i64)x, 7)));
    sum = wrapping_add(sum, (u16)(part_begins(n, 7, i)));
    if (!divides(x, y) || !in_range((i64)x, n)) {
      const u64 shown[1] = {(u64)x};
      panic_at(panic, launch, i, 0, 1, shown);
      return;
    }
    ST(out, i, sum);
  }
}

KERNEL(256, 1) arithmetic_u32(usize n, const u32* __restrict__ xs, u32* __restrict__ out, Panic* panic, u64 launch) {
  if (stopped(panic, launch)) return;
  for (usize i = (usize)blockIdx.x * 256 + threadIdx.x; i < n; i += (usize)gridDim.x * 256) {
    u32 x = LD(xs, i), y = 7;
    u32 sum = 0;
    sum = wrapping_add(sum, wrapping_add(x, y));
    sum = wrapping_add(sum, wrapping_sub(x, y));
    sum = wrapping_add(sum, wrapping_mul(x, y));
    sum = wrapping_add(sum, wrapping_neg(x));
    sum = wrapping_add(sum, wrapping_abs(x));
    sum = wrapping_add(sum, wrapping_pow(x, 9));
    sum = wrapping_add(sum, signum(x));
    sum = wrapping_add(sum, shl(x, 3));
    sum = wrapping_add(sum, shr(x, 3));
    sum = wrapping_add(sum, rotate_left(x, 3));
    sum = wrapping_add(sum, rotate_right(x, 3));
    sum = wrapping_add(sum, reverse_bits(x));
    sum = wrapping_add(sum, swap_bytes(x));
    sum = wrapping_add(sum, quotient(x, y));
    sum = wrapping_add(sum, remainder_of(x, y));
    sum = wrapping_add(sum, quotient_euclid(x, y));
    sum = wrapping_add(sum, remainder_euclid(x, y));
    sum = wrapping_add(sum, (u32)(count_ones(x)));
    sum = wrapping_add(sum, (u32)(leading_zeros(x)));
    sum = wrapping_add(sum, (u32)(trailing_zeros(x)));
    sum = wrapping_add(sum, (u32)(wrap((i64)x, 7)));
    sum = wrapping_add(sum, (u32)(clamp_to((i64)x, 7)));
    sum = wrapping_add(sum, (u32)(mirror((i64)x, 7)));
    sum = wrapping_add(sum, (u32)(part_begins(n, 7, i)));
    if (!divides(x, y) || !in_range((i64)x, n)) {
      const u64 shown[1] = {(u64)x};
      panic_at(panic, launch, i, 0, 1, shown);
      return;
    }
    ST(out, i, sum);
  }
}

KERNEL(256, 1) arithmetic_u64(usize n, const u64* __restrict__ xs, u64* __restrict__ out, Panic* panic, u64 launch) {
  if (stopped(panic, launch)) return;
  for (usize i = (usize)blockIdx.x * 256 + threadIdx.x; i < n; i += (usize)gridDim.x * 256) {
    u64 x = LD(xs, i), y = 7;
    u64 sum = 0;
    sum = wrapping_add(sum, wrapping_add(x, y));
    sum = wrapping_add(sum, wrapping_sub(x, y));
    sum = wrapping_add(sum, wrapping_mul(x, y));
    sum = wrapping_add(sum, wrapping_neg(x));
    sum = wrapping_add(sum, wrapping_abs(x));
    sum = wrapping_add(sum, wrapping_pow(x, 9));
    sum = wrapping_add(sum, signum(x));
    sum = wrapping_add(sum, shl(x, 3));
    sum = wrapping_add(sum, shr(x, 3));
    sum = wrapping_add(sum, rotate_left(x, 3));
    sum = wrapping_add(sum, rotate_right(x, 3));
    sum = wrapping_add(sum, reverse_bits(x));
    sum = wrapping_add(sum, swap_bytes(x));
    sum = wrapping_add(sum, quotient(x, y));
    sum = wrapping_add(sum, remainder_of(x, y));
    sum = wrapping_add(sum, quotient_euclid(x, y));
    sum = wrapping_add(sum, remainder_euclid(x, y));
    sum = wrapping_add(sum, (u64)(count_ones(x)));
    sum = wrapping_add(sum, (u64)(leading_zeros(x)));
    sum = wrapping_add(sum, (u64)(trailing_zeros(x)));
    sum = wrapping_add(sum, (u64)(wrap((i64)x, 7)));
    sum = wrapping_add(sum, (u64)(clamp_to((i64)x, 7)));
    sum = wrapping_add(sum, (u64)(mirror((i64)x, 7)));
    sum = wrapping_add(sum, (u64)(part_begins(n, 7, i)));
    if (!divides(x, y) || !in_range((i64)x, n)) {
      const u64 shown[1] = {(u64)x};
      panic_at(panic, launch, i, 0, 1, shown);
      return;
    }
    ST(out, i, sum);
  }
}
