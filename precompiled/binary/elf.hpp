#pragma once
// 64-bit little-endian ELF files, as far as cubins and AMDGPU code objects need: sections with
// their names, and notes. Offsets and sizes of a file are believed only where they lie inside it.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "precompiled/binary/bytes.hpp"

namespace relaunch::binary {

inline constexpr std::uint16_t kMachineCuda = 190;
inline constexpr std::uint16_t kMachineAmdgpu = 224;

struct Section {
  std::uint32_t name = 0;  // offset into the section names
  std::uint32_t type = 0;
  std::uint32_t info = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

struct Note {
  std::string_view owner;  // without its final zero
  std::uint32_t type = 0;
  Bytes description;
  std::uint64_t offset = 0;  // of the description in the file
};

class Elf {
 public:
  /// Reads the header. Throws BinaryError: truncated, where the file ends before the tables of
  /// sections and segments or before what they say is in it; or unsupported (32-bit, big-endian).
  explicit Elf(Bytes file);

  static bool has_magic(Bytes file);

  std::uint16_t machine() const { return machine_; }
  std::uint64_t section_count() const { return section_count_; }

  /// Throws BinaryError where the header lies behind the end of the file. Contents are not looked
  /// at.
  Section section(std::uint64_t index) const;

  /// Whether the section's name begins so; a name outside the file's table begins with nothing.
  bool name_starts(const Section& section, std::string_view prefix) const;
  /// Throws BinaryError: a name that ends nowhere, or is longer than any symbol.
  std::string_view name(const Section& section) const;

  /// The section's bytes, none for one that takes no room in the file. Throws BinaryError.
  Bytes contents(const Section& section) const;

  /// The first note of that owner and type, of the segments or else of the sections.
  std::optional<Note> find_note(std::string_view owner, std::uint32_t type) const;

 private:
  struct Place {
    std::uint64_t offset;
    std::uint64_t size;
  };
  void read_section_table();
  void read_segment_table();
  void check_contents() const;
  Place segment_place(std::uint64_t index) const;
  std::vector<Place> note_places() const;
  std::optional<Note> find_note_in(const Place& place, std::string_view owner,
                                   std::uint32_t type) const;

  Bytes file_;
  std::uint16_t machine_ = 0;
  std::uint64_t sections_ = 0;  // offset of the headers
  std::uint64_t section_count_ = 0;
  std::uint64_t segments_ = 0;  // offset of the headers
  std::uint64_t segment_count_ = 0;
  Bytes names_;
  std::uint64_t names_offset_ = 0;
};

}  // namespace relaunch::binary
