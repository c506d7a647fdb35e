#include "precompiled/python/expand_objects.hpp"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "precompiled/core/tree.hpp"
#include "precompiled/python/descriptor_meta.hpp"
#include "precompiled/python/errors.hpp"
#include "precompiled/python/tensor_map.hpp"

namespace relaunch {
namespace {

/// Interned: the interpreter's caches keep the names that they have seen, each string by itself.
struct Names {
  PyObject* base;
  PyObject* shape;
  PyObject* strides;
  PyObject* padding;
  PyObject* round_f32_to_tf32;
  PyObject* data_ptr;
  PyObject* nan;
};

Names interned{};

const Names& names() { return interned; }

/// Nodes and the values that a call gives for them, the values of one descriptor in place of its
/// object. Every value that is made is held by the call.
class Expander {
 public:
  Expander(const Launcher& self, ExpandedCall& call) : self_(self), call_(call) {}

  bool expand(const std::vector<PyKernelArg>& nodes, PyObject* const* values,
              std::vector<PyObject*>& out) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (is_descriptor(nodes[i])) {
        if (!expand_descriptor(values[i], out)) return false;
        ++next_;
      } else if (has_descriptors(nodes[i])) {
        if (!expand_tuple(nodes[i], values[i], out)) return false;
      } else {
        out.push_back(values[i]);
      }
    }
    return true;
  }

 private:
  PyObject* hold(Ref value) {
    PyObject* borrowed = value.get();
    call_.held.push_back(std::move(value));
    return borrowed;
  }

