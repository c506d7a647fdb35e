#include "precompiled/python/descriptor_meta.hpp"

#include "precompiled/python/guards.hpp"
#include "precompiled/python/options.hpp"

namespace relaunch {
namespace {

/// One entry of tensordesc_meta, its members found by key.
class MetaReader {
 public:
  MetaReader(PyObject* entry, std::size_t index)
      : entry_(entry), place_("tensordesc_meta[" + std::to_string(index) + "]") {}

  /// None where there is no such key.
  Ref find(const char* key) {
    Ref found(PyMapping_GetItemString(entry_, key));
    if (found) return found;
    if (PyErr_ExceptionMatches(PyExc_KeyError) == 0) throw PythonError();
    PyErr_Clear();
    if (lacks.empty()) lacks = key;
    return found;
  }

  std::uint32_t number(const char* key) {
    const Ref found = find(key);
    return found ? number_option(found.get(), name(key).c_str()) : 0;
  }

  bool truth(const char* key) {
    const Ref found = find(key);
    const int truth = found ? PyObject_IsTrue(found.get()) : 0;
    if (truth < 0) throw PythonError();
    return truth != 0;
  }

  std::vector<std::uint32_t> block() {
    const Ref found = find("block_size");
    if (!found) return {};
    const std::string option = name("block_size");
    std::vector<std::uint32_t> sizes;
    for (const std::uint64_t size : numbers_option(found.get(), option.c_str(), UINT32_MAX)) {
      sizes.push_back(static_cast<std::uint32_t>(size));
    }
    if (!sizes.empty() && sizes.size() <= kMostMapDimensions) return sizes;
    throw BindError(option + ": expected 1 to 5 sizes, got " + std::to_string(sizes.size()));
  }

  std::uint32_t data_type() {
    const std::uint32_t number = this->number("elem_type");
    if (const auto type = driver_data_type(number)) return *type;
    throw BindError(name("elem_type") + ": expected 0 to 15, got " + std::to_string(number));
  }

  std::string name(const char* key) const { return place_ + "['" + key + "']"; }
  const std::string& place() const { return place_; }

  std::string lacks;  // the first key that was not found

 private:
  PyObject* entry_;
  std::string place_;
};

DescriptorMeta read_one(PyObject* entry, std::size_t index, const Dialect& dialect) {
  DescriptorMeta meta;
  if (entry == Py_None) {
    meta.lacks = "swizzle";
    return meta;
  }
  meta.given = true;
  meta.encoding = Encoding::foreign;
  if (dialect.descriptors.by_value != Type::nv_tma_desc) return meta;
  MetaReader reader(entry, index);
  const bool is_mapping = PyMapping_Check(entry) != 0 && PySequence_Check(entry) == 0;
  if (!is_mapping && PyDict_Check(entry) == 0) {
    PyErr_Format(PyExc_TypeError, "%s: expected a dict or None, got %s", reader.place().c_str(),
                 Py_TYPE(entry)->tp_name);
    throw PythonError();
  }
  if (reader.truth("is_im2col")) {
    meta.encoding = Encoding::im2col;
    return meta;
  }
  reader.lacks.clear();
  meta.fields.swizzle = reader.number("swizzle");
  meta.fields.element_bytes = reader.number("elem_size");
  meta.fields.data_type = reader.data_type();
  meta.fields.block = reader.block();
  meta.fields.fp4_padded = reader.truth("fp4_padded");
  meta.lacks = reader.lacks;
  meta.encoding = meta.lacks.empty() ? Encoding::ready : Encoding::lacks_key;
  return meta;
}

}  // namespace

std::vector<DescriptorMeta> read_metas(PyObject* value, const Dialect& dialect) {
  std::vector<DescriptorMeta> metas;
  const Ref entries = items_option(value, "tensordesc_meta", "a sequence or None");
  if (!entries) return metas;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(entries.get()); ++i) {
    metas.push_back(
        read_one(PyTuple_GET_ITEM(entries.get(), i), static_cast<std::size_t>(i), dialect));
  }
  return metas;
}

std::vector<bool> given_metas(const std::vector<DescriptorMeta>& metas) {
  std::vector<bool> given;
  for (const DescriptorMeta& meta : metas) given.push_back(meta.given);
  return given;
}

void check_metas(const std::vector<DescriptorMeta>& metas, const Plan& plan) {
  for (std::size_t i = 0; i < metas.size(); ++i) {
    const std::size_t sizes = metas[i].fields.block.size();
    const PlannedDescriptor& descriptor = plan.descriptors[i];
    if (metas[i].encoding != Encoding::ready || sizes == descriptor.rank) continue;
    throw BindError("tensordesc_meta[" + std::to_string(i) + "]['block_size']: expected " +
                    std::to_string(descriptor.rank) + " sizes as the descriptor has, got " +
                    std::to_string(sizes));
  }
}

}  // namespace relaunch
