#include "differential/native/model.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "differential/native/numbers.hpp"

namespace relaunch::differential {
namespace py = pybind11;
namespace {

constexpr std::string_view kContext =
    R"({"call": "cuDevicePrimaryCtxRetain", "args": ["0"]},{"call": "cuCtxSetCurrent", "args": ["c1"]},)";
constexpr std::string_view kIntake = R"({"intake": "data_ptr"},)";
constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
constexpr std::uint64_t kAllOnes = std::numeric_limits<std::uint64_t>::max();

std::string_view text_of(PyObject* text) {
  Py_ssize_t size = 0;
  const char* const begin = PyUnicode_AsUTF8AndSize(text, &size);
  if (begin == nullptr) throw py::error_already_set();
  return {begin, static_cast<std::size_t>(size)};
}

/// A member of a call, borrowed; null where there is none.
PyObject* member(PyObject* call, const char* name) { return PyDict_GetItemString(call, name); }

/// An argument that is written {name: value}; an empty name for one that is not.
struct Described {
  std::string_view name;
  PyObject* value = nullptr;

  explicit Described(PyObject* argument) {
    PyObject* key = nullptr;
    Py_ssize_t at = 0;
    if (PyDict_Check(argument) != 0 && PyDict_Next(argument, &at, &key, &value) != 0) {
      name = text_of(key);
    }
  }
};

/// The value of a Python int where C's 64 bits hold it.
struct Integer {
  std::uint64_t bits = 0;
  bool fits_signed = false;
  bool fits_unsigned = false;

  explicit Integer(PyObject* number) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (overflow == 0) {
      bits = static_cast<std::uint64_t>(value);
      fits_signed = true;
      fits_unsigned = value >= 0;
      return;
    }
    if (overflow < 0) return;
    bits = PyLong_AsUnsignedLongLong(number);
    fits_unsigned = PyErr_Occurred() == nullptr;
    PyErr_Clear();
  }
};

/// An int that a C int holds; nullopt for all other objects.
std::optional<std::int64_t> plain_int(PyObject* object) {
  if (object == nullptr || PyLong_Check(object) == 0) return std::nullopt;
  const Integer number(object);
  const auto value = static_cast<std::int64_t>(number.bits);
  if (!number.fits_signed || value > kLargest || value < -kLargest - 1) return std::nullopt;
  return value;
}

std::uint64_t address_of(PyObject* text) {
  return std::strtoull(std::string(text_of(text)).c_str(), nullptr, 16);
}

std::string hex_digits(std::uint64_t value) {
  char text[20];
  const int size = std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(value));
  return {text, static_cast<std::size_t>(size)};
}

/// "none", "ok" or "raise".
std::string_view hook(PyObject* call, const char* name) {
  PyObject* const word = member(call, name);
  return word == nullptr ? "none" : text_of(word);
}

std::string note(std::string_view hook) {
  return std::string(R"({"hook": ")").append(hook).append("\"},");
}

/// Events as the recorder gives them: in brackets, without the comma behind the last.
Foretold ended(std::string events, std::string error) {
  if (!events.empty()) events.pop_back();
  return {'[' + events + ']', std::move(error)};
}

}  // namespace

Model::Model(Facts facts, const py::tuple& signature) : facts_(std::move(facts)) {
  signature_ = read(signature);
}

Model::Entry Model::read(const py::handle& kind) {
  Entry entry;
  if (!py::isinstance<py::str>(kind)) {
    entry.is_tuple = true;
    for (const py::handle item : kind) entry.items.push_back(read(item));
    return entry;
  }
  const auto name = kind.cast<std::string>();
  const std::size_t digits = name.find_first_of("0123456789");
  const std::string word = name.substr(0, digits);
  if (name == "constexpr") return entry;
  if (name[0] == '*') {
    entry.type = Type::kPointer;
  } else if (word == "i" || word == "u") {
    entry.type = word == "i" ? Type::kSigned : Type::kUnsigned;
    entry.bits = static_cast<unsigned>(std::stoul(name.substr(digits)));
    entry.is_range_checked = word == "i" && entry.bits > 1 && entry.bits < 64;
    if (entry.bits == 1) entry.bits = 32;
  } else if (word == "fp" || word == "bf" || word == "f") {
    entry.type = Type::kFloat;
    entry.bits = static_cast<unsigned>(std::stoul(name.substr(digits)));
    entry.is_bf16 = word == "bf";
  } else {
    entry.type = Type::kDescriptor;
  }
  return entry;
}

