// What is written over the names of `card.cu` and `emulated.cu`, and so is the same on both.

// Threads that run a point together: one, a warp, or the warps of a block. What one of them wrote before they meet here,
// all read behind.
DEVICE void team_barrier(u32 team) {
  if (team > 32) {
    BARRIER();
  } else if (team > 1) {
    WARP_BARRIER();
  }
}

// Values as words, and back.
template <class T> struct Word {
  DEVICE u64 of(T value) { return (u64)value; }
  DEVICE T in(u64 word) { return (T)word; }
};
template <> struct Word<f32> {
  DEVICE u64 of(f32 value) { return to_bits(value); }
  DEVICE f32 in(u64 word) { return from_bits((u32)word); }
};
template <> struct Word<f64> {
  DEVICE u64 of(f64 value) { return to_bits(value); }
  DEVICE f64 in(u64 word) { return from_bits(word); }
};

// What the threads of a team have, combined, for all of them: a tree of fixed shape in each warp, then warps in their
// order. `scratch` is shared, has a place for each warp, and may be used again afterwards.
template <class T, class F> DEVICE T team_combine(u32 team, T value, u64* scratch, F combined) {
  const u32 lane = threadIdx.x % team;
  for (u32 lanes = (team < 32 ? team : 32) / 2; lanes != 0; lanes /= 2) {
    const T other = shfl_xor(value, lanes);
    value = lane & lanes ? combined(other, value) : combined(value, other);
  }
  if (team <= 32) return value;
  if (lane % 32 == 0) ST(scratch, lane / 32, Word<T>::of(value));
  BARRIER();
  value = Word<T>::in(LD(scratch, 0));
  for (u32 warp = 1; warp < team / 32; warp++) value = combined(value, Word<T>::in(LD(scratch, warp)));
  BARRIER();
  return value;
}

// ---- the language's arithmetic

// Unsigned types: one as wide, and one in which arithmetic wraps.
template <class T> struct Unsigned {
  typedef T Same;
  typedef u64 Wrapping;
};
template <> struct Unsigned<i8> {
  typedef u8 Same;
  typedef u32 Wrapping;
};
template <> struct Unsigned<u8> {
  typedef u8 Same;
  typedef u32 Wrapping;
};
template <> struct Unsigned<i16> {
  typedef u16 Same;
  typedef u32 Wrapping;
};
template <> struct Unsigned<u16> {
  typedef u16 Same;
  typedef u32 Wrapping;
};
template <> struct Unsigned<i32> {
  typedef u32 Same;
  typedef u32 Wrapping;
};
template <> struct Unsigned<u32> {
  typedef u32 Same;
  typedef u32 Wrapping;
};
template <> struct Unsigned<i64> {
  typedef u64 Same;
  typedef u64 Wrapping;
};

// The least and the greatest of an integer type.
template <class T> DEVICE T least() {
  const bool is_signed = (T)-1 < (T)1;
  return is_signed ? (T)((u64)1 << (8 * sizeof(T) - 1)) : (T)0;
}
template <class T> DEVICE T greatest() { return (T)~least<T>(); }

// Integers wrap.
template <class T> DEVICE T wrapping_add(T x, T y) {
  typedef typename Unsigned<T>::Wrapping U;
  return (T)((U)x + (U)y);
}
template <class T> DEVICE T wrapping_sub(T x, T y) {
  typedef typename Unsigned<T>::Wrapping U;
  return (T)((U)x - (U)y);
}
template <class T> DEVICE T wrapping_mul(T x, T y) {
  typedef typename Unsigned<T>::Wrapping U;
  return (T)((U)x * (U)y);
}
template <class T> DEVICE T wrapping_neg(T x) { return wrapping_sub((T)0, x); }
template <class T> DEVICE T wrapping_abs(T x) { return x < (T)0 ? wrapping_neg(x) : x; }
template <class T> DEVICE T wrapping_pow(T x, u32 n) {
  T power = 1;
  for (; n != 0; n >>= 1) {
    if (n & 1) power = wrapping_mul(power, x);
    x = wrapping_mul(x, x);
  }
  return power;
}
template <class T> DEVICE T signum(T x) { return (T)((x > (T)0) - (x < (T)0)); }

template <class T> DEVICE T shl(T x, u32 n) {
  typedef typename Unsigned<T>::Wrapping U;
  return (T)((U)x << (n & (8 * sizeof(T) - 1)));
}
template <class T> DEVICE T shr(T x, u32 n) { return (T)(x >> (n & (8 * sizeof(T) - 1))); }
template <class T> DEVICE T rotate_left(T x, u32 n) {
  typedef typename Unsigned<T>::Same U;
  const u32 bits = 8 * sizeof(T);
  n %= bits;
  return (T)(U)((u64)(U)x << n | (u64)(U)x >> (bits - n) % bits);
}
template <class T> DEVICE T rotate_right(T x, u32 n) {
  const u32 bits = 8 * sizeof(T);
  return rotate_left(x, (bits - n % bits) % bits);
}
template <class T> DEVICE u32 count_ones(T x) {
  u64 bits = (typename Unsigned<T>::Same)x;
  return popcount((u32)bits) + popcount((u32)(bits >> 32));
}
template <class T> DEVICE u32 leading_zeros(T x) {
  u64 bits = (typename Unsigned<T>::Same)x;
  u32 length = 0;
  for (u32 step = 32; step != 0; step /= 2) {
    if (bits >> step) {
      bits >>= step;
      length += step;
    }
  }
  return (u32)(8 * sizeof(T)) - length - (u32)bits;
}
template <class T> DEVICE u32 trailing_zeros(T x) {
  u64 bits = (typename Unsigned<T>::Same)x;
  return bits == 0 ? (u32)(8 * sizeof(T)) : count_ones((u64)((bits & (0 - bits)) - 1));
}

