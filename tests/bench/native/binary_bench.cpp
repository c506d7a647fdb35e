// Verifying compiled kernels that lie in memory: read the table, make the plan, compare. The goal
// is 20,000 cubins a second on one core.

#include <benchmark/benchmark.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "migrate/parse.hpp"
#include "precompiled/binary/read.hpp"
#include "precompiled/binary/verify.hpp"

namespace relaunch::binary {
namespace {

/// Signatures of the kernels of tests/binaries that a dialect of 3.6 launches.
struct Declared {
  const char* kernel;
  const char* signature;
};
constexpr Declared kDeclared[] = {
    {"add", "*fp32, *fp32, *fp32, i32, constexpr"},
    {"scalars", "*fp64, i8, u8, i16, u16, i32, u32, i64, u64, fp16, fp32, fp64, u1"},
    {"matmul",
     "*fp16, *fp16, *fp16, i32, i32, i32, i64, constexpr, i32, constexpr, i32, constexpr, fp32, "
     "constexpr, constexpr, constexpr"},
    {"pair", "(*fp32, (*fp32, fp32)), i32, constexpr"},
    {"desc_copy", "tensordesc<fp16[64, 64]>, tensordesc<fp16[64, 64]>, constexpr, constexpr"},
};

struct Case {
  std::string content;
  Tree tree;
};

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("no file " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

/// `copies` of each kernel of 3.6.0, so that together they need not fit a cache.
std::vector<Case> cases_of(const std::string& ending, std::size_t copies) {
  const std::filesystem::path folder =
      std::filesystem::path(RELAUNCH_SOURCE_DIR) / "tests/binaries";
  std::vector<Case> out;
  for (std::size_t i = 0; i < copies; ++i) {
    for (const Declared& each : kDeclared) {
      out.push_back({read_file(folder / (std::string(each.kernel) + "-3.6.0-" + ending)),
                     migrate::parse(each.signature).tree});
    }
  }
  return out;
}

void run(benchmark::State& state, const std::string& ending, const char* dialect_name) {
  const std::vector<Case> cases = cases_of(ending, 400);
  const Dialect& dialect = *find_dialect(dialect_name);
  std::size_t next = 0;
  std::size_t bytes = 0;
  for (auto _ : state) {
    const Case& each = cases[next];
    next = next + 1 == cases.size() ? 0 : next + 1;
    const auto kernels = read_kernels(std::as_bytes(std::span(each.content)));
    const Verification found = verify(each.tree, dialect, find_kernel(kernels, ""), {});
    if (!found.fits()) state.SkipWithError("a kernel does not fit its signature");
    bytes += each.content.size();
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}

void VerifyCubins(benchmark::State& state) { run(state, "sm90.cubin", "triton-3.6-cuda"); }
void VerifyPtx(benchmark::State& state) { run(state, "sm90.ptx", "triton-3.6-cuda"); }
void VerifyCodeObjects(benchmark::State& state) { run(state, "gfx942.hsaco", "triton-3.6-hip"); }
void VerifyAmdAssembly(benchmark::State& state) { run(state, "gfx942.amdgcn", "triton-3.6-hip"); }
BENCHMARK(VerifyCubins);
BENCHMARK(VerifyPtx);
BENCHMARK(VerifyCodeObjects);
BENCHMARK(VerifyAmdAssembly);

/// The reading alone: what is left is the plan and the comparison.
void ReadCubins(benchmark::State& state) {
  const std::vector<Case> cases = cases_of("sm90.cubin", 400);
  std::size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(read_kernels(std::as_bytes(std::span(cases[next].content))));
    next = next + 1 == cases.size() ? 0 : next + 1;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(ReadCubins);

}  // namespace
}  // namespace relaunch::binary
