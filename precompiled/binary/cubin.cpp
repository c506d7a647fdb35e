#include "precompiled/binary/cubin.hpp"

#include <algorithm>
#include <optional>

namespace relaunch::binary {
namespace {

constexpr std::string_view kInfoPrefix = ".nv.info.";
constexpr std::string_view kConstantsPrefix = ".nv.constant0.";

// How a record's value is given: the first byte of each.
constexpr std::uint8_t kNoValue = 1;
constexpr std::uint8_t kByteValue = 2;
constexpr std::uint8_t kHalfValue = 3;
constexpr std::uint8_t kSizedValue = 4;

// What a record is about: the second byte.
constexpr std::uint8_t kParamCbank = 0x0a;
constexpr std::uint8_t kKparamInfo = 0x17;
constexpr std::uint8_t kCbankParamSize = 0x19;
constexpr std::uint8_t kKparamInfoV2 = 0x45;

constexpr std::uint64_t kKparamBytes = 12;
constexpr std::uint64_t kCbankBytes = 8;

struct Record {
  std::uint8_t attribute = 0;
  Bytes value;
  std::uint64_t offset = 0;  // in the file
};

/// The records of one section, one after the other.
class Records {
 public:
  Records(Bytes file, const Section& section)
      : file_(file), at_(section.offset), end_(section.offset + section.size) {}

  bool next(Record& record) {
    if (at_ >= end_) return false;
    const auto form = load<std::uint8_t>(file_, at_, "a record");
    record.attribute = load<std::uint8_t>(file_, at_ + 1, "a record");
    record.offset = at_;
    std::uint64_t value_at = at_ + 2;
    std::uint64_t bytes = 2;
    if (form == kSizedValue) {
      bytes = load<std::uint16_t>(file_, value_at, "a record's size");
      value_at += 2;
    } else if (form != kNoValue && form != kByteValue && form != kHalfValue) {
      throw BinaryError(Fault::malformed, {at_, 0}, "a record that begins with 1, 2, 3 or 4",
                        std::to_string(form));
    }
    if (value_at + bytes > end_) {
      throw BinaryError(Fault::truncated, {at_, 0},
                        "a record of " + std::to_string(value_at + bytes - at_) + " bytes",
                        "the section's end at byte " + std::to_string(end_));
    }
    record.value = part(file_, value_at, bytes, "a record");
    at_ = value_at + bytes;
    return true;
  }

 private:
  Bytes file_;
  std::uint64_t at_;
  std::uint64_t end_;
};

void check_size(const Record& record, std::uint64_t bytes, const char* what) {
  if (record.value.size() == bytes) return;
  throw BinaryError(Fault::malformed, {record.offset, 0},
                    std::string(what) + " of " + std::to_string(bytes) + " bytes",
                    std::to_string(record.value.size()));
}

struct Numbered {
  std::uint32_t ordinal = 0;
  KernelParameter parameter;
  std::uint64_t offset = 0;  // of the record in the file
};

/// Words of KPARAM_INFO: index, (ordinal, offset), and packed the pointee's alignment and space,
/// the bank, and the size in the 14 highest bits. V2 has the size in the 16 lowest.
Numbered read_parameter(const Record& record) {
  check_size(record, kKparamBytes, "a record KPARAM_INFO");
  const auto packed = load<std::uint32_t>(record.value, 8, "KPARAM_INFO");
  Numbered found;
  found.ordinal = load<std::uint16_t>(record.value, 4, "KPARAM_INFO");
  found.parameter.offset = load<std::uint16_t>(record.value, 6, "KPARAM_INFO");
  found.parameter.size = record.attribute == kKparamInfoV2 ? packed & 0xffffU : packed >> 18U;
  found.offset = record.offset;
  return found;
}

/// What one `.nv.info.<kernel>` section says.
struct Info {
  std::vector<Numbered> parameters;
  std::optional<std::uint32_t> bytes;
  std::optional<std::uint32_t> base;

