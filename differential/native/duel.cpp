#include "differential/native/duel.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace relaunch::differential {
namespace py = pybind11;
namespace {

constexpr const char* kEnter = R"({"hook": "enter"})";
constexpr const char* kExit = R"({"hook": "exit"})";
constexpr const char* kHookWords[] = {"none", "ok", "raise"};
// What every launcher is given in front of kernel_metadata, in the order of ours.
constexpr std::array<std::string_view, 5> kCommon = {"grid_x", "grid_y", "grid_z", "stream",
                                                     "function"};

/// A name that lookups need not make a string of each time.
class Name {
 public:
  explicit Name(const char* text) : object_(PyUnicode_InternFromString(text)) {
    if (object_ == nullptr) throw py::error_already_set();
  }
  PyObject* get() const { return object_; }

 private:
  PyObject* object_;  // interned: it lives as long as the process
};

/// A member of a call, borrowed; None where there is none.
PyObject* member(PyObject* call, PyObject* name) {
  PyObject* const found = PyDict_GetItemWithError(call, name);
  if (found == nullptr && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return found == nullptr ? Py_None : found;
}
PyObject* member(PyObject* call, const Name& name) { return member(call, name.get()); }

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <typename Function>
Function function_at(const py::dict& addresses, const char* name) {
  return reinterpret_cast<Function>(addresses[name].cast<std::uintptr_t>());
}

}  // namespace

RecorderCalls::RecorderCalls(const py::dict& addresses)
    : reset(function_at<decltype(reset)>(addresses, "reset")),
      set_slots(function_at<decltype(set_slots)>(addresses, "set_slots")),
      fail(function_at<decltype(fail)>(addresses, "fail")),
      no_context(function_at<decltype(no_context)>(addresses, "no_context")),
      note(function_at<Note>(addresses, "note")),
      events(function_at<decltype(events)>(addresses, "events")) {}

Duel::Duel(Sampler& sampler, const Objects& objects, Launchers launchers,
           std::vector<std::uint32_t> slots, const RecorderCalls& recorder)
    : sampler_(sampler),
      objects_(objects),
      launchers_(std::move(launchers)),
      slots_(std::move(slots)),
      recorder_(recorder) {
  for (const std::string& name : launchers_.prefix) {
    const auto place = std::ranges::find(kCommon, std::string_view(name));
    prefix_.push_back({static_cast<std::size_t>(place - kCommon.begin()), py::str(name)});
  }
  std::ranges::fill(last_options_, py::none());
  last_launcher_ = py::none();
  hooks_[0][0] = hooks_[1][0] = py::none();
  hooks_[0][1] = objects.hook(kEnter, nullptr);
  hooks_[0][2] = objects.hook(kEnter, "enter hook failed");
  hooks_[1][1] = objects.hook(kExit, nullptr);
  hooks_[1][2] = objects.hook(kExit, "exit hook failed");
}

void Duel::run(Progress& progress, std::uint64_t end) {
  const std::uint64_t first = progress.number;
  if (end - first > std::size(progress.open)) throw std::invalid_argument("too many cases at once");
  for (std::uint64_t i = first; i < end; ++i) {
    progress.number = i;
    progress.began = now();
    const DrawnCall drawn = sampler_.call(i);
    switch (drawn.listed ? Verdict::kOpen : compare(drawn.call)) {
      case Verdict::kLaunched: ++progress.launches; break;
      case Verdict::kRejected: ++progress.rejections; break;
      case Verdict::kNothing: ++progress.nothing; break;
      case Verdict::kRewritten: ++progress.rewritten; break;
      case Verdict::kOpen: progress.open[progress.left++] = static_cast<std::uint32_t>(i); break;
    }
  }
  progress.number = end;
  progress.began = 0.0;
}

Duel::Verdict Duel::compare(const py::dict& call) {
  if (launchers_.legacy.is_none() && launchers_.model == nullptr) return Verdict::kOpen;
  const py::object ours = launcher_for(call);
  if (ours.is_none()) return Verdict::kOpen;
  if (launchers_.legacy.is_none()) return compare_with_model(call, ours.ptr());
  const Inputs inputs = inputs_of(call.ptr());
  const Outcome was = launch(launchers_.legacy.ptr(), inputs.legacy, call.ptr());
  const Outcome is = launch(ours.ptr(), inputs.ours, call.ptr());
  if (wanted_of(was, inputs) != is) return Verdict::kOpen;
  if (was != is) return Verdict::kRewritten;
  return alike(is.events, !is.error.is_none());
}

Duel::Verdict Duel::compare_with_model(const py::dict& call, PyObject* ours) {
  const std::optional<Foretold> wanted = launchers_.model->of(call.ptr());
  if (!wanted) return Verdict::kOpen;
  const Inputs inputs = inputs_of(call.ptr());
  const Outcome is = launch(ours, inputs.ours, call.ptr());
  const char* const error =
      is.error.is_none() ? "" : reinterpret_cast<PyTypeObject*>(is.error.ptr())->tp_name;
  if (wanted->events != is.events || wanted->error != error) return Verdict::kOpen;
  return alike(is.events, !is.error.is_none());
}

Duel::Verdict Duel::alike(const std::string& events, bool raised) {
  if (find_params(events) != std::string::npos) return Verdict::kLaunched;
  return raised ? Verdict::kRejected : Verdict::kNothing;
}

std::optional<Duel::Outcome> Duel::wanted_of(const Outcome& was, const Inputs& inputs) const {
  if (launchers_.halves.empty()) return was;
  std::optional<std::string> events = with_halves(was.events, launchers_.halves, slots_,
                                                  std::span(inputs.ours).subspan(inputs.before));
  if (!events) return std::nullopt;
  return Outcome{*std::move(events), was.error};
}

py::object Duel::outcome(const py::dict& call, bool legacy) {
  const py::object launcher = legacy ? launchers_.legacy : launcher_for(call);
  if (launcher.is_none()) return py::none();
  const Inputs inputs = inputs_of(call.ptr());
  py::object error = py::none();
  const Outcome found =
      launch(launcher.ptr(), legacy ? inputs.legacy : inputs.ours, call.ptr(), &error);
  return py::make_tuple(py::bytes(found.events), error);
}

Duel::Inputs Duel::inputs_of(PyObject* call) const {
  static const Name grid("grid"), stream("stream"), function("function"), args("args");
  static const Name hooks[] = {Name("enter"), Name("exit")};
  Inputs inputs;
  const auto keep = [&](py::object object) {
    inputs.kept.push_back(std::move(object));
    return inputs.kept.back().ptr();
  };
  PyObject* const sizes = member(call, grid);
  PyObject* const arguments = member(call, args);
  if (PyList_Check(sizes) == 0 || PyList_GET_SIZE(sizes) != 3 || PyList_Check(arguments) == 0) {
    throw py::value_error("a call needs three sizes and a list of arguments");
  }
  std::vector<PyObject*>& ours = inputs.ours;
  for (Py_ssize_t i = 0; i < 3; ++i)
    ours.push_back(keep(objects_.build(PyList_GET_ITEM(sizes, i))));
  ours.push_back(keep(handle_of(member(call, stream))));
  ours.push_back(keep(handle_of(member(call, function))));
  for (const Prefix& one : prefix_) {
    inputs.legacy.push_back(one.place < kCommon.size()
                                ? ours[one.place]
                                : keep(objects_.build(member(call, one.name.ptr()))));
  }
  const std::size_t shared = ours.size();
  ours.push_back(keep(metadata_of(call)));
  ours.push_back(launchers_.launch_metadata.ptr());
  for (int hook = 0; hook < 2; ++hook) ours.push_back(hook_of(member(call, hooks[hook]), hook));
  inputs.before = ours.size();
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(arguments); ++i) {
    ours.push_back(keep(objects_.build(PyList_GET_ITEM(arguments, i))));
  }
  inputs.legacy.insert(inputs.legacy.end(), ours.begin() + shared, ours.end());
  return inputs;
}

