#include "precompiled/driver/library.hpp"

#include <dlfcn.h>

#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "precompiled/driver/driver.hpp"
#include "precompiled/driver/make.hpp"

namespace relaunch {
namespace {

std::vector<std::string> split(std::string_view names) {
  std::vector<std::string> out;
  while (!names.empty()) {
    const std::size_t blank = names.find(' ');
    if (blank != 0) out.emplace_back(names.substr(0, blank));
    if (blank == std::string_view::npos) break;
    names.remove_prefix(blank + 1);
  }
  return out;
}

}  // namespace

Library Library::open(std::string_view names, bool is_path) {
  const std::vector<std::string> candidates =
      is_path ? std::vector<std::string>{std::string(names)} : split(names);
  for (const int flags : {RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD, RTLD_NOW | RTLD_LOCAL}) {
    for (const std::string& name : candidates) {
      if (void* handle = dlopen(name.c_str(), flags)) return {handle, name};
    }
  }
  // The first name is the one to speak of; dlerror() has only the last failure.
  dlopen(candidates.empty() ? "" : candidates.front().c_str(), RTLD_NOW | RTLD_LOCAL);
  const char* reason = dlerror();
  throw DriverError("the driver library cannot be opened: " +
                    std::string(reason != nullptr ? reason : "no name given") +
                    "; install the GPU's driver, or give the path of its library");
}

void* Library::find(const char* symbol) const noexcept { return dlsym(handle_, symbol); }

std::string explain_missing(const Library& library, const std::vector<FunctionEntry>& missing,
                            const char* function) {
  for (const FunctionEntry& entry : missing) {
    if (std::string_view(entry.name) == function) {
      return library.path() + " has no " + entry.name + ", which came with " + entry.since +
             ": install that release or a later one";
    }
  }
  return {};
}

std::string list_beyond_limits(std::span<const Limited> numbers) {
  std::string text;
  for (const auto& [name, value, limit] : numbers) {
    if (limit <= 0 || value <= static_cast<std::uint64_t>(limit)) continue;
    text += std::string("; ") + name + " " + std::to_string(value) + " is more than the device's " +
            std::to_string(limit);
  }
  return text;
}

void require(const Library& library, const std::vector<FunctionEntry>& missing, const char* probe,
             std::string_view what) {
  if (explain_missing(library, missing, probe).empty()) return;
  throw DriverError(library.path() + " is not the " + std::string(what) + ": it has no " + probe +
                    "; give the path of its own library");
}

const Driver& Driver::open(Backend backend, const DriverRules& rules, std::string_view names,
                           bool is_path) {
  using Key = std::tuple<Backend, DriverRules, std::string>;
  // Both live for ever: launchers hold references until the interpreter is gone.
  static auto& mutex = *new std::mutex;
  static auto& drivers = *new std::map<Key, std::unique_ptr<Driver>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<Driver>& driver = drivers[Key(backend, rules, std::string(names))];
  if (!driver) {
    Library library = Library::open(names, is_path);
    driver = backend == Backend::cuda ? make_cuda_driver(std::move(library), rules)
                                      : make_hip_driver(std::move(library), rules);
  }
  return *driver;
}

const Driver& Driver::open(const Dialect& dialect, const std::optional<std::string>& path) {
  return open(dialect.backend, dialect.calls, path ? std::string_view(*path) : dialect.driver,
              path.has_value());
}

Configuration configure(const Dialect& dialect, const Driver& driver, const LaunchOptions& options,
                        const Geometry& geometry) {
  return {geometry, driver.encode(make_attributes(dialect, options, geometry), options.cooperative),
          make_scale(dialect, geometry), asks_non_portable(dialect, options, geometry.num_ctas)};
}

}  // namespace relaunch
