// The bytes of numbers as they lie in kernel parameters, in hexadecimal, as the recorder writes
// them.
#ifndef RELAUNCH_DIFFERENTIAL_NATIVE_NUMBERS_HPP
#define RELAUNCH_DIFFERENTIAL_NATIVE_NUMBERS_HPP

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>
#include <optional>
#include <string>

namespace relaunch::differential {

/// The lowest `count` bytes of `bits`, the first byte first.
std::string hex_bytes(std::uint64_t bits, unsigned count);

/// The bits of an fp16, rounded to nearest even; nullopt where a finite value is too large.
std::optional<std::uint16_t> fp16_bits(double value);

/// The bits of a C float.
std::uint32_t fp32_bits(double value);

/// The upper half of a C float's.
std::uint16_t bf16_bits(double value);

}  // namespace relaunch::differential

#endif