  void set_bytes(std::uint32_t value, const Record& record) {
    if (bytes && *bytes != value) {
      throw BinaryError(Fault::contradictory, {record.offset, 0},
                        "parameters of " + std::to_string(*bytes) + " bytes, as before",
                        std::to_string(value) + " bytes");
    }
    bytes = value;
  }
};

Info read_info(Bytes file, const Section& section) {
  Info info;
  Records records(file, section);
  Record record;
  while (records.next(record)) {
    switch (record.attribute) {
      case kKparamInfo:
      case kKparamInfoV2: info.parameters.push_back(read_parameter(record)); break;
      case kCbankParamSize:
        check_size(record, 2, "a record CBANK_PARAM_SIZE");
        info.set_bytes(load<std::uint16_t>(record.value, 0, "CBANK_PARAM_SIZE"), record);
        break;
      case kParamCbank:
        check_size(record, kCbankBytes, "a record PARAM_CBANK");
        info.base = load<std::uint16_t>(record.value, 4, "PARAM_CBANK");
        info.set_bytes(load<std::uint16_t>(record.value, 6, "PARAM_CBANK"), record);
        break;
      default: break;
    }
  }
  return info;
}

/// By ordinal, of which none may be missing or there twice.
void order(Info& info) {
  auto& parameters = info.parameters;
  std::sort(parameters.begin(), parameters.end(),
            [](const Numbered& a, const Numbered& b) { return a.ordinal < b.ordinal; });
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].ordinal == i) continue;
    throw BinaryError(Fault::contradictory, {parameters[i].offset, 0},
                      "the record of parameter " + std::to_string(i),
                      "that of parameter " + std::to_string(parameters[i].ordinal));
  }
}

KernelParameters make_kernel(std::string_view name, Info info, const Section& section) {
  KernelParameters kernel;
  kernel.kernel = name;
  kernel.format = Format::cubin;
  order(info);
  kernel.parameters.reserve(info.parameters.size());
  for (Numbered& each : info.parameters) kernel.parameters.push_back(std::move(each.parameter));
  if (!info.bytes && !kernel.parameters.empty()) {
    throw BinaryError(Fault::malformed, {section.offset, 0},
                      "a record CBANK_PARAM_SIZE beside those of parameters", "none");
  }
  kernel.bytes = info.bytes.value_or(0);
  kernel.base = info.base.value_or(0);
  check_table(kernel, section.offset);
  return kernel;
}

/// Kernels have a constant bank, device functions have not: the code sections of all banks, sorted.
std::vector<std::uint32_t> sections_with_constants(const std::vector<Section>& sections,
                                                   const Elf& elf) {
  std::vector<std::uint32_t> found;
  for (const Section& section : sections) {
    if (elf.name_starts(section, kConstantsPrefix)) found.push_back(section.info);
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// What all kernels together take of the file, so that many sections in the same bytes are noticed
/// before they are read.
class Budget {
 public:
  explicit Budget(Bytes file) : left_(file.size()) {}
  void spend(std::uint64_t bytes, const Section& section) {
    if (bytes > left_) {
      throw BinaryError(Fault::contradictory, {section.offset, 0},
                        "sections and names beside each other",
                        "more of them than the file has bytes");
    }
    left_ -= bytes;
  }

 private:
  std::uint64_t left_;
};

}  // namespace

std::vector<KernelParameters> read_cubin(Bytes file, const Elf& elf) {
  std::vector<Section> sections;
  sections.reserve(elf.section_count());
  for (std::uint64_t i = 0; i < elf.section_count(); ++i) sections.push_back(elf.section(i));
  const std::vector<std::uint32_t> banks = sections_with_constants(sections, elf);
  std::vector<KernelParameters> kernels;
  Budget budget(file);
  for (const Section& section : sections) {
    if (!elf.name_starts(section, kInfoPrefix)) continue;
    const std::string_view name = elf.name(section).substr(kInfoPrefix.size());
    const Bytes contents = elf.contents(section);
    budget.spend(name.size() + contents.size(), section);
    try {
      Info info = contents.empty() ? Info() : read_info(file, section);
      const bool takes_parameters = info.bytes || !info.parameters.empty();
      if (!takes_parameters && !std::binary_search(banks.begin(), banks.end(), section.info)) {
        continue;
      }
      kernels.push_back(make_kernel(name, std::move(info), section));
    } catch (const BinaryError& error) {
      throw error.of_kernel(std::string(name));
    }
  }
  return kernels;
}

}  // namespace relaunch::binary
