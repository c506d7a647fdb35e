/* The few calls of a CUDA driver that the example makes beside launching, without cuda.h. */
#ifndef EXAMPLE_DRIVER_H
#define EXAMPLE_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef struct cuda_driver {
  int (*init)(unsigned flags);
  int (*load)(void** module, const void* image);
  int (*find)(void** function, void* module, const char* name);
  int (*allocate)(uint64_t* address, size_t bytes);
  int (*fill)(uint64_t address, unsigned char byte, size_t bytes);
  int (*copy_to_host)(void* host, uint64_t address, size_t bytes);
  int (*synchronize)(void);
  /* Of a recording driver; null in others. */
  void (*record_sizes)(const uint32_t* bytes, size_t count);
  const char* (*recorded)(void);
} cuda_driver;

/* Opens the driver library at `path`. 0, or -1 with a line on stderr. */
int open_driver(cuda_driver* driver, const char* path);

/* Loads a kernel from a cubin or PTX file; a context must be current. 0, or -1 with a line. */
int load_kernel(const cuda_driver* driver, const char* file, const char* kernel, void** function);

#endif
