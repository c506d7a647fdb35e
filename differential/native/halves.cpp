#include "differential/native/halves.hpp"

#include "differential/native/numbers.hpp"

namespace relaunch::differential {
namespace {

constexpr std::string_view kParams = R"("params": [)";  // in a launch's event and no other
constexpr std::string_view kBetween = R"(", ")";
constexpr std::size_t kFloat = sizeof(float);

/// Borrowed; null where the path leads through something that is no tuple or list.
PyObject* find(std::span<PyObject* const> arguments, const std::vector<std::size_t>& path) {
  PyObject* found = path[0] < arguments.size() ? arguments[path[0]] : nullptr;
  for (std::size_t i = 1; found != nullptr && i < path.size(); ++i) {
    const auto place = static_cast<Py_ssize_t>(path[i]);
    if (PyTuple_Check(found) != 0 && place < PyTuple_GET_SIZE(found)) {
      found = PyTuple_GET_ITEM(found, place);
    } else if (PyList_Check(found) != 0 && place < PyList_GET_SIZE(found)) {
      found = PyList_GET_ITEM(found, place);
    } else {
      found = nullptr;
    }
  }
  return found;
}

/// The value as a C float, and its own two bytes followed by zeros, each as the recorder writes it.
struct Packed {
  std::string single;
  std::string half;
};

/// nullopt for what is no value, or too large for the type.
std::optional<Packed> pack(PyObject* argument, bool is_bf16) {
  const double value = PyFloat_AsDouble(argument);
  if (value == -1.0 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return std::nullopt;
  }
  const std::optional<std::uint16_t> half = is_bf16 ? bf16_bits(value) : fp16_bits(value);
  if (!half) return std::nullopt;
  return Packed{hex_bytes(fp32_bits(value), kFloat), hex_bytes(*half, kFloat)};
}

}  // namespace

std::size_t find_params(std::string_view events) {
  const std::size_t at = events.find(kParams);
  return at == std::string_view::npos ? at : at + kParams.size();
}

std::optional<std::string> with_halves(std::string events, const std::vector<Half>& halves,
                                       const std::vector<std::uint32_t>& slots,
                                       std::span<PyObject* const> arguments) {
  const std::size_t params = find_params(events);
  if (params == std::string::npos) return events;
  for (const Half& one : halves) {
    if (one.slot >= slots.size() || slots[one.slot] != kFloat) return std::nullopt;
    std::size_t at = params + 1;  // behind the first quote
    for (std::size_t i = 0; i < one.slot; ++i) at += 2 * slots[i] + kBetween.size();
    if (at >= events.size()) return std::nullopt;
    PyObject* const argument = find(arguments, one.path);
    const std::optional<Packed> packed =
        argument == nullptr ? std::nullopt : pack(argument, one.is_bf16);
    if (!packed || events.compare(at, 2 * kFloat, packed->single) != 0) return std::nullopt;
    events.replace(at, 2 * kFloat, packed->half);
  }
  return events;
}

}  // namespace relaunch::differential
