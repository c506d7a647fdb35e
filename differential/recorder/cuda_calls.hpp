#ifndef RELAUNCH_DIFFERENTIAL_RECORDER_CUDA_CALLS_HPP
#define RELAUNCH_DIFFERENTIAL_RECORDER_CUDA_CALLS_HPP

// The driver's declarations, exported from this library under their real names.
#pragma GCC visibility push(default)
#include <cuda.h>
#pragma GCC visibility pop

#include "differential/recorder/answers.hpp"
#include "differential/recorder/journal.hpp"

namespace relaunch::recorder {

inline CUresult result(int status) { return static_cast<CUresult>(status); }

/// The outcome of a call whose success means `success` and writes nothing.
inline CUresult answer(const char* function, int success = 0) {
  const Call call(function);
  return result(call.failed() ? call.status() : success);
}

/// The outcome of a call that writes `value` to `*out` and succeeds.
template <typename T>
CUresult answer_with(const char* function, T* out, T value) {
  const Call call(function);
  if (call.failed()) return result(call.status());
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = value;
  return CUDA_SUCCESS;
}

template <typename Handle>
Handle handle(std::uint64_t value) {
  return reinterpret_cast<Handle>(value);  // NOLINT(performance-no-int-to-ptr): handles are opaque
}

}  // namespace relaunch::recorder

#endif