std::optional<Foretold> Model::of(PyObject* call) const {
  Turns turns;
  PyObject* const fail = member(call, "fail");
  if (fail != nullptr && fail != Py_None) {
    turns.failure = {std::string(text_of(PyList_GET_ITEM(fail, 0))),
                     PyLong_AsUnsignedLong(PyList_GET_ITEM(fail, 1)),
                     PyLong_AsLong(PyList_GET_ITEM(fail, 2))};
    if (turns.failure.function.starts_with("cuCtx") ||
        turns.failure.function.starts_with("cuDevice"))
      return std::nullopt;
  }
  if (facts_.cuda && member(call, "no_context") == Py_True) turns.events = kContext;
  PyObject* const arguments = member(call, "args");
  if (static_cast<std::size_t>(PyList_GET_SIZE(arguments)) != signature_.items.size())
    return ended(turns.events, "TypeError");
  for (const char* name : {"stream", "function"}) {
    if (PyUnicode_Check(member(call, name)) == 0) return std::nullopt;
  }
  PyObject* const metadata = member(call, "metadata");
  if (metadata == nullptr || PyList_Check(metadata) == 0) return std::nullopt;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(metadata); ++i) {
    if (!plain_int(PyList_GET_ITEM(metadata, i))) return std::nullopt;
  }
  const py::object launch = facts_.launch(py::handle(call));
  if (launch.is_none()) return std::nullopt;
  std::int64_t grid[3];
  for (int i = 0; i < 3; ++i) {
    const auto size = plain_int(PyList_GET_ITEM(member(call, "grid"), i));
    if (!size) return std::nullopt;
    grid[i] = *size;
  }
  return after_grid(call, launch, grid, std::move(turns));
}

std::optional<Foretold> Model::after_grid(PyObject* call, const py::tuple& launch,
                                          const std::int64_t (&grid)[3], Turns turns) const {
  std::int64_t scaled[3];
  bool is_empty = false;
  for (std::size_t i = 0; i < 3; ++i) {
    scaled[i] = grid[i] * launch[3 + i].cast<std::int64_t>();
    if (std::min(grid[i], scaled[i]) < 0 || std::max(grid[i], scaled[i]) > kLargest)
      return ended(turns.events, "ValueError");
    is_empty |= grid[i] == 0;
  }
  const std::string_view enter = hook(call, "enter");
  if (enter != "none") turns.events += note("enter");
  if (enter == "raise") return ended(turns.events, "RuntimeError");
  std::vector<Leaf> leaves;
  PyObject* const arguments = member(call, "args");
  for (std::size_t i = 0; i < signature_.items.size(); ++i) {
    const Opened opened = open(signature_.items[i], PyList_GET_ITEM(arguments, i), leaves);
    if (opened == Opened::kUnknown) return std::nullopt;
    if (opened == Opened::kClosed) return ended(turns.events, "TypeError");
  }
  static const Entry scratch{.type = Type::kPointer, .items = {}};
  for (const std::string& name : facts_.scratch) {
    PyObject* const given = member(call, name.c_str());
    leaves.push_back({&scratch, given == nullptr ? Py_None : given});
  }
  for (const Leaf& leaf : leaves) {
    take(leaf, turns);
    if (!turns.error.empty()) return ended(turns.events, turns.error);
  }
  if (!is_empty) this->launch(call, launch, scaled, turns);
  if (!turns.error.empty()) return ended(turns.events, turns.error);
  const std::string_view exit = hook(call, "exit");
  if (exit != "none") turns.events += note("exit");
  return ended(turns.events, exit == "raise" ? "RuntimeError" : "");
}

