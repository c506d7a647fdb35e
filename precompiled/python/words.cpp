#include "precompiled/python/words.hpp"

#include <new>

#include "precompiled/python/guards.hpp"

namespace relaunch {
namespace {

constexpr std::size_t kLongestValue = 48;  // bytes of a value shown

}  // namespace

Failed raise(PyObject* type, const std::string& text) {
  const Ref message(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
  if (message) PyErr_SetObject(type, message.get());
  return {};
}

void clear_error() {
  const bool is_memory = is_out_of_memory();
  PyErr_Clear();
  if (is_memory) throw std::bad_alloc();
}

std::string type_of(PyObject* value) { return Py_TYPE(value)->tp_name; }

std::string value_of(PyObject* value) {
  const bool is_plain =
      PyLong_CheckExact(value) || PyFloat_CheckExact(value) || PyBool_Check(value);
  if (!is_plain) return type_of(value);
  const Ref text(PyObject_Repr(value));
  const char* bytes = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  if (bytes == nullptr) {  // more digits than the interpreter is willing to print
    clear_error();
    return "an int too large to print";
  }
  std::string out(bytes);
  if (out.size() > kLongestValue) {
    out = out.substr(0, kLongestValue) + "... (" + std::to_string(out.size()) + " characters)";
  }
  return out;
}

std::string call_of(const Launcher& self) { return call_text(self.name, self.plan); }

std::string place(const Launcher& self, std::uint32_t leaf) {
  std::string text = "argument " + std::to_string(leaf + 1);
  if (leaf < self.plan.leaves.size() && !self.plan.leaves[leaf].name.empty()) {
    text += " '" + self.plan.leaves[leaf].name + "'";
  }
  return text + " of " + call_of(self) + ": ";
}

std::string place(const Launcher& self, const Step& step) {
  if (step.op != Op::hidden) return place(self, step.extra);
  return std::string(self.dialect->hidden.parameters[step.extra].name) + " of " + call_of(self) +
         ": ";
}

std::string hex(std::uint64_t number) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string out;
  do {
    out.insert(out.begin(), kDigits[number % 16]);
    number /= 16;
  } while (number != 0);
  return "0x" + out;
}

std::string driver_error(const Launcher& self, const Status& status) {
  return "Triton Error [" + std::string(backend_name(self.dialect->backend)) +
         "]: " + self.driver->explain(status) + " (" + std::to_string(status.code) + " from " +
         status.function + ")";
}

}  // namespace relaunch
