#include "precompiled/python/kernel_check.hpp"

#include <limits>
#include <string>
#include <utility>

#include "precompiled/binary/read.hpp"
#include "precompiled/binary/verify.hpp"
#include "precompiled/python/buffer_view.hpp"
#include "precompiled/python/options.hpp"

namespace relaunch {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();

void check_fit(const Launcher& launcher, const binary::Comparison& comparison, const char* what) {
  if (comparison.fits()) return;
  throw BindError(call_text(launcher.name, launcher.plan) + " does not fit " + what + ": " +
                  describe_difference(comparison) + "\n" + describe_layouts(comparison));
}

/// The object itself where it lends bytes, else those of the file that it names. OSError where that
/// cannot be read.
Ref content_of(PyObject* object) {
  if (PyObject_CheckBuffer(object) != 0) return Ref::borrow(object);
  const Ref pathlib(PyImport_ImportModule("pathlib"));
  const Ref path(pathlib ? PyObject_CallMethod(pathlib.get(), "Path", "O", object) : nullptr);
  Ref content(path ? PyObject_CallMethod(path.get(), "read_bytes", nullptr) : nullptr);
  if (!content) throw PythonError();
  return content;
}

/// The only kernel, whatever its name, or the one with the launcher's.
const binary::KernelParameters& choose(const std::vector<binary::KernelParameters>& kernels,
                                       const std::string& name) {
  return kernels.size() == 1 ? kernels.front() : binary::find_kernel(kernels, name);
}

}  // namespace

void check_binary(const Launcher& launcher, PyObject* binary) {
  const Ref content = content_of(binary);
  const BufferView view(pybind11::handle(content.get()));
  try {
    const auto kernels = binary::read_kernels(view.bytes());
    const binary::KernelParameters& kernel = choose(kernels, launcher.name);
    if (binary::backend_of(kernel.format) != launcher.dialect->backend) {
      throw BindError("binary: " +
                      binary::describe(
                          {.call = {}, .comparison = {}, .descriptors = {}, .right_backend = false},
                          *launcher.dialect, kernel));
    }
    check_fit(launcher, compare(launcher.plan, kernel), "its binary");
  } catch (const binary::BinaryError& error) {
    throw BindError(std::string("binary: ") + error.what());
  }
}

void check_function(const Launcher& launcher) {
  const auto places = launcher.driver->parameters_of(launcher.function);
  if (!places) return;
  binary::KernelParameters kernel;
  for (const ParameterPlace& place : *places) {
    if (place.offset > kMost || place.size > kMost) return;  // no table of parameters
    binary::KernelParameter parameter;
    parameter.offset = static_cast<std::uint32_t>(place.offset);
    parameter.size = static_cast<std::uint32_t>(place.size);
    kernel.parameters.push_back(std::move(parameter));
  }
  check_fit(launcher, compare_anywhere(launcher.plan, std::move(kernel)), "its function");
}

}  // namespace relaunch
