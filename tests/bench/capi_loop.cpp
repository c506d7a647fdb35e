// Launches 19 arguments in a loop, for callgrind to count:
//
//   capi_loop WAY RECORDER TURNS
//
// WAY is how: `floor` (cuLaunchKernelEx written out, attributes and the array of parameters ready),
// `gathered` (the same with the array filled from variables), `pointers` (relaunch_launch, its
// array ready), `packed` (relaunch_launch_packed) or `typed` (relaunch.hpp, from variables). The
// recorder is in null mode. Launches a few times, TURNS times, then three times as many, with a
// call of relaunch_recorder_mode before, between and after. Exit 2 on wrong use, 1 when a launch
// fails.

#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <relaunch/relaunch.hpp>
#include <string>
#include <string_view>

namespace {

constexpr const char* kSignature =
    "*fp32, *fp32, *fp32, *fp32, *fp32, *fp32, *fp32, i32, i32, i32, i32, i32, i32, i32, i32, i32, "
    "i32, i32, fp32";
constexpr std::size_t kArguments = 19;
constexpr std::size_t kHidden = 2;
constexpr std::uint64_t kFunction = 0x1000;

struct Loop {
  decltype(&cuLaunchKernelEx) launch;
  const relaunch::launcher& launcher;
  void* function;
  bool failed = false;

  void floor(long turns) {
    std::uint64_t values[kArguments + kHidden] = {};
    void* parameters[kArguments + kHidden];
    for (std::size_t i = 0; i < kArguments + kHidden; ++i) parameters[i] = &values[i];
    for (long i = 0; i < turns; ++i) {
      CUlaunchConfig config{};
      config.gridDimX = static_cast<unsigned>(i | 1);
      config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
      config.blockDimX = 128;
      failed |= launch(&config, static_cast<CUfunction>(function), parameters, nullptr) != 0;
    }
  }

  void gathered(long turns) {
    float* p = nullptr;
    float* null = nullptr;
    int n = 1;
    float x = 1.0F;
    for (long i = 0; i < turns; ++i, ++n) {
      void* parameters[] = {&p, &p, &p, &p, &p, &p, &p, &n, &n,    &n,   &n,
                            &n, &n, &n, &n, &n, &n, &n, &x, &null, &null};
      CUlaunchConfig config{};
      config.gridDimX = static_cast<unsigned>(i | 1);
      config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
      config.blockDimX = 128;
      failed |= launch(&config, static_cast<CUfunction>(function), parameters, nullptr) != 0;
    }
  }

  void pointers(long turns) {
    std::uint64_t values[kArguments] = {};
    void* arguments[kArguments];
    for (std::size_t i = 0; i < kArguments; ++i) arguments[i] = &values[i];
    for (long i = 0; i < turns; ++i) {
      relaunch_launch_config config{};
      config.size = sizeof config;
      config.grid[0] = static_cast<unsigned>(i | 1);
      config.grid[1] = config.grid[2] = 1;
      failed |= relaunch_launch(launcher.get(), &config, arguments, kArguments) != RELAUNCH_OK;
    }
  }

  void packed(long turns) {
    alignas(64) std::byte block[kArguments * 8] = {};
    const std::size_t bytes = launcher.plan().packed_bytes;
    for (long i = 0; i < turns; ++i) {
      relaunch_launch_config config{};
      config.size = sizeof config;
      config.grid[0] = static_cast<unsigned>(i | 1);
      config.grid[1] = config.grid[2] = 1;
      failed |= relaunch_launch_packed(launcher.get(), &config, block, bytes) != RELAUNCH_OK;
    }
  }

  void typed(long turns) {
    float* p = nullptr;
    int n = 1;
    for (long i = 0; i < turns; ++i, ++n) {
      launcher({static_cast<unsigned>(i | 1)}, nullptr, p, p, p, p, p, p, p, n, n, n, n, n, n, n, n,
               n, n, n, 1.0F);
    }
  }
};

int run(std::string_view way, const char* path, long turns) {
  void* driver = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (driver == nullptr) {
    std::fprintf(stderr, "capi_loop: %s\n", dlerror());
    return 2;
  }
  const auto mode = reinterpret_cast<void (*)(int)>(dlsym(driver, "relaunch_recorder_mode"));
  const auto launch =
      reinterpret_cast<decltype(&cuLaunchKernelEx)>(dlsym(driver, "cuLaunchKernelEx"));
  void (Loop::*body)(long) = way == "floor"      ? &Loop::floor
                             : way == "gathered" ? &Loop::gathered
                             : way == "pointers" ? &Loop::pointers
                             : way == "packed"   ? &Loop::packed
                             : way == "typed"    ? &Loop::typed
                                                 : nullptr;
  if (mode == nullptr || launch == nullptr || body == nullptr) {
    std::fprintf(stderr, "capi_loop: no recorder, or no such way to launch\n");
    return 2;
  }
  auto* function = reinterpret_cast<void*>(kFunction);
  const relaunch::launcher launcher(
      kSignature, {.dialect = "triton-3.6-cuda", .driver = path, .function = function});
  Loop loop{launch, launcher, function};
  mode(1);
  (loop.*body)(10);
  mode(1);
  (loop.*body)(turns);
  mode(1);
  (loop.*body)(3 * turns);
  mode(1);
  return loop.failed ? 1 : 0;
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) {
    std::fprintf(stderr, "usage: capi_loop WAY RECORDER TURNS\n");
    return 2;
  }
  try {
    return run(words[1], words[2], std::strtol(words[3], nullptr, 10));
  } catch (const relaunch::error& error) {
    std::fprintf(stderr, "capi_loop: %s\n", error.what());
    return 1;
  }
}
