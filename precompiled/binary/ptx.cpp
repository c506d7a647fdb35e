#include "precompiled/binary/ptx.hpp"

#include <bit>
#include <charconv>
#include <limits>
#include <optional>
#include <unordered_map>

#include "precompiled/binary/ptx_lexer.hpp"

namespace relaunch::binary {
namespace {

/// Far above what any driver takes, so that sums of 32 bits cannot wrap.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30U;

/// Bytes of a fundamental type, by the number in its name.
std::optional<std::uint32_t> type_bytes(std::string_view directive) {
  if (directive == ".f16x2" || directive == ".bf16x2") return 4;
  if (directive.size() < 3) return std::nullopt;
  std::string_view width = directive.substr(2);
  switch (directive[1]) {
    case 'b':
      if (directive.starts_with(".bf")) width = directive.substr(3);
      break;
    case 'u':
    case 's':
    case 'f': break;
    default: return std::nullopt;
  }
  if (width == "8") return 1;
  if (width == "16") return 2;
  if (width == "32") return 4;
  if (width == "64") return 8;
  if (width == "128") return 16;
  return std::nullopt;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : lexer_(text) {}

  std::vector<KernelParameters> read() {
    while (lexer_.kind() != PtxToken::end) {
      if (lexer_.is(".entry")) {
        read_entry();
      } else if (lexer_.is("{")) {
        lexer_.skip_block();
      } else {
        lexer_.advance();
      }
    }
    return std::move(kernels_);
  }

 private:
  void read_entry() {
    lexer_.advance();
    if (lexer_.kind() != PtxToken::word) lexer_.refuse("the name of an entry");
    KernelParameters kernel;
    kernel.kernel = lexer_.text();
    kernel.format = Format::ptx;
    const Where where = lexer_.where();
    lexer_.advance();
    try {
      if (lexer_.is("(")) read_parameters(kernel);
      while (!lexer_.is("{") && !lexer_.is(";")) {  // .maxntid and the like
        if (lexer_.kind() == PtxToken::end) lexer_.refuse("the entry's body");
        lexer_.advance();
      }
    } catch (const BinaryError& error) {
      throw error.of_kernel(kernel.kernel);
    }
    add(std::move(kernel), where);
  }

  /// An entry may be declared before it is defined; both must say the same.
  void add(KernelParameters kernel, Where where) {
    const auto [known, is_new] = by_name_.try_emplace(kernel.kernel, kernels_.size());
    if (is_new) {
      kernels_.push_back(std::move(kernel));
      return;
    }
    const auto& before = kernels_[known->second].parameters;
    bool same = before.size() == kernel.parameters.size();
    for (std::size_t i = 0; same && i < before.size(); ++i) {
      same = before[i].offset == kernel.parameters[i].offset &&
             before[i].size == kernel.parameters[i].size;
    }
    if (same) return;
    throw BinaryError(Fault::contradictory, where,
                      "the parameters that it was declared with before", "others", kernel.kernel);
  }

  void read_parameters(KernelParameters& kernel) {
    lexer_.advance();
    while (!lexer_.is(")")) {
      if (!lexer_.is(".param")) lexer_.refuse("'.param' or ')'");
      lexer_.advance();
      read_parameter(kernel);
      if (lexer_.is(",")) {
        lexer_.advance();
        if (!lexer_.is(".param")) lexer_.refuse("'.param'");
      } else if (!lexer_.is(")")) {
        lexer_.refuse("',' or ')'");
      }
    }
    lexer_.advance();
  }

  /// What stands between `.param` and the name.
  struct Declared {
    std::uint32_t type_bytes = 0;
    std::uint64_t alignment = 0;  // of the parameter; 0 where it is not given
    std::string kind;
  };

  Declared read_declared() {
    Declared declared;
    bool behind_ptr = false;  // what follows is about the memory it points to
    for (; lexer_.kind() == PtxToken::directive; lexer_.advance()) {
      const std::string_view word = lexer_.text();
      if (const auto bytes = type_bytes(word)) {
        if (declared.type_bytes != 0) lexer_.refuse("one type");
        declared.type_bytes = *bytes;
        declared.kind = word;
      } else if (word == ".ptr") {
        behind_ptr = true;
        declared.kind += word;
      } else if (word == ".align") {
        const std::uint64_t alignment = read_alignment();
        if (!behind_ptr) declared.alignment = alignment;
      } else if (!behind_ptr || !is_space(word)) {
        refuse_type(word);
      }
    }
    if (declared.type_bytes == 0) lexer_.refuse("a type such as '.u64'");
    return declared;
  }

  static bool is_space(std::string_view word) {
    return word == ".global" || word == ".const" || word == ".shared" || word == ".local" ||
           word == ".generic";
  }

  [[noreturn]] void refuse_type(std::string_view word) const {
    throw BinaryError(Fault::unsupported, lexer_.where(),
                      "a parameter of a fundamental type or an array", quoted(word), {},
                      "verify the cubin made from it instead");
  }

  std::uint64_t read_alignment() {
    lexer_.advance();
    const std::uint64_t alignment = number();
    if (!std::has_single_bit(alignment)) lexer_.refuse("an alignment that is a power of two");
    return alignment;
  }

  void read_parameter(KernelParameters& kernel) {
    const Declared declared = read_declared();
    if (lexer_.kind() != PtxToken::word) lexer_.refuse("the parameter's name");
    KernelParameter parameter;
    parameter.name = lexer_.text();
    parameter.kind = declared.kind;
    const Where where = lexer_.where();
    lexer_.advance();
    std::uint64_t size = declared.type_bytes;
    while (lexer_.is("[")) {
      const std::uint64_t count = read_count(parameter.kind);
      size = count > kMostBytes / size ? kMostBytes + 1 : size * count;
      size = std::min(size, kMostBytes + 1);
    }
    const std::uint64_t alignment =
        declared.alignment != 0 ? declared.alignment : declared.type_bytes;
    if (alignment > kMostBytes || size > kMostBytes) refuse_size(where);
    const std::uint64_t offset = (kernel.bytes + alignment - 1) / alignment * alignment;
    if (offset + size > kMostBytes) refuse_size(where);
    parameter.offset = static_cast<std::uint32_t>(offset);
    parameter.size = static_cast<std::uint32_t>(size);
    parameter.alignment = static_cast<std::uint32_t>(alignment);
    kernel.bytes = static_cast<std::uint32_t>(offset + size);
    kernel.parameters.push_back(std::move(parameter));
  }

  [[noreturn]] static void refuse_size(Where where) {
    throw BinaryError(Fault::malformed, where,
                      "parameters of at most " + std::to_string(kMostBytes) + " bytes", "more");
  }

  /// `[128]`, from its bracket on.
  std::uint64_t read_count(std::string& kind) {
    lexer_.advance();
    const std::uint64_t count = number();
    if (count == 0) lexer_.refuse("an array's length from 1 on");
    kind += "[" + std::string(lexer_.text()) + "]";
    lexer_.advance();
    if (!lexer_.is("]")) lexer_.refuse("']'");
    lexer_.advance();
    return count;
  }

  /// The integer that stands here, decimal, 0x, 0b or octal, with or without U.
  std::uint64_t number() const {
    std::string_view digits = lexer_.text();
    if (lexer_.kind() != PtxToken::word) lexer_.refuse("a number");
    if (digits.size() > 1 && digits.ends_with('U')) digits.remove_suffix(1);
    int base = 10;
    if (digits.starts_with("0x") || digits.starts_with("0X")) {
      base = 16;
    } else if (digits.starts_with("0b") || digits.starts_with("0B")) {
      base = 2;
    } else if (digits.size() > 1 && digits.starts_with('0')) {
      base = 8;
    }
    if (base == 16 || base == 2) digits.remove_prefix(2);
    std::uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error != std::errc() || end != digits.data() + digits.size()) lexer_.refuse("a number");
    return value;
  }

  PtxLexer lexer_;
  std::vector<KernelParameters> kernels_;
  std::unordered_map<std::string, std::size_t> by_name_;
};

}  // namespace

bool is_ptx(Bytes file) {
  try {
    return PtxLexer(as_text(file)).is(".version");
  } catch (const BinaryError&) {
    return false;
  }
}

std::vector<KernelParameters> read_ptx(Bytes file) { return Reader(as_text(file)).read(); }

}  // namespace relaunch::binary
