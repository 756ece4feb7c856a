// Kernels with one fault each. `out` has 256 elements, `x` has 100.

KERNEL(64, 1) no_barrier(const f32* x, f32* out) {
  SHARED(f32, tile, 64);
  ST(tile, threadIdx.x, 0.0f);
  BARRIER();
  ST(tile, threadIdx.x, LD(x, threadIdx.x));
  ST(out, threadIdx.x, LD(tile, 63 - threadIdx.x));
}

KERNEL(64, 1) no_barrier_before_the_next_write(const f32* x, f32* out) {
  SHARED(f32, tile, 64);
  f32 sum = 0.0f;
  for (u32 round = 0; round < 2; round++) {
    ST(tile, threadIdx.x, LD(x, threadIdx.x));
    BARRIER();
    sum = sum + LD(tile, 63 - threadIdx.x);
  }
  ST(out, threadIdx.x, sum);
}

KERNEL(64, 1) barrier_of_the_warp_for_one_of_the_block(const f32* x, f32* out) {
  SHARED(f32, tile, 64);
  ST(tile, threadIdx.x, 0.0f);
  BARRIER();
  ST(tile, threadIdx.x, LD(x, threadIdx.x));
  WARP_BARRIER();
  ST(out, threadIdx.x, LD(tile, 63 - threadIdx.x));
}

KERNEL(32, 1) no_warp_barrier(const f32* x, f32* out) {
  SHARED(f32, tile, 32);
  ST(tile, threadIdx.x, 0.0f);
  WARP_BARRIER();
  ST(tile, threadIdx.x, LD(x, threadIdx.x));
  ST(out, threadIdx.x, LD(tile, threadIdx.x ^ 1));
}

KERNEL(32, 1) exchange_for_a_warp_barrier(const f32* x, f32* out) {
  SHARED(f32, tile, 32);
  ST(tile, threadIdx.x, 0.0f);
  WARP_BARRIER();
  ST(tile, threadIdx.x, LD(x, threadIdx.x));
  f32 other = shfl_xor(LD(x, threadIdx.x), 1);
  ST(out, threadIdx.x, LD(tile, threadIdx.x ^ 1) - other);
}

KERNEL(32, 1) one_copy_for_a_warp(const f32* x, f32* out) {
  SHARED(f32, sum, 1);
  if (threadIdx.x == 0) ST(sum, 0, 0.0f);
  WARP_BARRIER();
  ST(sum, 0, LD(sum, 0) + LD(x, threadIdx.x));
}

KERNEL(32, 1) loop_one_too_long(const f32* x, f32* out) {
  f32 sum = 0.0f;
  for (u32 i = threadIdx.x; i <= 100; i += 32) sum = sum + LD(x, i);
  ST(out, threadIdx.x, sum);
}

KERNEL(32, 1) write_outside(const f32* x, f32* out) { ST(out, 8 * threadIdx.x + 8, 1.0f); }

KERNEL(32, 1) negative_index(const f32* x, f32* out) {
  i64 i = (i64)threadIdx.x - 1;
  ST(out, threadIdx.x, LD(x, i));
}

KERNEL(32, 1) shared_outside(const f32* x, f32* out) {
  SHARED(f32, tile, 32);
  ST(tile, threadIdx.x, LD(x, threadIdx.x));
  WARP_BARRIER();
  ST(out, threadIdx.x, LD(tile, threadIdx.x + 1));
}

KERNEL(32, 1) outside_of_all(const f32* x, f32* out) {
  const f32* other = x + ((usize)1 << 40);
  ST(out, threadIdx.x, LD(other, threadIdx.x));
}

KERNEL(32, 1) two_blocks_write(const f32* x, f32* out) { ST(out, threadIdx.x, LD(x, blockIdx.x)); }

KERNEL(32, 1) a_block_reads_what_another_writes(const f32* x, f32* out) {
  u32 here = blockIdx.x * 32 + threadIdx.x;
  ST(out, here, LD(x, threadIdx.x));
  BARRIER();
  f32 other = LD(out, (here + 32) % (32 * gridDim.x));
  if (other < 0.0f) ST(out, here, other);
}

KERNEL(32, 1) nobody_has_written(const f32* x, f32* out) {
  if (threadIdx.x != 7) ST(out, threadIdx.x, 1.0f);
  WARP_BARRIER();
  ST(out, 32 + threadIdx.x, LD(out, threadIdx.x));
}

