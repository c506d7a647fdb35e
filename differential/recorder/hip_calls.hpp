#ifndef RELAUNCH_DIFFERENTIAL_RECORDER_HIP_CALLS_HPP
#define RELAUNCH_DIFFERENTIAL_RECORDER_HIP_CALLS_HPP

#include "differential/hip_exports.hpp"
#include "differential/recorder/answers.hpp"
#include "differential/recorder/journal.hpp"

namespace relaunch::recorder {

/// What hipGetLastError gives in this thread.
inline thread_local hipError_t last_error = hipSuccess;

/// Every status passes through here, so that hipGetLastError knows it.
inline hipError_t result(int status) {
  const auto error = static_cast<hipError_t>(status);
  if (error != hipSuccess) last_error = error;
  return error;
}

inline hipError_t answer(const char* function, int success = 0) {
  const Call call(function);
  return result(call.failed() ? call.status() : success);
}

template <typename T>
hipError_t answer_with(const char* function, T* out, T value) {
  const Call call(function);
  if (call.failed()) return result(call.status());
  if (out == nullptr) return result(hipErrorInvalidValue);
  *out = value;
  return hipSuccess;
}

template <typename Handle>
Handle handle(std::uint64_t value) {
  return reinterpret_cast<Handle>(value);  // NOLINT(performance-no-int-to-ptr): handles are opaque
}

}  // namespace relaunch::recorder

#endif
