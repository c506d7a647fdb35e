// What is drawn, as data: weighted alternatives, each a list of ready values or a rule for one.
#ifndef RELAUNCH_DIFFERENTIAL_NATIVE_DRAW_HPP
#define RELAUNCH_DIFFERENTIAL_NATIVE_DRAW_HPP

#include <pybind11/pybind11.h>

#include <cstdint>
#include <vector>

#include "differential/native/random.hpp"

namespace relaunch::differential {

/// One drawn value, in the JSON form of cases. `listed`: an entry of the divergence list may hold
/// for a case with it.
struct Drawn {
  pybind11::object value;
  bool listed = false;
};

/// Weighted alternatives for one value. Made from a list of (weight, rule, ...):
///   ("values", [(value, listed)...])  one of them, as it is
///   ("int", low, high, listed)        any int from low to high, -2^63 <= low, high < 2^64
///   ("tensor", [base...], step, count, listed)  a tensor at a base and up to count - 1 steps more
///   ("uniform", low, high, listed)    a float
///   ("single", listed)                the float of any four bytes
///   ("half", listed)                  as "single", but one that fp16 holds when it is rounded
///   ("bytes", count, listed)          a descriptor of that many bytes
class Alternatives {
 public:
  explicit Alternatives(const pybind11::iterable& rules);
  Drawn draw(Random& random) const;

 private:
  enum class Rule { kValues, kInt, kTensor, kUniform, kSingle, kHalf, kBytes };
  struct Alternative {
    std::uint64_t up_to;  // of the weights, this one's included
    Rule rule;
    std::vector<Drawn> values;
    std::vector<std::uint64_t> bases;
    std::uint64_t step = 1;
    std::uint64_t first = 0;  // an int's bits
    std::uint64_t count = 0;  // 0: 2^64
    bool is_signed = false;
    double low = 0;
    double high = 0;
    bool listed = false;
  };
  static Alternative read(const pybind11::tuple& rule);

  std::vector<Alternative> alternatives_;
  std::uint64_t total_ = 0;
};

/// {name: value}, as cases write an argument that is no plain int.
pybind11::object described(PyObject* name, pybind11::object value);

}  // namespace relaunch::differential

#endif
