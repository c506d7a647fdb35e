// relaunch.h for C++20: handles that free themselves, errors as exceptions, and launches that take
// the kernel's arguments as they are:
//
//   relaunch::launcher add("*fp32, *fp32, *fp32, i32",
//                          {.dialect = "triton-3.6-cuda", .name = "add", .function = function});
//   add({blocks}, stream, x, y, out, n);
//
// Arguments are the kernel's parameters in order, without constexpr entries: pointers (also spans,
// and CUdeviceptr), integers, floats, and trivially copyable classes of a parameter's size (__half,
// CUtensorMap). Tuples, pairs and arrays are taken apart. Kind and width are checked against the
// plan when a launcher first sees a list of types.
#ifndef RELAUNCH_RELAUNCH_HPP
#define RELAUNCH_RELAUNCH_HPP

#include <relaunch/relaunch.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace relaunch {

/// A failure of the library; what() has its words.
class error : public std::runtime_error {
 public:
  error(relaunch_status status, const std::string& message)
      : std::runtime_error(message), status_(status) {}
  explicit error(const relaunch_error& last)
      : std::runtime_error(last.message),
        status_(last.status),
        driver_status_(last.driver_status),
        code_(last.code),
        span_begin_(last.span_begin),
        span_end_(last.span_end) {}

  relaunch_status status() const noexcept { return status_; }
  /// The driver's own code, 0 where it is not the driver's error.
  int driver_status() const noexcept { return driver_status_; }
  /// Of a signature that cannot be read: "RL010", and bytes of its text. Else empty.
  const std::string& code() const noexcept { return code_; }
  std::size_t span_begin() const noexcept { return span_begin_; }
  std::size_t span_end() const noexcept { return span_end_; }

 private:
  relaunch_status status_;
  int driver_status_ = 0;
  std::string code_;
  std::size_t span_begin_ = 0;
  std::size_t span_end_ = 0;
};

namespace detail {

[[noreturn, gnu::noinline, gnu::cold]] inline void raise_last() {
  relaunch_error last{};
  last.size = sizeof last;
  relaunch_last_error(&last);
  throw error(last);
}

inline void check(relaunch_status status) {
  if (status != RELAUNCH_OK) [[unlikely]]
    raise_last();
}

template <auto free>
struct deleter {
  template <typename Handle>
  void operator()(Handle* handle) const noexcept {
    free(handle);
  }
};

/// What a C++ type is to a kernel.
struct kind {
  char form;  // 'p'ointer, 'i'nteger, 'u'nsigned integer, 'f'loat, or some other 'x'
  std::size_t size;
};

template <typename T>
consteval kind kind_of() {
  if constexpr (std::is_pointer_v<T>) {
    return {'p', sizeof(T)};
  } else if constexpr (std::is_enum_v<T>) {
    return kind_of<std::underlying_type_t<T>>();
  } else if constexpr (std::is_integral_v<T>) {
    return {std::is_signed_v<T> ? 'i' : 'u', sizeof(T)};
  } else if constexpr (std::is_floating_point_v<T>) {
    return {'f', sizeof(T)};
  } else {
    static_assert(std::is_class_v<T> && std::is_trivially_copyable_v<T>,
                  "no parameter of a kernel has this type");
    return {'x', sizeof(T)};
  }
}

/// One per list of types; its address tells lists apart.
template <typename... Parameters>
inline constexpr std::array<kind, sizeof...(Parameters)> kinds = {kind_of<Parameters>()...};

inline bool takes(const relaunch_parameter& parameter, kind given) {
  const std::string_view type = parameter.type;
  const bool is_integer = given.form == 'i' || given.form == 'u';
  if (type.starts_with('*')) return given.form == 'p' || (given.form == 'u' && given.size == 8);
  if (given.size != parameter.kernel_size) return false;
  if (type.starts_with("fp") || type.starts_with("bf")) {
    return given.form == 'f' || (given.form == 'x' && given.size == 2);
  }
  return type.starts_with('i') || type.starts_with('u') ? is_integer : given.form == 'x';
}

inline std::string words(kind given) {
  const char* form = given.form == 'p'   ? "a pointer"
                     : given.form == 'i' ? "an integer"
                     : given.form == 'u' ? "an unsigned integer"
                     : given.form == 'f' ? "a floating-point number"
                                         : "an object";
  return std::string(form) + " of " + std::to_string(given.size) + " bytes";
}

template <typename T>
inline constexpr bool is_span = false;
template <typename T, std::size_t extent>
inline constexpr bool is_span<std::span<T, extent>> = true;

/// The parameters that an argument stands for: a tuple of references, or of addresses.
template <typename T>
constexpr auto parameters_of(const T& argument) {
  if constexpr (is_span<T>) {
    return std::tuple<const volatile void*>(argument.data());
  } else if constexpr (std::is_null_pointer_v<T>) {
    return std::tuple<const volatile void*>(nullptr);
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    return std::apply([](const auto&... items) { return std::tuple_cat(parameters_of(items)...); },
                      argument);
  } else {
    return std::tuple<const T&>(argument);
  }
}

template <typename T>
void* address(const T& parameter) noexcept {
  return const_cast<void*>(static_cast<const void*>(std::addressof(parameter)));
}

}  // namespace detail

