#pragma once
// Hooks that call nothing. From 3.5 on Triton passes a HookChain where no hook is set
// (triton/knobs.py, the same class up to 3.9), whose call does nothing but go through its list.

#include <Python.h>

namespace relaunch {

/// Whether a call of `hook` would call nothing: it is of exactly the class that set_hook_chain was
/// given, whose __call__ is the one it had then, and its `calls` is an empty list.
bool is_empty_chain(PyObject* hook) noexcept;

/// Adds set_hook_chain to the module. False with an exception set.
bool add_hook_chain(PyObject* module) noexcept;

}  // namespace relaunch
