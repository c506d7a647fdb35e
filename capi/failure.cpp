#include "capi/failure.hpp"

#include <new>
#include <utility>

#include "capi/structs.hpp"
#include "precompiled/core/plan.hpp"
#include "precompiled/driver/driver.hpp"

namespace relaunch::capi {
namespace {

/// The last failure of this thread. A failure without memory for its words has a fixed text.
thread_local Failure last{RELAUNCH_OK, {}, {}, {}};

const char* message_of(const Failure& failure) {
  return failure.status == RELAUNCH_ERROR_MEMORY ? "out of memory" : failure.message.c_str();
}

}  // namespace

relaunch_status keep(Failure failure) noexcept {
  last = std::move(failure);
  return last.status;
}

relaunch_status keep_exception() noexcept {
  const auto keep_text = [](relaunch_status status, const std::exception& error) {
    return keep({status, error.what(), {}, {}});
  };
  try {
    try {
      throw;
    } catch (const ArgumentError& error) {
      return keep_text(RELAUNCH_ERROR_ARGUMENT, error);
    } catch (const BindError& error) {
      return keep_text(RELAUNCH_ERROR_BIND, error);
    } catch (const DriverError& error) {
      return keep_text(RELAUNCH_ERROR_LIBRARY, error);
    } catch (const std::bad_alloc&) {
      return keep({RELAUNCH_ERROR_MEMORY, {}, {}, {}});
    } catch (const std::exception& error) {
      return keep_text(RELAUNCH_ERROR_INTERNAL, error);
    }
  } catch (...) {  // no memory for the text
    return keep({RELAUNCH_ERROR_MEMORY, {}, {}, {}});
  }
}

}  // namespace relaunch::capi

using namespace relaunch::capi;

relaunch_status relaunch_last_error(relaunch_error* error) {
  if (error == nullptr || error->size < kLeast<relaunch_error>) return RELAUNCH_ERROR_ARGUMENT;
  fill(error, {.size = sizeof(relaunch_error),
               .status = last.status,
               .message = message_of(last),
               .code = last.code.c_str(),
               .span_begin = last.span.begin,
               .span_end = last.span.end,
               .driver_status = last.driver_status,
               .reserved = 0});
  return RELAUNCH_OK;
}
