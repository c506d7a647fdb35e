// Draws the calls of one signature, any of them by its number.
#ifndef RELAUNCH_DIFFERENTIAL_NATIVE_SAMPLER_HPP
#define RELAUNCH_DIFFERENTIAL_NATIVE_SAMPLER_HPP

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "differential/native/draw.hpp"

namespace relaunch::differential {

using Shared = std::shared_ptr<const Alternatives>;

/// One type, or a tuple of them.
struct Kind {
  Shared valid;  // null for a tuple
  Shared odd;
  std::vector<Kind> items;

  bool is_tuple() const { return valid == nullptr; }
};

/// What calls of a dialect are drawn from, arguments apart. Python's side (sampler.py) says what
/// each part is.
struct Recipe {
  using Field = std::pair<pybind11::object, Shared>;
  struct Argument {};  // an odd argument
  struct Count {};     // one argument too many, or too few
  struct Disturbance {
    std::uint64_t up_to;                                     // of the weights, this one's included
    std::variant<Argument, Count, std::vector<Drawn>> what;  // or members of the call
  };

  explicit Recipe(const pybind11::dict& given);

  std::vector<Field> fields;   // drawn for every call
  std::vector<Field> options;  // drawn for every block of calls
  std::vector<Disturbance> disturbances;
  std::uint64_t weights = 0;
  Shared extra;  // what one argument too many is
};

/// The `call` of a case in the golden form. `listed`: an entry of the divergence list may hold,
/// that apart which native code applies itself.
struct DrawnCall {
  pybind11::dict call;
  bool listed = false;
};

class Sampler {
 public:
  /// Calls that follow each other and share the options that a launcher is made with.
  static constexpr std::uint64_t kBlock = 8;

  /// `kinds`: by type, the alternatives for valid and for odd arguments. `fixed`: members that all
  /// calls have.
  Sampler(std::shared_ptr<const Recipe> recipe, const pybind11::tuple& signature,
          const pybind11::dict& kinds, pybind11::dict fixed, std::uint64_t key);

  /// `disturbed`: whether it may be; without, its arguments are what launchers take.
  DrawnCall call(std::uint64_t number, bool disturbed = true);

 private:
  void draw_options(std::uint64_t block);
  bool disturb(Random& random, const pybind11::dict& call, pybind11::list& arguments);
  bool disturb_argument(Random& random, pybind11::list& arguments);
  void disturb_count(Random& random, pybind11::list& arguments);

  std::shared_ptr<const Recipe> recipe_;
  Kind signature_;
  pybind11::dict fixed_;
  std::uint64_t key_;
  std::uint64_t block_ = ~std::uint64_t{0};
  std::vector<Drawn> options_;  // of that block
};

}  // namespace relaunch::differential

#endif