Model::Opened Model::open(const Entry& entry, PyObject* argument, std::vector<Leaf>& leaves) {
  if (!entry.is_tuple) {
    leaves.push_back({&entry, argument});
    return Opened::kOpened;
  }
  const Described described(argument);
  if (described.name == "dict" || described.name == "str") return Opened::kUnknown;
  const bool is_sequence =
      described.name == "tuple" || described.name == "list" || described.name == "namedtuple";
  if (!is_sequence) return Opened::kClosed;
  const std::size_t count = entry.items.size();
  if (static_cast<std::size_t>(PyList_GET_SIZE(described.value)) != count) return Opened::kClosed;
  for (std::size_t i = 0; i < count; ++i) {
    const Opened inner = open(entry.items[i], PyList_GET_ITEM(described.value, i), leaves);
    if (inner != Opened::kOpened) return inner;
  }
  return Opened::kOpened;
}

void Model::take(const Leaf& leaf, Turns& turns) const {
  const Entry& entry = *leaf.entry;
  if (entry.type == Type::kConstant) return;
  if (entry.type == Type::kPointer) return take_pointer(leaf.argument, turns);
  const Described described(leaf.argument);
  if (entry.type == Type::kDescriptor) {
    if (described.name != "tensormap") {
      turns.error = "TypeError";
    } else {
      turns.params.emplace_back(text_of(described.value));
    }
    return;
  }
  const bool raises = (described.name == "index_raises" && entry.type != Type::kUnsigned) ||
                      (described.name == "float_raises" && entry.type == Type::kFloat);
  if (raises) {
    turns.error = text_of(described.value);
    return;
  }
  PyObject* const index = PyLong_Check(leaf.argument) != 0 ? leaf.argument
                          : described.name == "index"      ? described.value
                                                           : nullptr;
  if (entry.type == Type::kFloat && index == nullptr) {
    if (described.name == "float" || described.name == "floatlike") {
      pass_float(entry, std::strtod(std::string(text_of(described.value)).c_str(), nullptr), turns);
    } else {
      turns.error = "TypeError";
    }
  } else if (entry.type == Type::kFloat) {
    const double value = PyLong_AsDouble(index);
    if (value == -1.0 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      turns.error = "OverflowError";
    } else {
      pass_float(entry, value, turns);
    }
  } else if (index == nullptr || (entry.type == Type::kUnsigned && index != leaf.argument)) {
    turns.error = "TypeError";
  } else {
    pass_int(entry, index, turns);
  }
}

void Model::pass_float(const Entry& entry, double value, Turns& turns) {
  if (entry.bits == 64) {
    turns.params.push_back(hex_bytes(std::bit_cast<std::uint64_t>(value), 8));
  } else if (entry.bits == 32) {
    turns.params.push_back(hex_bytes(fp32_bits(value), 4));
  } else if (entry.is_bf16) {
    turns.params.push_back(hex_bytes(bf16_bits(value), 2));
  } else if (const std::optional<std::uint16_t> half = fp16_bits(value)) {
    turns.params.push_back(hex_bytes(*half, 2));
  } else {
    turns.error = "OverflowError";
  }
}

void Model::pass_int(const Entry& entry, PyObject* index, Turns& turns) {
  const Integer number(index);
  const bool is_held = entry.type == Type::kSigned ? number.fits_signed : number.fits_unsigned;
  const auto value = static_cast<std::int64_t>(number.bits);
  const std::int64_t limit = entry.is_range_checked ? std::int64_t{1} << (entry.bits - 1) : 0;
  if (!is_held || (entry.is_range_checked && (value < -limit || value >= limit))) {
    turns.error = "OverflowError";
  } else {
    turns.params.push_back(hex_bytes(number.bits, entry.bits / 8));
  }
}

