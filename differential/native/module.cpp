#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <string_view>

#include "differential/native/compare.hpp"
#include "differential/native/descriptor_types.hpp"
#include "differential/native/duel.hpp"
#include "differential/native/exchange_capsule.hpp"
#include "differential/native/model.hpp"
#include "differential/native/objects.hpp"
#include "differential/native/sampler.hpp"

namespace py = pybind11;
using namespace relaunch::differential;

namespace {

void add_sampler(py::module_& module) {
  py::class_<Alternatives, std::shared_ptr<Alternatives>>(
      module, "Alternatives", "Weighted rules by which one value is drawn (see sampler.py).")
      .def(py::init<const py::iterable&>(), py::arg("rules"));
  py::class_<Recipe, std::shared_ptr<Recipe>>(
      module, "Recipe", "What calls of a dialect are drawn from, arguments apart (see sampler.py).")
      .def(py::init<const py::dict&>(), py::arg("given"));
  py::class_<Sampler>(module, "Sampler", "Draws the calls of one signature.")
      .def(py::init([](std::shared_ptr<Recipe> recipe, const py::tuple& signature,
                       const py::dict& kinds, py::dict fixed, std::uint64_t key) {
             return std::make_unique<Sampler>(std::move(recipe), signature, kinds, std::move(fixed),
                                              key);
           }),
           py::arg("recipe"), py::arg("signature"), py::arg("kinds"), py::arg("fixed"),
           py::arg("key"))
      .def(
          "call",
          [](Sampler& self, std::uint64_t number, bool disturbed) {
            const DrawnCall drawn = self.call(number, disturbed);
            return py::make_tuple(drawn.call, drawn.listed);
          },
          py::arg("number"), py::arg("disturbed") = true,
          "The call with that number; whether an entry of the divergence list may hold for it, "
          "that apart which native code applies itself.");
}

std::vector<Half> read_halves(const py::iterable& given) {
  std::vector<Half> halves;
  for (const py::handle entry : given) {
    const auto parts = py::reinterpret_borrow<py::tuple>(entry);
    halves.push_back({parts[0].cast<std::vector<std::size_t>>(), parts[1].cast<std::size_t>(),
                      parts[2].cast<bool>()});
  }
  return halves;
}

void add_model(py::module_& module) {
  py::class_<Model, std::shared_ptr<Model>>(
      module, "Model", "What ours must do with a call in the native dialects, for most calls.")
      .def(py::init([](bool cuda, std::string query, std::vector<std::string> scratch,
                       std::vector<std::string> hidden, py::object launch,
                       const py::tuple& signature) {
             return std::make_shared<Model>(Model::Facts{cuda, std::move(query), std::move(scratch),
                                                         std::move(hidden), std::move(launch)},
                                            signature);
           }),
           py::arg("cuda"), py::arg("query"), py::arg("scratch"), py::arg("hidden"),
           py::arg("launch"), py::arg("signature"))
      .def(
          "of",
          [](const Model& self, const py::dict& call) -> py::object {
            const std::optional<Foretold> found = self.of(call.ptr());
            if (!found) return py::none();
            return py::make_tuple(py::bytes(found->events), found->error);
          },
          py::arg("call"),
          "The events' JSON and the type of the exception, \"\" where there is none; None where "
          "Python must work it out.");
}

void add_duel(py::module_& module) {
  py::class_<Objects>(module, "Objects", "Builds the objects that arguments describe.")
      .def(py::init<const std::string&, std::uint64_t, py::object, py::object>(),
           py::arg("backend"), py::arg("note"), py::arg("tensor_map"), py::arg("named_tuple"))
      .def("build", &Objects::build, py::arg("argument"), "The object of an argument's JSON.");
  py::class_<RecorderCalls>(module, "RecorderCalls", "A recording driver's entry points.")
      .def(py::init<const py::dict&>(), py::arg("addresses"));
  py::class_<Duel> duel(module, "Duel", "Both launchers on the calls of one signature.");
  duel.def(py::init([](Sampler& sampler, const Objects& objects, py::object legacy,
                       std::vector<std::string> prefix, py::object ours, py::object launch_metadata,
                       const py::iterable& halves, std::shared_ptr<Model> model,
                       std::vector<std::uint32_t> slots, const RecorderCalls& recorder) {
             return std::make_unique<Duel>(
                 sampler, objects,
                 Duel::Launchers{std::move(legacy), std::move(prefix), std::move(ours),
                                 std::move(launch_metadata), read_halves(halves), std::move(model)},
                 std::move(slots), recorder);
           }),
           py::arg("sampler"), py::arg("objects"), py::arg("legacy"), py::arg("prefix"),
           py::arg("ours"), py::arg("launch_metadata"), py::arg("halves"),
           py::arg("model").none(true), py::arg("slots"), py::arg("recorder"),
           py::keep_alive<1, 2>(), py::keep_alive<1, 3>(), py::keep_alive<1, 11>())
      .def(
          "run",
          [](Duel& self, const py::buffer& memory, std::uint64_t end) {
            const py::buffer_info shared = memory.request(true);
            if (shared.size * shared.itemsize < static_cast<py::ssize_t>(sizeof(Progress))) {
              throw py::value_error("the shared memory is too small");
            }
            self.run(*static_cast<Progress*>(shared.ptr), end);
          },
          py::arg("memory"), py::arg("end"),
          "Runs the cases from the one in `memory` to `end` - 1.");
  duel.def("outcome", &Duel::outcome, py::arg("call"), py::arg("legacy"),
           "What one launcher does: (the events' JSON, the exception or None); None where it "
           "cannot be compared.");
  module.attr("PROGRESS_BYTES") = sizeof(Progress);
}

}  // namespace

PYBIND11_MODULE(_native, module) {
  module.doc() =
      "The sampler, the run of both launchers in volume, the comparison of outcomes, stand-ins for "
      "the descriptor classes of Triton's drivers, and DLPack for stand-in tensors.";
  module.def(
      "compare",
      [](const py::bytes& expected, const py::bytes& got) {
        return first_difference(std::string_view(expected), std::string_view(got));
      },
      py::arg("expected"), py::arg("got"),
      "The first difference between two outcomes in canonical JSON, named, or None. A null among "
      "the\n"
      "params of an expected event is free. ValueError for text that is not JSON.");
  module.def("exchange_capsule", &exchange_capsule, py::arg("backend"),
             "A class's `__dlpack_c_exchange_api__`: its tensors lie on that backend's kind of "
             "device, at the\n"
             "address that their attribute `answer` holds. ValueError for another backend.");
  add_descriptor_types(module);
  add_sampler(module);
  add_model(module);
  add_duel(module);
}