  bool expand_tuple(const PyKernelArg& node, PyObject* value, std::vector<PyObject*>& out) {
    const std::size_t count = node.nested_tuple.size();
    const Ref items(PySequence_Tuple(value));
    if (!items) return false;
    if (PyTuple_GET_SIZE(items.get()) != static_cast<Py_ssize_t>(count)) {
      return fail(PyExc_TypeError, "expected a sequence of " + std::to_string(count) +
                                       " items for its tuple, got one of " +
                                       std::to_string(PyTuple_GET_SIZE(items.get())));
    }
    std::vector<PyObject*> inner;
    PyObject** values = reinterpret_cast<PyTupleObject*>(items.get())->ob_item;
    if (!expand(node.nested_tuple, values, inner)) return false;
    Ref tuple(PyTuple_New(static_cast<Py_ssize_t>(inner.size())));
    if (!tuple) return false;
    for (std::size_t i = 0; i < inner.size(); ++i) {
      Py_INCREF(inner[i]);
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), inner[i]);
    }
    out.push_back(hold(std::move(tuple)));
    return true;
  }

  bool expand_descriptor(PyObject* object, std::vector<PyObject*>& out) {
    return planned().by_value ? pass_by_value(object, out) : take_apart(object, out);
  }

  bool take_apart(PyObject* object, std::vector<PyObject*>& out) {
    Ref base = attribute(object, names().base);
    if (!base) return false;
    out.push_back(hold(std::move(base)));
    const std::size_t first = out.size();
    if (!read_sizes(object, names().shape, out) || !read_sizes(object, names().strides, out))
      return false;
    const std::vector<PyObject*> sizes(out.begin() + static_cast<std::ptrdiff_t>(first), out.end());
    for (const DescriptorFlag flag : self_.dialect->descriptors.flags) {
      Ref value = read_flag(object, flag);
      if (!value) return false;
      out.push_back(hold(std::move(value)));
    }
    out.insert(out.end(), sizes.begin(), sizes.end());
    return true;
  }

  bool pass_by_value(PyObject* object, std::vector<PyObject*>& out) {
    const DescriptorMeta& meta = self_.metas[next_];
    if (meta.encoding != Encoding::ready) return refuse(meta);
    std::vector<PyObject*> shape;
    std::vector<PyObject*> strides;
    if (!read_sizes(object, names().shape, shape) ||
        !read_sizes(object, names().strides, strides)) {
      return false;
    }
    const Ref one(PyLong_FromLong(1));
    const int is_one = one ? PyObject_RichCompareBool(strides.back(), one.get(), Py_EQ) : -1;
    if (is_one < 0) return false;
    if (is_one == 0) {
      return fail(PyExc_AssertionError, "expected a last stride of 1", strides.back());
    }
    TensorView view;
    std::array<std::int64_t, kMostMapDimensions> sizes{};
    std::array<std::int64_t, kMostMapDimensions> steps{};
    if (!read_flags(object, &view) || !read_address(object, &view.address) ||
        !read_numbers(names().shape, shape, sizes) ||
        !read_numbers(names().strides, strides, steps)) {
      return false;
    }
    view.shape = std::span(sizes).first(shape.size());
    view.strides = std::span(steps).first(strides.size());
    if (!encode(describe_tensor_map(meta.fields, view), out)) return false;
    if (meta.fields.fp4_padded && self_.dialect->descriptors.passes_padded_shape) {
      Ref doubled(PyNumber_Add(shape.back(), shape.back()));
      if (!doubled) return false;
      shape.back() = hold(std::move(doubled));
    }
    out.insert(out.end(), shape.begin(), shape.end());
    out.insert(out.end(), strides.begin(), strides.end());
    return true;
  }

  bool encode(const TensorMapFields& fields, std::vector<PyObject*>& out) {
    Ref map = make_tensor_map();
    if (!map) return false;
    const Status status = self_.driver->encode_tensor_map(fields, bytes_of_map(map.get()));
    if (!status) return fail_encoding(self_, next_, status, fields);
    out.push_back(hold(std::move(map)));
    return true;
  }

  bool refuse(const DescriptorMeta& meta) {
    const std::string instead = "; pass the descriptor itself, its shape and its strides";
    switch (meta.encoding) {
      case Encoding::ready: break;
      case Encoding::lacks_key:
        return fail(PyExc_KeyError, "its metadata has no '" + meta.lacks +
                                        "', so no tensor map can be encoded" + instead);
      case Encoding::im2col:
        return fail(PyExc_NotImplementedError, "im2col tensor maps are not encoded here" + instead);
      case Encoding::foreign:
        return fail(PyExc_NotImplementedError,
                    "TDM descriptors are made by Triton's create_tdm_descriptor alone" + instead);
    }
    return false;
  }

  static Ref attribute(PyObject* object, PyObject* name) {
    return Ref(PyObject_GetAttr(object, name));
  }

  static std::string text(PyObject* name) {
    const char* bytes = PyUnicode_AsUTF8(name);
    return bytes != nullptr ? bytes : "";
  }

  /// The entries of `object.name`, as many as the descriptor has dimensions.
  bool read_sizes(PyObject* object, PyObject* name, std::vector<PyObject*>& out) {
    const Ref sizes = attribute(object, name);
    const Ref iterator(sizes ? PyObject_GetIter(sizes.get()) : nullptr);
    if (!iterator) return false;
    const std::size_t rank = planned().rank;
    for (std::size_t count = 0;; ++count) {
      Ref size(PyIter_Next(iterator.get()));
      if (!size && PyErr_Occurred() != nullptr) return false;
      if (!size && count == rank) return true;
      if (!size || count == rank) {
        return fail(PyExc_TypeError, "expected " + std::to_string(rank) + " entries in its " +
                                         text(name) + ", got " +
                                         (size ? "more" : std::to_string(count)));
      }
      out.push_back(hold(std::move(size)));
    }
  }

  bool read_numbers(PyObject* name, const std::vector<PyObject*>& values,
                    std::array<std::int64_t, kMostMapDimensions>& numbers) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (PyLong_Check(values[i]) == 0) {
        return fail(PyExc_TypeError, "expected ints in its " + text(name), values[i]);
      }
      int overflow = 0;
      numbers[i] = PyLong_AsLongLongAndOverflow(values[i], &overflow);
      if (overflow != 0) {
        return fail(PyExc_OverflowError, "expected ints of 64 bits in its " + text(name),
                    values[i]);
      }
    }
    return true;
  }

  /// What the flag's `i1` is given.
  Ref read_flag(PyObject* object, DescriptorFlag flag) {
    if (flag == DescriptorFlag::round_f32_to_tf32)
      return attribute(object, names().round_f32_to_tf32);
    const Ref padding = attribute(object, names().padding);
    if (!padding) return Ref();
    return Ref(PyObject_RichCompare(padding.get(), names().nan, Py_EQ));
  }

  bool read_flags(PyObject* object, TensorView* view) {
    for (const DescriptorFlag flag : self_.dialect->descriptors.flags) {
      const Ref value = read_flag(object, flag);
      const int truth = value ? PyObject_IsTrue(value.get()) : -1;
      if (truth < 0) return false;
      (flag == DescriptorFlag::padding_is_nan ? view->nan_padding : view->round_to_tf32) =
          truth != 0;
    }
    return true;
  }

  bool read_address(PyObject* object, std::uint64_t* address) {
    const Ref base = attribute(object, names().base);
    const Ref result(base ? PyObject_CallMethodNoArgs(base.get(), names().data_ptr) : nullptr);
    if (!result) return false;
    if (PyLong_Check(result.get()) == 0) {
      return fail(PyExc_TypeError, "expected data_ptr() of its base to return an int");
    }
    *address = PyLong_AsUnsignedLongLongMask(result.get());
    return true;
  }

  const PlannedDescriptor& planned() const { return self_.plan.descriptors[next_]; }

  bool fail(PyObject* type, std::string text, PyObject* got = nullptr) const {
    return fail_object(self_, next_, type, std::move(text), got);
  }

  const Launcher& self_;
  ExpandedCall& call_;
  std::size_t next_ = 0;  // the descriptor whose turn it is
};