/// A parsed signature. Throws error, whose code and span say what is wrong with the text.
class tree {
 public:
  explicit tree(std::string_view text) {
    relaunch_tree* made = nullptr;
    detail::check(relaunch_parse(text.data() != nullptr ? text.data() : "", text.size(), &made));
    tree_.reset(made);
  }

  /// The canonical line.
  std::string_view text() const { return relaunch_tree_text(tree_.get()); }
  const relaunch_tree* get() const noexcept { return tree_.get(); }

 private:
  std::unique_ptr<relaunch_tree, detail::deleter<relaunch_tree_free>> tree_;
};

/// relaunch_options with its defaults written out; what is empty or zero is not given.
struct options {
  std::string dialect;
  std::string name = "kernel";
  // NOLINTNEXTLINE(readability-redundant-member-init): without it, leaving it out is a warning
  std::string driver = {};
  void* function = nullptr;
  std::int32_t num_warps = 4;
  std::int32_t num_ctas = 1;
  std::int32_t shared = 0;  // bytes
  std::int32_t warp_size = 0;
  std::array<std::uint32_t, 3> cluster = {};
  std::array<std::uint32_t, 3> preferred_cluster = {};
  relaunch_scheduling scheduling = RELAUNCH_SCHEDULING_UNSET;
  bool cooperative = false;
  bool pdl = false;
  bool non_portable_cluster = false;
  bool tensordesc_meta = false;
};

struct grid {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
};

/// Where one launch goes: relaunch_launch_config.
struct place {
  relaunch::grid grid = {};
  void* stream = nullptr;
  void* function = nullptr;
  std::uint64_t global_scratch = 0;
  std::uint64_t profile_scratch = 0;

  operator relaunch_launch_config() const noexcept {  // NOLINT(google-explicit-constructor)
    return {sizeof(relaunch_launch_config),
            {grid.x, grid.y, grid.z},
            stream,
            function,
            global_scratch,
            profile_scratch};
  }
};

/// A kernel bound to its signature. Throws error. Any number of threads may launch with one.
class launcher {
 public:
  launcher(const tree& signature, const options& chosen) {
    relaunch_options given{};
    given.size = sizeof given;
    given.dialect = chosen.dialect.c_str();
    given.name = chosen.name.c_str();
    given.driver = chosen.driver.empty() ? nullptr : chosen.driver.c_str();
    given.function = chosen.function;
    given.num_warps = chosen.num_warps;
    given.num_ctas = chosen.num_ctas;
    given.shared = chosen.shared;
    given.warp_size = chosen.warp_size;
    for (std::size_t i = 0; i < 3; ++i) {
      given.cluster[i] = chosen.cluster[i];
      given.preferred_cluster[i] = chosen.preferred_cluster[i];
    }
    given.scheduling = chosen.scheduling;
    given.cooperative = chosen.cooperative;
    given.pdl = chosen.pdl;
    given.non_portable_cluster = chosen.non_portable_cluster;
    given.tensordesc_meta = chosen.tensordesc_meta;
    relaunch_launcher* made = nullptr;
    detail::check(relaunch_bind(signature.get(), &given, &made));
    launcher_.reset(made);
  }

