// Binds a signature known when this is compiled and launches it with typed arguments:
//
//   add DRIVER
//
// DRIVER is a recording driver: the function and the addresses are made up.

#include <cstdint>
#include <iostream>
#include <relaunch/relaunch.hpp>

int main(int count, char** words) {
  if (count != 2) {
    std::cerr << "usage: add DRIVER\n";
    return 2;
  }
  try {
    const relaunch::launcher add("x: *fp32, y: *fp32, out: *fp32, n: i32, BLOCK: constexpr",
                                 {.dialect = "triton-3.6-cuda",
                                  .name = "add",
                                  .driver = words[1],
                                  .function = reinterpret_cast<void*>(0xf00)});
    const std::uint64_t x = 0x1000;  // as cuMemAlloc gives them
    const std::uint64_t y = 0x2000;
    const std::uint64_t out = 0x3000;
    const std::int32_t n = 1000;
    add({8}, nullptr, x, y, out, n);
    std::cout << "launched " << add.plan().name << "(" << add.plan().signature << ")\n";
    add({8}, nullptr, x, y, out, 1.0F);
  } catch (const relaunch::error& error) {
    std::cout << "refused: " << error.what() << "\n";
  }
}
