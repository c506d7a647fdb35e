// The exported functions of the stand-in driver that this is compiled into, asked for by name.
#ifndef RELAUNCH_DIFFERENTIAL_OWN_SYMBOL_HPP
#define RELAUNCH_DIFFERENTIAL_OWN_SYMBOL_HPP

#include <dlfcn.h>

namespace relaunch {

/// Null where this very library exports no such name; another driver in the process is not asked.
inline void* own_symbol(const char* name) {
  static void* const self = [] {
    Dl_info info{};
    dladdr(reinterpret_cast<void*>(&own_symbol), &info);
    return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }();
  return dlsym(self, name);
}

}  // namespace relaunch

#endif
