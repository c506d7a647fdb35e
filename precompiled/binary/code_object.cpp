#include "precompiled/binary/code_object.hpp"

#include <utility>

#include "precompiled/binary/amd_metadata.hpp"
#include "precompiled/binary/msgpack.hpp"

namespace relaunch::binary {
namespace {

constexpr std::uint32_t kMetadataNote = 32;  // NT_AMDGPU_METADATA

template <typename Target>
void read_field(MsgPack& pack, AmdField field, Target& target) {
  if (field == AmdField::other) {
    pack.skip();
  } else if (is_number(field)) {
    target.set(field, pack.read_number());
  } else {
    target.set(field, pack.read_text());
  }
}

void read_arguments(MsgPack& pack, AmdKernel& kernel) {
  kernel.begin_arguments(pack.where());
  const std::uint64_t count = pack.read_array();
  for (std::uint64_t i = 0; i < count; ++i) {
    AmdArgument argument;
    argument.where = pack.where();
    const std::uint64_t pairs = pack.read_map();
    for (std::uint64_t k = 0; k < pairs; ++k) {
      const AmdField field = argument_field(pack.read_text());
      read_field(pack, field, argument);
    }
    kernel.arguments.push_back(argument.finish(i));
  }
}

AmdKernel read_kernel(MsgPack& pack) {
  AmdKernel kernel;
  kernel.where = pack.where();
  const std::uint64_t pairs = pack.read_map();
  for (std::uint64_t i = 0; i < pairs; ++i) {
    const std::string_view key = pack.read_text();
    if (key == kArgumentsKey) {
      read_arguments(pack, kernel);
    } else {
      read_field(pack, kernel_field(key), kernel);
    }
  }
  return kernel;
}

}  // namespace

std::vector<KernelParameters> read_code_object(const Elf& elf) {
  const std::optional<Note> note = elf.find_note("AMDGPU", kMetadataNote);
  if (!note) {
    throw BinaryError(Fault::unsupported, {}, "a metadata note of an AMDGPU code object",
                      "an ELF file for AMD GPUs without one", {},
                      "give a linked code object of version 3 or later, with its metadata");
  }
  return read_metadata_note(note->description, note->offset);
}

std::vector<KernelParameters> read_metadata_note(Bytes note, std::uint64_t offset) {
  MsgPack pack(note, offset);
  std::vector<KernelParameters> kernels;
  const std::uint64_t pairs = pack.read_map();
  for (std::uint64_t i = 0; i < pairs; ++i) {
    if (pack.read_text() != kKernelsKey) {
      pack.skip();
      continue;
    }
    const std::uint64_t count = pack.read_array();
    for (std::uint64_t k = 0; k < count; ++k) {
      kernels.push_back(make_kernel(read_kernel(pack), Format::code_object));
    }
  }
  return kernels;
}

}  // namespace relaunch::binary
