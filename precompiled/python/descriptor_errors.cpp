// The words for what is wrong with descriptors.

#include <string>
#include <utility>

#include "precompiled/python/errors.hpp"
#include "precompiled/python/guards.hpp"
#include "precompiled/python/words.hpp"

namespace relaunch {
namespace {

/// As above, caused by the pending exception where there is one.
Failed raise_from(PyObject* type, const std::string& text) {
  PyObject* kind = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  PyErr_Fetch(&kind, &value, &traceback);
  PyErr_NormalizeException(&kind, &value, &traceback);
  if (traceback != nullptr) PyException_SetTraceback(value, traceback);
  const Ref owned_kind(kind);
  const Ref owned_traceback(traceback);
  Ref cause(value);
  raise(type, text);
  if (!cause) return {};
  PyErr_Fetch(&kind, &value, &traceback);
  PyErr_NormalizeException(&kind, &value, &traceback);
  if (value != nullptr) PyException_SetCause(value, cause.release());
  PyErr_Restore(kind, value, traceback);
  return {};
}

/// `descriptor 1 'd' of add(tensordesc<fp16[8, 8]>): `, counted from 1.
std::string object_place(const Launcher& self, std::size_t index) {
  std::string text = "descriptor " + std::to_string(index + 1);
  const std::string& name = self.plan.descriptors[index].name;
  if (!name.empty()) text += " '" + name + "'";
  return text + " of " + call_of(self) + ": ";
}

/// What tma_desc_cpu_ptr() did wrong.
Failed fail_map_address(const Launcher& self, const Step& step, PyObject* value,
                        DescriptorFault fault) {
  const std::string text = place(self, step) + "expected tma_desc_cpu_ptr() of " + type_of(value);
  switch (fault) {
    case DescriptorFault::no_method:
      if (PyErr_ExceptionMatches(PyExc_AttributeError) != 0) PyErr_Clear();
      return raise_from(PyExc_TypeError, place(self, step) +
                                             "expected a relaunch.TensorMap or an object with "
                                             "tma_desc_cpu_ptr(), got " +
                                             type_of(value));
    case DescriptorFault::method_raised:
      return raise_from(PyExc_SystemError, text + " to give an address, it raised");
    case DescriptorFault::not_an_int: return raise(PyExc_TypeError, text + " to return an int");
    case DescriptorFault::null_address:
      return raise(PyExc_ValueError, text + " to return an address, got 0");
    default: return raise(PyExc_ValueError, text + " to return a host address, a multiple of 64");
  }
}

}  // namespace

Failed fail_descriptor(const Launcher& self, const Step& step, PyObject* value,
                       DescriptorFault fault) {
  const bool is_map = step.op == Op::nv_tma_desc;
  if (step.op == Op::map_address) return fail_map_address(self, step, value, fault);
  const std::string text = place(self, step);
  if (fault == DescriptorFault::unaligned) {
    return raise(PyExc_ValueError,
                 text + "expected a tensor map at a multiple of 128 bytes, it is not aligned");
  }
  const char* expected =
      is_map ? "relaunch.TensorMap or Triton's PyCUtensorMap" : "Triton's PyTDMDescriptor";
  std::string got = type_of(value);
  if (!self.descriptor_type && got != "relaunch.TensorMap") {
    got += " (Triton's driver was not loaded when the launcher was built)";
  }
  return raise(PyExc_TypeError, text + "expected " + expected + ", got " + got);
}

Failed fail_object(const Launcher& self, std::size_t index, PyObject* type, std::string text,
                   PyObject* got) {
  if (got != nullptr) text += ", got " + value_of(got);
  return raise(type, object_place(self, index) + text);
}

Failed fail_encoding(const Launcher& self, std::size_t index, const Status& status,
                     const TensorMapFields& fields) {
  const auto list = [](const auto& numbers, std::uint32_t count) {
    std::string text = "(";
    for (std::uint32_t i = 0; i < count; ++i) {
      text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
    }
    return text + ")";
  };
  return raise(PyExc_RuntimeError,
               driver_error(self, status) + ": " + object_place(self, index) + "data type " +
                   std::to_string(fields.data_type) + ", address " + hex(fields.address) +
                   ", dims " + list(fields.dims, fields.rank) + ", strides " +
                   list(fields.strides, fields.rank - 1) + ", box " +
                   list(fields.box, fields.rank) + ", swizzle " + std::to_string(fields.swizzle) +
                   ", fill " + std::to_string(fields.oob_fill));
}

}  // namespace relaunch
