// The emulated device's machine: it runs a kernel's blocks one after the other, each thread of a block a fiber, and looks
// at every access to memory.
//
// A thread runs until it has to wait: at a barrier for its block, at an exchange for its warp. Which thread goes on next,
// and which block, is drawn from a seed. Two accesses to one place by different threads, of which one writes, must be
// ordered: by a barrier of the block, by a barrier of the warp within a warp, by `last_block` between blocks. Since
// every access is noted with the barriers that its thread had passed, a race is found in any order of threads.
//
// Numbers of blocks count along x first. Nothing here is safe for several threads of the process: the driver holds a lock.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

struct Dim3 {
  unsigned x, y, z;
};
static Dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace emu {

typedef unsigned int u32;
typedef unsigned long long u64;

// What the driver hands over; it has the same structs.
struct Allocation {
  char* start;
  u64 bytes;
  // For each byte, whether it has been written.
  char* written;
};

struct Launch {
  const char* kernel;
  u32 grid[3];
  u32 block;
  u64 seed;
  void** arguments;
  const u64* sizes;
  u64 argument_count;
  // In the order of their addresses.
  const Allocation* allocations;
  u64 allocation_count;
  char* report;
  u64 report_bytes;
};

struct Here {
  const char* file;
  int line;
};
#define EMU_HERE (emu::Here{__FILE__, __LINE__})

const u32 NONE = ~0u;
const u32 WARP = 32;
const u32 LANES = ~0u;
const u64 STACK = 256 << 10;
const u64 PAGE = 4096;

// Lanes of a warp that have read a place since the warp's barrier number `epoch`.
struct Readers {
  u32 warp, epoch, lanes;
};

// Who touched a place.
struct Cell {
  // The last write: its block, thread, how often its block had been asked for the last, and the barriers before.
  u32 block, thread, phase, epoch, warp_epoch;
  // Blocks that have read it since: two of those that had not been asked for the last, and two that had.
  u32 read_by[2][2];
  // Reads by the block that runs, since its barrier number `reading_epoch`.
  u32 reading_block, reading_epoch;
  u32 count, capacity;
  Readers* readers;
};

// The cells of an allocation, one for each element.
struct Shadow {
  Cell* cells;
  u64 count;
  u32 size;
};

struct Shared {
  Here here;
  Allocation memory;
  Shadow shadow;
};

enum State { READY, AT_BARRIER, AT_EXCHANGE, ENDED };

// It begins as a context, on a stack of its own. From then on it is left and gone back to by jumps, which do not ask the
// system for its mask of signals.
struct Fiber {
  ucontext_t context;
  jmp_buf jump;
  bool begun;
  char* stack;
  State state;
  // What it waits at.
  const char* what;
  Here here;
  u32 exchanges;
};

struct Warp {
  u32 arrived;
  u32 epoch;
  // Two exchanges at most are under way: whoever is in the next has read what it wanted of this one.
  u64 slots[2][WARP];
};

const u32 MOST_THREADS = 1024;
const u32 MOST_SHARED = 64;

static const Launch* launch;
static jmp_buf scheduler;
static Fiber fibers[MOST_THREADS];
static Warp warps[MOST_THREADS / WARP];
static Shared shared_arrays[MOST_SHARED];
static Shadow* shadows;
static u32 ready[MOST_THREADS];
static u32 ready_count, shared_count, current, current_block, at_barrier, epoch, phase, last_asked;
static bool faulted, is_last, acquired;
static void (*body)(void**);
static void* kernel;
static u64 state;

// Numbers of splitmix64.
static u64 draw() {
  u64 z = state += 0x9e3779b97f4a7c15ull;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return z ^ z >> 31;
}

static void describe(const char* format, va_list arguments) {
  if (faulted) return;
  faulted = true;
  int used = snprintf(launch->report, launch->report_bytes, "block %u: ", current_block);
  vsnprintf(launch->report + used, launch->report_bytes - used, format, arguments);
}

// Ends the launch. Called by fibers, which do not go on.
__attribute__((noreturn, format(printf, 1, 2))) static void fault(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  describe(format, arguments);
  va_end(arguments);
  _longjmp(scheduler, 1);
}

// As `fault`, called by the scheduler.
__attribute__((format(printf, 1, 2))) static void fault_outside(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  describe(format, arguments);
  va_end(arguments);
}

static bool holds(const Allocation& memory, const void* address) {
  return (u64)((const char*)address - memory.start) < memory.bytes && (const char*)address >= memory.start;
}

// The allocation that an address lies in, and its shadow; shared memory first.
static const Allocation* find(const void* address, Shadow** shadow) {
  for (u32 k = 0; k < shared_count; k++) {
    if (holds(shared_arrays[k].memory, address)) {
      *shadow = &shared_arrays[k].shadow;
      return &shared_arrays[k].memory;
    }
  }
  static u64 last = 0;
  if (last >= launch->allocation_count || !holds(launch->allocations[last], address)) {
    u64 low = 0, high = launch->allocation_count;
    while (low < high) {
      u64 middle = low + (high - low) / 2;
      if (launch->allocations[middle].start <= (const char*)address) low = middle + 1;
      else high = middle;
    }
    if (low == 0 || !holds(launch->allocations[low - 1], address)) return 0;
    last = low - 1;
  }
  *shadow = &shadows[last];
  return &launch->allocations[last];
}

static void clear(Cell& cell) {
  cell.block = cell.reading_block = NONE;
  cell.read_by[0][0] = cell.read_by[0][1] = cell.read_by[1][0] = cell.read_by[1][1] = NONE;
  cell.count = 0;
}

static void* memory(u64 count, u64 size) {
  void* start = calloc(count ? count : 1, size);
  if (!start) abort();
  return start;
}

static void release(Shadow& shadow) {
  for (u64 k = 0; k < shadow.count; k++) free(shadow.cells[k].readers);
  free(shadow.cells);
  shadow = Shadow();
}

// Whether a thread's write or read, noted with these numbers, is ordered before what the current thread does now.
static bool ordered(u32 block, u32 thread, u32 at_phase, u32 at_epoch, u32 at_warp_epoch) {
  if (block != current_block) return acquired && at_phase < phase;
  if (thread == current || at_epoch < epoch) return true;
  return thread / WARP == current / WARP && at_warp_epoch < warps[current / WARP].epoch;
}

// The thread of this block that has read a place, if it is not ordered before what the current thread does.
static u32 unordered_reader(const Cell& cell) {
  if (cell.reading_block != current_block || cell.reading_epoch != epoch) return NONE;
  for (u32 k = 0; k < cell.count; k++) {
    const Readers& readers = cell.readers[k];
    u32 lanes = readers.lanes;
    if (readers.warp == current / WARP) {
      if (readers.epoch < warps[readers.warp].epoch) continue;
      lanes &= ~(1u << current % WARP);
    }
    if (lanes) return readers.warp * WARP + __builtin_ctz(lanes);
  }
  return NONE;
}

// A block other than this one that has read a place, if it is not ordered before what this one does.
static u32 unordered_block(const Cell& cell) {
  for (u32 asked = 0; asked < 2; asked++) {
    if (!asked && acquired) continue;
    for (u32 k = 0; k < 2; k++) {
      u32 block = cell.read_by[asked][k];
      if (block != NONE && block != current_block) return block;
    }
  }
  return NONE;
}

static void note_read(Cell& cell) {
  u32* blocks = cell.read_by[phase ? 1 : 0];
  if (blocks[0] == NONE || blocks[0] == current_block) blocks[0] = current_block;
  else blocks[1] = current_block;
  if (cell.reading_block != current_block || cell.reading_epoch != epoch) {
    cell.reading_block = current_block;
    cell.reading_epoch = epoch;
    cell.count = 0;
  }
  u32 warp = current / WARP, lane = 1u << current % WARP;
  for (u32 k = 0; k < cell.count; k++) {
    Readers& readers = cell.readers[k];
    if (readers.warp != warp) continue;
    if (readers.epoch != warps[warp].epoch) {
      readers.epoch = warps[warp].epoch;
      readers.lanes = 0;
    }
    readers.lanes |= lane;
    return;
  }
  if (cell.count == cell.capacity) {
    cell.capacity = cell.capacity ? 2 * cell.capacity : 1;
    cell.readers = (Readers*)realloc(cell.readers, cell.capacity * sizeof(Readers));
    if (!cell.readers) abort();
  }
  cell.readers[cell.count++] = Readers{warp, warps[warp].epoch, lane};
}

static void note_write(Cell& cell) {
  clear(cell);
  cell.block = current_block;
  cell.thread = current;
  cell.phase = phase;
  cell.epoch = epoch;
  cell.warp_epoch = warps[current / WARP].epoch;
}

// An access to element `index` of `array`, whose elements have `size` bytes.
static void access(const void* array, u64 index, u32 size, bool write, const char* text, Here here) {
  const char* verb = write ? "writes" : "reads";
#define PLACE "thread %u %s %s[%lld] (%s:%d)"
#define PLACE_ARGUMENTS current, verb, text, (long long)index, here.file, here.line
  Shadow* shadow = 0;
  const Allocation* memory = find(array, &shadow);
  if (!memory) fault(PLACE ", which lies in no allocation", PLACE_ARGUMENTS);
  u64 offset = (const char*)array - memory->start;
  if (offset % size) fault(PLACE ", which is not aligned to its %u bytes", PLACE_ARGUMENTS, size);
  u64 length = (memory->bytes - offset) / size;
  if (index >= length) fault(PLACE ", outside of its allocation of %llu elements", PLACE_ARGUMENTS, length);
  char* written = memory->written + offset + index * size;
  if (write) memset(written, 1, size);
  else if (memchr(written, 0, size)) fault(PLACE ", which nobody has written", PLACE_ARGUMENTS);

  if (!shadow->cells) {
    shadow->size = size;
    shadow->count = memory->bytes / size;
    shadow->cells = (Cell*)emu::memory(shadow->count, sizeof(Cell));
    for (u64 k = 0; k < shadow->count; k++) clear(shadow->cells[k]);
  }
  if (shadow->size != size)
    fault(PLACE " as %u bytes, where others of the same launch are of %u", PLACE_ARGUMENTS, size, shadow->size);
  Cell& cell = shadow->cells[offset / size + index];

  if (cell.block != NONE && !ordered(cell.block, cell.thread, cell.phase, cell.epoch, cell.warp_epoch))
    fault(PLACE ", which thread %u of block %u writes, and nothing orders the two", PLACE_ARGUMENTS, cell.thread, cell.block);
  if (write) {
    u32 reader = unordered_reader(cell);
    if (reader != NONE)
      fault(PLACE ", which thread %u of the same block reads, and nothing orders the two", PLACE_ARGUMENTS, reader);
    u32 block = unordered_block(cell);
    if (block != NONE) fault(PLACE ", which block %u reads, and nothing orders the two", PLACE_ARGUMENTS, block);
    note_write(cell);
  } else {
    note_read(cell);
  }
#undef PLACE
#undef PLACE_ARGUMENTS
}

template <class T> struct Same {
  typedef T Type;
};

template <class T> static T load(const T* array, u64 index, const char* text, Here here) {
  access(array, index, sizeof(T), false, text, here);
  return array[index];
}

template <class T> static void store(T* array, u64 index, typename Same<T>::Type value, const char* text, Here here) {
  access(array, index, sizeof(T), true, text, here);
  array[index] = value;
}

// Memory of the block, the same for all of its threads that come here. It holds a pattern, and nobody has written it.
template <class T> static T* shared(u64 length, Here here) {
  for (u32 k = 0; k < shared_count; k++) {
    Shared& array = shared_arrays[k];
    if (array.here.line == here.line && !strcmp(array.here.file, here.file)) return (T*)array.memory.start;
  }
  if (shared_count == MOST_SHARED) fault("more than %u arrays are shared", MOST_SHARED);
  Shared& array = shared_arrays[shared_count++];
  u64 bytes = length * sizeof(T);
  array.here = here;
  array.memory = Allocation{(char*)memory(bytes, 1), bytes, (char*)memory(bytes, 1)};
  memset(array.memory.start, 0xf4, bytes);
  array.shadow = Shadow();
  return (T*)array.memory.start;
}

static bool same_place(const Fiber& fiber, const char* what, Here here) {
  return fiber.here.line == here.line && !strcmp(fiber.here.file, here.file) && !strcmp(fiber.what, what);
}

// Goes to the current fiber, until that waits, ends or faults. A function of its own, without variables that a jump may
// leave as they were.
__attribute__((noinline)) static void go_to_fiber() {
  if (_setjmp(scheduler)) return;
  Fiber& fiber = fibers[current];
  if (fiber.begun) _longjmp(fiber.jump, 1);
  fiber.begun = true;
  setcontext(&fiber.context);
}

// Goes to the scheduler, until that comes back.
__attribute__((noinline)) static void go_to_scheduler() {
  if (!_setjmp(fibers[current].jump)) _longjmp(scheduler, 1);
}

// Leaves the fiber until the scheduler comes back to it.
static void wait(State waiting, const char* what, Here here) {
  Fiber& fiber = fibers[current];
  fiber.state = waiting;
  fiber.what = what;
  fiber.here = here;
  go_to_scheduler();
}

template <class T, class F> static T cast(F from) {
  static_assert(sizeof(T) == sizeof(F), "the same bits");
  T to;
  memcpy(&to, &from, sizeof to);
  return to;
}

static void barrier(const char* what, Here here) {
  at_barrier++;
  wait(AT_BARRIER, what, here);
}

// Waits for the warp; gives what its lanes have brought.
static u64* meet(u64 value, const char* what, Here here) {
  u32 first = current / WARP * WARP;
  Warp& warp = warps[current / WARP];
  u64* slots = warp.slots[fibers[current].exchanges++ % 2];
  slots[current % WARP] = value;
  if (++warp.arrived == WARP) {
    for (u32 lane = 0; lane < WARP; lane++) {
      Fiber& other = fibers[first + lane];
      if (first + lane == current) continue;
      if (!same_place(other, what, here))
        fault("thread %u is at %s (%s:%d), and thread %u of its warp at %s (%s:%d)", current, what, here.file, here.line,
              first + lane, other.what, other.here.file, other.here.line);
    }
    warp.arrived = 0;
    for (u32 lane = 0; lane < WARP; lane++) {
      if (first + lane == current) continue;
      fibers[first + lane].state = READY;
      ready[ready_count++] = first + lane;
    }
    // The last to arrive waits as well, so that it is not always the first to go on.
    ready[ready_count++] = current;
    wait(READY, what, here);
  } else {
    wait(AT_EXCHANGE, what, here);
  }
  return slots;
}

static void warp_barrier(Here here) {
  u32 before = warps[current / WARP].epoch;
  meet(before, "WARP_BARRIER()", here);
  // Whoever goes on first moves the warp's number; all of its lanes have met.
  if (warps[current / WARP].epoch == before) warps[current / WARP].epoch++;
}

template <class T> static u64 bits(T value) {
  static_assert(sizeof(T) <= 8, "exchanges are of up to 8 bytes");
  u64 result = 0;
  memcpy(&result, &value, sizeof(T));
  return result;
}

template <class T> static T value_of(u64 bits) {
  T value;
  memcpy(&value, &bits, sizeof(T));
  return value;
}

template <class T> static T shfl_down(T value, u32 lanes, Here here) {
  u64* slots = meet(bits(value), "shfl_down()", here);
  u32 lane = current % WARP + lanes;
  return lane < WARP ? value_of<T>(slots[lane]) : value;
}

template <class T> static T shfl_xor(T value, u32 lanes, Here here) {
  u64* slots = meet(bits(value), "shfl_xor()", here);
  u32 lane = current % WARP ^ lanes;
  return lane < WARP ? value_of<T>(slots[lane]) : value;
}

template <class T> static u32 match_any(T value, Here here) {
  u64 mine = bits(value);
  u64* slots = meet(mine, "match_any()", here);
  u32 lanes = 0;
  for (u32 lane = 0; lane < WARP; lane++) lanes |= (u32)(slots[lane] == mine) << lane;
  return lanes;
}

static u32 ballot(bool value, Here here) {
  u64* slots = meet(value, "ballot()", here);
  u32 lanes = 0;
  for (u32 lane = 0; lane < WARP; lane++) lanes |= (u32)slots[lane] << lane;
  return lanes;
}

static u32 blocks() { return launch->grid[0] * launch->grid[1] * launch->grid[2]; }

static bool last_block(u32* count, Here here) {
  barrier("last_block()", here);
  // Once for the block, by whoever goes on first.
  if (last_asked != epoch) {
    last_asked = epoch;
    Shadow* shadow = 0;
    const Allocation* memory = find(count, &shadow);
    if (!memory) fault("last_block() (%s:%d) is given a count that lies in no allocation", here.file, here.line);
    if (memchr(memory->written + ((char*)count - memory->start), 0, sizeof(u32)))
      fault("last_block() (%s:%d) is given a count that nobody has written", here.file, here.line);
    if (*count >= blocks())
      fault("last_block() (%s:%d) has counted %u blocks, and there are %u: the count was not 0 at first", here.file,
            here.line, *count, blocks());
    is_last = ++*count == blocks();
    phase++;
    acquired = acquired || is_last;
  }
  barrier("last_block()", here);
  return is_last;
}

static void run_fiber() {
  body(launch->arguments);
  fibers[current].state = ENDED;
  _longjmp(scheduler, 1);
}

static bool stacks(u32 count) {
  for (u32 k = 0; k < count; k++) {
    if (fibers[k].stack) continue;
    char* start = (char*)mmap(0, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return false;
    // A kernel whose arrays are too large for a stack ends here, and not in another's.
    mprotect(start, PAGE, PROT_NONE);
    fibers[k].stack = start;
  }
  return true;
}

static void begin_block(u32 block, u32 threads) {
  current_block = block;
  blockIdx.x = block % launch->grid[0];
  blockIdx.y = block / launch->grid[0] % launch->grid[1];
  blockIdx.z = block / launch->grid[0] / launch->grid[1];
  ready_count = at_barrier = epoch = phase = 0;
  last_asked = NONE;
  is_last = acquired = false;
  memset(warps, 0, sizeof warps);
  for (u32 k = 0; k < threads; k++) {
    Fiber& fiber = fibers[k];
    fiber.state = READY;
    fiber.begun = false;
    fiber.exchanges = 0;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack + PAGE;
    fiber.context.uc_stack.ss_size = STACK - PAGE;
    fiber.context.uc_link = 0;
    makecontext(&fiber.context, run_fiber, 0);
    ready[ready_count++] = k;
  }
}

// Some threads wait, and none can go on.
static void stuck(u32 threads) {
  u32 waiting = NONE, other = NONE;
  for (u32 k = 0; k < threads; k++) {
    const Fiber& fiber = fibers[k];
    if (fiber.state != ENDED && waiting == NONE) waiting = k;
  }
  const Fiber& first = fibers[waiting];
  // An exchange waits for its own warp.
  u32 from = first.state == AT_EXCHANGE ? waiting / WARP * WARP : 0;
  u32 to = first.state == AT_EXCHANGE ? from + WARP : threads;
  for (u32 k = from; k < to && other == NONE; k++) {
    const Fiber& fiber = fibers[k];
    if (fiber.state != first.state || !same_place(fiber, first.what, first.here)) other = k;
  }
  const Fiber& second = fibers[other];
  if (second.state == ENDED)
    fault_outside("thread %u waits at %s (%s:%d), and thread %u has ended", waiting, first.what, first.here.file,
                  first.here.line, other);
  else
    fault_outside("thread %u waits at %s (%s:%d), and thread %u at %s (%s:%d)", waiting, first.what, first.here.file,
                  first.here.line, other, second.what, second.here.file, second.here.line);
}

// Whether all threads wait at one barrier; then they go on.
static bool pass_barrier(u32 threads) {
  if (at_barrier != threads) return false;
  for (u32 k = 1; k < threads; k++) {
    if (!same_place(fibers[k], fibers[0].what, fibers[0].here)) return false;
  }
  at_barrier = 0;
  epoch++;
  for (u32 k = 0; k < threads; k++) {
    fibers[k].state = READY;
    ready[ready_count++] = k;
  }
  return true;
}

static void run_block(u32 threads) {
  u32 ended = 0;
  while (ended < threads) {
    if (!ready_count && !pass_barrier(threads)) return stuck(threads);
    u32 chosen = draw() % ready_count;
    current = ready[chosen];
    ready[chosen] = ready[--ready_count];
    threadIdx.x = current;
    go_to_fiber();
    if (faulted) return;
    if (fibers[current].state == ENDED) ended++;
  }
}

static void end_block() {
  for (u32 k = 0; k < shared_count; k++) {
    release(shared_arrays[k].shadow);
    free(shared_arrays[k].memory.start);
    free(shared_arrays[k].memory.written);
  }
  shared_count = 0;
}

static void run_blocks(u32 threads) {
  u32 count = blocks();
  u32* order = (u32*)memory(count, sizeof(u32));
  for (u32 k = 0; k < count; k++) {
    u32 other = draw() % (k + 1);
    order[k] = order[other];
    order[other] = k;
  }
  u32 asked = 0, asked_by = 0;
  for (u32 k = 0; k < count && !faulted; k++) {
    begin_block(order[k], threads);
    run_block(threads);
    end_block();
    if (!k) {
      asked = phase;
      asked_by = current_block;
    } else if (!faulted && phase != asked) {
      fault_outside("it asks last_block() %u times, and block %u %u times", phase, asked_by, asked);
    }
  }
  free(order);
}

// The kernel's own arguments, out of the launch's.
template <u32... K> struct Numbers {};
template <u32 N, u32... K> struct Counted : Counted<N - 1, N - 1, K...> {};
template <u32... K> struct Counted<0, K...> {
  typedef Numbers<K...> Type;
};
template <class... A, u32... K> static void apply(void (*function)(A...), void** arguments, Numbers<K...>) {
  function(*(A*)arguments[K]...);
}
template <class... A> static void call(void** arguments) {
  apply((void (*)(A...))kernel, arguments, typename Counted<sizeof...(A)>::Type());
}

// Runs a kernel; whether it did nothing that it may not do, which the report tells.
template <class... A> static bool run(const Launch* what, void (*function)(A...)) {
  launch = what;
  faulted = false;
  state = what->seed;
  const u64 sizes[] = {sizeof(A)..., 0};
  if (what->argument_count != sizeof...(A)) {
    snprintf(what->report, what->report_bytes, "it has %zu parameters, and was given %llu", sizeof...(A), what->argument_count);
    return false;
  }
  for (u64 k = 0; k < sizeof...(A); k++) {
    if (sizes[k] == what->sizes[k]) continue;
    snprintf(what->report, what->report_bytes, "parameter %llu has %llu bytes, and was given %llu", k, sizes[k], what->sizes[k]);
    return false;
  }
  if (!stacks(what->block)) {
    snprintf(what->report, what->report_bytes, "there is no memory for the stacks of %u threads", what->block);
    return false;
  }
  kernel = (void*)function;
  body = call<A...>;
  gridDim = Dim3{what->grid[0], what->grid[1], what->grid[2]};
  blockDim = Dim3{what->block, 1, 1};
  threadIdx = Dim3{0, 0, 0};
  shadows = (Shadow*)memory(what->allocation_count, sizeof(Shadow));
  run_blocks(what->block);
  for (u64 k = 0; k < what->allocation_count; k++) release(shadows[k]);
  free(shadows);
  return !faulted;
}

}  // namespace emu