template <class T> DEVICE T swap_bytes(T x) {
  u64 bits = (typename Unsigned<T>::Same)x, swapped = 0;
  for (u32 k = 0; k < sizeof(T); k++) {
    swapped = swapped << 8 | (bits & 0xff);
    bits >>= 8;
  }
  return (T)swapped;
}
template <class T> DEVICE T reverse_bits(T x) {
  u64 bits = (typename Unsigned<T>::Same)swap_bytes(x);
  bits = (bits >> 4 & 0x0f0f0f0f0f0f0f0full) | (bits & 0x0f0f0f0f0f0f0f0full) << 4;
  bits = (bits >> 2 & 0x3333333333333333ull) | (bits & 0x3333333333333333ull) << 2;
  bits = (bits >> 1 & 0x5555555555555555ull) | (bits & 0x5555555555555555ull) << 1;
  return (T)bits;
}

// Integers are divided where the divisor is not zero and the quotient is in range.
template <class T> DEVICE bool divides(T x, T y) {
  return y != (T)0 && !(least<T>() < (T)0 && x == least<T>() && y == (T)-1);
}
template <class T> DEVICE T quotient(T x, T y) { return (T)(x / y); }
template <class T> DEVICE T remainder_of(T x, T y) { return (T)(x % y); }
template <class T> DEVICE T quotient_euclid(T x, T y) {
  T q = (T)(x / y), r = (T)(x % y);
  return r < (T)0 ? (T)(y > (T)0 ? q - 1 : q + 1) : q;
}
template <class T> DEVICE T remainder_euclid(T x, T y) {
  T r = (T)(x % y);
  return r < (T)0 ? (T)(y < (T)0 ? r - y : r + y) : r;
}

// Of floats: the number if the other is none, and the first of equals.
template <class T> DEVICE T least_of(T x, T y) { return x != x ? y : y < x ? y : x; }
template <class T> DEVICE T greatest_of(T x, T y) { return x != x ? y : y > x ? y : x; }
template <class T> DEVICE T mul_absorb(T x, T y) { return (x != (T)0) & (y != (T)0) ? x * y : (T)0; }
template <class T> DEVICE T div_absorb(T x, T y) { return x != (T)0 ? x / y : (T)0; }
template <class T> DEVICE T signum_of_float(T x) { return x != x ? x : copysign((T)1, x); }
template <class T> DEVICE T div_euclid(T x, T y) {
  T q = trunc(x / y);
  if (fmod(x, y) < (T)0) return y > (T)0 ? q - (T)1 : q + (T)1;
  return q;
}
template <class T> DEVICE T rem_euclid(T x, T y) {
  T r = fmod(x, y);
  return r < (T)0 ? r + fabs(y) : r;
}
template <class T> DEVICE T powi(T x, i32 n) {
  bool inverse = n < 0;
  T power = (T)1;
  for (;;) {
    if (n & 1) power = power * x;
    n /= 2;
    if (n == 0) break;
    x = x * x;
  }
  return inverse ? (T)1 / power : power;
}
DEVICE bool is_finite(f32 x) { return (to_bits(x) & 0x7f800000u) != 0x7f800000u; }
DEVICE bool is_finite(f64 x) { return (to_bits(x) & 0x7ff0000000000000ull) != 0x7ff0000000000000ull; }
DEVICE bool is_sign_negative(f32 x) { return to_bits(x) >> 31 != 0; }
DEVICE bool is_sign_negative(f64 x) { return to_bits(x) >> 63 != 0; }

// A float as an integer: towards zero, and what is out of range as what is nearest; what is no number as zero.
template <class T, class F> DEVICE T saturating(F x) {
  if (x != x) return (T)0;
  if (x <= (F)least<T>()) return least<T>();
  if (x >= (F)greatest<T>()) return greatest<T>();
  return (T)x;
}

// Places in an axis that is not empty.
DEVICE bool in_range(i64 place, usize length) { return place >= 0 && (usize)place < length; }
DEVICE usize wrap(i64 place, usize length) {
  return in_range(place, length) ? (usize)place : (usize)remainder_euclid(place, (i64)length);
}
DEVICE usize clamp_to(i64 place, usize length) {
  return place < 0 ? 0 : (usize)place < length ? (usize)place : length - 1;
}
DEVICE usize mirror(i64 place, usize length) {
  if (in_range(place, length)) return (usize)place;
  if (length == 1) return 0;
  usize period = 2 * (length - 1);
  usize there = (place < 0 ? (usize)0 - (usize)place : (usize)place) % period;
  return there < period - there ? there : period - there;
}

// Where a part of so many points begins; there are `parts` of one length, but for the last ones.
DEVICE u64 part_begins(u64 points, u64 parts, u64 part) {
  u64 length = points / parts + (points % parts != 0);
  u64 first = part * length;
  return first < points ? first : points;
}
