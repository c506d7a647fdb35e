// One launch, from the Python call to the driver. This is the hot path: everything known when the
// launcher was built is in its plan or in the entry that was picked for it.

#include <Python.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "precompiled/python/call_objects.hpp"
#include "precompiled/python/convert.hpp"
#include "precompiled/python/errors.hpp"
#include "precompiled/python/frame.hpp"
#include "precompiled/python/hook_chain.hpp"
#include "precompiled/python/launcher.hpp"
#include "precompiled/python/steps.hpp"

namespace relaunch {
namespace {

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
  if (hook == Py_None || is_empty_chain(hook)) return true;
  const Ref result(PyObject_CallOneArg(hook, launch_metadata));
  return static_cast<bool>(result);
}

/// A kernel_metadata that is no plain tuple of `count` items as one that is, where the dialect
/// takes it. Null with an exception set.
[[gnu::noinline, gnu::cold]] Ref metadata_tuple(const Launcher& self, PyObject* metadata,
                                                std::uint32_t count) {
  if (self.dialect->metadata_errors != MetadataErrors::any_sequence) {
    if (PyTuple_Check(metadata) != 0 && PyTuple_GET_SIZE(metadata) == count) {
      return Ref(PyTuple_GetSlice(metadata, 0, count));
    }
    fail_metadata(self, metadata);
    return Ref();
  }
  if (!is_sequence_of(metadata, count)) {
    if (PyErr_Occurred() == nullptr) fail_metadata(self, metadata);
    return Ref();
  }
  Ref items(PyTuple_New(count));
  for (std::uint32_t i = 0; items && i < count; ++i) {
    PyObject* item = PySequence_GetItem(metadata, i);
    if (item == nullptr) {
      if (is_out_of_memory()) return Ref();
      PyErr_Clear();  // as PyArg_ParseTuple does: the item "is not retrievable"
      fail_metadata(self, metadata);
      return Ref();
    }
    PyTuple_SET_ITEM(items.get(), i, item);
  }
  return items;
}

[[gnu::noinline, gnu::cold]] bool fail_metadata_item(const Launcher& self, PyObject* metadata,
                                                     std::size_t index) {
  constexpr const char* kNames[] = {
      "num_warps in kernel_metadata", "num_ctas in kernel_metadata",
      "shared in kernel_metadata",    "cluster_x in kernel_metadata",
      "cluster_y in kernel_metadata", "cluster_z in kernel_metadata",
  };
  if (is_out_of_memory()) return false;
  if (self.dialect->metadata_errors == MetadataErrors::one_type_error) {
    PyErr_Clear();
    return fail_metadata(self, metadata);
  }
  return fail_field(self, kNames[index],
                    PyTuple_GET_ITEM(metadata, static_cast<Py_ssize_t>(index)));
}

/// kernel_metadata of `count` numbers. `*geometry` is whole then.
template <std::uint32_t count>
[[gnu::noinline]] bool parse_metadata(const Launcher& self, PyObject* metadata,
                                      Geometry* geometry) {
  Ref own;
  if (!PyTuple_CheckExact(metadata) || PyTuple_GET_SIZE(metadata) != count) [[unlikely]] {
    own = metadata_tuple(self, metadata, count);
    if (!own) return false;
    metadata = own.get();
  }
  std::array<std::int32_t, count> numbers;
  for (std::uint32_t i = 0; i < count; ++i) {
    auto* number = reinterpret_cast<std::byte*>(&numbers[i]);
    if (!convert_signed_range<Type::i32>(PyTuple_GET_ITEM(metadata, i), number)) [[unlikely]] {
      return fail_metadata_item(self, metadata, i);
    }
  }
  geometry->num_warps = numbers[0];
  geometry->num_ctas = numbers[1];
  geometry->shared = numbers[2];
  if constexpr (count == 6) {
    geometry->cluster = {numbers[3], numbers[4], numbers[5]};
  } else {
    geometry->cluster = {numbers[1], 1, 1};
  }
  return true;
}

/// For a launch whose metadata says something else than the launcher's own options.
[[gnu::noinline]] Configuration configuration_for(const Launcher& self, const Geometry& geometry) {
  return configure(*self.dialect, *self.driver, self.options, geometry);
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

/// What the driver is asked for, once every slot of the frame is filled.
[[gnu::always_inline]] inline LaunchCall make_call(const Launcher& self,
                                                   const LaunchRequest& request,
                                                   const Configuration& configuration,
                                                   std::byte* frame) {
  auto** pointers = reinterpret_cast<void**>(frame + self.pointers_at);
  const std::uint32_t* offsets = self.plan.slot_offsets.data();
  const std::size_t count = self.plan.slot_offsets.size();
  for (std::size_t i = 0; i < count; ++i) pointers[i] = frame + offsets[i];
  return {
      .grid = configuration.scale.apply(request.grid),
      .block = self.options.warp_size * static_cast<std::uint32_t>(request.num_warps),
      .shared = static_cast<std::uint32_t>(request.shared),
      .stream = request.stream,
      .attributes = &configuration.attributes,
      .attribute_count = configuration.attributes.count,
      .function = request.function,
      .parameters = pointers,
  };
}

/// Everything between the grid and the driver. `frame` has self.frame_bytes bytes.
template <Shape shape, Order order, bool with_surroundings>
[[gnu::always_inline]] inline bool run(const Launcher& self, PyObject* const* arguments,
                                       LaunchRequest& request, const Surroundings& surroundings,
                                       std::byte* frame) {
  const Plan& plan = self.plan;
  auto** values = reinterpret_cast<PyObject**>(frame + self.values_at);
  HeldItems held(reinterpret_cast<PyObject**>(frame + self.held_at));
  if constexpr (shape == Shape::general) {
    std::memcpy(values, arguments, plan.arguments * sizeof(PyObject*));
  }
  if constexpr (order == Order::staged) {
    if (!parse<shape>(self, values, arguments, frame, held)) return false;
  }

  const Configuration* configuration = &self.configuration;
  Configuration own_configuration;
  if constexpr (with_surroundings) {
    Geometry geometry;  // filled at once
    if (!self.parse_metadata(self, surroundings.metadata, &geometry)) return false;
    if (!same_shape(*self.dialect, geometry, self.configuration.geometry)) {
      own_configuration = configuration_for(self, geometry);
      configuration = &own_configuration;
    }
    request.num_warps = geometry.num_warps;
    request.shared = geometry.shared;
  }
  bool launches = true;
  if (!configuration->scale.takes(request.grid)) [[unlikely]] {
    const GridCheck check = check_grid(request.grid, configuration->scale);
    if (check > GridCheck::skip) return fail_grid(self, check, request, *configuration);
    launches = check == GridCheck::launch;
  }

  if constexpr (shape == Shape::general) {
    if (!ask_for_scratch(self, request, values + plan.values, held)) return false;
  }
  if constexpr (with_surroundings) {
    if (!call_hook(surroundings.enter_hook, surroundings.launch_metadata)) return false;
  }
  if constexpr (order == Order::staged) {
    if (!take_in<shape>(self, shape == Shape::flat ? arguments : values, frame)) return false;
  } else {
    if (!take_in_flat_order<shape>(self, values, arguments, frame, held)) return false;
  }

  if (launches) [[likely]] {
    const LaunchCall call = make_call(self, request, *configuration, frame);
    const Status status = self.submit(self, call, configuration->non_portable);
    if (!status) [[unlikely]]
      return fail_launch(self, status, call, configuration->geometry);
  }
  if constexpr (with_surroundings) {
    if (!call_hook(surroundings.exit_hook, surroundings.launch_metadata)) return false;
  }
  return true;
}

template <Shape shape, Order order, bool with_surroundings>
[[gnu::always_inline]] inline PyObject* run_on_stack(const Launcher& self,
                                                     PyObject* const* arguments,
                                                     LaunchRequest& request,
                                                     const Surroundings& surroundings) {
  // alloca: the exact size is known per launcher only, and a launch must not touch the heap.
  auto* frame =
      static_cast<std::byte*>(__builtin_alloca_with_align(self.frame_bytes, kSlotAlignment * 8));
  if (!run<shape, order, with_surroundings>(self, arguments, request, surroundings, frame))
    return nullptr;
  Py_RETURN_NONE;
}

template <Shape shape, Order order, bool with_surroundings>
[[gnu::noinline]] PyObject* run_in_large_frame(const Launcher& self, PyObject* const* arguments,
                                               LaunchRequest& request,
                                               const Surroundings& surroundings) {
  if (self.frame_bytes <= kLargestStackFrame && LargeFrame::is_allowed()) {
    const LargeFrame counted;
    return run_on_stack<shape, order, with_surroundings>(self, arguments, request, surroundings);
  }
  std::size_t space = self.frame_bytes + kSlotAlignment;
  const std::unique_ptr<void, void (*)(void*)> memory(std::malloc(space), std::free);
  void* frame = memory.get();
  if (frame == nullptr) return PyErr_NoMemory();
  frame = std::align(kSlotAlignment, self.frame_bytes, frame, space);
  if (!run<shape, order, with_surroundings>(self, arguments, request, surroundings,
                                            static_cast<std::byte*>(frame))) {
    return nullptr;
  }
  Py_RETURN_NONE;
}

/// Gives `run` its frame.
template <Shape shape, Order order, bool with_surroundings>
[[gnu::always_inline]] inline PyObject* run_in_frame(const Launcher& self,
                                                     PyObject* const* arguments,
                                                     LaunchRequest& request,
                                                     const Surroundings& surroundings) {
  if (self.frame_bytes > kSmallFrame) [[unlikely]] {
    return run_in_large_frame<shape, order, with_surroundings>(self, arguments, request,
                                                               surroundings);
  }
  return run_on_stack<shape, order, with_surroundings>(self, arguments, request, surroundings);
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
  if (!convert_masked_as_format<Type::u64>(args[3], stream)) [[unlikely]] {
    return fail_field(self, "stream", args[3]);
  }
  return true;
}

/// launcher(grid_x, grid_y, grid_z, stream, *args)
template <Shape shape, Order order>
[[gnu::always_inline]] inline PyObject* call_now(PyObject* object, PyObject* const* args,
                                                 std::size_t nargsf, PyObject* kwnames) {
  const Launcher& self = launcher_of(object);
  const Py_ssize_t count = PyVectorcall_NARGS(nargsf);
  if (kwnames != nullptr && PyTuple_GET_SIZE(kwnames) != 0) [[unlikely]]
    return fail_keywords(self);
  if (count != kCallFixed + static_cast<Py_ssize_t>(self.plan.arguments)) [[unlikely]] {
    return call_objects(object, args, nargsf, nullptr);
  }
  if (const Status status = self.driver->begin_launch(); !status) [[unlikely]] {
    return fail_context(self, status);
  }
  LaunchRequest request;
  if (!parse_place(self, args, request)) return nullptr;
  request.function = self.function;
  request.num_warps = self.configuration.geometry.num_warps;
  request.shared = self.configuration.geometry.shared;
  return run_in_frame<shape, order, false>(self, args + kCallFixed, request, {});
}

template <Shape shape, Order order>
PyObject* call(PyObject* object, PyObject* const* args, std::size_t nargsf, PyObject* kwnames) {
  return guarded([=] { return call_now<shape, order>(object, args, nargsf, kwnames); });
}

PyObject* call_without_function(PyObject* object, PyObject* const* /*args*/, std::size_t /*nargsf*/,
                                PyObject* /*kwnames*/) {
  return guarded([object]() -> PyObject* { return fail_no_function(launcher_of(object)); });
}

/// launcher.launch(grid_x, grid_y, grid_z, stream, function, kernel_metadata, launch_metadata,
///                 enter_hook, exit_hook, *args)
template <Shape shape, Order order>
[[gnu::always_inline]] inline PyObject* launch_now(PyObject* object, PyObject* const* args,
                                                   Py_ssize_t count) {
  const Launcher& self = launcher_of(object);
  if (count != kLaunchFixed + static_cast<Py_ssize_t>(self.plan.arguments)) [[unlikely]] {
    return launch_objects(object, args, count);
  }
  if (const Status status = self.driver->begin_launch(); !status) [[unlikely]] {
    return fail_context(self, status);
  }
  LaunchRequest request;
  if (!parse_place(self, args, request)) return nullptr;
  auto* function = reinterpret_cast<std::byte*>(&request.function);
  if (!convert_masked_as_format<Type::u64>(args[4], function)) [[unlikely]] {
    return fail_field(self, "function", args[4]);
  }
  return run_in_frame<shape, order, true>(self, args + kLaunchFixed, request,
                                          {args[5], args[6], args[7], args[8]});
}

template <Shape shape, Order order>
PyObject* launch(PyObject* object, PyObject* const* args, Py_ssize_t count) {
  return guarded([=] { return launch_now<shape, order>(object, args, count); });
}

template <Shape shape, Order order>
void set_entries(Launcher& launcher) noexcept {
  launcher.call_entry = call<shape, order>;
  launcher.launch_entry = launch<shape, order>;
}

template <Shape shape>
void set_entries(Launcher& launcher) noexcept {
  if (launcher.plan.flat_order) {
    set_entries<shape, Order::flat>(launcher);
  } else {
    set_entries<shape, Order::staged>(launcher);
  }
}

}  // namespace

void choose_entries(Launcher& launcher, bool has_function) noexcept {
  const Plan& plan = launcher.plan;
  const auto pointer_bytes = static_cast<std::uint32_t>(plan.parameters.size() * sizeof(void*));
  const std::uint32_t value_bytes = (plan.values + kMaxHidden) * sizeof(PyObject*);
  // In flat order a tuple holds its items.
  const std::uint32_t held = plan.flat_order ? plan.tuples : plan.items;
  const std::uint32_t held_bytes = (held + kMaxHidden) * sizeof(PyObject*);
  const bool calls = launcher.scratch_is_called[0] || launcher.scratch_is_called[1];
  const bool is_flat = plan.tuples == 0 && !calls;
  // The pointers are written when the values have been read: they take the same room.
  launcher.values_at = launcher.pointers_at = plan.slot_bytes;
  launcher.held_at = plan.slot_bytes + std::max(pointer_bytes, is_flat ? 0 : value_bytes);
  const std::uint32_t end = launcher.held_at + (is_flat ? 0 : held_bytes);
  launcher.frame_bytes = (end + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
  const bool releases = launcher.dialect->gil == GilRule::released;
  launcher.submit = releases ? submit_released : submit;
  const bool has_clusters = launcher.dialect->metadata == MetadataForm::warps_ctas_shared_clusters;
  launcher.parse_metadata = has_clusters ? parse_metadata<6> : parse_metadata<3>;
  if (is_flat) {
    set_entries<Shape::flat>(launcher);
  } else {
    set_entries<Shape::general>(launcher);
  }
  if (!has_function) launcher.call_entry = call_without_function;
  launcher.call_expanded = launcher.call_entry;
  launcher.launch_expanded = launcher.launch_entry;
  // Where the number of arguments cannot tell: all descriptors are inside tuples.
  if (plan.arguments == launcher.declared->parameters.size() && !plan.descriptors.empty()) {
    if (has_function) launcher.call_entry = call_objects;
    launcher.launch_entry = launch_objects;
  }
}

}  // namespace relaunch
