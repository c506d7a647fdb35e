/* The floor of a launch: cuLaunchKernelEx with parameters that are ready, in a loop.
 *
 *   floor DRIVER PARAMETERS QUERIES TURNS
 *
 * opens the recorder DRIVER in null mode and launches TURNS times with PARAMETERS parameters of 8
 * bytes, then three times as many, with a call of getppid() before, between and after. QUERIES
 * cuPointerGetAttribute calls come before each launch. Exit 2 on wrong use, 1 when a call fails. */
#include <cuda.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST_PARAMETERS 256

struct Driver {
  CUresult (*launch)(const CUlaunchConfig*, CUfunction, void**, void**);
  CUresult (*query)(void*, CUpointer_attribute, CUdeviceptr);
};

static int run(const struct Driver* driver, long queries, long turns) {
  uint64_t values[MOST_PARAMETERS] = {0};
  void* addresses[MOST_PARAMETERS];
  for (int i = 0; i < MOST_PARAMETERS; ++i) addresses[i] = &values[i];
  for (long i = 0; i < turns; ++i) {
    for (long j = 0; j < queries; ++j) {
      if (driver->query(&values[j], CU_POINTER_ATTRIBUTE_DEVICE_POINTER, 0x7f0000001000ull) !=
          CUDA_SUCCESS)
        return 1;
    }
    CUlaunchConfig config = {0};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = 128;
    config.blockDimY = config.blockDimZ = 1;
    if (driver->launch(&config, (CUfunction)0x1000, addresses, NULL) != CUDA_SUCCESS) return 1;
  }
  return 0;
}

int main(int count, char** words) {
  if (count != 5) {
    fprintf(stderr, "usage: floor DRIVER PARAMETERS QUERIES TURNS\n");
    return 2;
  }
  void* library = dlopen(words[1], RTLD_NOW | RTLD_GLOBAL);
  if (library == NULL) {
    fprintf(stderr, "floor: %s\n", dlerror());
    return 2;
  }
  void (*mode)(int) = NULL;
  struct Driver driver = {NULL, NULL};
  *(void**)&mode = dlsym(library, "relaunch_recorder_mode");
  *(void**)&driver.launch = dlsym(library, "cuLaunchKernelEx");
  *(void**)&driver.query = dlsym(library, "cuPointerGetAttribute");
  const long parameters = strtol(words[2], NULL, 10);
  const long queries = strtol(words[3], NULL, 10);
  const long turns = strtol(words[4], NULL, 10);
  if (mode == NULL || driver.launch == NULL || driver.query == NULL || parameters < queries ||
      queries < 0 || parameters > MOST_PARAMETERS) {
    fprintf(stderr, "floor: no recorder, or not 0 to %d parameters\n", MOST_PARAMETERS);
    return 2;
  }
  mode(1);
  getppid();
  int failed = run(&driver, queries, turns);
  getppid();
  failed |= run(&driver, queries, 3 * turns);
  getppid();
  return failed;
}
