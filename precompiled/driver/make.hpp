#pragma once
// The two drivers, each made from its library. Both throw DriverError for a foreign library.

#include <memory>

#include "precompiled/driver/driver.hpp"
#include "precompiled/driver/library.hpp"

namespace relaunch {

std::unique_ptr<Driver> make_cuda_driver(Library library, const DriverRules& rules);
std::unique_ptr<Driver> make_hip_driver(Library library, const DriverRules& rules);

}  // namespace relaunch
