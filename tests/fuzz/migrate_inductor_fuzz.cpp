// Inductor's generated Python.
// Seeds: tests/python/migrate/samples/inductor*.txt

#include "tests/fuzz/migrate_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return relaunch::migrate::fuzz(data, size, relaunch::migrate::Form::inductor);
}
