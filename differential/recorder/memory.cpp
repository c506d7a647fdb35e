#include "differential/recorder/memory.hpp"

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace relaunch::recorder {
namespace {

constexpr std::size_t kAlignment = 256;

std::mutex mutex;
std::map<std::uint64_t, std::size_t>& blocks() {
  static auto* const kept = new std::map<std::uint64_t, std::size_t>;
  return *kept;
}

}  // namespace

std::uint64_t allocate(std::size_t bytes) {
  if (bytes == 0 || bytes > kTotalMemory) return 0;
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  void* const memory = std::aligned_alloc(kAlignment, rounded);
  if (memory == nullptr) return 0;
  std::memset(memory, 0, rounded);
  const auto address = reinterpret_cast<std::uint64_t>(memory);
  const std::lock_guard lock(mutex);
  blocks().emplace(address, bytes);
  return address;
}

bool release(std::uint64_t address) {
  {
    const std::lock_guard lock(mutex);
    if (blocks().erase(address) == 0) return false;
  }
  std::free(reinterpret_cast<void*>(address));
  return true;
}

std::size_t allocated_bytes() {
  const std::lock_guard lock(mutex);
  std::size_t total = 0;
  for (const auto& [address, bytes] : blocks()) total += bytes;
  return total;
}

bool owns(std::uint64_t address, std::size_t bytes) {
  const std::lock_guard lock(mutex);
  auto block = blocks().upper_bound(address);
  if (block == blocks().begin()) return false;
  --block;
  const std::uint64_t offset = address - block->first;
  return offset <= block->second && bytes <= block->second - offset;
}

}  // namespace relaunch::recorder