  launcher(std::string_view signature, const options& chosen) : launcher(tree(signature), chosen) {}

  template <typename... Arguments>
  void operator()(relaunch::grid grid, void* stream, const Arguments&... arguments) const {
    launch({.grid = grid, .stream = stream}, arguments...);
  }

  template <typename... Arguments>
  void launch(const place& where, const Arguments&... arguments) const {
    const auto parameters = std::tuple_cat(detail::parameters_of(arguments)...);
    std::apply([&](const auto&... parameter) { launch_flat(where, parameter...); }, parameters);
  }

  /// One pointer per argument; nothing is checked but their number.
  void launch_pointers(const place& where, std::span<void* const> pointers) const {
    const relaunch_launch_config config = where;
    detail::check(relaunch_launch(get(), &config, pointers.data(), pointers.size()));
  }

  /// All arguments in one block, as the parameters' slot_offset says.
  void launch_packed(const place& where, std::span<const std::byte> packed) const {
    const relaunch_launch_config config = where;
    detail::check(relaunch_launch_packed(get(), &config, packed.data(), packed.size()));
  }

  /// Makes a context current in this thread if there is none.
  void ensure_context() const { detail::check(relaunch_ensure_context(get())); }

  relaunch_plan plan() const {
    relaunch_plan out{};
    out.size = sizeof out;
    detail::check(relaunch_describe(get(), &out));
    return out;
  }

  relaunch_parameter parameter(std::size_t index) const {
    relaunch_parameter out{};
    out.size = sizeof out;
    detail::check(relaunch_describe_parameter(get(), index, &out));
    return out;
  }

  /// Of the kernel, hidden ones last.
  std::vector<relaunch_parameter> parameters() const {
    std::vector<relaunch_parameter> out(plan().parameter_count);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = parameter(i);
    return out;
  }

  const relaunch_launcher* get() const noexcept { return launcher_.get(); }

 private:
  template <typename... Parameters>
  void launch_flat(const place& where, const Parameters&... parameters) const {
    constexpr auto& kinds = detail::kinds<Parameters...>;
    if (std::atomic_ref(checked_).load(std::memory_order_relaxed) != &kinds) [[unlikely]] {
      check_kinds(kinds);
      std::atomic_ref(checked_).store(&kinds, std::memory_order_relaxed);
    }
    const std::array<void*, sizeof...(Parameters)> pointers = {detail::address(parameters)...};
    launch_pointers(where, pointers);
  }

  [[gnu::noinline, gnu::cold]] void check_kinds(std::span<const detail::kind> given) const {
    const relaunch_plan described = plan();
    const std::string call = std::string(described.name) + "(" + described.signature + ")";
    if (given.size() != described.argument_count) {
      throw error(RELAUNCH_ERROR_ARGUMENT, call + " takes " +
                                               std::to_string(described.argument_count) +
                                               " arguments, got " + std::to_string(given.size()));
    }
    for (std::size_t i = 0; i < given.size(); ++i) {
      const relaunch_parameter expected = parameter(i);
      if (detail::takes(expected, given[i])) continue;
      std::string text = "argument " + std::to_string(expected.position);
      if (*expected.name != '\0') text.append(" '").append(expected.name).append("'");
      text.append(" of ").append(call).append(": expected ").append(expected.type);
      throw error(RELAUNCH_ERROR_ARGUMENT, text + ", got " + detail::words(given[i]));
    }
  }

  std::unique_ptr<relaunch_launcher, detail::deleter<relaunch_launcher_free>> launcher_;
  mutable const void* checked_ = nullptr;  // the kinds that were last found to fit
};

}  // namespace relaunch

#endif
