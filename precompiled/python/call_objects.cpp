#include "precompiled/python/call_objects.hpp"

#include "precompiled/python/errors.hpp"
#include "precompiled/python/expand_objects.hpp"
#include "precompiled/python/launcher.hpp"

namespace relaunch {
namespace {

/// A call whose arguments are not as many as the plan has, or that may have objects inside tuples:
/// one with descriptor objects is made again with what they stand for. `again` takes a call's
/// arguments and their number.
template <typename Again>
[[gnu::noinline, gnu::cold]] PyObject* call_with_objects(const Launcher& self,
                                                         PyObject* const* args, Py_ssize_t count,
                                                         Py_ssize_t fixed, Again again) {
  if (gives_objects(self, args, count, fixed)) {
    ExpandedCall expanded;
    if (!expand_objects(self, args, fixed, &expanded)) return nullptr;
    return again(expanded.arguments.data(), static_cast<Py_ssize_t>(expanded.arguments.size()));
  }
  if (count == fixed + static_cast<Py_ssize_t>(self.plan.arguments)) return again(args, count);
  if (const Status status = self.driver->begin_launch(); !status) {
    return fail_context(self, status);
  }
  return fail_count(self, count, fixed);
}

}  // namespace

PyObject* call_objects(PyObject* object, PyObject* const* args, std::size_t nargsf,
                       PyObject* kwnames) noexcept {
  const auto again = [object](PyObject* const* own, Py_ssize_t count) {
    return launcher_of(object).call_expanded(object, own, static_cast<std::size_t>(count), nullptr);
  };
  return guarded([=]() -> PyObject* {
    const Launcher& self = launcher_of(object);
    if (kwnames != nullptr && PyTuple_GET_SIZE(kwnames) != 0) return fail_keywords(self);
    return call_with_objects(self, args, PyVectorcall_NARGS(nargsf), kCallFixed, again);
  });
}

PyObject* launch_objects(PyObject* object, PyObject* const* args, Py_ssize_t count) noexcept {
  const auto again = [object](PyObject* const* own, Py_ssize_t own_count) {
    return launcher_of(object).launch_expanded(object, own, own_count);
  };
  return guarded(
      [=] { return call_with_objects(launcher_of(object), args, count, kLaunchFixed, again); });
}

}  // namespace relaunch
