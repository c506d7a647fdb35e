#include "precompiled/python/bindings.hpp"

PYBIND11_MODULE(_core, module) {
  module.doc() = "Trees, plans and the precompiled launcher.";
  relaunch::bind_tree(module);
  relaunch::bind_launcher(module);
  relaunch::bind_plan(module);
  relaunch::bind_migrate(module);
  relaunch::bind_binary(module);
}
