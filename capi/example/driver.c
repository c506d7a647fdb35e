#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static int look_up(void* library, const char* name, void* slot) {
  void* const found = dlsym(library, name);
  if (found == NULL) fprintf(stderr, "launch: the driver has no %s\n", name);
  *(void**)slot = found;
  return found == NULL ? -1 : 0;
}

int open_driver(cuda_driver* driver, const char* path) {
  void* const library = dlopen(path, RTLD_NOW);
  if (library == NULL) {
    fprintf(stderr, "launch: %s\n", dlerror());
    return -1;
  }
  *(void**)&driver->record_sizes = dlsym(library, "relaunch_recorder_set_slots");
  *(void**)&driver->recorded = dlsym(library, "relaunch_recorder_events");
  return look_up(library, "cuInit", &driver->init) |
         look_up(library, "cuModuleLoadData", &driver->load) |
         look_up(library, "cuModuleGetFunction", &driver->find) |
         look_up(library, "cuMemAlloc_v2", &driver->allocate) |
         look_up(library, "cuMemsetD8_v2", &driver->fill) |
         look_up(library, "cuMemcpyDtoH_v2", &driver->copy_to_host) |
         look_up(library, "cuCtxSynchronize", &driver->synchronize);
}

static char* read_file(const char* path) {
  FILE* const file = fopen(path, "rb");
  char* bytes = NULL;
  if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
    const long size = ftell(file);
    rewind(file);
    bytes = size < 0 ? NULL : calloc(1, (size_t)size + 1); /* PTX ends in a zero */
    if (bytes != NULL && fread(bytes, 1, (size_t)size, file) != (size_t)size) {
      free(bytes);
      bytes = NULL;
    }
  }
  if (file != NULL) fclose(file);
  if (bytes == NULL) perror(path);
  return bytes;
}

int load_kernel(const cuda_driver* driver, const char* file, const char* kernel, void** function) {
  void* module = NULL;
  char* const image = read_file(file);
  if (image == NULL) return -1;
  int status = driver->load(&module, image);
  free(image);
  if (status == 0) status = driver->find(function, module, kernel);
  if (status != 0) fprintf(stderr, "launch: %s of %s: status %d\n", kernel, file, status);
  return status == 0 ? 0 : -1;
}
