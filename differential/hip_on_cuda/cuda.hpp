// The CUDA driver under a HIP runtime: opened at run time, its statuses handed on as HIP's.
#ifndef RELAUNCH_DIFFERENTIAL_HIP_ON_CUDA_CUDA_HPP
#define RELAUNCH_DIFFERENTIAL_HIP_ON_CUDA_CUDA_HPP

#include <cuda.h>

#include <string>

#include "differential/hip_exports.hpp"

namespace relaunch::hip {

/// The functions of libcuda.so.1; null where the library lacks one.
struct Cuda {
#define RELAUNCH_CUDA_FUNCTION(name) decltype(&::name) name = nullptr;
#include "differential/hip_on_cuda/cuda_functions.def"
#undef RELAUNCH_CUDA_FUNCTION
  std::string problem;  // why there is no driver; empty where there is one
};

/// Opened and initialized by the first call, from whatever library the process has under that name.
const Cuda& cuda();

/// The status of a call as HIP's, kept for hipGetLastError where it is a failure. The two number
/// their common statuses alike.
hipError_t result(CUresult status);

/// A refusal of our own. hipGetErrorString of `error` gives `text` in this thread until the next
/// failure.
hipError_t refuse(hipError_t error, std::string text);

/// Makes device 0's primary context current where the thread has none, as HIP does by itself.
hipError_t ensure_context();

/// What hipGetLastError gives: the last failure of this thread, forgotten where `forget` is true.
hipError_t last_failure(bool forget);

const char* failure_text(hipError_t error);

/// Calls a function of the driver; no context is needed.
template <auto function, typename... Arguments>
hipError_t ask_driver(Arguments... arguments) {
  const Cuda& driver = cuda();
  if (!driver.problem.empty()) return refuse(hipErrorNoDevice, driver.problem);
  if (driver.*function == nullptr)
    return refuse(hipErrorNotSupported, "libcuda.so.1 lacks a function that this call needs");
  return result((driver.*function)(arguments...));
}

/// Calls a function of the driver that needs a context.
template <auto function, typename... Arguments>
hipError_t ask(Arguments... arguments) {
  const hipError_t ready = ensure_context();
  return ready == hipSuccess ? ask_driver<function>(arguments...) : ready;
}

}  // namespace relaunch::hip

#endif
