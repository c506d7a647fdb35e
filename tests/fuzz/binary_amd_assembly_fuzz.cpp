// AMDGPU assembly.
// Seeds: tests/binaries/**/*.amdgcn

#include "precompiled/binary/amd_assembly.hpp"
#include "tests/fuzz/binary_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace relaunch::binary;
  return fuzz(data, size, [](Bytes bytes) { return read_amd_assembly(bytes); });
}
