// A tensor's side of DLPack's C exchange interface, for arguments that a launcher may take by it.
#ifndef RELAUNCH_DIFFERENTIAL_NATIVE_EXCHANGE_CAPSULE_HPP
#define RELAUNCH_DIFFERENTIAL_NATIVE_EXCHANGE_CAPSULE_HPP

#include <pybind11/pybind11.h>

namespace relaunch::differential {

/// What a class of tensors has as `__dlpack_c_exchange_api__`: its tensors lie on the backend's
/// kind of device ("cuda" or "hip"), at the address that their attribute `answer` holds.
/// ValueError for another backend.
pybind11::capsule exchange_capsule(const std::string& backend);

}  // namespace relaunch::differential

#endif
