// The metadata of AMDGPU code objects by itself.
// Seeds: tests/fuzz/seeds/*.msgpack

#include "precompiled/binary/code_object.hpp"
#include "tests/fuzz/binary_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace relaunch::binary;
  return fuzz(data, size, [](Bytes bytes) { return read_metadata_note(bytes, 0); });
}
