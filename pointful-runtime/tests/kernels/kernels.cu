// Kernels that are written by hand, in forms that the compiler does not give kernels yet.

// out = a x + y, a point a thread.
KERNEL(256, 8) saxpy(usize n, f32 a, const f32* __restrict__ x, const f32* __restrict__ y, f32* __restrict__ out) {
  for (usize i = (usize)blockIdx.x * 256 + threadIdx.x; i < n; i += (usize)gridDim.x * 256)
    ST(out, i, a * LD(x, i) + LD(y, i));
}

// out = sum x: threads, warps, pieces, and then the last block. How many pieces there are does not depend on the grid.
KERNEL(256, 4) total(usize n, usize pieces, const f64* __restrict__ x, f64* partial, u32* count, f64* __restrict__ out) {
  SHARED(u64, warps, 8);
  usize length = (n + pieces - 1) / pieces;
  for (usize piece = blockIdx.x; piece < pieces; piece += gridDim.x) {
    usize first = piece * length, end = first + length < n ? first + length : n;
    f64 mine = 0.0;
    for (usize i = first + threadIdx.x; i < end; i += 256) mine = mine + LD(x, i);
    mine = team_combine(256, mine, warps, [](f64 x, f64 y) { return x + y; });
    if (threadIdx.x == 0) ST(partial, piece, mine);
  }
  if (last_block(count)) {
    f64 mine = 0.0;
    for (usize piece = threadIdx.x; piece < pieces; piece += 256) mine = mine + LD(partial, piece);
    mine = team_combine(256, mine, warps, [](f64 x, f64 y) { return x + y; });
    if (threadIdx.x == 0) {
      ST(out, 0, mine);
      ST(count, 0, 0);
    }
  }
}

// The same in f32 by way of down shifts: what lane 0 has of a warp.
KERNEL(32, 1) warp_total(usize n, const f32* __restrict__ x, f32* __restrict__ out) {
  f32 mine = 0.0f;
  for (usize i = threadIdx.x; i < n; i += 32) mine = fmaf(LD(x, i), LD(x, i), mine);
  for (u32 lanes = 16; lanes != 0; lanes /= 2) mine = mine + shfl_down(mine, lanes);
  if (threadIdx.x == 0) ST(out, 0, mine);
}

// `index` if it is below `length`; else 0, and the failure is recorded.
DEVICE usize check(Panic* panic, u32 site, u64 point, i64 index, usize length) {
  if (index >= 0 && (usize)index < length) return (usize)index;
  const u64 values[2] = {(u64)index, length};
  panic_at(panic, 0, point, site, 2, values);
  return 0;
}

// out[class[i]] += weight[i], in the order of points within a warp's own copy. A class that there is not is recorded.
KERNEL(128, 4) histogram(usize n, usize pieces, const i64* __restrict__ classes, const f32* __restrict__ weights, f32* partial, u32* count, f32* __restrict__ out, Panic* panic) {
  SHARED(f32, copies, 4 * BINS);
  u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  usize length = (n + pieces - 1) / pieces;
  for (usize piece = blockIdx.x; piece < pieces; piece += gridDim.x) {
    for (u32 e = threadIdx.x; e < 4 * BINS; e += 128) ST(copies, e, 0.0f);
    BARRIER();
    usize first = piece * length, end = first + length < n ? first + length : n;
    for (usize at = first + warp * 32; at < end; at += 128) {
      usize i = at + lane;
      bool here = i < end;
      u32 bin = here ? (u32)check(panic, 0, i, LD(classes, i), BINS) : BINS + lane;
      f32 weight = here ? LD(weights, i) : 0.0f;
      // Lanes that have the same bin take turns.
      u32 turn = popcount(match_any(bin) & ((1u << lane) - 1));
      for (u32 round = 0; ballot(here && turn >= round) != 0; round++) {
        if (here && turn == round) ST(copies, warp * BINS + bin, LD(copies, warp * BINS + bin) + weight);
        WARP_BARRIER();
      }
    }
    BARRIER();
    for (u32 bin = threadIdx.x; bin < BINS; bin += 128) {
      f32 sum = 0.0f;
      for (u32 w = 0; w < 4; w++) sum = sum + LD(copies, w * BINS + bin);
      ST(partial, piece * BINS + bin, sum);
    }
    BARRIER();
  }
  if (last_block(count)) {
    for (u32 bin = threadIdx.x; bin < BINS; bin += 128) {
      f32 sum = 0.0f;
      for (usize piece = 0; piece < pieces; piece++) sum = sum + LD(partial, piece * BINS + bin);
      ST(out, bin, sum);
    }
    if (threadIdx.x == 0) ST(count, 0, 0);
  }
}

// Truth values and 32-bit integers, on a grid of two dimensions: life's cells of `row` by `column`, one step.
KERNEL(64, 8) life(usize row, usize column, const bool* __restrict__ alive, bool* __restrict__ out) {
  usize c = (usize)blockIdx.x * 64 + threadIdx.x, r = blockIdx.y;
  if (c >= column) return;
  u32 near = 0;
  for (u32 k = 0; k < 9; k++) {
    usize y = (r + row + k / 3 - 1) % row, x = (c + column + k % 3 - 1) % column;
    near += k != 4 && LD(alive, y * column + x);
  }
  ST(out, r * column + c, near == 3 || (near == 2 && LD(alive, r * column + c)));
}
