// A recording driver for the made-up accelerator: its own functions, which write down what they
// are asked, and the driver table, which is what the precompiled launcher of a HIP dialect calls.
// Built together with differential/recorder/journal.cpp and answers.cpp.
#include <cstring>
#include <utility>

#include "differential/recorder/answers.hpp"
#include "differential/recorder/journal.hpp"
#include "npu.h"

using namespace relaunch::recorder;

namespace {

thread_local int last_error = 0;

int noted(int status) {
  if (status != 0) last_error = status;
  return status;
}

int launched(const Call& call, npu_kernel kernel, const unsigned (&grid)[3], unsigned threads,
             unsigned shared, npu_stream stream, void** parameters,
             std::span<const Attribute> attributes = {}) {
  call.record({{grid[0], grid[1], grid[2]},
               {threads, 1, 1},
               shared,
               stream,
               kernel,
               parameters,
               attributes});
  return noted(call.status());
}

}  // namespace

extern "C" {

int npuLaunch(npu_kernel kernel, const unsigned grid[3], unsigned threads, unsigned shared,
              npu_stream stream, void** parameters) {
  return launched(Call("npuLaunch"), kernel, {grid[0], grid[1], grid[2]}, threads, shared, stream,
                  parameters);
}

int npuLaunchTogether(npu_kernel kernel, const unsigned grid[3], unsigned threads, unsigned shared,
                      npu_stream stream, void** parameters) {
  return launched(Call("npuLaunchTogether"), kernel, {grid[0], grid[1], grid[2]}, threads, shared,
                  stream, parameters);
}

int npuLaunchClusters(npu_kernel kernel, const unsigned grid[3], unsigned threads, unsigned shared,
                      npu_stream stream, void** parameters, unsigned width, int together) {
  const unsigned cluster[] = {width, 1, 1};
  const Attribute attributes[] = {{4, std::as_bytes(std::span(cluster))},
                                  {2, std::as_bytes(std::span(&together, 1))}};
  return launched(Call("npuLaunchClusters"), kernel, {grid[0], grid[1], grid[2]}, threads, shared,
                  stream, parameters, attributes);
}

int npuPointer(std::uint64_t* device, std::uint64_t address) {
  const Call call("npuPointer");
  call.record({"3", hex(address)});
  if (call.failed()) return noted(call.status());
  const PointerAnswer answer = device_pointer(address);
  if (answer.status == 0) *device = answer.device_pointer;
  return noted(answer.status);
}

int npuLastError() {
  const Call call("npuLastError");
  call.record({});
  return call.failed() ? call.status() : std::exchange(last_error, 0);
}

const char* npuErrorText(int status) { return error_text(status); }

// The driver table.

struct LaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared;
  void* stream;
  const struct LaunchAttribute* attributes;
  unsigned attribute_count;
};
struct LaunchAttribute {
  std::uint32_t id;
  std::uint32_t reserved;
  unsigned char value[64];
};

int hipModuleLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned threads, unsigned /*block_y*/, unsigned /*block_z*/,
                          unsigned shared, void* stream, void** parameters, void** /*extra*/) {
  const unsigned grid[] = {grid_x, grid_y, grid_z};
  return npuLaunch(function, grid, threads, shared, stream, parameters);
}

int hipModuleLaunchCooperativeKernel(void* function, unsigned grid_x, unsigned grid_y,
                                     unsigned grid_z, unsigned threads, unsigned /*block_y*/,
                                     unsigned /*block_z*/, unsigned shared, void* stream,
                                     void** parameters) {
  const unsigned grid[] = {grid_x, grid_y, grid_z};
  return npuLaunchTogether(function, grid, threads, shared, stream, parameters);
}

int hipDrvLaunchKernelEx(const LaunchConfig* config, void* function, void** parameters,
                         void** /*extra*/) {
  unsigned width = 1;
  int together = 0;
  for (unsigned i = 0; i < config->attribute_count; ++i) {
    const LaunchAttribute& attribute = config->attributes[i];
    if (attribute.id == 4) std::memcpy(&width, attribute.value, sizeof width);
    if (attribute.id == 2) std::memcpy(&together, attribute.value, sizeof together);
  }
  return npuLaunchClusters(function, config->grid, config->block[0], config->shared, config->stream,
                           parameters, width, together);
}

int hipPointerGetAttribute(void* device, int /*attribute*/, void* address) {
  return npuPointer(static_cast<std::uint64_t*>(device), reinterpret_cast<std::uint64_t>(address));
}

int hipGetLastError() { return npuLastError(); }
const char* hipGetErrorString(int status) { return npuErrorText(status); }

}  // extern "C"
