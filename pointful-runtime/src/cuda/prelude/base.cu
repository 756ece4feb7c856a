// What is written over the names of `card.cu` and `emulated.cu`, and so is the same on both.

// The sum of a warp's values, for all of its lanes: a tree of fixed shape.
template <class T> DEVICE T warp_sum(T value) {
  for (u32 lanes = 16; lanes != 0; lanes /= 2) value = value + shfl_xor(value, lanes);
  return value;
}

// The sum of the values of a block's threads, for all of them: warps' sums, added in the order of warps. `scratch` is
// shared, has a place for each warp, and may be used again afterwards.
template <class T, u32 THREADS> DEVICE T block_sum(T value, T* scratch) {
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0) ST(scratch, threadIdx.x / 32, value);
  BARRIER();
  T sum = LD(scratch, 0);
  for (u32 warp = 1; warp < THREADS / 32; warp++) sum = sum + LD(scratch, warp);
  BARRIER();
  return sum;
}

// `index` if it is below `length`; else 0, and the failure is recorded. There is an element 0 in every allocation.
DEVICE usize check(Panic* panic, u32 site, u64 point, i64 index, usize length) {
  if (index >= 0 && (usize)index < length) return (usize)index;
  panic_at(panic, site, point, index, (i64)length);
  return 0;
}
