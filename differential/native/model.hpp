// What ours must do with a call in the dialects whose released launcher is native.
#ifndef RELAUNCH_DIFFERENTIAL_NATIVE_MODEL_HPP
#define RELAUNCH_DIFFERENTIAL_NATIVE_MODEL_HPP

#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace relaunch::differential {

/// The events in the recorder's JSON, and the type of the exception, "" where there is none.
struct Foretold {
  std::string events;
  std::string error;
};

/// predicted.py in native code for most calls, worked out from the JSON of a call alone. Nothing is
/// shared with the launcher that it judges; a test holds it against predicted.py.
class Model {
 public:
  /// What Python's side knows of a dialect (foretold.py). `launch`: what a launch is besides grid,
  /// handles and parameters, by kernel_metadata and flags: (text of the call before it around the
  /// function or "" twice, function, three factors of the grid, text up to the stream, text from
  /// behind the function to the parameters), or None where the metadata is refused.
  struct Facts {
    bool cuda;
    std::string query;
    std::vector<std::string> scratch;  // objects that are taken as pointers, behind all arguments
    std::vector<std::string> hidden;   // parameters of 8 bytes, each a scratch object or null
    pybind11::object launch;
  };

  Model(Facts facts, const pybind11::tuple& signature);

  /// nullopt where Python must work it out.
  std::optional<Foretold> of(PyObject* call) const;

 private:
  enum class Type : std::uint8_t { kConstant, kPointer, kSigned, kUnsigned, kFloat, kDescriptor };
  struct Entry {
    Type type = Type::kConstant;
    unsigned bits = 0;     // of a number
    bool is_bf16 = false;  // a float of 16 bits
    bool is_range_checked = false;
    std::vector<Entry> items;  // of a tuple
    bool is_tuple = false;
  };
  struct Leaf {
    const Entry* entry;
    PyObject* argument;  // borrowed
  };
  struct Failure {
    std::string function;
    std::uint64_t nth = 0;
    long status = 0;  // 0: nothing fails
  };
  /// One call while it is worked out.
  struct Turns {
    std::string events;
    std::string error;
    std::vector<std::string> params;  // in hexadecimal
    std::uint64_t queries = 0;
    Failure failure;
  };
  enum class Opened : std::uint8_t { kOpened, kClosed, kUnknown };

  static Entry read(const pybind11::handle& kind);
  static Opened open(const Entry& entry, PyObject* argument, std::vector<Leaf>& leaves);
  std::optional<Foretold> after_grid(PyObject* call, const pybind11::tuple& launch,
                                     const std::int64_t (&grid)[3], Turns turns) const;
  void take(const Leaf& leaf, Turns& turns) const;
  static void pass_float(const Entry& entry, double value, Turns& turns);
  static void pass_int(const Entry& entry, PyObject* index, Turns& turns);
  void take_pointer(PyObject* argument, Turns& turns) const;
  void query(std::uint64_t address, Turns& turns) const;
  void launch(PyObject* call, const pybind11::tuple& launch, const std::int64_t (&scaled)[3],
              Turns& turns) const;
  std::string params_text(const Turns& turns) const;

  Facts facts_;
  Entry signature_;
};

}  // namespace relaunch::differential

#endif
