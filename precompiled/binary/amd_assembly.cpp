#include "precompiled/binary/amd_assembly.hpp"

#include <algorithm>
#include <utility>

#include "precompiled/binary/amd_metadata.hpp"
#include "precompiled/binary/metadata_lines.hpp"

namespace relaunch::binary {
namespace {

constexpr std::string_view kBegin = ".amdgpu_metadata";
constexpr std::string_view kEnd = ".end_amdgpu_metadata";
constexpr std::size_t kMostOpen = 64;  // mappings and sequences within each other

/// What a mapping or sequence is, as far as arguments are concerned.
enum class Role : std::uint8_t { root, kernels, kernel, arguments, argument, other };

struct Open {
  std::size_t column;
  bool is_sequence;
  Role role;
  Role pending = Role::other;  // of what its last key is to hold
};

/// Keeps what is open while lines come, and puts their values where they belong.
class Reader {
 public:
  Reader(std::string_view text, Where where) : lines_(text, where) {
    open_.push_back({0, false, Role::root});
  }

  void read_into(std::vector<KernelParameters>& kernels) {
    MetadataLine line;
    while (lines_.next(line)) {
      if (line.dash) begin_item(line);
      if (line.key) {
        take_key(line);
      } else if (!line.dash) {
        throw BinaryError(Fault::malformed, line.where, "a key with ':'", quoted(line.value));
      }
    }
    close_to(0);
    for (AmdKernel& kernel : kernels_) {
      kernels.push_back(make_kernel(std::move(kernel), Format::amd_assembly));
    }
  }

 private:
  void begin_item(const MetadataLine& line) {
    const std::size_t column = *line.dash;
    // A sequence may stand in the column of the key that holds it.
    while (open_.back().column > column) close();
    const bool in_sequence = open_.back().is_sequence;
    if (!in_sequence || open_.back().column < column) {
      open(line, {column, true, in_sequence ? Role::other : open_.back().pending});
    }
    if (open_.back().column != column) refuse_column(line);
    const Role item = item_role(open_.back().role);
    open_.back().pending = item;
    if (line.key) open_mapping(line, item);
  }

  /// What the items of a sequence are.
  static Role item_role(Role sequence) {
    if (sequence == Role::kernels) return Role::kernel;
    return sequence == Role::arguments ? Role::argument : Role::other;
  }

  void open_mapping(const MetadataLine& line, Role role) {
    open(line, {line.column, false, role});
    if (role == Role::kernel) {
      kernels_.emplace_back();
      kernels_.back().where = line.where;
    }
    if (role == Role::argument) {
      argument_ = {};
      argument_.where = line.where;
    }
  }

  void take_key(const MetadataLine& line) {
    while (open_.back().column > line.column ||
           (open_.back().is_sequence && open_.back().column == line.column)) {
      close();
    }
    if (open_.back().column <
        line.column) {  // the first key of what the last one, or an item, holds
      open_mapping(line, open_.back().is_sequence ? open_.back().pending : Role::other);
    }
    Open& mapping = open_.back();
    mapping.pending = Role::other;
    if (line.value == "|" || line.value == ">" || line.value == "|-" || line.value == ">-") {
      lines_.skip_block(line.column);
      return;
    }
    switch (mapping.role) {
      case Role::root:
        if (*line.key == kKernelsKey) mapping.pending = Role::kernels;
        break;
      case Role::kernel:
        if (*line.key == kArgumentsKey) {
          kernels_.back().begin_arguments(line.where);
          mapping.pending = Role::arguments;
        } else {
          set(kernels_.back(), kernel_field(*line.key), line);
        }
        break;
      case Role::argument: set(argument_, argument_field(*line.key), line); break;
      default: break;
    }
    check_flow(mapping, line);
  }

  /// `[]` holds nothing; any other value where a block is expected would be passed over unread.
  static void check_flow(const Open& mapping, const MetadataLine& line) {
    if (mapping.pending == Role::other || line.value.empty() || line.value == "[]") return;
    throw BinaryError(Fault::malformed, line.where, "a list below " + quoted(*line.key),
                      quoted(line.value));
  }

  template <typename Target>
  static void set(Target& target, AmdField field, const MetadataLine& line) {
    if (field == AmdField::other) return;
    if (is_number(field)) {
      target.set(field, plain_number(line.value, line.where));
    } else {
      target.set(field, std::string_view(plain_text(line.value, line.where)));
    }
  }

  void open(const MetadataLine& line, Open entry) {
    if (open_.size() >= kMostOpen) {
      throw BinaryError(Fault::malformed, line.where,
                        "at most " + std::to_string(kMostOpen) + " levels", "more");
    }
    if (entry.column < open_.back().column) refuse_column(line);
    open_.push_back(entry);
  }

  void close() {
    if (open_.back().role == Role::argument && !open_.back().is_sequence) {
      std::vector<KernelParameter>& arguments = kernels_.back().arguments;
      arguments.push_back(argument_.finish(arguments.size()));
    }
    open_.pop_back();
  }

  void close_to(std::size_t column) {
    while (open_.size() > 1 && open_.back().column >= column) close();
  }

  [[noreturn]] static void refuse_column(const MetadataLine& line) {
    throw BinaryError(Fault::malformed, line.where, "an item in the column of those before it",
                      "column " + std::to_string(line.dash.value_or(line.column)));
  }

  MetadataLines lines_;
  std::vector<Open> open_;
  std::vector<AmdKernel> kernels_;
  AmdArgument argument_;
};

std::size_t lines_in(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

bool is_amd_assembly(Bytes file) {
  const std::string_view text = as_text(file);
  return text.find(".amdgcn_target") != std::string_view::npos ||
         text.find(kBegin) != std::string_view::npos;
}

std::vector<KernelParameters> read_amd_assembly(Bytes file) {
  const std::string_view text = as_text(file);
  std::size_t begin = text.find(kBegin);
  if (begin == std::string_view::npos) {
    throw BinaryError(Fault::unsupported, {}, quoted(kBegin) + " in AMDGPU assembly", "none", {},
                      "give assembly for the amdhsa target, with its metadata");
  }
  std::vector<KernelParameters> kernels;
  Where where{0, 1};
  while (begin != std::string_view::npos) {
    const std::size_t line_end = std::min(text.find('\n', begin), text.size());
    const std::size_t first = std::min(line_end + 1, text.size());
    where.line += lines_in(text.substr(where.offset, first - where.offset));
    where.offset = first;
    const std::size_t end = text.find(kEnd, first);
    if (end == std::string_view::npos) {
      throw BinaryError(Fault::truncated, where, quoted(kEnd), "the end of the text");
    }
    // What stands before the end on its own line is its indentation.
    const std::size_t last = text.rfind('\n', end);
    const std::size_t size = last == std::string_view::npos || last < first ? 0 : last + 1 - first;
    Reader(text.substr(first, size), where).read_into(kernels);
    begin = text.find(kBegin, end + kEnd.size());
  }
  return kernels;
}

}  // namespace relaunch::binary
