// What the divergence list wants of fp16 and bf16 in the dialects that pass half of a C float.
#ifndef RELAUNCH_DIFFERENTIAL_NATIVE_HALVES_HPP
#define RELAUNCH_DIFFERENTIAL_NATIVE_HALVES_HPP

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace relaunch::differential {

/// An fp16 or bf16 of a signature: the argument, with the items of tuples that lead to it; which
/// of the kernel's parameters it is; and which of the two types.
struct Half {
  std::vector<std::size_t> path;
  std::size_t slot;
  bool is_bf16;
};

/// Where the params of the launch among events in the recorder's JSON begin, behind the bracket;
/// npos where there is no launch.
std::size_t find_params(std::string_view events);

/// The events of a legacy launch in which each of the parameters holds the two bytes of its value
/// and two zeros, in place of the four of the value as a C float. Events without a launch as they
/// are. nullopt where a parameter is not that float: what is wanted then must be found otherwise.
std::optional<std::string> with_halves(std::string events, const std::vector<Half>& halves,
                                       const std::vector<std::uint32_t>& slots,
                                       std::span<PyObject* const> arguments);

}  // namespace relaunch::differential

#endif
