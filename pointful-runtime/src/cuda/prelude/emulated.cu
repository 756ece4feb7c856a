// The names of `card.cu` for the emulated device: each asks the machine of `machine.cpp`.

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned long long usize;
typedef int i32;
typedef long long i64;
typedef float f32;
typedef double f64;

#define KERNEL(block, blocks) static void
#define DEVICE static inline

#define LD(array, index) emu::load((array), (index), #array, EMU_HERE)
#define ST(array, index, value) emu::store((array), (index), (value), #array, EMU_HERE)
#define SHARED(type, name, length) type* const name = emu::shared<type>(length, EMU_HERE)

#define BARRIER() emu::barrier("BARRIER()", EMU_HERE)
#define WARP_BARRIER() emu::warp_barrier(EMU_HERE)

#define shfl_down(value, lanes) emu::shfl_down((value), (lanes), EMU_HERE)
#define shfl_xor(value, lanes) emu::shfl_xor((value), (lanes), EMU_HERE)
#define match_any(value) emu::match_any((value), EMU_HERE)
#define ballot(value) emu::ballot((value), EMU_HERE)

DEVICE u32 popcount(u32 bits) { return __builtin_popcount(bits); }

#define last_block(count) emu::last_block((count), EMU_HERE)

struct Panic {
  u32 lock;
  u32 site;
  u64 point;
  i64 values[2];
};

DEVICE void panic_at(Panic* panic, u32 site, u64 point, i64 first, i64 second) {
  if (point < panic->point || (point == panic->point && site < panic->site)) {
    panic->site = site;
    panic->point = point;
    panic->values[0] = first;
    panic->values[1] = second;
  }
}
