// One launch, from the Python call to the driver. This is the hot path: everything known when the
// launcher was built is in its plan or in the entry that was picked for it.

#include <Python.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "precompiled/python/convert.hpp"
#include "precompiled/python/errors.hpp"
#include "precompiled/python/launcher.hpp"
#include "precompiled/python/steps.hpp"

namespace relaunch {
namespace {

/// Larger frames are taken from the heap; 256 parameters of 8 bytes fit. A data_ptr() or hook may
/// launch again, as deep as Python's recursion limit of 1000 lets it, on a stack of 8 MiB.
constexpr std::uint32_t kLargestStackFrame = 4 * 1024;

constexpr Py_ssize_t kCallFixed = 4;    // grid_x, grid_y, grid_z, stream
constexpr Py_ssize_t kLaunchFixed = 9;  // these, function, kernel_metadata, launch_metadata, hooks

/// What only `launch` is given.
struct Surroundings {
  PyObject* metadata;
  PyObject* launch_metadata;
  PyObject* enter_hook;
  PyObject* exit_hook;
};

/// Calls what was given as callable scratch; the results take the values behind the plan's own.
[[gnu::noinline]] bool ask_for_scratch(const Launcher& self, const LaunchRequest& request,
                                       PyObject** values, HeldItems& held) {
  for (std::size_t i = 0; i < kMaxHidden; ++i) {
    PyObject* scratch = self.scratch[i].get();
    values[i] = scratch;
    if (!self.scratch_is_called[i]) continue;
    const auto& grid = request.grid;
    const Ref shape(Py_BuildValue("(iii)", grid[0], grid[1], grid[2]));
    const Ref stream(PyLong_FromUnsignedLongLong(request.stream));
    if (!shape || !stream) return false;
    values[i] = PyObject_CallFunctionObjArgs(scratch, shape.get(), stream.get(), nullptr);
    if (values[i] == nullptr) return false;
    held.hold(values[i]);
  }
  return true;
}

bool call_hook(PyObject* hook, PyObject* launch_metadata) noexcept {
  if (hook == Py_None) return true;
  const Ref result(PyObject_CallOneArg(hook, launch_metadata));
  return static_cast<bool>(result);
}

/// kernel_metadata, a tuple of three ints.
[[gnu::noinline]] bool parse_metadata(const Launcher& self, PyObject* metadata,
                                      Geometry* geometry) noexcept {
  if (PyTuple_Check(metadata) == 0 || PyTuple_GET_SIZE(metadata) != 3) {
    return fail_metadata(self, metadata);
  }
  const std::array<std::pair<const char*, std::int32_t*>, 3> fields = {{
      {"num_warps in kernel_metadata", &geometry->num_warps},
      {"num_ctas in kernel_metadata", &geometry->num_ctas},
      {"shared in kernel_metadata", &geometry->shared},
  }};
  for (Py_ssize_t i = 0; i < 3; ++i) {
    PyObject* item = PyTuple_GET_ITEM(metadata, i);
    const auto& [name, number] = fields[static_cast<std::size_t>(i)];
    if (convert_signed_range<Type::i32>(item, reinterpret_cast<std::byte*>(number))) continue;
    if (self.dialect->metadata_errors == MetadataErrors::one_type_error) {
      PyErr_Clear();
      return fail_metadata(self, metadata);
    }
    return fail_field(self, name, item);
  }
  return true;
}

/// The attributes of a launch whose num_ctas is not the launcher's own.
[[gnu::noinline]] EncodedAttributes attributes_for(const Launcher& self, std::int32_t num_ctas) {
  return self.driver->encode(make_attributes(*self.dialect, self.options, num_ctas),
                             self.options.cooperative);
}

Status submit(const Launcher& self, const LaunchCall& call, bool non_portable) {
  if (non_portable) [[unlikely]] {
    const Status allowed = self.driver->allow_non_portable_cluster(call.function);
    if (!allowed) return allowed;
  }
  return self.driver->launch(call);
}

Status submit_released(const Launcher& self, const LaunchCall& call, bool non_portable) {
  const GilRelease released;
  return submit(self, call, non_portable);
}

/// Everything between the grid and the driver. `frame` has self.frame_bytes bytes.
template <Shape shape, bool with_surroundings>
[[gnu::always_inline]] inline bool run(const Launcher& self, PyObject* const* arguments,
                                       LaunchRequest& request, const Surroundings& surroundings,
                                       std::byte* frame) {
  const Plan& plan = self.plan;
  auto** values = reinterpret_cast<PyObject**>(frame + self.values_at);
  HeldItems held(reinterpret_cast<PyObject**>(frame + self.held_at));
  if constexpr (shape == Shape::general) {
    std::memcpy(values, arguments, plan.arguments * sizeof(PyObject*));
  }
  if (!parse<shape>(self, values, arguments, frame, held)) return false;

  const EncodedAttributes* attributes = &self.attributes;
  EncodedAttributes own_attributes;
  if constexpr (with_surroundings) {
    if (!parse_metadata(self, surroundings.metadata, &request.geometry)) return false;
    if (request.geometry.num_ctas != self.geometry.num_ctas) {
      own_attributes = attributes_for(self, request.geometry.num_ctas);
      attributes = &own_attributes;
    }
  }
  const std::int32_t num_ctas = request.geometry.num_ctas;
  const std::int32_t scale = has_cta_clusters(*self.dialect, num_ctas) ? num_ctas : 1;
  const GridCheck check = check_grid(request.grid, scale);
  if (check > GridCheck::skip) [[unlikely]]
    return fail_grid(self, check, request);

  if constexpr (shape == Shape::general) {
    if (!ask_for_scratch(self, request, values + plan.values, held)) return false;
  }
  if constexpr (with_surroundings) {
    if (!call_hook(surroundings.enter_hook, surroundings.launch_metadata)) return false;
  }
  if (!take_in<shape>(self, shape == Shape::flat ? arguments : values, frame)) return false;

  if (check == GridCheck::launch) [[likely]] {
    auto** pointers = reinterpret_cast<void**>(frame + self.pointers_at);
    const std::uint32_t* offsets = plan.slot_offsets.data();
    const std::size_t count = plan.slot_offsets.size();
    for (std::size_t i = 0; i < count; ++i) pointers[i] = frame + offsets[i];
    const LaunchCall call{
        .grid = {static_cast<std::uint32_t>(request.grid[0]) * static_cast<std::uint32_t>(scale),
                 static_cast<std::uint32_t>(request.grid[1]),
                 static_cast<std::uint32_t>(request.grid[2])},
        .block = self.options.warp_size * static_cast<std::uint32_t>(request.geometry.num_warps),
        .shared = static_cast<std::uint32_t>(request.geometry.shared),
        .stream = request.stream,
        .attributes = attributes,
        .attribute_count = attributes->count,
        .function = request.function,
        .parameters = pointers,
    };
    const bool non_portable = asks_non_portable(*self.dialect, self.options, num_ctas);
    const Status status = self.submit(self, call, non_portable);
    if (!status) [[unlikely]]
      return fail_launch(self, status, call, num_ctas);
  }
  if constexpr (with_surroundings) {
    if (!call_hook(surroundings.exit_hook, surroundings.launch_metadata)) return false;
  }
  return true;
}

/// `run` in a frame from the heap.
template <Shape shape, bool with_surroundings>
[[gnu::noinline]] PyObject* run_in_heap_frame(const Launcher& self, PyObject* const* arguments,
                                              LaunchRequest& request,
                                              const Surroundings& surroundings) {
  std::size_t space = self.frame_bytes + kSlotAlignment;
  const std::unique_ptr<void, void (*)(void*)> memory(std::malloc(space), std::free);
  void* frame = memory.get();
  if (frame == nullptr) return PyErr_NoMemory();
  frame = std::align(kSlotAlignment, self.frame_bytes, frame, space);
  if (!run<shape, with_surroundings>(self, arguments, request, surroundings,
                                     static_cast<std::byte*>(frame))) {
    return nullptr;
  }
  Py_RETURN_NONE;
}

/// Gives `run` its frame: on the stack, or for the largest on the heap.
template <Shape shape, bool with_surroundings>
[[gnu::always_inline]] inline PyObject* run_in_frame(const Launcher& self,
                                                     PyObject* const* arguments,
                                                     LaunchRequest& request,
                                                     const Surroundings& surroundings) {
  if (self.frame_bytes > kLargestStackFrame) [[unlikely]] {
    return run_in_heap_frame<shape, with_surroundings>(self, arguments, request, surroundings);
  }
  // alloca: the exact size is known per launcher only, and a launch must not touch the heap.
  auto* frame =
      static_cast<std::byte*>(__builtin_alloca_with_align(self.frame_bytes, kSlotAlignment * 8));
  if (!run<shape, with_surroundings>(self, arguments, request, surroundings, frame)) return nullptr;
  Py_RETURN_NONE;
}

/// Wording an error can run out of memory; nothing else here throws.
template <typename Entry>
[[gnu::always_inline]] inline PyObject* guarded(Entry entry) noexcept {
  try {
    return entry();
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

/// The grid and the stream. False with an exception set.
[[gnu::always_inline]] inline bool parse_place(const Launcher& self, PyObject* const* args,
                                               LaunchRequest& request) {
  constexpr const char* kNames[] = {"grid_x", "grid_y", "grid_z"};
  for (std::size_t i = 0; i < 3; ++i) {
    auto* number = reinterpret_cast<std::byte*>(&request.grid[i]);
    if (!convert_signed_range<Type::i32>(args[i], number)) [[unlikely]] {
      return fail_field(self, kNames[i], args[i]);
    }
  }
  auto* stream = reinterpret_cast<std::byte*>(&request.stream);
  if (!convert_masked_int_only<Type::u64>(args[3], stream)) [[unlikely]] {
    return fail_field(self, "stream", args[3]);
  }
  return true;
}

/// launcher(grid_x, grid_y, grid_z, stream, *args)
template <Shape shape>
[[gnu::always_inline]] inline PyObject* call_now(const Launcher& self, PyObject* const* args,
                                                 std::size_t nargsf, PyObject* kwnames) {
  const Py_ssize_t count = PyVectorcall_NARGS(nargsf);
  if (kwnames != nullptr && PyTuple_GET_SIZE(kwnames) != 0) [[unlikely]]
    return fail_keywords(self);
  if (const Status status = self.driver->ensure_context(); !status) [[unlikely]] {
    return fail_context(self, status);
  }
  if (count != kCallFixed + static_cast<Py_ssize_t>(self.plan.arguments)) [[unlikely]] {
    return fail_count(self, count, kCallFixed);
  }
  LaunchRequest request;
  if (!parse_place(self, args, request)) return nullptr;
  request.function = self.function;
  request.geometry = self.geometry;
  return run_in_frame<shape, false>(self, args + kCallFixed, request, {});
}

template <Shape shape>
PyObject* call(PyObject* object, PyObject* const* args, std::size_t nargsf, PyObject* kwnames) {
  return guarded([=] { return call_now<shape>(launcher_of(object), args, nargsf, kwnames); });
}

PyObject* call_without_function(PyObject* object, PyObject* const* /*args*/, std::size_t /*nargsf*/,
                                PyObject* /*kwnames*/) {
  return guarded([object]() -> PyObject* { return fail_no_function(launcher_of(object)); });
}

/// launcher.launch(grid_x, grid_y, grid_z, stream, function, kernel_metadata, launch_metadata,
///                 enter_hook, exit_hook, *args)
template <Shape shape>
[[gnu::always_inline]] inline PyObject* launch_now(const Launcher& self, PyObject* const* args,
                                                   Py_ssize_t count) {
  if (const Status status = self.driver->ensure_context(); !status) [[unlikely]] {
    return fail_context(self, status);
  }
  if (count != kLaunchFixed + static_cast<Py_ssize_t>(self.plan.arguments)) [[unlikely]] {
    return fail_count(self, count, kLaunchFixed);
  }
  LaunchRequest request;
  if (!parse_place(self, args, request)) return nullptr;
  auto* function = reinterpret_cast<std::byte*>(&request.function);
  if (!convert_masked_int_only<Type::u64>(args[4], function)) [[unlikely]] {
    return fail_field(self, "function", args[4]);
  }
  return run_in_frame<shape, true>(self, args + kLaunchFixed, request,
                                   {args[5], args[6], args[7], args[8]});
}

template <Shape shape>
PyObject* launch(PyObject* object, PyObject* const* args, Py_ssize_t count) {
  return guarded([=] { return launch_now<shape>(launcher_of(object), args, count); });
}

}  // namespace

void choose_entries(Launcher& launcher, bool has_function) noexcept {
  const Plan& plan = launcher.plan;
  const auto pointer_bytes = static_cast<std::uint32_t>(plan.parameters.size() * sizeof(void*));
  const std::uint32_t value_bytes = (plan.values + kMaxHidden) * sizeof(PyObject*);
  const std::uint32_t held_bytes = (plan.items + kMaxHidden) * sizeof(PyObject*);
  launcher.pointers_at = plan.slot_bytes;
  const bool has_tuples = std::any_of(plan.parse.begin(), plan.parse.end(),
                                      [](const Step& step) { return step.op == Op::open; });
  const bool calls = launcher.scratch_is_called[0] || launcher.scratch_is_called[1];
  const bool is_flat = !has_tuples && !calls;
  launcher.values_at = launcher.pointers_at + pointer_bytes;
  launcher.held_at = launcher.values_at + (is_flat ? 0 : value_bytes);
  const std::uint32_t end = launcher.held_at + (is_flat ? 0 : held_bytes);
  launcher.frame_bytes = (end + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
  const bool releases = launcher.dialect->gil == GilRule::released;
  launcher.submit = releases ? submit_released : submit;
  launcher.call_entry = is_flat ? call<Shape::flat> : call<Shape::general>;
  if (!has_function) launcher.call_entry = call_without_function;
  launcher.launch_entry = is_flat ? launch<Shape::flat> : launch<Shape::general>;
}

}  // namespace relaunch
