#include "differential/native/draw.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

namespace relaunch::differential {
namespace py = pybind11;
namespace {

constexpr double kLargestHalf = 65504.0;

py::object owned(PyObject* object) {
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

PyObject* interned(const char* text) {
  PyObject* const object = PyUnicode_InternFromString(text);
  if (object == nullptr) throw py::error_already_set();
  return object;
}

py::object of_address(std::uint64_t address) {
  static PyObject* const name = interned("tensor");
  char text[24] = "0x";
  const auto end = std::to_chars(text + 2, text + sizeof text, address, 16).ptr;
  return described(name, owned(PyUnicode_FromStringAndSize(text, end - text)));
}

py::object described_real(double value) {
  static PyObject* const name = interned("float");
  static PyObject* const method = interned("hex");
  if (std::isnan(value)) return described(name, owned(PyUnicode_FromString("nan")));
  if (std::isinf(value))
    return described(name, owned(PyUnicode_FromString(value > 0 ? "inf" : "-inf")));
  const py::object number = owned(PyFloat_FromDouble(value));
  return described(name, owned(PyObject_CallMethodNoArgs(number.ptr(), method)));
}

py::object of_bytes(Random& random, std::uint64_t count) {
  static PyObject* const name = interned("tensormap");
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (std::uint64_t i = 0; i < 2 * count; ++i) text += kDigits[random.bits() >> 60U];
  return described(name, py::str(text));
}

}  // namespace

py::object described(PyObject* name, py::object value) {
  py::object made = owned(PyDict_New());
  if (PyDict_SetItem(made.ptr(), name, value.ptr()) != 0) throw py::error_already_set();
  return made;
}

Alternatives::Alternatives(const py::iterable& rules) {
  for (const py::handle rule : rules) {
    const auto parts = py::reinterpret_borrow<py::tuple>(rule);
    const auto weight = parts[0].cast<std::uint64_t>();
    if (weight == 0) continue;
    Alternative made = read(parts);
    total_ += weight;
    made.up_to = total_;
    alternatives_.push_back(std::move(made));
  }
  if (total_ == 0) throw py::value_error("no alternatives");
}

Alternatives::Alternative Alternatives::read(const py::tuple& rule) {
  const auto name = rule[1].cast<std::string>();
  Alternative made{};
  if (name == "values") {
    made.rule = Rule::kValues;
    for (const py::handle entry : rule[2]) {
      const auto pair = py::reinterpret_borrow<py::tuple>(entry);
      made.values.push_back({py::object(pair[0]), pair[1].cast<bool>()});
    }
    if (made.values.empty()) throw py::value_error("no values");
    return made;
  }
  made.listed = rule[rule.size() - 1].cast<bool>();
  if (name == "int") {
    made.rule = Rule::kInt;
    made.is_signed = py::object(rule[2]) < py::int_(0);
    made.first = made.is_signed ? static_cast<std::uint64_t>(rule[2].cast<std::int64_t>())
                                : rule[2].cast<std::uint64_t>();
    const std::uint64_t last = made.is_signed
                                   ? static_cast<std::uint64_t>(rule[3].cast<std::int64_t>())
                                   : rule[3].cast<std::uint64_t>();
    made.count = last - made.first + 1;
  } else if (name == "tensor") {
    made.rule = Rule::kTensor;
    made.bases = {};
    for (const py::handle base : rule[2]) made.bases.push_back(base.cast<std::uint64_t>());
    made.step = rule[3].cast<std::uint64_t>();
    made.count = rule[4].cast<std::uint64_t>();
    if (made.bases.empty() || made.count == 0) throw py::value_error("no addresses");
  } else if (name == "uniform") {
    made.rule = Rule::kUniform;
    made.low = rule[2].cast<double>();
    made.high = rule[3].cast<double>();
  } else if (name == "single" || name == "half") {
    made.rule = name == "half" ? Rule::kHalf : Rule::kSingle;
  } else if (name == "bytes") {
    made.rule = Rule::kBytes;
    made.count = rule[2].cast<std::uint64_t>();
  } else {
    throw py::value_error("no rule '" + name + "'");
  }
  return made;
}

Drawn Alternatives::draw(Random& random) const {
  const std::uint64_t roll = random.below(total_);
  const Alternative* chosen = alternatives_.data();
  while (roll >= chosen->up_to) ++chosen;
  switch (chosen->rule) {
    case Rule::kValues: return chosen->values[random.below(chosen->values.size())];
    case Rule::kInt: {
      const std::uint64_t offset = chosen->count == 0 ? random.bits() : random.below(chosen->count);
      const std::uint64_t value = chosen->first + offset;
      return {owned(chosen->is_signed ? PyLong_FromLongLong(static_cast<std::int64_t>(value))
                                      : PyLong_FromUnsignedLongLong(value)),
              chosen->listed};
    }
    case Rule::kTensor: {
      const std::uint64_t base = chosen->bases[random.below(chosen->bases.size())];
      return {of_address(base + chosen->step * random.below(chosen->count)), chosen->listed};
    }
    case Rule::kUniform:
      return {described_real(chosen->low + (chosen->high - chosen->low) * random.real()),
              chosen->listed};
    case Rule::kSingle:
    case Rule::kHalf: {
      double value = std::bit_cast<float>(static_cast<std::uint32_t>(random.bits()));
      const bool held = chosen->rule == Rule::kSingle || std::abs(value) < kLargestHalf;
      if (!held && std::isfinite(value)) value = std::fmod(value, 1.0);
      return {described_real(value), chosen->listed};
    }
    case Rule::kBytes: return {of_bytes(random, chosen->count), chosen->listed};
  }
  return {};
}

}  // namespace relaunch::differential
