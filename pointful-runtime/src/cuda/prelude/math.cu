// Elementary functions: those of `pointful-math`, operation by operation, so that they have the same bits. What each
// constant and step is for is said there. Rare angles are reduced in a branch, and digits of 2/pi are cut out of the
// bits where they are needed.

namespace math {

constexpr f64 GREATEST = 1.7976931348623157e308;
constexpr f32 GREATEST_SINGLE = 3.40282347e+38f;
constexpr f64 LEAST_NORMAL = 2.2250738585072014e-308;
constexpr f64 LOG2_E = 1.4426950408889634;
constexpr f64 LOG10_E = 0.4342944819032518;
constexpr f64 LN_2 = 0.6931471805599453;
constexpr f64 LOG10_2 = 0.3010299956639812;
constexpr f64 SQRT_2 = 1.4142135623730951;
constexpr f64 HALF_PI = 1.5707963267948966;
constexpr f64 HALF_PI_LOW = 6.123233995736766e-17;
constexpr f64 TWO_PER_PI = 0.6366197723675814;
constexpr f64 SHIFT = 6755399441055744.0;
constexpr f32 SINGLE_SHIFT = 12582912.0f;
constexpr f64 INTEGRAL = 4503599627370496.0;
constexpr f64 LN_2_HIGH = 0.6931471805598903;
constexpr f64 LN_2_LOW = 5.497923018708371e-14;
constexpr u64 SIGN = 0x8000000000000000ull;

struct Two {
  f64 high, low;
};

DEVICE f64 infinity() { return from_bits(0x7ff0000000000000ull); }
DEVICE f32 infinity_single() { return from_bits(0x7f800000u); }
DEVICE f64 not_a_number() { return from_bits(0x7ff8000000000000ull); }
DEVICE f32 not_a_single() { return from_bits(0x7fc00000u); }
DEVICE bool is_nan(f64 x) { return x != x; }
DEVICE bool is_negative(f64 x) { return (to_bits(x) & SIGN) != 0; }
DEVICE bool is_negative(f32 x) { return (to_bits(x) & 0x80000000u) != 0; }

// ---- parts

DEVICE f64 nearest(f64 x) { return (x + SHIFT) - SHIFT; }
DEVICE u64 nearest_bits(f64 x) { return to_bits(x + SHIFT) - to_bits(SHIFT); }

DEVICE f64 scale_by_bits(f64 x, u64 k) {
  u64 biased = k + 2046;
  u64 half = biased >> 1;
  return x * from_bits(half << 52) * from_bits((biased - half) << 52);
}

DEVICE u64 low_bits(f64 integer) { return to_bits(integer + SHIFT); }

DEVICE bool is_integer(f64 x) {
  x = fabs(x);
  f64 rounded = (x + INTEGRAL) - INTEGRAL;
  return (x >= INTEGRAL) | (rounded == x);
}

DEVICE f64 power_of_two(f64 k) { return from_bits((low_bits(k) + 1023) << 52); }
DEVICE f64 scale(f64 x, f64 k) { return scale_by_bits(x, nearest_bits(k)); }
DEVICE f64 small_integer(u64 n) { return from_bits(n | to_bits(INTEGRAL)) - INTEGRAL; }

// The exponent, and the mantissa between the root of a half and that of two.
DEVICE Two exponent_and_mantissa(f64 x) {
  u64 bits = to_bits(x);
  u64 biased = (bits + (((u64)1024 << 52) - 0x3fe6a09e667f3bcdull)) >> 52;
  u64 mantissa = bits - (biased << 52) + ((u64)1024 << 52);
  return Two{small_integer(biased) - 1024.0, from_bits(mantissa)};
}

DEVICE Two normalised(f64 x) {
  f64 scaled = x * 18014398509481984.0;
  bool small = x < LEAST_NORMAL;
  return Two{small ? scaled : x, small ? -54.0 : 0.0};
}

DEVICE Two sum_of_ordered(f64 a, f64 b) {
  f64 sum = a + b;
  return Two{sum, (a - sum) + b};
}

DEVICE Two sum(f64 a, f64 b) {
  f64 sum = a + b;
  f64 of_b = sum - a;
  return Two{sum, (a - (sum - of_b)) + (b - of_b)};
}

DEVICE Two halves(f64 x) {
  f64 high = from_bits(to_bits(x) & ~(u64)0x7ffffff);
  return Two{high, x - high};
}

DEVICE Two product(f64 a, f64 b) {
  f64 product = a * b;
  Two x = halves(a), y = halves(b);
  return Two{product, ((x.high * y.high - product) + x.high * y.low + x.low * y.high) + x.low * y.low};
}

// Even and odd powers apart.
template <class... C> DEVICE f64 polynomial(f64 x, C... coefficients) {
  const int N = sizeof...(C);
  const f64 c[N] = {coefficients...};
  f64 square = x * x, even = 0.0, odd = 0.0;
#pragma unroll
  for (int i = N - 1; i >= 0; i--) {
    f64& sum = i % 2 == 0 ? even : odd;
    sum = i + 2 >= N ? c[i] : sum * square + c[i];
  }
  return even + x * odd;
}

DEVICE f64 limited(f64 x, f64 low, f64 high) {
  x = x > high ? high : x;
  return x < low ? low : x;
}

// ---- angles

TABLE(u64, TWO_OVER_PI, 20) = {
    0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull,
    0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull, 0x3991d639835339f4ull,
    0x9c845f8bbdf9283bull, 0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull,
    0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull, 0xf0cfbc209af4361dull};

// So many bits of 2/pi from one on; those before the point are zero.
DEVICE u64 digits_of_two_over_pi(i64 first, i64 count) {
  u64 value = 0;
  for (i64 i = first; i < first + count; i++) {
    value <<= 1;
    if (i >= 1) value |= (TWO_OVER_PI[(i - 1) / 64] >> (63 - (i - 1) % 64)) & 1;
  }
  return value;
}

DEVICE f64 power(i64 k) { return from_bits((u64)(1023 + k) << 52); }

// An angle: how many right angles, and what remains.
struct Angle {
  f64 n, r, r_error;
};

DEVICE f64 modulo_four(f64 v) {
  const f64 FOURS = 27021597764222976.0;
  return v - ((v + FOURS) - FOURS);
}

DEVICE Angle reduced_near(f64 x) {
  f64 n = nearest(x * TWO_PER_PI);
  Two a = sum(x - n * 1.5707963267341256, -n * 6.077100506303966e-11);
  Two b = sum(a.high, -n * 2.0222662487111665e-21);
  Two c = sum(b.high, (a.low + b.low) - n * 8.4784276603689e-32);
  return Angle{n, c.high, c.low};
}

DEVICE Angle reduced_far(f64 x) {
  u64 exponent = to_bits(x) >> 52;
  u64 beyond = (x < 16777216.0 ? 1023 + 24 : exponent) - (1023 + 24);
  u64 row = beyond / 8;
  x = x * from_bits((1023 - 8 * row) << 52);
  f64 digits[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  i64 at = (i64)(row & 127);
  if (at < 125) {
    i64 start = 24 + 8 * at - 53, tail = start + 26 * 5;
    digits[5] = (f64)digits_of_two_over_pi(tail, 53) * power(8 * at - tail - 52);
    i64 carry = 0;
    for (i64 k = 4; k >= 0; k--) {
      i64 first = start + 26 * k;
      i64 digit = (i64)digits_of_two_over_pi(first, 26) + carry;
      carry = 0;
      if (digit >= 1 << 25) {
        digit -= 1 << 26;
        carry = 1;
      }
      digits[k] = (f64)digit * power(8 * at - first - 25);
    }
  }
  Two x2 = halves(x);
  f64 a = x2.high, b = x2.low;
  f64 g0 = modulo_four(b * digits[0] + a * digits[1]), g1 = modulo_four(b * digits[1] + a * digits[2]);
  f64 n = nearest(g0 + g1);
  Two s1 = sum(g0 - n, g1);
  Two s2 = sum(s1.high, b * digits[2] + a * digits[3]);
  Two s3 = sum(s2.high, b * digits[3] + a * digits[4]);
  Two s4 = sum(s3.high, b * digits[4] + a * digits[5]);
  Two f = sum(s4.high, (((s1.low + s2.low) + s3.low) + s4.low) + b * digits[5]);
  Two r = product(f.high, HALF_PI);
  Two result = sum_of_ordered(r.high, r.low + (f.high * HALF_PI_LOW + f.low * HALF_PI));
  return Angle{n, result.high, result.low};
}

DEVICE Angle reduced(f64 x) {
  x = fabs(x);
  return x < 1048576.0 ? reduced_near(x) : reduced_far(x);
}

// A single's angle: the number of right angles in the low bits, and what remains, less an excess.
struct SingleAngle {
  u32 quadrant;
  f32 r, r_excess;
};

// The same with one number for what remains.
struct WideAngle {
  u32 quadrant;
  f64 r;
};

DEVICE bool is_far(f32 x) { return (to_bits(x) << 1) + (1u << 24) >= (to_bits(4096.0f) << 1) + (1u << 24); }

DEVICE SingleAngle reduced_near_single(f32 x) {
  f32 shifted = x * 0.636619747f + SINGLE_SHIFT;
  f32 n = shifted - SINGLE_SHIFT;
  f32 rest = (x - n * 1.5703125f) - n * 4.837513e-4f;
  f32 third = n * 7.5495336e-8f;
  f32 r = rest - third;
  return SingleAngle{to_bits(shifted), r, (third - (rest - r)) + n * 2.563344e-12f};
}

DEVICE WideAngle reduced_far_single(f32 single) {
  f64 wide = single, x = fabs(wide);
  i64 row = x < 4294967296.0 ? 0 : x < 18446744073709551616.0 ? 1 : x < 79228162514264337593543950336.0 ? 2 : 3;
  i64 start = 32 * row - 24;
  f64 scaled = x * power(-32 * row);
  f64 a = modulo_four(scaled * ((f64)digits_of_two_over_pi(start, 29) * power(-4)));
  f64 b = modulo_four(scaled * ((f64)digits_of_two_over_pi(start + 29, 29) * power(-33)));
  f64 third = scaled * ((f64)digits_of_two_over_pi(start + 58, 29) * power(-62));
  f64 fourth = scaled * ((f64)digits_of_two_over_pi(start + 87, 53) * power(-115));
  f64 a_whole = nearest(a), b_whole = nearest(b);
  Two s1 = sum(a - a_whole, b - b_whole);
  Two s2 = sum(s1.high, third);
  f64 s_whole = nearest(s2.high);
  f64 fraction = (s2.high - s_whole) + ((s1.low + s2.low) + fourth);
  f64 n = (a_whole + b_whole) + s_whole;
  f64 r = fraction * HALF_PI;
  u64 negative = to_bits(wide) & SIGN;
  return WideAngle{(u32)low_bits(from_bits(to_bits(n) ^ negative)), from_bits(to_bits(r) ^ negative)};
}

DEVICE SingleAngle reduced_single(f32 x) {
  if (!is_far(x)) return reduced_near_single(x);
  WideAngle exact = reduced_far_single(x);
  f32 r = (f32)exact.r;
  return SingleAngle{exact.quadrant, r, (f32)((f64)r - exact.r)};
}

DEVICE WideAngle reduced_single_widely(f32 x) {
  if (is_far(x)) return reduced_far_single(x);
  SingleAngle near = reduced_near_single(x);
  return WideAngle{near.quadrant, (f64)near.r - (f64)near.r_excess};
}

// ---- exponentials of f64

struct Reduced {
  f64 k, r, r_error;
};

DEVICE Reduced reduced_exponent(f64 x, f64 error) {
  f64 k = nearest(x * LOG2_E);
  f64 high = x - k * LN_2_HIGH;
  f64 low = error - k * LN_2_LOW;
  f64 r = high + low;
  return Reduced{k, r, (high - r) + low};
}

DEVICE f64 beyond_linear(Reduced x) {
  return x.r * x.r *
             polynomial(x.r, 0.5, 0.16666666666666685, 0.04166666666666673, 0.008333333333316737, 0.0013888888888858678,
                        0.00019841269897061202, 2.4801587373313462e-5, 2.755723423488625e-6, 2.7557233718881315e-7,
                        2.5112240422802083e-8, 2.0926831903780048e-9) +
         x.r_error;
}

DEVICE f64 exp_of(Reduced x) {
  Two one = sum_of_ordered(1.0, x.r);
  return scale(one.high + (one.low + beyond_linear(x)), x.k);
}

DEVICE Two half_exp_m1(Reduced x) {
  f64 half = power_of_two(x.k - 1.0);
  Two s = sum(half * x.r, half - 0.5);
  return Two{s.high, s.low + half * beyond_linear(x)};
}

DEVICE f64 exp(f64 x) {
  x = limited(x, -760.0, 720.0);
  f64 scaled = x * LOG2_E;
  f64 k = nearest(scaled);
  f64 r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
  Two one = sum_of_ordered(1.0, r);
  f64 p = polynomial(r, 0.5, 0.16666666666666433, 0.04166666666660394, 0.008333333333500077, 0.0013888888926805304,
                     0.0001984126946615817, 2.4801508670787578e-5, 2.7557640898181186e-6, 2.7625191704889246e-7,
                     2.497837692282491e-8);
  return scale_by_bits(one.high + (one.low + r * r * p), nearest_bits(scaled));
}

DEVICE f64 exp2(f64 x) {
  const f64 HIGH = 0.6931471675634384, LOW = 1.2996506893889889e-8;
  x = limited(x, -1100.0, 1030.0);
  f64 k = nearest(x);
  f64 part = x - k;
  Two p = halves(part);
  Two r = sum_of_ordered(p.high * HIGH, p.low * HIGH + part * LOW);
  return exp_of(Reduced{k, r.high, r.low});
}

DEVICE f64 exp_m1(f64 x) {
  Two half = half_exp_m1(reduced_exponent(limited(x, -50.0, 710.0), 0.0));
  f64 result = 2.0 * (half.high + half.low);
  return fabs(x) < 5.551115123125783e-17 ? x : result;
}

// ---- logarithms of f64

// f*f/2, and ln (1 + f) - f + f*f/2
DEVICE Two log_beyond_linear(f64 f) {
  f64 s = f / (2.0 + f);
  f64 z = s * s;
  f64 half_square = 0.5 * f * f;
  f64 p = polynomial(z, 0.6666666666666734, 0.39999999999414326, 0.2857142874247591, 0.2222219856325805,
                     0.18183564882060418, 0.15314035386313954, 0.14796110290657366);
  return Two{half_square, s * (half_square + z * p)};
}

DEVICE f64 everywhere(f64 x, f64 of_positive) {
  f64 result = x > GREATEST ? x : of_positive;
  result = x == 0.0 ? -infinity() : result;
  return x >= 0.0 ? result : not_a_number();
}

DEVICE f64 ln(f64 x) {
  Two positive = normalised(x);
  Two parts = exponent_and_mantissa(positive.high);
  f64 k = parts.high + positive.low;
  f64 f = parts.low - 1.0;
  Two beyond = log_beyond_linear(f);
  Two s = sum_of_ordered(f, -beyond.high);
  f64 low = s.low + beyond.low;
  Two total = sum_of_ordered(k * LN_2_HIGH, s.high);
  return everywhere(x, total.high + (total.low + (low + k * LN_2_LOW)));
}

DEVICE f64 log_to_base(f64 x, Two unit, Two factor) {
  Two positive = normalised(x);
  Two parts = exponent_and_mantissa(positive.high);
  f64 k = parts.high + positive.low;
  f64 f = parts.low - 1.0;
  Two beyond = log_beyond_linear(f);
  f64 high = halves(f - beyond.high).high;
  f64 low = ((f - high) - beyond.high) + beyond.low;
  f64 product = high * factor.high;
  f64 missing = (high + low) * factor.low + low * factor.high;
  f64 whole = k * unit.high;
  Two total = sum_of_ordered(whole, product);
  return everywhere(x, total.high + (total.low + (missing + k * unit.low)));
}

DEVICE f64 log2(f64 x) { return log_to_base(x, Two{1.0, 0.0}, Two{1.4426950216293335, 1.9259629911266175e-8}); }

DEVICE f64 log10(f64 x) {
  return log_to_base(x, Two{0.30102999566395283, 2.8363394551044964e-14}, Two{0.4342944771051407, 4.798111141615973e-9});
}

DEVICE f64 ln_1p_with(f64 x, f64 error, f64 twos) {
  f64 u = 1.0 + x;
  f64 lost = x > 1.0 ? 1.0 - (u - x) : x - (u - 1.0);
  Two parts = exponent_and_mantissa(u);
  f64 k = parts.high;
  bool near = k == 0.0;
  f64 f = near ? x : parts.low - 1.0;
  lost = near ? error : lost + error;
  Two beyond = log_beyond_linear(f);
  Two s = sum_of_ordered(f, -beyond.high);
  k = k + twos;
  f64 low = s.low + (beyond.low + lost / u);
  Two total = sum_of_ordered(k * LN_2_HIGH, s.high);
  return total.high + (total.low + (low + k * LN_2_LOW));
}

DEVICE f64 ln_1p(f64 x) {
  f64 result = ln_1p_with(x, 0.0, 0.0);
  result = x > GREATEST ? x : result;
  result = x == -1.0 ? -infinity() : result;
  result = fabs(x) < 5.551115123125783e-17 ? x : result;
  return x >= -1.0 ? result : not_a_number();
}

// ---- powers and roots of f64

DEVICE Two product_of_sums(Two a, Two b) {
  Two p = product(a.high, b.high);
  return sum_of_ordered(p.high, p.low + (a.high * b.low + a.low * b.high));
}

DEVICE Two ln_as_sum(f64 x) {
  Two positive = normalised(x);
  Two parts = exponent_and_mantissa(positive.high);
  f64 k = parts.high + positive.low;
  f64 f = parts.low - 1.0;
  Two d = sum_of_ordered(2.0, f);
  f64 inverse = 1.0 / d.high;
  f64 s_high = f * inverse;
  Two back = product(s_high, d.high);
  Two s = Two{s_high, (((f - back.high) - back.low) - s_high * d.low) * inverse};
  Two z = product_of_sums(s, s);
  f64 p = polynomial(z.high, 0.3999999999999998, 0.28571428571445107, 0.22222222217536963, 0.18181818870261432,
                     0.15384556874166022, 0.13336317312555646, 0.1167482039620998, 0.11988999411065669);
  Two c = sum_of_ordered(2.0 / 3.0, z.high * p);
  Two cube = product_of_sums(s, product_of_sums(z, Two{c.high, c.low + 3.700743415417188e-17}));
  Two high = sum_of_ordered(2.0 * s.high, cube.high);
  f64 low = high.low + (2.0 * s.low + cube.low);
  Two total = sum_of_ordered(k * LN_2_HIGH, high.high);
  return sum_of_ordered(total.high, total.low + (low + k * LN_2_LOW));
}

DEVICE f64 power_everywhere(f64 x, f64 y, f64 of_positive) {
  f64 a = fabs(x);
  bool extreme = (a == 0.0) | (a > GREATEST);
  bool vanishes = (a == 0.0) ^ (y < 0.0);
  f64 limit = vanishes ? 0.0 : infinity();
  f64 result = extreme ? limit : of_positive;
  bool integer = is_integer(y);
  bool odd = integer & !is_integer(0.5 * y);
  result = is_negative(x) & odd ? -result : result;
  result = (x < 0.0) & !extreme & !integer ? not_a_number() : result;
  result = is_nan(x) | is_nan(y) ? not_a_number() : result;
  return (x == 1.0) | (y == 0.0) ? 1.0 : result;
}

DEVICE f64 powf(f64 x, f64 y) {
  f64 bounded = limited(y, -1e20, 1e20);
  f64 a = fabs(x);
  a = (a > 0.0) & (a <= GREATEST) ? a : 1.0;
  Two ln = ln_as_sum(a);
  Two p = product(bounded, ln.high);
  f64 exponent = limited(p.high, -760.0, 720.0);
  f64 error = exponent == p.high ? p.low + bounded * ln.low : 0.0;
  return power_everywhere(x, y, exp_of(reduced_exponent(exponent, error)));
}

struct Root {
  f64 k, m, root;
};

DEVICE Root root_of_cube(f64 x) {
  u64 bits = to_bits(x);
  f64 exponent = small_integer(bits >> 52) - 1023.0;
  f64 mantissa = from_bits((bits & (((u64)1 << 52) - 1)) | to_bits(1.0));
  f64 k = nearest((exponent - 1.0) * (1.0 / 3.0));
  f64 left = exponent - 3.0 * k;
  f64 factor = left == 0.0 ? 1.0 : 2.0, root = left == 0.0 ? 1.0 : 1.2599210498948732;
  factor = left == 2.0 ? 4.0 : factor;
  root = left == 2.0 ? 1.5874010519681996 : root;
  f64 p = polynomial(mantissa, 0.5527708299105568, 0.5872087307894217, -0.16302335756067018, 0.023114557300975887);
  return Root{k, mantissa * factor, p * root};
}

DEVICE f64 halley(f64 m, f64 root) {
  f64 cube = root * root * root;
  return root * ((cube + 2.0 * m) / (2.0 * cube + m));
}

DEVICE f64 cbrt(f64 x) {
  f64 a = fabs(x);
  Two normal = normalised(a);
  Root r = root_of_cube(normal.high);
  f64 root = halley(r.m, r.root);
  f64 cut = from_bits((to_bits(root) + ((u64)1 << 26)) & ~(u64)0x7ffffff);
  f64 quotient = r.m / (cut * cut);
  root = cut + cut * ((quotient - cut) / (2.0 * cut + quotient));
  f64 result = copysign(root * power_of_two(r.k + normal.low / 3.0), x);
  bool special = (a == 0.0) | !(a <= GREATEST);
  return special ? x : result;
}

DEVICE f64 hypot(f64 x, f64 y) {
  const f64 UP = 4.149515568880993e180;
  f64 a = fabs(x), b = fabs(y);
  if (a < b) {
    f64 c = a;
    a = b;
    b = c;
  }
  f64 factor = a > 1e150 ? 1.0 / UP : 1.0;
  factor = a < 1e-130 ? UP : factor;
  f64 back = a > 1e150 ? UP : 1.0;
  back = a < 1e-130 ? 1.0 / UP : back;
  Two aa = product(a * factor, a * factor), bb = product(b * factor, b * factor);
  Two total = sum_of_ordered(aa.high, bb.high);
  f64 root = sqrt(total.high);
  Two square = product(root, root);
  f64 missing = ((total.high - square.high) - square.low) + (total.low + (aa.low + bb.low));
  f64 correction = missing / (root + root);
  correction = total.high > 0.0 ? correction : 0.0;
  Two s = sum_of_ordered(root, correction);
  f64 result = s.high * back;
  f64 lost = s.high - result * factor;
  f64 once = result + (lost + s.low) * back;
  result = (a < 1e-130) & (lost != 0.0) ? once : result;
  result = is_nan(x) | is_nan(y) ? not_a_number() : result;
  return (a > GREATEST) | (b > GREATEST) ? infinity() : result;
}

// ---- sine, cosine, tangent of f64

// The sine of a remainder, and its cosine.
struct Both {
  Two sin, cos;
};

DEVICE Both of_remainder(Angle angle) {
  f64 r = angle.r, r_error = angle.r_error;
  f64 z = r * r;
  f64 half = 0.5 * z;
  f64 s = polynomial(z, -0.16666666666666632, 0.008333333333322413, -0.00019841269829807865, 2.755731369194156e-6,
                     -2.5050758119156717e-8, 1.589679587397245e-10);
  f64 c = polynomial(z, 0.0416666666666666, -0.0013888888888874125, 2.4801587289482347e-5, -2.75573143523781e-7,
                     2.087572327910352e-9, -1.1359648089284979e-11);
  f64 sin = r * (z * s) + (r_error - r_error * half);
  Two one = sum_of_ordered(1.0, -half);
  f64 cos = one.low + (z * z * c - r * r_error);
  return Both{Two{r, sin}, Two{one.high, cos}};
}

DEVICE f64 finite(f64 x, f64 value) { return fabs(x) <= GREATEST ? value : not_a_number(); }
DEVICE u64 sign_of(u64 quadrant) { return (quadrant & 2) << 62; }

DEVICE f64 sin(f64 x) {
  Angle angle = reduced(x);
  u64 quadrant = low_bits(angle.n);
  Both both = of_remainder(angle);
  Two value = (quadrant & 1) == 0 ? both.sin : both.cos;
  u64 negative = sign_of(quadrant) ^ (to_bits(x) & SIGN);
  f64 result = from_bits(to_bits(value.high + value.low) ^ negative);
  return fabs(x) < 1e-8 ? x : finite(x, result);
}

DEVICE f64 cos(f64 x) {
  Angle angle = reduced(x);
  u64 quadrant = low_bits(angle.n + 1.0);
  Both both = of_remainder(angle);
  Two value = (quadrant & 1) == 0 ? both.sin : both.cos;
  return finite(x, from_bits(to_bits(value.high + value.low) ^ sign_of(quadrant)));
}

DEVICE f64 tan(f64 x) {
  Angle angle = reduced(x);
  u64 quadrant = low_bits(angle.n);
  Both both = of_remainder(angle);
  bool even = (quadrant & 1) == 0;
  Two n = even ? both.sin : both.cos, d = even ? both.cos : both.sin;
  n = sum_of_ordered(n.high, n.low);
  d = sum_of_ordered(d.high, d.low);
  f64 inverse = 1.0 / d.high;
  f64 quotient = n.high * inverse;
  Two back = product(quotient, d.high);
  f64 missing = ((n.high - back.high) - back.low) + (n.low - quotient * d.low);
  f64 result = quotient + missing * inverse;
  u64 turned = even ? 0 : SIGN;
  result = from_bits(to_bits(result) ^ (to_bits(x) & SIGN) ^ turned);
  return fabs(x) < 1e-8 ? x : finite(x, result);
}

// ---- their inverses

struct Arc {
  bool far;
  f64 s, rest;
};

DEVICE Arc asin_of_small(f64 x) {
  f64 a = fabs(x);
  bool far = a > 0.5;
  f64 z = far ? (1.0 - a) * 0.5 : a * a;
  f64 root = sqrt(z);
  Two square = product(root, root);
  f64 root_error = ((z - square.high) - square.low) / (root + root);
  root_error = far & (z > 0.0) ? root_error : 0.0;
  f64 s = far ? root : a;
  f64 p = polynomial(z, 0.16666666666666763, 0.07499999999970088, 0.044642857175295945, 0.03038194267485307,
                     0.022372215916618306, 0.017351595329307284, 0.013981020347953312, 0.011397279929945818,
                     0.010789386247967282, 0.003671967070658271, 0.021791118225128643, -0.021117312185229154,
                     0.03270249213252539);
  return Arc{far, s, s * (z * p) + root_error};
}

DEVICE f64 asin(f64 x) {
  Arc arc = asin_of_small(x);
  Two s = sum_of_ordered(HALF_PI, -2.0 * arc.s);
  f64 turned = s.high + (s.low + (HALF_PI_LOW - 2.0 * arc.rest));
  f64 result = copysign(arc.far ? turned : arc.s + arc.rest, x);
  return fabs(x) < 1e-8 ? x : result;
}

DEVICE f64 acos(f64 x) {
  Arc arc = asin_of_small(x);
  bool as_it_is = arc.far | (x > 0.0);
  f64 s = as_it_is ? arc.s : -arc.s, rest = as_it_is ? arc.rest : -arc.rest;
  Two high = sum_of_ordered(HALF_PI, -s);
  f64 turned = high.high + (high.low + (HALF_PI_LOW - rest));
  f64 positive = s + rest;
  f64 twice = x > 0.0 ? positive : turned;
  return arc.far ? 2.0 * twice : turned;
}

constexpr f64 UP_400 = 2.5822498780869086e120;

DEVICE Two atan_of_ratio(f64 n, f64 d) {
  bool far = n > SQRT_2 * d - d;
  Two difference = sum(n, -d), total = sum_of_ordered(d, n);
  f64 n_error = far ? difference.low : 0.0, d_error = far ? total.low : 0.0;
  n = far ? difference.high : n;
  d = far ? total.high : d;
  bool tiny = fabs(n) < 1e-200;
  f64 up = tiny ? UP_400 : 1.0, down = tiny ? 1.0 / UP_400 : 1.0;
  n = n * up;
  f64 inverse = 1.0 / d;
  f64 quotient = n * inverse;
  Two back = product(quotient, d);
  f64 missing = ((n - back.high) - back.low) + (n_error - quotient * d_error);
  f64 t = quotient * down;
  f64 t_error = ((quotient - t * up) + missing * inverse) * down;
  f64 z = t * t;
  f64 p = polynomial(z, -0.333333333333332, 0.19999999999953666, -0.14285714280204193, 0.11111110783819887,
                     -0.09090897767180581, 0.07692060363026987, -0.06663105466249315, 0.05847897455820579,
                     -0.050393310878542846, 0.038064961226220835, -0.017907350650552153);
  f64 rest = t * (z * p) + (t_error - t_error * z);
  f64 base = far ? 0.5 * HALF_PI : 0.0, base_error = far ? 0.5 * HALF_PI_LOW : 0.0;
  Two high = sum(base, t);
  return sum_of_ordered(high.high, high.low + (base_error + rest));
}

DEVICE f64 atan(f64 x) {
  f64 a = fabs(x);
  a = a > 1e30 ? 1e30 : a;
  bool inverted = a > 1.0;
  Two angle = atan_of_ratio(inverted ? 1.0 : a, inverted ? a : 1.0);
  Two s = sum_of_ordered(HALF_PI, -angle.high);
  f64 turned = s.high + (s.low + (HALF_PI_LOW - angle.low));
  f64 result = copysign(inverted ? turned : angle.high + angle.low, x);
  return fabs(x) < 1e-8 ? x : result;
}

DEVICE f64 atan2(f64 y, f64 x) {
  f64 a = fabs(y), b = fabs(x);
  bool steep = a > b;
  f64 n = steep ? b : a, d = steep ? a : b;
  if (d == 0.0) {
    n = 0.0;
    d = 1.0;
  }
  bool both = n > GREATEST;
  if (d > GREATEST) {
    n = both ? 1.0 : 0.0;
    d = 1.0;
  }
  f64 factor = d < 1e-180 ? UP_400 : 1.0;
  factor = d > 1e180 ? 1.0 / UP_400 : factor;
  Two angle = atan_of_ratio(n * factor, d * factor);
  bool left = is_negative(x);
  bool back = steep ^ left;
  f64 turns = left ? 2.0 : 0.0;
  turns = steep ? 1.0 : turns;
  f64 high = back ? -angle.high : angle.high, low = back ? -angle.low : angle.low;
  Two total = sum_of_ordered(turns * HALF_PI, high);
  f64 result = copysign(total.high + (total.low + (turns * HALF_PI_LOW + low)), y);
  return is_nan(x) | is_nan(y) ? not_a_number() : result;
}

// ---- hyperbolic functions of f64 and their inverses

// A quarter of the sine and of the cosine.
DEVICE Both quarters(f64 x) {
  Reduced reduced = reduced_exponent(limited(fabs(x), 0.0, 711.0), 0.0);
  f64 k = reduced.k, r = reduced.r;
  f64 z = r * r;
  f64 s = polynomial(z, 0.16666666666666677, 0.008333333333321615, 0.00019841269886160365, 2.755724418005977e-6,
                     2.5109045538855184e-8);
  f64 c = polynomial(z, 0.041666666666666685, 0.0013888888888873468, 2.4801587348779143e-5, 2.7557252219135286e-7,
                     2.0921636532392586e-9);
  f64 sinh = r * (z * s) + reduced.r_error;
  f64 cosh = z * (0.5 + z * c) + r * reduced.r_error;
  f64 grown = power_of_two(k - 3.0);
  f64 shrunk = k < 60.0 ? power_of_two(-3.0 - k) : 0.0;
  Two difference = sum_of_ordered(grown, -shrunk), total = sum_of_ordered(grown, shrunk);
  Two high_s = sum(difference.high, grown * r), high_c = sum_of_ordered(total.high, grown * r);
  return Both{
      Two{high_s.high,
          (high_s.low + difference.low) + (shrunk * r + (difference.high * cosh + total.high * sinh))},
      Two{high_c.high, (high_c.low + total.low) + (total.high * cosh + difference.high * sinh - shrunk * r)},
  };
}

DEVICE f64 sinh(f64 x) {
  Two s = quarters(x).sin;
  f64 result = copysign(4.0 * (s.high + s.low), x);
  return fabs(x) < 1e-8 ? x : result;
}

DEVICE f64 cosh(f64 x) {
  Two c = quarters(x).cos;
  return 4.0 * (c.high + c.low);
}

DEVICE f64 tanh(f64 x) {
  f64 twice = limited(2.0 * fabs(x), 0.0, 50.0);
  Two half = half_exp_m1(reduced_exponent(twice, 0.0));
  Two h = sum_of_ordered(half.high, half.low);
  Two d = sum(1.0, h.high);
  f64 inverse = 1.0 / d.high;
  f64 quotient = h.high * inverse;
  Two back = product(quotient, d.high);
  f64 missing = ((h.high - back.high) - back.low) + (h.low - quotient * (d.low + h.low));
  f64 result = copysign(quotient + missing * inverse, x);
  return fabs(x) < 1e-8 ? x : result;
}

constexpr f64 LARGE = 1e100;

DEVICE f64 asinh(f64 x) {
  f64 a = fabs(x);
  bool large = a > LARGE;
  f64 square = large ? 0.0 : a * a;
  f64 beyond = square / (1.0 + sqrt(1.0 + square));
  Two y = sum(a, beyond);
  f64 result = copysign(ln_1p_with(y.high, y.low, large ? 1.0 : 0.0), x);
  return (a < 1e-8) | !(a <= GREATEST) ? x : result;
}

DEVICE f64 acosh(f64 x) {
  bool large = x > LARGE;
  f64 t = x - 1.0;
  Two square = product(large ? 0.0 : t, x + 1.0);
  f64 root = sqrt(square.high);
  Two back = product(root, root);
  f64 missing = ((square.high - back.high) - back.low + square.low) / (2.0 * root);
  missing = root > 0.0 ? missing : 0.0;
  Two y = sum(t, root);
  f64 result = ln_1p_with(y.high, y.low + missing, large ? 1.0 : 0.0);
  result = x > GREATEST ? x : result;
  return x >= 1.0 ? result : not_a_number();
}

DEVICE f64 atanh(f64 x) {
  f64 a = fabs(x);
  Two difference = sum_of_ordered(1.0, -a);
  f64 inverse = 1.0 / difference.high;
  f64 y = 2.0 * a * inverse;
  Two back = product(y, difference.high);
  f64 error = (((2.0 * a - back.high) - back.low) - y * difference.low) * inverse;
  f64 result = copysign(0.5 * ln_1p_with(y, error, 0.0), x);
  result = a == 1.0 ? copysign(infinity(), x) : result;
  result = a < 1e-8 ? x : result;
  return a <= 1.0 ? result : not_a_number();
}

// ---- functions of f32

// k, and what the exponential of the rest has beyond one.
DEVICE Two single_parts(f64 x) {
  f64 k = nearest(x * LOG2_E);
  f64 r = x - k * LN_2;
  f64 p = polynomial(r, 0.500000004641216, 0.16666666817187958, 0.041666354666043647, 0.008333273044058344,
                     0.0013941008269550339, 0.0001991416730056172);
  return Two{k, r + r * r * p};
}

DEVICE f64 single_exp(f64 x) {
  Two parts = single_parts(limited(x, -500.0, 500.0));
  f64 power = power_of_two(parts.high);
  return power + power * parts.low;
}

DEVICE f64 single_exp_m1(f64 x) {
  Two parts = single_parts(limited(x, -500.0, 500.0));
  f64 power = power_of_two(parts.high);
  return power * parts.low + (power - 1.0);
}

struct Part {
  u32 power;
  f32 part;
};

DEVICE Part exp_part(f32 x, f32 offset) {
  f32 shift = SINGLE_SHIFT + offset;
  f32 shifted = x * 1.44269502f + shift;
  f32 k = shifted - shift;
  f32 high = x - k * 0.69314575f;
  f32 low = k * 1.4286068e-6f;
  f32 r = high - low;
  f32 square = r * r;
  f32 beyond = square * ((0.4999999f + r * 0.16666521f) + square * ((0.0416689f + r * 0.008368692f) + square * 0.0013788936f));
  return Part{to_bits(shifted), high + (beyond - low)};
}

DEVICE f32 single_power_of_two(u32 low_bits) { return from_bits(low_bits << 23); }

DEVICE f32 exp(f32 x) {
  x = x > 89.0f ? 89.0f : x;
  x = x < -104.0f ? -104.0f : x;
  bool small = is_negative(x);
  f32 offset = small ? 127.0f + 64.0f : 127.0f - 1.0f;
  f32 rest = small ? from_bits((127u - 64u) << 23) : 2.0f;
  Part parts = exp_part(x, offset);
  return (1.0f + parts.part) * single_power_of_two(parts.power) * rest;
}

DEVICE f32 exp2(f32 single) {
  f64 x = limited((f64)single, -500.0, 500.0);
  f64 k = nearest(x);
  f64 r = (x - k) * LN_2;
  f64 power = power_of_two(k);
  f64 p = polynomial(r, 0.500000004641216, 0.16666666817187958, 0.041666354666043647, 0.008333273044058344,
                     0.0013941008269550339, 0.0001991416730056172);
  return (f32)(power + power * (r + r * r * p));
}

DEVICE f32 exp_m1(f32 x) {
  f32 result = (f32)single_exp_m1((f64)x);
  return x == 0.0f ? x : result;
}

DEVICE f64 single_log(f64 f) {
  f64 s = f / (2.0 + f);
  f64 z = s * s;
  f64 p = polynomial(z, 0.6666666564501817, 0.40000335301672474, 0.2853730097987808, 0.23582303215010778);
  return 2.0 * s + s * (z * p);
}

DEVICE f32 everywhere(f32 x, f32 of_positive) {
  f32 result = x > GREATEST_SINGLE ? x : of_positive;
  result = x == 0.0f ? -infinity_single() : result;
  return x >= 0.0f ? result : not_a_single();
}

DEVICE f32 ln(f32 x) {
  const u32 SQRT_HALF = 0x3f3504f3u;
  bool small = x < 1.17549435e-38f;
  f32 normal = small ? x * 8388608.0f : x;
  i32 missing = small ? 23 : 0;
  u32 beyond = to_bits(normal) - SQRT_HALF;
  f32 k = (f32)(((i32)beyond >> 23) - missing);
  f32 f = from_bits((beyond & 0x7fffffu) + SQRT_HALF) - 1.0f;
  f32 z = f * f;
  f32 first = (0.33333328f + f * -0.2500072f) + z * (0.20001417f + f * -0.16626975f);
  f32 p = first + (z * z) * ((0.14200588f + f * -0.13125798f) + z * (0.12751675f + f * -0.077056244f));
  f32 curved = (f * z * p + k * 1.4286068e-6f) - 0.5f * z;
  return everywhere(x, k * 0.69314575f + (f + curved));
}

DEVICE f32 log2(f32 x) {
  Two parts = exponent_and_mantissa((f64)x);
  return everywhere(x, (f32)(parts.high + single_log(parts.low - 1.0) * LOG2_E));
}

DEVICE f32 log10(f32 x) {
  Two parts = exponent_and_mantissa((f64)x);
  return everywhere(x, (f32)(parts.high * LOG10_2 + single_log(parts.low - 1.0) * LOG10_E));
}

DEVICE f64 single_ln_1p(f64 x) {
  Two parts = exponent_and_mantissa(1.0 + x);
  f64 f = parts.high == 0.0 ? x : parts.low - 1.0;
  return parts.high * LN_2 + single_log(f);
}

DEVICE f32 ln_1p(f32 x) {
  f32 result = (f32)single_ln_1p((f64)x);
  result = x > GREATEST_SINGLE ? x : result;
  result = x == -1.0f ? -infinity_single() : result;
  result = x == 0.0f ? x : result;
  return x >= -1.0f ? result : not_a_single();
}

struct SingleBoth {
  f32 sin, cos;
};

DEVICE SingleBoth of_remainder(SingleAngle angle) {
  f32 r = angle.r, r_excess = angle.r_excess;
  f32 z = r * r;
  f32 sin = r - (r * (z * (0.16666654f + z * (-0.008332143f + z * 1.9514663e-4f))) + r_excess);
  f32 beyond = (z * z) * (0.041666646f + z * (-0.001388731f + z * 2.4432344e-5f)) + r * r_excess;
  f32 half = 0.5f * z;
  f32 most = 1.0f - half;
  f32 cos = most + (((1.0f - most) - half) + beyond);
  return SingleBoth{sin, cos};
}

DEVICE f32 in_quadrant(u32 quadrant, f32 even, f32 odd) {
  f32 value = (quadrant & 1) == 0 ? even : odd;
  return from_bits(to_bits(value) ^ ((quadrant << 30) & 0x80000000u));
}

DEVICE f32 sin(f32 x) {
  SingleAngle angle = reduced_single(x);
  SingleBoth both = of_remainder(angle);
  return in_quadrant(angle.quadrant, both.sin, both.cos);
}

DEVICE f32 cos(f32 x) {
  SingleAngle angle = reduced_single(x);
  SingleBoth both = of_remainder(angle);
  return in_quadrant(angle.quadrant + 1, both.sin, both.cos);
}

DEVICE f32 tan(f32 x) {
  WideAngle angle = reduced_single_widely(x);
  f64 r = angle.r;
  f64 z = r * r;
  f64 s = polynomial(z, -0.16666666641607478, 0.008333329383632595, -0.00019839334096954743, 2.718304341302505e-6);
  f64 c = polynomial(z, 0.041666646858586634, -0.0013887367094007348, 2.4438398485818882e-5);
  f64 sin = r * (1.0 + z * s);
  f64 cos = (1.0 - 0.5 * z) + z * z * c;
  u32 odd = angle.quadrant & 1;
  f64 n = odd == 0 ? sin : cos, d = odd == 0 ? cos : sin;
  return from_bits(to_bits((f32)(n / d)) ^ (odd << 31));
}

DEVICE Arc single_asin_of_small(f64 x) {
  f64 a = fabs(x);
  bool far = a > 0.5;
  f64 z = far ? (1.0 - a) * 0.5 : a * a;
  f64 s = far ? sqrt(z) : a;
  f64 p = polynomial(z, 0.16666659852776602, 0.07500512146832364, 0.04451546848782721, 0.03181983671600357,
                     0.014393754877012542, 0.03757820887488437);
  return Arc{far, s + s * (z * p), 0.0};
}

DEVICE f32 asin(f32 x) {
  Arc arc = single_asin_of_small((f64)x);
  f64 result = arc.far ? HALF_PI - 2.0 * arc.s : arc.s;
  return copysign((f32)result, x);
}

DEVICE f32 acos(f32 x) {
  Arc arc = single_asin_of_small((f64)x);
  bool positive = x > 0.0f;
  f64 with_sign = arc.far | positive ? arc.s : -arc.s;
  f64 turned = HALF_PI - with_sign;
  f64 result = arc.far & positive ? 2.0 * arc.s : turned;
  result = arc.far & !positive ? 2.0 * turned : result;
  return (f32)result;
}

DEVICE f64 single_atan_of_ratio(f64 n, f64 d) {
  bool far = n > (SQRT_2 - 1.0) * d;
  f64 numerator = far ? n - d : n, denominator = far ? n + d : d;
  f64 base = far ? HALF_PI * 0.5 : 0.0;
  f64 t = numerator / denominator;
  f64 z = t * t;
  f64 p = polynomial(z, -0.3333333251001503, 0.1999990475269265, -0.14282028941468602, 0.1104492230902311,
                     -0.08477403149906111, 0.04746108581498101);
  return base + (t + t * (z * p));
}

DEVICE f32 atan(f32 x) {
  f64 a = fabs((f64)x);
  a = a > 1e30 ? 1e30 : a;
  bool inverted = a > 1.0;
  f64 angle = single_atan_of_ratio(inverted ? 1.0 : a, inverted ? a : 1.0);
  f64 result = inverted ? HALF_PI - angle : angle;
  return copysign((f32)result, x);
}

DEVICE f32 atan2(f32 y, f32 x) {
  f64 a = fabs((f64)y), b = fabs((f64)x);
  bool steep = a > b;
  f64 n = steep ? b : a, d = steep ? a : b;
  d = d == 0.0 ? 1.0 : d;
  bool both = n > GREATEST;
  if (d > GREATEST) {
    n = both ? 1.0 : 0.0;
    d = 1.0;
  }
  f64 angle = single_atan_of_ratio(n, d);
  bool left = is_negative(x);
  f64 turns = left ? 2.0 : 0.0;
  turns = steep ? 1.0 : turns;
  angle = steep ^ left ? -angle : angle;
  f32 result = copysign((f32)(turns * HALF_PI + angle), y);
  return (x != x) | (y != y) ? not_a_single() : result;
}

DEVICE f32 sinh(f32 x) {
  f64 h = single_exp_m1(fabs((f64)x));
  f64 result = 0.5 * (h + h / (h + 1.0));
  return copysign((f32)result, x);
}

DEVICE f32 cosh(f32 x) {
  f64 e = single_exp(fabs((f64)x));
  return (f32)(0.5 * (e + 1.0 / e));
}

DEVICE f32 tanh(f32 x) {
  f32 a = fabs(x);
  bool far = a > 1.0f;
  f32 twice = 2.0f * a;
  twice = twice > 20.0f ? 20.0f : twice;
  Part parts = exp_part(twice, 127.0f);
  f32 power = single_power_of_two(parts.power);
  f32 z = a * a;
  f32 cube = a * z;
  f32 numerator = cube * (-0.08333328f + z * (0.09956866f + z * 5.6379784e-5f));
  f32 denominator = 1.0f + z * 0.40516928f;
  numerator = far ? -2.0f : numerator;
  denominator = far ? (1.0f + power) + power * parts.part : denominator;
  f32 quarter = far ? 0.0f : 0.25f * cube;
  f32 base = far ? 1.0f : a;
  return copysign(base + (numerator / denominator - quarter), x);
}

DEVICE f32 asinh(f32 x) {
  f64 a = fabs((f64)x);
  f64 square = a * a;
  f32 result = copysign((f32)single_ln_1p(a + square / (1.0 + sqrt(1.0 + square))), x);
  return fabs(x) <= GREATEST_SINGLE ? result : x;
}

DEVICE f32 acosh(f32 x) {
  f64 t = (f64)x - 1.0;
  f32 result = (f32)single_ln_1p(t + sqrt(t * (t + 2.0)));
  result = x > GREATEST_SINGLE ? x : result;
  return x >= 1.0f ? result : not_a_single();
}

DEVICE f32 atanh(f32 x) {
  f64 a = fabs((f64)x);
  f32 result = (f32)(0.5 * single_ln_1p(2.0 * a / (1.0 - a)));
  result = a == 1.0 ? infinity_single() : result;
  return a <= 1.0 ? copysign(result, x) : not_a_single();
}

DEVICE f32 powf(f32 base, f32 exponent) {
  f64 x = base, y = exponent;
  f64 a = fabs(x);
  a = (a > 0.0) & (a <= GREATEST) ? a : 1.0;
  Two parts = exponent_and_mantissa(a);
  f64 f = parts.low - 1.0;
  f64 s = f / (2.0 + f);
  f64 z = s * s;
  f64 p = polynomial(z, 2.0 / 3.0, 0.39999998175202084, 0.2857187376098972, 0.22185016852299871, 0.1946781127484233);
  f64 part = 2.0 * s + s * (z * p);
  f64 bounded = y > 1e30 ? 1e30 : y;
  bounded = bounded < -1e30 ? -1e30 : bounded;
  return (f32)power_everywhere(x, y, single_exp(bounded * (parts.high * LN_2 + part)));
}

DEVICE f32 cbrt(f32 x) {
  f64 wide = fabs((f64)x);
  Root r = root_of_cube(wide);
  f32 result = copysign((f32)(halley(r.m, r.root) * power_of_two(r.k)), x);
  bool special = (x == 0.0f) | !(fabs(x) <= GREATEST_SINGLE);
  return special ? x : result;
}

DEVICE f32 hypot(f32 x, f32 y) {
  f64 a = x, b = y;
  f32 result = (f32)sqrt(a * a + b * b);
  bool infinite = (fabs(a) > GREATEST) | (fabs(b) > GREATEST);
  return infinite ? infinity_single() : result;
}

}  // namespace math
