// What a card has, under the names that kernels use. `emulated.cu` has the same names.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned long long usize;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef long long isize;
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

// Constants that all threads read, and floats as their bits.
#define TABLE(type, name, length) static __constant__ const type name[length]
DEVICE u32 to_bits(f32 value) { return __float_as_uint(value); }
DEVICE u64 to_bits(f64 value) { return (u64)__double_as_longlong(value); }
DEVICE f32 from_bits(u32 bits) { return __uint_as_float(bits); }
DEVICE f64 from_bits(u64 bits) { return __longlong_as_double((i64)bits); }

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

// The first point at which a check failed, in the first launch in which one did; which check that was; what it saw follows.
struct Panic {
  u32 lock;
  u32 site;
  u64 launch;
  u64 point;
};

DEVICE void panic_at(Panic* panic, u64 launch, u64 point, u32 site, u32 count, const u64* values) {
  volatile Panic* record = panic;
  volatile u64* told = (u64*)(panic + 1);
  // The lock is taken and given back in one iteration: lanes of a warp take turns.
  for (bool done = false; !done;) {
    if (atomicCAS(&panic->lock, 0u, 1u) == 0u) {
      __threadfence();
      bool same = launch == record->launch;
      if (launch < record->launch || (same && point < record->point) ||
          (same && point == record->point && site < record->site)) {
        record->site = site;
        record->launch = launch;
        record->point = point;
        for (u32 k = 0; k < count; k++) told[k] = values[k];
      }
      __threadfence();
      atomicExch(&panic->lock, 0u);
      done = true;
    }
  }
}

// Whether a check failed in a launch before this one, so that nothing is to be done any more.
DEVICE bool stopped(const Panic* panic, u64 launch) { return ((const volatile Panic*)panic)->launch < launch; }