PyObject* Duel::hook_of(PyObject* word, int hook) const {
  if (word == Py_None) return Py_None;
  const char* const text = PyUnicode_AsUTF8(word);
  if (text == nullptr) throw py::error_already_set();
  const auto known = std::ranges::find(kHookWords, std::string_view(text));
  if (known == std::end(kHookWords)) throw py::value_error("no such hook");
  return hooks_[hook][known - std::begin(kHookWords)].ptr();
}

Duel::Outcome Duel::launch(PyObject* launcher, const std::vector<PyObject*>& arguments,
                           PyObject* call, py::object* error) {
  set_up(call);
  PyObject* const given =
      PyObject_Vectorcall(launcher, arguments.data(), arguments.size(), nullptr);
  Outcome outcome{recorder_.events(), py::none()};
  if (given != nullptr) {
    Py_DECREF(given);
    return outcome;
  }
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  if (error != nullptr) {
    PyErr_NormalizeException(&type, &value, &trace);
    *error = py::reinterpret_borrow<py::object>(value);
  }
  outcome.error = py::reinterpret_steal<py::object>(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  return outcome;
}

void Duel::set_up(PyObject* call) {
  recorder_.reset();
  recorder_.set_slots(slots_.data(), slots_.size());
  static const Name fail_name("fail"), no_context("no_context");
  PyObject* const fail = member(call, fail_name);
  if (fail != Py_None) {
    const auto parts = py::reinterpret_borrow<py::sequence>(fail);
    recorder_.fail(parts[0].cast<std::string>().c_str(), parts[1].cast<std::uint32_t>(),
                   parts[2].cast<int>());
  }
  if (member(call, no_context) == Py_True) recorder_.no_context();
}

py::object Duel::launcher_for(const py::dict& call) {
  static const Name names[] = {Name("cooperative"), Name("pdl"), Name("global_scratch"),
                               Name("profile_scratch"), Name("warp_size")};
  static_assert(std::size(names) == kOptions);
  bool same = !last_launcher_.is_none();
  for (std::size_t i = 0; i < kOptions; ++i) {
    PyObject* const option = member(call.ptr(), names[i]);
    if (last_options_[i].ptr() == option) continue;
    last_options_[i] = py::reinterpret_borrow<py::object>(option);
    same = false;
  }
  if (!same) last_launcher_ = launchers_.ours(call);
  return last_launcher_;
}

py::object Duel::handle_of(PyObject* given) const {
  if (PyUnicode_Check(given) == 0) return objects_.build(given);
  PyObject* const number = PyLong_FromString(PyUnicode_AsUTF8(given), nullptr, 16);
  if (number == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(number);
}

py::object Duel::metadata_of(PyObject* call) const {
  static const Name metadata("metadata");
  PyObject* const given = member(call, metadata);
  if (PyList_Check(given) == 0) return objects_.build(given);
  py::tuple made(static_cast<std::size_t>(PyList_GET_SIZE(given)));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(given); ++i) {
    PyTuple_SET_ITEM(made.ptr(), i, objects_.build(PyList_GET_ITEM(given, i)).release().ptr());
  }
  return made;
}

}  // namespace relaunch::differential
