// What a card has, under the names that kernels use. `emulated.cu` has the same names.

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned long long usize;
typedef int i32;
typedef long long i64;
typedef float f32;
typedef double f64;

// A kernel of `block` threads, at least `blocks` blocks of which are to fit a multiprocessor.
#define KERNEL(block, blocks) extern "C" __global__ void __launch_bounds__(block, blocks)
#define DEVICE static __device__ __forceinline__

// Memory is read and written by these alone, whosoever it is.
#define LD(array, index) ((array)[index])
#define ST(array, index, value) ((void)((array)[index] = (value)))
#define SHARED(type, name, length) __shared__ type name[length]

#define BARRIER() __syncthreads()
#define WARP_BARRIER() __syncwarp()

// Exchanges are met by all 32 lanes of a warp. They do not order accesses to memory.
template <class T> DEVICE T shfl_down(T value, u32 lanes) { return __shfl_down_sync(~0u, value, lanes); }
template <class T> DEVICE T shfl_xor(T value, u32 lanes) { return __shfl_xor_sync(~0u, value, lanes); }
template <class T> DEVICE u32 match_any(T value) { return __match_any_sync(~0u, value); }
DEVICE u32 ballot(bool value) { return __ballot_sync(~0u, value); }

DEVICE u32 popcount(u32 bits) { return __popc(bits); }

// Whether all other blocks have come here before, and so what they wrote before can be read. Met by all threads of all
// blocks; whoever is last sets the count to zero again.
DEVICE bool last_block(u32* count) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(count, 1u) == gridDim.x * gridDim.y * gridDim.z - 1;
  __syncthreads();
  if (last) __threadfence();
  return last;
}

// The first point at which a check failed, which check that was, and what it saw.
struct Panic {
  u32 lock;
  u32 site;
  u64 point;
  i64 values[2];
};

DEVICE void panic_at(Panic* panic, u32 site, u64 point, i64 first, i64 second) {
  volatile Panic* record = panic;
  // The lock is taken and given back in one iteration: lanes of a warp take turns.
  for (bool done = false; !done;) {
    if (atomicCAS(&panic->lock, 0u, 1u) == 0u) {
      __threadfence();
      if (point < record->point || (point == record->point && site < record->site)) {
        record->site = site;
        record->point = point;
        record->values[0] = first;
        record->values[1] = second;
      }
      __threadfence();
      atomicExch(&panic->lock, 0u);
      done = true;
    }
  }
}
