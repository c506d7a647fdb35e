// Comma text.
// Seeds: tests/fuzz/seeds/migrate/csv/*

#include "tests/fuzz/migrate_fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return relaunch::migrate::fuzz(data, size, relaunch::migrate::Form::csv);
}
