// A driver and an NVRTC without a card: memory is the host's, and everything is done at once. What they answer is said in
// FAKE_CUDA: ` cards=2 cuMemAllocAsync=2` is two cards, and error 2 of each call of this function.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long Address;

static int said(const char* what, int otherwise) {
  const char* all = getenv("FAKE_CUDA");
  char name[64];
  snprintf(name, sizeof name, " %s=", what);
  const char* found = all ? strstr(all, name) : NULL;
  return found ? atoi(found + strlen(name)) : otherwise;
}

// A function that does nothing but fail if it was said to, and this.
#define CALL(name, parameters, ...)   \
  int name parameters {               \
    int failure = said(#name, 0);     \
    if (failure != 0) return failure; \
    __VA_ARGS__;                      \
    return 0;                         \
  }

CALL(cuInit, (unsigned flags), (void)flags)
CALL(cuDriverGetVersion, (int* version), *version = said("version", 12080))
CALL(cuDeviceGetCount, (int* count), *count = said("cards", 1))
CALL(cuDeviceGet, (int* device, int ordinal), *device = ordinal)
CALL(cuDeviceGetAttribute, (int* value, int which, int device), (void)device;
     *value = which == 75 ? said("major", 9) : which == 76 ? said("minor", 0) : which == 115 ? said("pools", 1) : -1)
CALL(cuDevicePrimaryCtxRetain, (void** context, int device), *context = (void*)(size_t)(device + 1))
CALL(cuCtxSetCurrent, (void* context), if (context == NULL) return 201)
CALL(cuDeviceGetDefaultMemPool, (void** pool, int device), *pool = (void*)(size_t)(device + 1))
CALL(cuMemPoolSetAttribute, (void* pool, int which, void* value), (void)pool;
     if (which != 4 || *(unsigned long long*)value != ~0ull) return 1)
CALL(cuStreamCreate, (void** stream, unsigned flags), if (flags != 1) return 1; *stream = malloc(1))
CALL(cuStreamSynchronize, (void* stream), (void)stream)
CALL(cuEventCreate, (void** event, unsigned flags), if (flags != 2) return 1; *event = malloc(1))
CALL(cuEventRecord, (void* event, void* stream), (void)event; (void)stream)
CALL(cuEventSynchronize, (void* event), (void)event)
CALL(cuMemHostAlloc, (void** start, size_t bytes, unsigned flags), (void)flags; *start = malloc(bytes))
CALL(cuMemAllocAsync, (Address* start, size_t bytes, void* stream), (void)stream;
     *start = (Address)(size_t)malloc(bytes))
CALL(cuMemFreeAsync, (Address start, void* stream), (void)stream; free((void*)(size_t)start))
CALL(cuMemcpyHtoDAsync_v2, (Address to, const void* from, size_t bytes, void* stream), (void)stream;
     memcpy((void*)(size_t)to, from, bytes))
CALL(cuMemcpyDtoHAsync_v2, (void* to, Address from, size_t bytes, void* stream), (void)stream;
     memcpy(to, (void*)(size_t)from, bytes))
CALL(cuMemcpyDtoDAsync_v2, (Address to, Address from, size_t bytes, void* stream), (void)stream;
     memcpy((void*)(size_t)to, (void*)(size_t)from, bytes))
CALL(cuModuleLoadData, (void** module, const void* code), if (strcmp(code, "a cubin") != 0) return 200;
     *module = malloc(1))
CALL(cuModuleGetFunction, (void** function, void* module, const char* name), (void)module;
     char* kept = malloc(strlen(name) + 1); strcpy(kept, name); *function = kept)

// One kernel is known: saxpy(n, a, x, y, out).
CALL(cuLaunchKernel,
     (const char* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
      unsigned shared, void* stream, void** arguments, void** extra),
     (void)stream;
     if (strcmp(function, "saxpy") != 0 || gx != 7 || gy * gz != 1 || bx != 256 || by * bz != 1 || shared != 0 || extra)
         return 1;
     size_t n = *(size_t*)arguments[0]; float a = *(float*)arguments[1]; float* x = *(float**)arguments[2];
     float* y = *(float**)arguments[3]; float* out = *(float**)arguments[4];
     for (size_t i = 0; i < n; i++) out[i] = a * x[i] + y[i])

static const char log_text[] = "kernels.cu(1): error: it was to fail";

CALL(nvrtcVersion, (int* major, int* minor), *major = said("nvrtc", 12); *minor = 8)
CALL(nvrtcCreateProgram,
     (void** program, const char* source, const char* name, int headers, const char** texts, const char** names),
     (void)texts; (void)names;
     if (headers != 0 || strcmp(name, "kernels.cu") != 0 || strstr(source, "saxpy(") == NULL) return 3;
     *program = malloc(1))
CALL(nvrtcCompileProgram, (void* program, int count, const char** options), (void)program;
     if (count != 3 || strcmp(options[0], "--gpu-architecture=sm_90") != 0) return 5)
CALL(nvrtcDestroyProgram, (void** program), free(*program))
CALL(nvrtcGetCUBINSize, (void* program, size_t* bytes), (void)program; *bytes = sizeof "a cubin")
CALL(nvrtcGetCUBIN, (void* program, char* code), (void)program; strcpy(code, "a cubin"))
CALL(nvrtcGetProgramLogSize, (void* program, size_t* bytes), (void)program; *bytes = sizeof log_text)
CALL(nvrtcGetProgramLog, (void* program, char* text), (void)program; strcpy(text, log_text))

const char* nvrtcGetErrorString(int code) {
  return code == 6 ? "NVRTC_ERROR_COMPILATION" : NULL;
}
