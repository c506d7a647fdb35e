#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string_view>

#include "differential/native/compare.hpp"
#include "differential/native/descriptor_types.hpp"
#include "differential/native/exchange_capsule.hpp"

PYBIND11_MODULE(_native, module) {
  module.doc() =
      "The comparison of outcomes, stand-ins for the descriptor classes of Triton's drivers, and "
      "DLPack for stand-in tensors.";
  module.def(
      "compare",
      [](const pybind11::bytes& expected, const pybind11::bytes& got) {
        return relaunch::differential::first_difference(std::string_view(expected),
                                                        std::string_view(got));
      },
      pybind11::arg("expected"), pybind11::arg("got"),
      "The first difference between two outcomes in canonical JSON, named, or None. A null among "
      "the\n"
      "params of an expected event is free. ValueError for text that is not JSON.");
  module.def("exchange_capsule", &relaunch::differential::exchange_capsule,
             pybind11::arg("backend"),
             "A class's `__dlpack_c_exchange_api__`: its tensors lie on that backend's kind of "
             "device, at the\n"
             "address that their attribute `answer` holds. ValueError for another backend.");
  relaunch::differential::add_descriptor_types(module);
}
