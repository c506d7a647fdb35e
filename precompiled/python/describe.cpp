#include "precompiled/python/describe.hpp"

#include "precompiled/python/guards.hpp"

namespace relaunch {
namespace {

PyObject* describe(const Plan& plan, const Parameter& parameter) {
  const bool is_hidden = parameter.leaf == kNoLeaf;
  const std::string type = is_hidden ? "*i8" : plan.leaves[parameter.leaf].type;
  return Py_BuildValue("{s:s, s:s, s:O, s:I, s:I, s:I, s:I, s:I}", "name", parameter.name.c_str(),
                       "type", type.c_str(), "hidden", is_hidden ? Py_True : Py_False,
                       "slot_offset", parameter.slot_offset, "slot_size", parameter.slot_size,
                       "size", parameter.size, "alignment", parameter.alignment, "offset",
                       parameter.offset);
}

/// A tuple of what `make` gives for each parameter.
template <typename Make>
PyObject* for_each(const Plan& plan, Make make) {
  Ref out(PyTuple_New(static_cast<Py_ssize_t>(plan.parameters.size())));
  for (std::size_t i = 0; out && i < plan.parameters.size(); ++i) {
    PyObject* made = make(plan.parameters[i]);
    if (made == nullptr) return nullptr;
    PyTuple_SET_ITEM(out.get(), static_cast<Py_ssize_t>(i), made);
  }
  return out.release();
}

}  // namespace

PyObject* text_of(const std::string& text) {
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
}

PyObject* slots_of(const Plan& plan) {
  return for_each(plan, [](const Parameter& parameter) {
    return PyLong_FromUnsignedLong(parameter.slot_size);
  });
}

PyObject* parameters_of(const Plan& plan) {
  return for_each(plan, [&plan](const Parameter& parameter) { return describe(plan, parameter); });
}

}  // namespace relaunch
