// The parameter records of cubins, read anew here: the recorder shares nothing with the launcher
// that it judges.
#include "differential/recorder/cuda_image.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "differential/recorder/journal.hpp"

namespace relaunch::recorder {
namespace {

using Table = std::map<unsigned, ParameterPlace>;  // by ordinal

std::mutex lock;
std::map<std::string, Table> functions;  // of the image that is loaded
bool has_image = false;
std::map<std::uint64_t, Table> chosen;  // by handle

template <typename T>
T read(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// A record is a form, an attribute and 2 bytes, which in form 4 count the bytes that follow.
Table read_table(const char* at, const char* end) {
  constexpr int kSized = 4;
  constexpr int kParameter = 0x17;
  constexpr int kLargeParameter = 0x45;
  Table table;
  while (at + 4 <= end) {
    const auto form = read<std::uint8_t>(at);
    const auto attribute = read<std::uint8_t>(at + 1);
    const std::size_t bytes = form == kSized ? read<std::uint16_t>(at + 2) : 0;
    if (form == kSized && (attribute == kParameter || attribute == kLargeParameter)) {
      const auto packed = read<std::uint32_t>(at + 12);
      table[read<std::uint16_t>(at + 8)] = {
          read<std::uint16_t>(at + 10), attribute == kParameter ? packed >> 18U : packed & 0xffffU};
    }
    at += 4 + bytes;
  }
  return table;
}

/// Functions with handles of their own outlive their image here.
void forget() {
  functions.clear();
  if (!has_own_handles()) chosen.clear();
}

}  // namespace

void load_image(const void* image) {
  constexpr int kCuda = 190;
  const std::lock_guard guard(lock);
  forget();
  const auto* file = static_cast<const char*>(image);
  has_image = file != nullptr && std::strncmp(file, ELFMAG, SELFMAG) == 0 &&
              read<Elf64_Ehdr>(file).e_machine == kCuda;
  if (!has_image) return;
  const auto header = read<Elf64_Ehdr>(file);
  const auto section = [&](std::size_t index) {
    return read<Elf64_Shdr>(file + header.e_shoff + index * sizeof(Elf64_Shdr));
  };
  const char* names = file + section(header.e_shstrndx).sh_offset;
  const std::string prefix = ".nv.info.";
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr each = section(i);
    const std::string name = names + each.sh_name;
    if (name.rfind(prefix, 0) != 0) continue;
    const char* begin = file + each.sh_offset;
    functions[name.substr(prefix.size())] = read_table(begin, begin + each.sh_size);
  }
}

void forget_image() {
  const std::lock_guard guard(lock);
  forget();
  has_image = false;
}

bool choose_function(const char* name, std::uint64_t handle) {
  const std::lock_guard guard(lock);
  chosen.erase(handle);
  if (!has_image) return true;
  const auto found = functions.find(name);
  if (found == functions.end()) return false;
  chosen[handle] = found->second;
  return true;
}

bool knows_parameters(std::uint64_t handle) {
  const std::lock_guard guard(lock);
  return chosen.contains(handle);
}

std::optional<ParameterPlace> parameter(std::uint64_t handle, std::size_t index) {
  const std::lock_guard guard(lock);
  const auto table = chosen.find(handle);
  if (table == chosen.end()) return std::nullopt;
  const auto found = table->second.find(static_cast<unsigned>(index));
  if (found == table->second.end()) return std::nullopt;
  return found->second;
}

std::vector<std::uint32_t> parameter_sizes(std::uint64_t handle) {
  const std::lock_guard guard(lock);
  std::vector<std::uint32_t> sizes;
  const auto table = chosen.find(handle);
  if (table == chosen.end()) return sizes;
  for (const auto& [ordinal, place] : table->second) {
    sizes.push_back(static_cast<std::uint32_t>(place.size));
  }
  return sizes;
}

}  // namespace relaunch::recorder
