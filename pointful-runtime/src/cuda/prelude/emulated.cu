// The names of `card.cu` for the emulated device: each asks the machine of `machine.cpp`.

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

#define TABLE(type, name, length) static const type name[length]
DEVICE u32 to_bits(f32 value) { return emu::cast<u32>(value); }
DEVICE u64 to_bits(f64 value) { return emu::cast<u64>(value); }
DEVICE f32 from_bits(u32 bits) { return emu::cast<f32>(bits); }
DEVICE f64 from_bits(u64 bits) { return emu::cast<f64>(bits); }

#define last_block(count) emu::last_block((count), EMU_HERE)

struct Panic {
  u32 lock;
  u32 site;
  u64 launch;
  u64 point;
};

DEVICE void panic_at(Panic* panic, u64 launch, u64 point, u32 site, u32 count, const u64* values) {
  bool same = launch == panic->launch;
  if (launch < panic->launch || (same && point < panic->point) ||
      (same && point == panic->point && site < panic->site)) {
    panic->site = site;
    panic->launch = launch;
    panic->point = point;
    u64* told = (u64*)(panic + 1);
    for (u32 k = 0; k < count; k++) told[k] = values[k];
  }
}

DEVICE bool stopped(const Panic* panic, u64 launch) { return panic->launch < launch; }
