/* The driver of a made-up accelerator. Every function but the texts gives 0 or a status. */
#ifndef NPU_H
#define NPU_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void* npu_stream;
typedef void* npu_kernel;

int npuLaunch(npu_kernel kernel, const unsigned grid[3], unsigned threads, unsigned shared,
              npu_stream stream, void** parameters);
/* All blocks at once. */
int npuLaunchTogether(npu_kernel kernel, const unsigned grid[3], unsigned threads, unsigned shared,
                      npu_stream stream, void** parameters);
/* In clusters of `width` blocks along x, and all at once where `together`. */
int npuLaunchClusters(npu_kernel kernel, const unsigned grid[3], unsigned threads, unsigned shared,
                      npu_stream stream, void** parameters, unsigned width, int together);
int npuPointer(uint64_t* device, uint64_t address);
int npuLastError(void);
const char* npuErrorText(int status);

#ifdef __cplusplus
}
#endif

#endif