/// Whether a tuple somewhere below has as many items as were declared, and not as many as the plan
/// has. The first tuple with a descriptor of its own decides.
std::optional<bool> tuple_gives_objects(const PyKernelArg& node, PyObject* value) noexcept {
  if (node.type != ArgKind::ARG_TUPLE || !has_descriptors(node)) return std::nullopt;
  const bool is_list = PyList_Check(value) != 0;
  if (!is_list && PyTuple_Check(value) == 0) return std::nullopt;
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(value);
  const bool as_declared = count == static_cast<Py_ssize_t>(node.nested_tuple.size());
  for (const PyKernelArg& item : node.nested_tuple) {
    if (is_descriptor(item)) return as_declared;
  }
  if (!as_declared) return std::nullopt;
  for (std::size_t i = 0; i < node.nested_tuple.size(); ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(value, static_cast<Py_ssize_t>(i));
    if (const auto found = tuple_gives_objects(node.nested_tuple[i], item)) return found;
  }
  return std::nullopt;
}

}  // namespace

bool prepare_objects() noexcept {
  const std::pair<PyObject**, const char*> all[] = {
      {&interned.base, "base"},         {&interned.shape, "shape"},
      {&interned.strides, "strides"},   {&interned.padding, "padding"},
      {&interned.data_ptr, "data_ptr"}, {&interned.round_f32_to_tf32, "round_f32_to_tf32"},
      {&interned.nan, "nan"},
  };
  for (const auto& [name, text] : all) {
    *name = PyUnicode_InternFromString(text);
    if (*name == nullptr) return false;
  }
  return true;
}

bool gives_objects(const Launcher& self, PyObject* const* args, Py_ssize_t count,
                   Py_ssize_t fixed) noexcept {
  if (self.plan.descriptors.empty()) return false;
  const std::vector<PyKernelArg>& nodes = self.declared->parameters;
  const auto declared = static_cast<Py_ssize_t>(nodes.size());
  if (count != fixed + declared) return false;
  if (nodes.size() != self.plan.arguments) return true;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto found = tuple_gives_objects(nodes[i], args[fixed + static_cast<Py_ssize_t>(i)]);
    if (found) return *found;
  }
  return false;
}

bool expand_objects(const Launcher& self, PyObject* const* args, Py_ssize_t fixed,
                    ExpandedCall* call) {
  call->arguments.assign(args, args + fixed);
  return Expander(self, *call).expand(self.declared->parameters, args + fixed, call->arguments);
}

}  // namespace relaunch
