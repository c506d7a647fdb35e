#include "precompiled/binary/read.hpp"

#include <unordered_set>

#include "precompiled/binary/amd_assembly.hpp"
#include "precompiled/binary/code_object.hpp"
#include "precompiled/binary/cubin.hpp"
#include "precompiled/binary/ptx.hpp"

namespace relaunch::binary {
namespace {

constexpr std::string_view kExpected = "a cubin, PTX, or an AMDGPU code object or assembly";

/// Other files that kernels come in, by how they begin.
struct Known {
  std::string_view magic;
  const char* what;
  const char* advice;
};

constexpr Known kOthers[] = {
    {"\x50\xed\x55\xba", "a CUDA fat binary", "take the cubin out of it: cuobjdump -xelf all FILE"},
    {"\xb1\x43\x62\x46", "a CUDA fat binary's wrapper",
     "take the cubin out of it: cuobjdump -xelf all FILE"},
    {"__CLANG_OFFLOAD_BUNDLE__", "a bundle of code objects",
     "take the code object out of it: clang-offload-bundler --unbundle"},
    {"CCOB", "a compressed bundle of code objects",
     "take the code object out of it: clang-offload-bundler --unbundle"},
    {"BC\xc0\xde", "LLVM bitcode", "give what was compiled from it"},
    {"!<arch>\n", "an archive", "take the kernel's own file out of it"},
    {"\x03\x02\x23\x07", "SPIR-V", "give the file for CUDA or AMD GPUs"},
};

std::string first_bytes(Bytes file) {
  constexpr std::size_t kShown = 16;
  return "a file that begins with " + quoted(as_text(file.first(std::min(file.size(), kShown))));
}

}  // namespace

Format find_format(Bytes file) {
  if (file.empty()) {
    throw BinaryError(Fault::unknown_format, {}, std::string(kExpected), "an empty file");
  }
  if (Elf::has_magic(file)) {
    const std::uint16_t machine = Elf(file).machine();
    if (machine == kMachineCuda) return Format::cubin;
    if (machine == kMachineAmdgpu) return Format::code_object;
    throw BinaryError(Fault::unsupported, {18, 0},
                      "an ELF file for CUDA (machine 190) or AMD GPUs (224)",
                      "machine " + std::to_string(machine), {},
                      "give the kernel's own file, not that of a program");
  }
  for (const Known& known : kOthers) {
    if (!as_text(file).starts_with(known.magic)) continue;
    throw BinaryError(Fault::unsupported, {}, std::string(kExpected), known.what, {}, known.advice);
  }
  if (is_ptx(file)) return Format::ptx;
  if (is_amd_assembly(file)) return Format::amd_assembly;
  throw BinaryError(Fault::unknown_format, {}, std::string(kExpected), first_bytes(file));
}

std::vector<KernelParameters> read_kernels(Bytes file) {
  std::vector<KernelParameters> kernels;
  switch (find_format(file)) {
    case Format::cubin: kernels = read_cubin(file, Elf(file)); break;
    case Format::ptx: kernels = read_ptx(file); break;
    case Format::code_object: kernels = read_code_object(Elf(file)); break;
    case Format::amd_assembly: kernels = read_amd_assembly(file); break;
  }
  if (kernels.empty()) {
    throw BinaryError(Fault::no_kernel, {}, "at least one kernel", "none");
  }
  std::unordered_set<std::string_view> names;
  for (const KernelParameters& kernel : kernels) {
    if (kernel.kernel.empty()) {
      throw BinaryError(Fault::malformed, {}, "a kernel with a name", "one without");
    }
    if (kernels.size() == 1 || names.insert(kernel.kernel).second) continue;
    throw BinaryError(Fault::contradictory, {}, "kernels of different names", "two of the same",
                      kernel.kernel);
  }
  return kernels;
}

const KernelParameters& find_kernel(const std::vector<KernelParameters>& kernels,
                                    std::string_view name) {
  if (name.empty() && kernels.size() == 1) return kernels.front();
  for (const KernelParameters& kernel : kernels) {
    if (!name.empty() && kernel.kernel == name) return kernel;
  }
  constexpr std::size_t kMostNames = 20;
  std::string known;
  for (std::size_t i = 0; i < kernels.size() && i < kMostNames; ++i) {
    known += (i == 0 ? "" : ", ") + quoted(kernels[i].kernel);
  }
  if (kernels.size() > kMostNames) {
    known += " and " + std::to_string(kernels.size() - kMostNames) + " more";
  }
  if (name.empty()) {
    throw BinaryError(Fault::several_kernels, {}, "the name of one kernel",
                      "none, and there are " + known);
  }
  throw BinaryError(Fault::no_such_kernel, {}, "a kernel " + quoted(name), known);
}

}  // namespace relaunch::binary
