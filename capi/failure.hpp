#pragma once
// How a function of the C interface fails: the words go to the calling thread, the status to the
// caller.

#include <relaunch/relaunch.h>

#include <stdexcept>
#include <string>

#include "precompiled/core/tree.hpp"

namespace relaunch::capi {

struct Failure {
  relaunch_status status;
  std::string message;
  std::string code;  // of a signature, else empty
  Span span;         // likewise
  int driver_status = 0;
};

/// A wrong argument of a function: RELAUNCH_ERROR_ARGUMENT.
class ArgumentError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Remembers the failure for relaunch_last_error and gives its status.
relaunch_status keep(Failure failure) noexcept;

/// The same for the exception being handled, of whatever type.
relaunch_status keep_exception() noexcept;

/// Runs `body`, which returns a status or throws.
template <typename Body>
relaunch_status guarded(Body body) noexcept {
  try {
    return body();
  } catch (...) {
    return keep_exception();
  }
}

/// Throws ArgumentError for null.
inline void require(const void* pointer, const char* what) {
  if (pointer == nullptr) throw ArgumentError(std::string(what) + " is null");
}

}  // namespace relaunch::capi
