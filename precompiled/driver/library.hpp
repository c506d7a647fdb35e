#pragma once
// A shared library opened at run time, and tables of its functions.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace relaunch {

class Library {
 public:
  /// Tries the blank-separated names in order, those already loaded first. Throws DriverError.
  static Library open(std::string_view names, bool is_path);

  /// Null where there is no such symbol.
  void* find(const char* symbol) const noexcept;
  const std::string& path() const { return path_; }

 private:
  Library(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  void* handle_;  // never closed: functions of it may be running
  std::string path_;
};

/// One line of a function list: what is asked for, and since which release a driver has it.
struct FunctionEntry {
  const char* name;
  const char* since;
};

/// Has the type of the missing function and gives `code`, so that no call site tests for null.
template <int code, typename Pointer>
struct StandIn;
template <int code, typename Result, typename... Arguments>
struct StandIn<code, Result (*)(Arguments...)> {
  static Result call(Arguments...) { return static_cast<Result>(code); }
};

/// Sets `*slot` to the library's function or its stand-in; missing ones are noted by entry.
template <int code, typename Pointer>
void load(const Library& library, const FunctionEntry& entry, Pointer* slot,
          std::vector<FunctionEntry>* missing) {
  if (void* symbol = library.find(entry.name)) {
    *slot = reinterpret_cast<Pointer>(symbol);
    return;
  }
  *slot = &StandIn<code, Pointer>::call;
  missing->push_back(entry);
}

/// "LIBRARY has no NAME, which came with SINCE: ..." where the function is missing, else empty.
std::string explain_missing(const Library& library, const std::vector<FunctionEntry>& missing,
                            const char* function);

/// One number of a launch and the device's limit of it, which is unknown where it is not positive.
struct Limited {
  const char* name;
  std::uint64_t value;
  int limit;
};

/// Those beyond their limit: "; grid_y 65536 is more than the device's 65535".
std::string list_beyond_limits(std::span<const Limited> numbers);

/// Throws DriverError if `probe`, a function that every release has, is missing.
void require(const Library& library, const std::vector<FunctionEntry>& missing, const char* probe,
             std::string_view what);

}  // namespace relaunch
