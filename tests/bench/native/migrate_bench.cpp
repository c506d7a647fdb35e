// How fast signatures are read, on one core: comma text, Inductor's files, TTIR headers.

#include <benchmark/benchmark.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "migrate/source.hpp"

namespace relaunch::migrate {
namespace {

std::string content(const std::filesystem::path& path) {
  std::ifstream file(std::filesystem::path(RELAUNCH_SOURCE_DIR) / path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The texts of the repository's signatures that are read as one form.
std::vector<std::string> texts(Form form) {
  std::vector<std::string> out;
  for (const Signature& one :
       read_signatures(content("tests/signatures/signatures.jsonl"), "f", Form::automatic)) {
    if (one.parsed.ok() && one.parsed.form == form) out.push_back(one.parsed.tree.text);
  }
  return out;
}

void read_file(benchmark::State& state, const std::string& bytes, Form form) {
  std::size_t signatures = 0;
  for (auto _ : state) {
    SignatureReader reader(bytes, "f", form);
    while (const auto one = reader.next()) {
      if (!one->parsed.ok()) state.SkipWithError("a signature is not read");
      ++signatures;
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(signatures));
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes.size() * state.iterations()));
}

/// The canonical lines of the repository's signatures: of those that are comma text, or of all.
std::string lines(bool all) {
  std::string out;
  for (const Signature& one :
       read_signatures(content("tests/signatures/signatures.jsonl"), "f", Form::automatic)) {
    const bool comma = one.parsed.form == Form::csv || one.parsed.form == Form::aot;
    if (one.parsed.ok() && (all || comma)) {
      out += dump(one.parsed.tree);
      out += '\n';
    }
  }
  return out;
}

void CommaText(benchmark::State& state) { read_file(state, lines(false), Form::csv); }
BENCHMARK(CommaText);

/// Those of all forms have names and values, and twice the parameters.
void CanonicalLines(benchmark::State& state) { read_file(state, lines(true), Form::csv); }
BENCHMARK(CanonicalLines);

/// TTIR headers alone, each as long as it is in the repository's signatures.
void TtirHeaders(benchmark::State& state) {
  std::string bytes = "module {\n";
  for (const std::string& text : texts(Form::ttir)) {
    bytes += "  tt.func public @kernel(" + text + ") {\n    tt.return\n  }\n";
  }
  read_file(state, bytes + "}\n", Form::ttir);
}
BENCHMARK(TtirHeaders);

/// Inductor's file of the samples, as often as makes a large file, and with a kernel's body.
void InductorFiles(benchmark::State& state) {
  const std::string one = content("tests/python/migrate/samples/inductor_2_7.py.txt");
  std::string body;
  for (int i = 0; i < 120; ++i) body += "    tmp0 = tl.load(in_ptr0 + x0, xmask)\n";
  std::string bytes;
  for (int i = 0; i < 100; ++i) {
    bytes += one;
    bytes += body;
  }
  read_file(state, bytes, Form::automatic);
}
BENCHMARK(InductorFiles);

}  // namespace
}  // namespace relaunch::migrate
