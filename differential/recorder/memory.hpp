#ifndef RELAUNCH_DIFFERENTIAL_RECORDER_MEMORY_HPP
#define RELAUNCH_DIFFERENTIAL_RECORDER_MEMORY_HPP

#include <cstddef>
#include <cstdint>

namespace relaunch::recorder {

inline constexpr std::size_t kTotalMemory = std::size_t{1} << 36U;

/// "Device" memory is zeroed host memory of 256-byte alignment; 0 for none left or no bytes asked.
std::uint64_t allocate(std::size_t bytes);
/// False for an address that allocate did not give.
bool release(std::uint64_t address);
/// Bytes that are allocated now.
std::size_t allocated_bytes();
/// Whether [address, address + bytes) lies inside one allocation.
bool owns(std::uint64_t address, std::size_t bytes);

}  // namespace relaunch::recorder

#endif
