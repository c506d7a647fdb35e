// What a launch through the C interface costs on a GPU, next to cuLaunchKernelEx written out:
//
//   capi_rounds DRIVER ROUNDS
//
// The kernel has 19 arguments and the two hidden parameters, is made of PTX and stores its first
// integer. In every round each way launches kBursts bursts of kBurst launches, the ways in turn
// after every burst; a burst is short of the driver's queue, and the queue is drained outside the
// clock. Prints one JSON object: nanoseconds per launch of every way in every round, and what the
// kernel stored. Exit 1 when a call fails, 2 on wrong use.

#include <cuda.h>
#include <dlfcn.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <relaunch/relaunch.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int kBurst = 100;
constexpr int kBursts = 20;
constexpr std::int32_t kStored = 1234;
constexpr const char* kSignature =
    "*i32, *fp32, *fp32, *fp32, *fp32, *fp32, *fp32, i32, i32, i32, i32, i32, i32, i32, i32, i32, "
    "i32, i32, fp32";

/// An entry of 7 pointers, 11 integers, a float and 2 pointers: *first = the first integer.
std::string kernel_text() {
  std::string text = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry probe(";
  for (int i = 0; i < 21; ++i) {
    const char* type = i < 7 || i > 18 ? ".u64" : i < 18 ? ".u32" : ".f32";
    text += std::string(i == 0 ? "" : ", ") + ".param " + type + " a" + std::to_string(i);
  }
  return text +
         ")\n{\n.reg .b64 %rd<3>;\n.reg .b32 %r<2>;\nld.param.u64 %rd1, [a0];\n"
         "cvta.to.global.u64 %rd2, %rd1;\nld.param.u32 %r1, [a7];\nst.global.u32 [%rd2], %r1;\n"
         "ret;\n}\n";
}

struct Driver {
  void* library;

  template <typename Function>
  Function* find(const char* name) const {
    void* found = dlsym(library, name);
    if (found == nullptr) throw std::runtime_error(std::string("the driver has no ") + name);
    return reinterpret_cast<Function*>(found);
  }
  /// Calls a function of the driver, which must succeed.
  template <typename Function, typename... Arguments>
  void call(const char* name, Arguments... arguments) const {
    const int status = find<Function>(name)(arguments...);
    if (status != 0) throw std::runtime_error(name + (": status " + std::to_string(status)));
  }
};

/// One way to launch: a burst of it.
struct Ways {
  const relaunch::launcher& launcher;
  decltype(&cuLaunchKernelEx) launch;
  CUfunction function;
  CUdeviceptr out;
  bool failed = false;

  void plain() {
    CUdeviceptr p = 0;
    std::int32_t n = kStored;
    float x = 1.0F;
    void* parameters[] = {&out, &p, &p, &p, &p, &p, &p, &n, &n, &n, &n,
                          &n,   &n, &n, &n, &n, &n, &n, &x, &p, &p};
    for (int i = 0; i < kBurst; ++i) {
      CUlaunchConfig config{};
      config.gridDimX = config.gridDimY = config.gridDimZ = 1;
      config.blockDimX = 128;
      config.blockDimY = config.blockDimZ = 1;
      failed |= launch(&config, function, parameters, nullptr) != CUDA_SUCCESS;
    }
  }

  void pointers() {
    CUdeviceptr p = 0;
    std::int32_t n = kStored;
    float x = 1.0F;
    void* arguments[] = {&out, &p, &p, &p, &p, &p, &p, &n, &n, &n,
                         &n,   &n, &n, &n, &n, &n, &n, &n, &x};
    for (int i = 0; i < kBurst; ++i) {
      relaunch_launch_config config{};
      config.size = sizeof config;
      config.grid[0] = config.grid[1] = config.grid[2] = 1;
      failed |= relaunch_launch(launcher.get(), &config, arguments, 19) != RELAUNCH_OK;
    }
  }

  void typed() {
    const CUdeviceptr p = 0;
    const std::int32_t n = kStored;
    for (int i = 0; i < kBurst; ++i) {
      launcher({1}, nullptr, out, p, p, p, p, p, p, n, n, n, n, n, n, n, n, n, n, n, 1.0F);
    }
  }
};

struct Way {
  const char* name;
  void (Ways::*burst)();
  std::vector<double> nanoseconds = {};  // per launch, by round
};

void measure(const Driver& driver, Ways& ways, std::vector<Way>& list, int rounds) {
  using Clock = std::chrono::steady_clock;
  for (int round = 0; round < rounds + 1; ++round) {  // the first warms up
    std::vector<double> spent(list.size());
    for (int burst = 0; burst < kBursts; ++burst) {
      for (std::size_t turn = 0; turn < list.size(); ++turn) {
        const std::size_t i = (turn + static_cast<std::size_t>(burst)) % list.size();
        const auto begin = Clock::now();
        (ways.*list[i].burst)();
        spent[i] += std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
        driver.call<decltype(cuCtxSynchronize)>("cuCtxSynchronize");
      }
    }
    if (round == 0) continue;
    for (std::size_t i = 0; i < list.size(); ++i) {
      list[i].nanoseconds.push_back(spent[i] / (kBurst * kBursts));
    }
  }
}

void print(const std::vector<Way>& list, std::int32_t stored) {
  std::printf("{\"stored\": %d", stored);
  for (const Way& way : list) {
    std::printf(", \"%s\": [", way.name);
    for (std::size_t i = 0; i < way.nanoseconds.size(); ++i) {
      std::printf("%s%.1f", i == 0 ? "" : ", ", way.nanoseconds[i]);
    }
    std::printf("]");
  }
  std::printf("}\n");
}

int run(const char* path, int rounds) {
  const Driver driver{dlopen(path, RTLD_NOW)};
  if (driver.library == nullptr) throw std::runtime_error(dlerror());
  driver.call<decltype(cuInit)>("cuInit", 0);
  const relaunch::launcher launcher(
      kSignature, {.dialect = "triton-3.6-cuda", .name = "probe", .driver = path});
  launcher.ensure_context();
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr out = 0;
  driver.call<decltype(cuModuleLoadData)>("cuModuleLoadData", &module, kernel_text().c_str());
  driver.call<decltype(cuModuleGetFunction)>("cuModuleGetFunction", &function, module, "probe");
  driver.call<CUresult(CUdeviceptr*, std::size_t)>("cuMemAlloc_v2", &out, sizeof kStored);

  const relaunch::launcher bound(
      kSignature,
      {.dialect = "triton-3.6-cuda", .name = "probe", .driver = path, .function = function});
  const CUdeviceptr p = 0;
  bound({1}, nullptr, out, p, p, p, p, p, p, kStored, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1.0F);
  std::int32_t stored = 0;
  driver.call<CUresult(void*, CUdeviceptr, std::size_t)>(
      "cuMemcpyDtoH_v2", static_cast<void*>(&stored), out, sizeof stored);

  Ways ways{bound, driver.find<decltype(cuLaunchKernelEx)>("cuLaunchKernelEx"), function, out};
  std::vector<Way> list = {
      {"plain", &Ways::plain}, {"pointers", &Ways::pointers}, {"typed", &Ways::typed}};
  measure(driver, ways, list, rounds);
  print(list, stored);
  return ways.failed ? 1 : 0;
}

}  // namespace

int main(int count, char** words) {
  const int rounds = count == 3 ? std::atoi(words[2]) : 0;
  if (rounds < 1) {
    std::fprintf(stderr, "usage: capi_rounds DRIVER ROUNDS\n");
    return 2;
  }
  try {
    return run(words[1], rounds);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "capi_rounds: %s\n", error.what());
    return 1;
  }
}
