#include "differential/hip_on_cuda/cuda.hpp"

#include <dlfcn.h>

#include <utility>

namespace relaunch::hip {
namespace {

#define RELAUNCH_TEXT(name) #name
#define RELAUNCH_SYMBOL(name) RELAUNCH_TEXT(name)

struct Failure {
  hipError_t error = hipSuccess;
  std::string text;
};

Failure& failure() {
  thread_local Failure last;
  return last;
}

Cuda open_driver() {
  Cuda opened;
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) {
    opened.problem = std::string("no CUDA driver: ") + dlerror();
    return opened;
  }
#define RELAUNCH_CUDA_FUNCTION(name) \
  opened.name = reinterpret_cast<decltype(opened.name)>(dlsym(library, RELAUNCH_SYMBOL(name)));
#include "differential/hip_on_cuda/cuda_functions.def"
#undef RELAUNCH_CUDA_FUNCTION
  const CUresult status = opened.cuInit == nullptr ? CUDA_ERROR_NOT_FOUND : opened.cuInit(0);
  if (status != CUDA_SUCCESS)
    opened.problem = "cuInit of the CUDA driver gives status " + std::to_string(status);
  return opened;
}

}  // namespace

const Cuda& cuda() {
  static const Cuda driver = open_driver();
  return driver;
}

hipError_t result(CUresult status) {
  const auto error = static_cast<hipError_t>(status);
  if (error != hipSuccess) failure() = {error, {}};
  return error;
}

hipError_t refuse(hipError_t error, std::string text) {
  failure() = {error, std::move(text)};
  return error;
}

hipError_t ensure_context() {
  CUcontext current = nullptr;
  hipError_t status = ask_driver<&Cuda::cuCtxGetCurrent>(&current);
  if (status != hipSuccess || current != nullptr) return status;
  status = ask_driver<&Cuda::cuDevicePrimaryCtxRetain>(&current, 0);
  return status == hipSuccess ? ask_driver<&Cuda::cuCtxSetCurrent>(current) : status;
}

hipError_t last_failure(bool forget) {
  return forget ? std::exchange(failure(), {}).error : failure().error;
}

const char* failure_text(hipError_t error) {
  thread_local std::string kept;  // a caller asks for the text after it has asked for the error
  const Failure& last = failure();
  if (last.error == error && !last.text.empty()) {
    kept = last.text;
    return kept.c_str();
  }
  const char* text = nullptr;
  const Cuda& driver = cuda();
  if (driver.cuGetErrorString != nullptr)
    driver.cuGetErrorString(static_cast<CUresult>(error), &text);
  return text != nullptr ? text : "unknown error";
}

}  // namespace relaunch::hip
