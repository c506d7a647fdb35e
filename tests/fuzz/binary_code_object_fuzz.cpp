// AMDGPU code objects.
// Seeds: tests/binaries/**/*.hsaco

#include "precompiled/binary/code_object.hpp"
#include "tests/fuzz/binary_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace relaunch::binary;
  return fuzz(data, size, [](Bytes bytes) { return read_code_object(Elf(bytes)); });
}
