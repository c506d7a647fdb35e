// librelaunch for a machine without HIP's headers: a HIP dialect cannot be bound there.

#include "precompiled/driver/driver.hpp"
#include "precompiled/driver/make.hpp"

namespace relaunch {

std::unique_ptr<Driver> make_hip_driver(Library /*library*/, const DriverRules& /*rules*/) {
  throw DriverError("this library was built without HIP");
}

}  // namespace relaunch
