#ifndef RELAUNCH_DIFFERENTIAL_RECORDER_JOURNAL_HPP
#define RELAUNCH_DIFFERENTIAL_RECORDER_JOURNAL_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace relaunch::recorder {

/// The context that is current in every thread unless relaunch_recorder_no_context was called;
/// device N's primary context is kFirstContext + N.
inline constexpr std::uint64_t kFirstContext = 0xc1;

/// The handle of every function, or the first of those that are numbered.
inline constexpr std::uint64_t kFunction = 0xf00;

/// One launch attribute: its id, and the bytes of its value that mean something.
struct Attribute {
  unsigned id;
  std::span<const std::byte> value;
};

/// Room for a launch's attributes. The first 16 take nothing from the heap: a launch may be tried
/// without memory.
class Attributes {
 public:
  explicit Attributes(std::size_t count)
      : many_(count > few_.size() ? count : 0),
        all_(many_.empty() ? std::span(few_).first(count) : std::span(many_)) {}
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;

  std::span<Attribute> all() const { return all_; }

 private:
  std::array<Attribute, 16> few_{};
  std::vector<Attribute> many_;
  std::span<Attribute> all_;
};

/// What a launch was asked to do. `params` holds one address per slot, or is null.
struct Launch {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  const void* stream;
  const void* function;
  void** params;
  std::span<const Attribute> attributes;
};

std::string hex(std::uint64_t value);
std::string decimal(std::int64_t value);
inline std::string hex(const void* address) {
  return hex(reinterpret_cast<std::uint64_t>(address));
}

/// One call of a driver function, opened on entry: counts it and decides whether it fails.
class Call {
 public:
  /// `function` is the symbol's name; a version suffix (_v2) is dropped.
  explicit Call(const char* function);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  bool failed() const { return status_ != 0; }
  /// 0, or the status that this call was told to fail with.
  int status() const { return status_; }

  /// False in null mode, where the text of an event need not be built. For calls made many times
  /// per launch: their cost is counted by benchmarks.
  static bool recorded();

  /// Records {"call", "args"}; every argument as a JSON string.
  void record(std::initializer_list<std::string> arguments) const;
  /// Records {"call", ...} with `fields`, the ready text of further members ("\"rank\": 2").
  void record_fields(std::string_view fields) const;
  void record(const Launch& launch) const;

 private:
  std::string_view function_;
  int status_ = 0;
};

/// The version given by relaunch_recorder_driver_version, or `own` where none is.
int driver_version(int own);

/// The bytes given by relaunch_recorder_static_shared.
int static_shared();
/// The dynamic shared memory that a function was last allowed; 0 where it was not.
int allowed_shared(std::uint64_t function);
void allow_shared(std::uint64_t function, int bytes);

/// What a module gives for its next function, and whether each has a handle of its own.
std::uint64_t next_function();
bool has_own_handles();
/// Bytes of each parameter of one function's launches.
void set_function_slots(std::uint64_t function, std::vector<std::uint32_t> bytes);

/// The calling thread's current context, 0 where there is none.
std::uint64_t current_context();
void set_current_context(std::uint64_t context);

}  // namespace relaunch::recorder

#endif
