// PTX.
// Seeds: tests/binaries/**/*.ptx

#include "precompiled/binary/ptx.hpp"
#include "tests/fuzz/binary_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace relaunch::binary;
  return fuzz(data, size, [](Bytes bytes) { return read_ptx(bytes); });
}