KERNEL(32, 1) shared_memory_of_the_block_before(const f32* x, f32* out) {
  SHARED(f32, tile, 32);
  if (blockIdx.x == 0 || threadIdx.x == 0) ST(tile, threadIdx.x, LD(x, threadIdx.x));
  WARP_BARRIER();
  ST(out, 32 * blockIdx.x + threadIdx.x, LD(tile, threadIdx.x));
}

// The first lane of those that have a key leads; here it is the last.
KERNEL(32, 1) wrong_lane_leads(const f32* x, f32* out) {
  SHARED(f32, leads, 32);
  u32 key = threadIdx.x / 4;
  u32 peers = match_any(key);
  if (popcount(peers & ((1u << threadIdx.x) - 1)) == 3) ST(leads, threadIdx.x, (f32)key);
  WARP_BARRIER();
  ST(out, threadIdx.x, LD(leads, 4 * key));
}

// As many blocks as pieces were meant to be.
KERNEL(32, 1) no_merge_of_some(const f32* x, f32* out, u32* count) {
  if (threadIdx.x == 0) ST(out, blockIdx.x, LD(x, blockIdx.x));
  if (last_block(count) && threadIdx.x == 0) {
    f32 sum = 0.0f;
    for (u32 piece = 0; piece < 4; piece++) sum = sum + LD(out, piece);
    ST(out, 255, sum);
    ST(count, 0, 0);
  }
}

KERNEL(64, 1) not_all_reach_the_barrier(const f32* x, f32* out) {
  if (threadIdx.x >= 40) return;
  ST(out, threadIdx.x, 1.0f);
  BARRIER();  // forty
}

KERNEL(64, 1) two_barriers(const f32* x, f32* out) {
  if (threadIdx.x < 32) {
    BARRIER();  // first
  } else {
    ST(out, threadIdx.x, 1.0f);
    BARRIER();  // second
  }
}

KERNEL(64, 1) not_all_lanes_exchange(const f32* x, f32* out) {
  f32 sum = LD(x, threadIdx.x);
  if (threadIdx.x < 40) sum = team_combine(32, sum, (u64*)0, [](f32 x, f32 y) { return x + y; });
  ST(out, threadIdx.x, sum);
}

KERNEL(32, 1) lanes_at_two_exchanges(const f32* x, f32* out) {
  f32 mine = LD(x, threadIdx.x);
  if (threadIdx.x % 2 == 0) {
    mine = shfl_down(mine, 1);
  } else {
    mine = shfl_xor(mine, 1);
  }
  ST(out, threadIdx.x, mine);
}

KERNEL(64, 1) a_warp_exchanges_while_a_warp_waits(const f32* x, f32* out) {
  if (threadIdx.x < 32) BARRIER();
  ST(out, threadIdx.x, 1.0f);
}

KERNEL(32, 1) count_is_not_zero_again(const f32* x, f32* out, u32* count) {
  if (last_block(count) && threadIdx.x == 0) ST(out, 0, LD(x, 0));
}

KERNEL(32, 1) not_all_blocks_ask(const f32* x, f32* out, u32* count) {
  if (blockIdx.x == 1) return;
  if (last_block(count) && threadIdx.x == 0) ST(out, 0, LD(x, 0));
}

KERNEL(32, 1) written_after_the_last_block_was_asked_for(const f32* x, f32* out, u32* count) {
  bool last = last_block(count);
  ST(out, 32 * blockIdx.x + threadIdx.x, LD(x, threadIdx.x));
  if (last) {
    f32 sum = 0.0f;
    for (u32 block = 0; block < gridDim.x; block++)
      if (block != blockIdx.x) sum = sum + LD(out, 32 * block + threadIdx.x);
    ST(out, 224 + threadIdx.x, sum);
    if (threadIdx.x == 0) ST(count, 0, 0);
  }
}

KERNEL(32, 1) two_sizes(const f32* x, f32* out) {
  ST(out, 2 * threadIdx.x, 1.0f);
  ST(out, 2 * threadIdx.x + 1, 1.0f);
  const f64* wide = (const f64*)out;
  ST(out, 64 + threadIdx.x, (f32)LD(wide, threadIdx.x));
}

KERNEL(32, 1) not_aligned(const f32* x, f32* out) {
  const f32* odd = (const f32*)((const u8*)x + 2);
  ST(out, threadIdx.x, LD(odd, threadIdx.x));
}
