#include "precompiled/binary/elf.hpp"

#include <algorithm>

namespace relaunch::binary {
namespace {

constexpr std::uint64_t kHeaderBytes = 64;
constexpr std::uint64_t kSectionBytes = 64;
constexpr std::uint64_t kSegmentBytes = 56;
constexpr std::uint64_t kNoteBytes = 12;
constexpr std::uint32_t kTypeNull = 0;
constexpr std::uint32_t kTypeNote = 7;
constexpr std::uint32_t kTypeNoBits = 8;
constexpr std::uint32_t kTypeVendor = 0x60000000;  // and above: what they mean is not ELF's
constexpr std::uint32_t kSegmentNote = 4;
constexpr std::uint16_t kExtended = 0xffff;        // the number stands in section 0
constexpr std::size_t kLongestName = 64UL * 1024;  // no compiler makes longer ones
constexpr std::string_view kMagic =
    "\x7f"
    "ELF";

std::uint64_t padded(std::uint64_t size) { return (size + 3) & ~std::uint64_t{3}; }

}  // namespace

bool Elf::has_magic(Bytes file) { return as_text(file).starts_with(kMagic); }

Elf::Elf(Bytes file) : file_(file) {
  part(file, 0, kHeaderBytes, "an ELF header");
  const auto word_size = load<std::uint8_t>(file, 4, "the ELF class");
  const auto byte_order = load<std::uint8_t>(file, 5, "the byte order");
  if (word_size != 2) {
    throw BinaryError(Fault::unsupported, {4, 0}, "a 64-bit ELF file (class 2)",
                      "class " + std::to_string(word_size));
  }
  if (byte_order != 1) {
    throw BinaryError(Fault::unsupported, {5, 0}, "a little-endian ELF file (1)",
                      std::to_string(byte_order));
  }
  machine_ = load<std::uint16_t>(file, 18, "the machine");
  read_section_table();
  read_segment_table();
  check_contents();
}

void Elf::read_section_table() {
  sections_ = load<std::uint64_t>(file_, 40, "the section table's place");
  if (sections_ == 0) return;  // none: a stripped file has its segments only
  const auto entry_bytes = load<std::uint16_t>(file_, 58, "the size of a section header");
  if (entry_bytes != kSectionBytes) {
    throw BinaryError(Fault::malformed, {58, 0}, "section headers of 64 bytes",
                      std::to_string(entry_bytes));
  }
  const Bytes table = part(file_, sections_, kSectionBytes, "a section table");
  // Section 0 has the numbers that the header has no room for.
  section_count_ = load<std::uint16_t>(file_, 60, "the number of sections");
  if (section_count_ == 0) section_count_ = load<std::uint64_t>(table, 32, "their number");
  std::uint32_t names_index = load<std::uint16_t>(file_, 62, "the index of section names");
  if (names_index == kExtended) names_index = load<std::uint32_t>(table, 40, "that index");
  const std::uint64_t room = (file_.size() - sections_) / kSectionBytes;
  if (section_count_ > room) {
    throw BinaryError(Fault::truncated, {sections_, 0},
                      "a table of " + std::to_string(section_count_) + " sections",
                      "room for " + std::to_string(room));
  }
  if (names_index == 0) return;
  if (names_index >= section_count_) {
    throw BinaryError(Fault::malformed, {62, 0},
                      "the names in one of " + std::to_string(section_count_) + " sections",
                      "section " + std::to_string(names_index));
  }
  const Section names = section(names_index);
  names_ = contents(names);
  names_offset_ = names.offset;
}

void Elf::read_segment_table() {
  segments_ = load<std::uint64_t>(file_, 32, "the segment table's place");
  segment_count_ = load<std::uint16_t>(file_, 56, "the number of segments");
  if (segment_count_ == kExtended && section_count_ > 0) segment_count_ = section(0).info;
  if (segments_ == 0) segment_count_ = 0;
  if (segment_count_ == 0) return;
  const auto entry_bytes = load<std::uint16_t>(file_, 54, "the size of a segment header");
  if (entry_bytes != kSegmentBytes) {
    throw BinaryError(Fault::malformed, {54, 0}, "segment headers of 56 bytes",
                      std::to_string(entry_bytes));
  }
  part(file_, segments_, segment_count_ * kSegmentBytes, "a segment table");
}

/// A file that was cut off may have lost what nobody reads here: it is no kernel all the same.
/// Sections of a vendor's own types are left out: some (`.nv.shared`) have no bytes in the file.
void Elf::check_contents() const {
  for (std::uint64_t i = 0; i < segment_count_; ++i) {
    const Place place = segment_place(i);
    part(file_, place.offset, place.size, "a segment");
  }
  for (std::uint64_t i = 0; i < section_count_; ++i) {
    const Section found = section(i);
    if (found.type != kTypeNull && found.type < kTypeVendor) contents(found);
  }
}

Elf::Place Elf::segment_place(std::uint64_t index) const {
  const Bytes header = file_.subspan(segments_ + index * kSegmentBytes, kSegmentBytes);
  return {load<std::uint64_t>(header, 8, "a segment's offset"),
          load<std::uint64_t>(header, 32, "a segment's size")};
}

Section Elf::section(std::uint64_t index) const {
  const Bytes header =
      part(file_, sections_ + index * kSectionBytes, kSectionBytes, "a section header");
  constexpr std::string_view kField = "a field of a section header";
  return {.name = load<std::uint32_t>(header, 0, kField),
          .type = load<std::uint32_t>(header, 4, kField),
          .info = load<std::uint32_t>(header, 44, kField),
          .offset = load<std::uint64_t>(header, 24, kField),
          .size = load<std::uint64_t>(header, 32, kField)};
}

bool Elf::name_starts(const Section& section, std::string_view prefix) const {
  return section.name < names_.size() && as_text(names_.subspan(section.name)).starts_with(prefix);
}

std::string_view Elf::name(const Section& section) const {
  const std::uint64_t place = names_offset_ + section.name;
  if (section.name >= names_.size()) {
    throw BinaryError(Fault::truncated, {place, 0}, "a section's name",
                      "the end of the section names");
  }
  const Bytes rest = names_.subspan(section.name);
  const std::string_view text = as_text(rest.first(std::min(rest.size(), kLongestName)));
  const std::size_t end = text.find('\0');
  if (end == std::string_view::npos) {
    throw BinaryError(rest.size() > kLongestName ? Fault::malformed : Fault::truncated, {place, 0},
                      "a section's name that ends",
                      std::to_string(text.size()) + " bytes without a zero");
  }
  return text.substr(0, end);
}

Bytes Elf::contents(const Section& section) const {
  if (section.type == kTypeNoBits) return {};
  return part(file_, section.offset, section.size, "a section");
}

std::vector<Elf::Place> Elf::note_places() const {
  std::vector<Place> places;
  for (std::uint64_t i = 0; i < segment_count_; ++i) {
    const auto type = load<std::uint32_t>(file_, segments_ + i * kSegmentBytes, "a segment's type");
    if (type == kSegmentNote) places.push_back(segment_place(i));
  }
  if (!places.empty()) return places;
  for (std::uint64_t i = 0; i < section_count_; ++i) {
    const Section found = section(i);
    if (found.type == kTypeNote) places.push_back({found.offset, found.size});
  }
  return places;
}

std::optional<Note> Elf::find_note(std::string_view owner, std::uint32_t type) const {
  for (const Place& place : note_places()) {
    if (auto note = find_note_in(place, owner, type)) return note;
  }
  return std::nullopt;
}

std::optional<Note> Elf::find_note_in(const Place& place, std::string_view owner,
                                      std::uint32_t type) const {
  const Bytes notes = part(file_, place.offset, place.size, "notes");
  std::uint64_t at = 0;
  while (at < notes.size()) {
    const Bytes header = part(file_, place.offset + at, kNoteBytes, "a note's header");
    const auto owner_bytes = load<std::uint32_t>(header, 0, "a note's header");
    const auto bytes = load<std::uint32_t>(header, 4, "a note's header");
    const std::uint64_t owner_at = place.offset + at + kNoteBytes;
    const std::uint64_t bytes_at = owner_at + padded(owner_bytes);
    std::string_view name = as_text(part(file_, owner_at, owner_bytes, "a note's owner"));
    const Bytes description = part(file_, bytes_at, bytes, "a note");
    if (name.ends_with('\0')) name.remove_suffix(1);
    if (name == owner && load<std::uint32_t>(header, 8, "a note's header") == type) {
      return Note{name, type, description, bytes_at};
    }
    at += kNoteBytes + padded(owner_bytes) + padded(bytes);
  }
  return std::nullopt;
}

}  // namespace relaunch::binary