void Model::take_pointer(PyObject* argument, Turns& turns) const {
  const auto pass = [&turns](std::uint64_t address) {
    turns.params.push_back(hex_bytes(address, 8));
  };
  if (argument == Py_None) return pass(0);
  if (PyLong_Check(argument) != 0) {
    const Integer number(argument);
    if (number.fits_unsigned) return pass(number.bits);
    turns.error = "OverflowError";
    return;
  }
  const Described described(argument);
  if (described.name == "dlpack") return pass(address_of(described.value));
  if (described.name == "tensor_raises") {
    turns.error = text_of(described.value);
  } else if (described.name == "tensor") {
    turns.events += kIntake;
    const std::uint64_t address = address_of(described.value);
    if (address == 0) return pass(0);
    query(address, turns);
  } else if (described.name == "tensor_returns" && PyLong_Check(described.value) != 0) {
    turns.events += kIntake;
    const Integer number(described.value);
    if (number.fits_unsigned && number.bits == 0) return pass(0);
    query(number.fits_unsigned ? number.bits : kAllOnes, turns);
    // The failed conversion is pending; a query that fails with an error of its own replaces it.
    if (!number.fits_unsigned && turns.error.empty()) turns.error = "OverflowError";
  } else {
    if (described.name == "tensor_returns") turns.events += kIntake;
    turns.error = "TypeError";
  }
}

void Model::query(std::uint64_t address, Turns& turns) const {
  // What the recording driver answers.
  const std::uint64_t kind = address >> 40U & 0xFFU;
  long status = address == kAllOnes || kind == 0xBA ? 1 : kind == 0x5E ? 700 : 0;
  const std::uint64_t found = kind == 0x91 ? address + 0x10000000 : address;
  const Failure& failure = turns.failure;
  const bool fails = failure.status != 0 && failure.function == facts_.query;
  if (fails && failure.nth == turns.queries) status = failure.status;
  ++turns.queries;
  turns.events.append(R"({"call": ")").append(facts_.query).append(R"(", "args": ["3", ")");
  turns.events.append(hex_digits(address)).append("\"]},");
  if (status == 0) {
    turns.params.push_back(hex_bytes(found, 8));
  } else if (facts_.cuda || status == 1) {
    turns.error = status == 1 ? "ValueError" : "RuntimeError";
    if (!facts_.cuda) turns.events += R"({"call": "hipGetLastError", "args": []},)";
  } else {
    turns.params.push_back(hex_bytes(address, 8));
  }
}

void Model::launch(PyObject* call, const py::tuple& launch, const std::int64_t (&scaled)[3],
                   Turns& turns) const {
  const auto piece = [&launch](std::size_t i) { return text_of(launch[i].ptr()); };
  const std::string_view function = text_of(member(call, "function"));
  const Failure& failure = turns.failure;
  const bool first = failure.status != 0 && failure.nth == 0;
  std::string& text = turns.events;
  if (!piece(0).empty()) {
    text.append(piece(0)).append(function.substr(2)).append(piece(1)).append(",");
    if (first && failure.function == "cuFuncSetAttribute") {
      turns.error = "RuntimeError";
      return;
    }
  }
  text.append(R"({"call": ")").append(piece(2)).append(R"(", "grid": [)");
  for (int i = 0; i < 3; ++i) text.append(i == 0 ? "" : ", ").append(std::to_string(scaled[i]));
  text.append("], ")
      .append(piece(6))
      .append(R"(, "stream": ")")
      .append(text_of(member(call, "stream")));
  text.append(R"(", "function": ")").append(function).append("\", ").append(piece(7));
  text.append(R"(, "params": [)").append(params_text(turns)).append("]},");
  if (first && failure.function == piece(2)) turns.error = "RuntimeError";
}

std::string Model::params_text(const Turns& turns) const {
  const std::size_t own = turns.params.size() - facts_.scratch.size();
  std::vector<std::string> params(turns.params.begin(), turns.params.begin() + own);
  for (const std::string& name : facts_.hidden) {
    const auto known = std::ranges::find(facts_.scratch, name);
    const auto place = own + static_cast<std::size_t>(known - facts_.scratch.begin());
    params.push_back(known == facts_.scratch.end() ? hex_bytes(0, 8) : turns.params[place]);
  }
  std::string text;
  for (const std::string& one : params) {
    text.append(text.empty() ? "\"" : ", \"").append(one).append("\"");
  }
  return text;
}

}  // namespace relaunch::differential
