#include "precompiled/binary/compare.hpp"

#include <algorithm>

#include "precompiled/binary/error.hpp"
#include "precompiled/core/descriptor.hpp"

namespace relaunch::binary {
namespace {

constexpr std::string_view kHiddenType = "*i8";

// Of CUtensorMap in the cuda.h of CUDA 13; Triton's is aligned to 64 bytes, as older ones were.
constexpr std::uint32_t kNewerMapAlignment = 128;

std::uint32_t next_offset(std::uint32_t end, std::uint32_t alignment, std::uint32_t base) {
  const std::uint64_t address = std::uint64_t{base} + end;
  const std::uint64_t aligned = (address + alignment - 1) / alignment * alignment;
  return static_cast<std::uint32_t>(aligned - base);
}

/// Where a parameter lies behind `end`: a tensor map where the kernel has it, if that is aligned as
/// either release has it. A launch copies it to wherever the kernel wants it.
std::uint32_t planned_offset(std::uint32_t end, const Parameter& parameter,
                             const KernelParameter* found, std::uint32_t base) {
  const std::uint32_t offset = next_offset(end, parameter.alignment, base);
  if (parameter.type != Type::nv_tma_desc || found == nullptr) return offset;
  const std::uint32_t newer = next_offset(end, kNewerMapAlignment, base);
  return found->offset == newer ? newer : offset;
}

/// What a launch passes of a TDM descriptor is enough for five dimensions; a kernel reads what its
/// number of dimensions takes, which the shape and strides behind it tell.
std::uint32_t planned_size(const Parameter& parameter, const KernelParameter* found) {
  const bool is_smaller = parameter.type == Type::tdm_desc && found != nullptr &&
                          found->size == descriptors::kTdmBytes36 && found->size < parameter.size;
  return is_smaller ? found->size : parameter.size;
}

bool same_place(const PlannedParameter& planned, const KernelParameter& found) {
  return planned.offset == found.offset && planned.size == found.size;
}

std::string bytes_at(std::uint32_t size, std::uint32_t offset) {
  return std::to_string(size) + (size == 1 ? " byte" : " bytes") + " at offset " +
         std::to_string(offset);
}

std::string padded(const std::string& text, std::size_t width, bool to_the_right = false) {
  const std::size_t blanks = width > text.size() ? width - text.size() : 0;
  if (to_the_right) return std::string(blanks, ' ') + text;
  return text + std::string(blanks, ' ');
}

std::string what(const PlannedParameter& planned) {
  if (planned.hidden) return planned.name + " (hidden)";
  return planned.name.empty() ? planned.type : planned.name + ": " + planned.type;
}

std::string what(const KernelParameter& found) {
  return found.name.empty() || found.kind.empty() ? found.name + found.kind
                                                  : found.name + ": " + found.kind;
}

template <typename Each>
std::string side(const Each* each) {
  if (each == nullptr) return padded("-", 6, true) + padded("-", 6, true) + "  ";
  return padded(std::to_string(each->offset), 6, true) +
         padded(std::to_string(each->size), 6, true) + "  " + what(*each);
}

std::string without_blanks_behind(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

Comparison compare(const Plan& plan, const KernelParameters& kernel) {
  Comparison out;
  out.found.reserve(kernel.parameters.size());
  for (const KernelParameter& parameter : kernel.parameters) {
    if (parameter.hidden) continue;
    out.found.push_back(parameter);
    out.found_bytes = parameter.offset + parameter.size;
  }
  out.planned.reserve(plan.parameters.size());
  for (const Parameter& parameter : plan.parameters) {
    PlannedParameter planned;
    planned.name = parameter.name;
    planned.hidden = parameter.leaf == kNoLeaf;
    planned.type = planned.hidden ? std::string(kHiddenType) : plan.leaves[parameter.leaf].type;
    const std::size_t i = out.planned.size();
    const KernelParameter* found = i < out.found.size() ? &out.found[i] : nullptr;
    planned.offset = planned_offset(out.planned_bytes, parameter, found, kernel.base);
    planned.size = planned_size(parameter, found);
    out.planned_bytes = planned.offset + planned.size;
    out.planned.push_back(std::move(planned));
  }
  const std::size_t common = std::min(out.planned.size(), out.found.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (same_place(out.planned[i], out.found[i])) continue;
    out.difference = i;
    return out;
  }
  if (out.planned.size() != out.found.size()) out.difference = common;
  return out;
}

Comparison compare_anywhere(const Plan& plan, KernelParameters kernel) {
  constexpr std::uint32_t kStep = 16;
  kernel.base = 0;
  Comparison best = compare(plan, kernel);
  for (kernel.base = kStep; kernel.base < kNewerMapAlignment && !best.fits();
       kernel.base += kStep) {
    Comparison other = compare(plan, kernel);
    if (other.difference > best.difference) best = std::move(other);  // kNone is the largest
  }
  return best;
}

std::string describe_difference(const Comparison& comparison) {
  const std::size_t i = comparison.difference;
  if (comparison.fits()) return {};
  std::string text = "parameter " + std::to_string(i);
  if (i >= comparison.planned.size()) {
    return text + " of the kernel, " +
           bytes_at(comparison.found[i].size, comparison.found[i].offset) +
           ", is none of the signature's";
  }
  const PlannedParameter& planned = comparison.planned[i];
  if (!planned.name.empty()) text += " " + quoted(planned.name);
  text += planned.hidden ? " (hidden)" : " (" + planned.type + ")";
  text += " has " + bytes_at(planned.size, planned.offset) + " by the signature, ";
  if (i >= comparison.found.size()) return text + "and the kernel has no such parameter";
  return text + bytes_at(comparison.found[i].size, comparison.found[i].offset) + " in the kernel";
}

std::string describe_layouts(const Comparison& comparison) {
  const std::size_t rows = std::max(comparison.planned.size(), comparison.found.size());
  std::vector<std::string> left;
  std::size_t width = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    left.push_back(side(i < comparison.planned.size() ? &comparison.planned[i] : nullptr));
    width = std::max(width, left.back().size());
  }
  const std::string columns = "offset  size  ";
  width = std::max(width, columns.size() + std::string_view("signature").size());
  std::string out = without_blanks_behind("       " + padded(columns + "signature", width) +
                                          "  |  " + columns + "kernel");
  for (std::size_t i = 0; i < rows; ++i) {
    const KernelParameter* found = i < comparison.found.size() ? &comparison.found[i] : nullptr;
    out += without_blanks_behind((i == comparison.difference ? "> " : "  ") +
                                 padded(std::to_string(i), 4, true) + " " + padded(left[i], width) +
                                 "  |  " + side(found));
  }
  return out +
         without_blanks_behind(
             "       " +
             padded(padded(std::to_string(comparison.planned_bytes), 6, true) + "        bytes",
                    width) +
             "  |  " + padded(std::to_string(comparison.found_bytes), 6, true) + "        bytes");
}

}  // namespace relaunch::binary
