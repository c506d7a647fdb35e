#include "precompiled/python/bindings.hpp"

PYBIND11_MODULE(_core, module) {
  module.doc() = "Trees, plans and the precompiled launcher.";
  relaunch::bind_tree(module);
  relaunch::bind_launcher(module);
#ifdef RELAUNCH_HAS_MIGRATE
  relaunch::bind_migrate(module);
#endif
}
