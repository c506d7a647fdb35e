#pragma once
// The attributes beside a signature: which parameters are divisible by 16, which are 1.
//
//   AttrsDescriptor((0, 1), (2,)), AttrsDescriptor(divisible_by_16=..., equal_to_1=...)
//   AttrsDescriptor.from_dict({"arg_properties": {"tt.divisibility": (0, 1), "tt.equal_to": (2,)}})
//   AttrsDescriptor.from_hints({0: 16, 2: 1}), instance_descriptor(...)
//   {(0,): [["tt.divisibility", 16]], (1, 0): [["tt.divisibility", 16]]}

#include "migrate/literal.hpp"
#include "migrate/owners.hpp"

namespace relaunch::migrate {

/// Sets the hints that `attributes` (or the first of a list of them) gives. Parameters that take no
/// hint, and properties that signatures do not know, are passed over. False where `attributes` is
/// nothing of the above; what was understood until there stays set.
bool set_hints(const Literal& attributes, Owners& owners);

/// The same for keys and values in two lists, as Triton writes them to JSON.
bool set_hints(const Literal& keys, const Literal& values, Owners& owners);

}  // namespace relaunch::migrate
