// `relaunch-migrate`: the command `relaunch migrate` without Python.

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "migrate/session.hpp"

namespace {

using relaunch::migrate::Session;

/// A file that stays open for as long as its bytes are read.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ > 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

void read_file(Session& session, const std::string& name) {
  const bool standard = name == "-";
  const std::string shown = standard ? "<stdin>" : relaunch::migrate::shown_path(name);
  const Descriptor file(standard ? 0 : open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) return session.unreadable(shown, std::strerror(errno));
  const auto bytes = [&file](char* into, std::size_t most) {
    while (true) {
      const ssize_t count = read(file.number(), into, most);
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) throw std::system_error(errno, std::generic_category());
    }
  };
  try {
    session.read(bytes, shown);
  } catch (const std::system_error& error) {
    session.unreadable(shown, std::strerror(error.code().value()));
  }
}

std::string joined(const std::vector<std::string_view>& words) {
  std::string out;
  for (const std::string_view word : words) {
    out += (out.empty() ? "" : ", ") + std::string(word);
  }
  return out;
}

/// Mends a file, or standard input, of which nothing else is read meanwhile.
void fix_file(Session& session, const std::string& name) {
  if (name != "-") return session.fix_file(name);
  std::string reason;
  const auto input = relaunch::migrate::Snapshot::of("/dev/stdin", reason);
  if (!input) return session.unreadable("<stdin>", reason);
  session.fix_input(input->bytes());
}

relaunch::migrate::Streams standard_streams() {
  const auto write = [](std::FILE* stream) {
    return [stream](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stream); };
  };
  const auto flush = [] {
    return std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::fflush(stderr) == 0 &&
           std::ferror(stderr) == 0;
  };
  return {write(stdout), write(stderr), write(stdout), write(stderr), flush};
}

int run(int count, char** arguments) {
  using namespace relaunch::migrate;
  CLI::App app{"Read signatures and say what they are.", "relaunch-migrate"};
  app.footer(
      "Exit 0: all were read. 1: at least one has an error, or --diff has shown a change. 2: wrong "
      "usage, or a file that cannot be read or rewritten.");
  std::vector<std::string> files;
  std::string form = "auto";
  std::string emit;
  bool json = false;
  bool fixes = false;
  bool shows = false;
  app.add_option("FILE", files, "Files with signatures; - reads standard input.")->required();
  app.add_option("--form", form, "How they are written: " + joined(form_names()) + ".");
  app.add_flag("--json", json, "One JSON object a line: the same as --emit json.");
  app.add_option("--emit", emit,
                 "What to write instead of a report: " + joined(emitted_names()) + ".");
  app.add_flag(
      "--fix", fixes,
      "Show what can be mended safely as a diff, and rewrite the files so; of - the mended "
      "text goes to standard output.");
  app.add_flag("--diff", shows, "Show what --fix would change, and change nothing.");
  try {
    app.parse(count, arguments);
    const std::vector<std::string_view> emitted = emitted_names();
    if (!find_form(form)) {
      throw CLI::ValidationError(
          "--form", "no reader for '" + form + "': the forms read are " + joined(form_names()));
    }
    if (!emit.empty() && std::find(emitted.begin(), emitted.end(), emit) == emitted.end()) {
      throw CLI::ValidationError("--emit",
                                 "no writer for '" + emit + "': written are " + joined(emitted));
    }
    if (json && !emit.empty() && emit != "json") {
      throw CLI::ValidationError("--json", "excludes --emit " + emit);
    }
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const Fixing fixing = shows ? Fixing::show : fixes ? Fixing::apply : Fixing::none;
  if (fixing != Fixing::none) std::signal(SIGXFSZ, SIG_IGN);  // a write that fails says so
  Session session(*find_form(form), json ? "json" : emit, standard_streams(), fixing);
  for (const std::string& name : files) {
    fixing == Fixing::none ? read_file(session, name) : fix_file(session, name);
  }
  const int status = session.finish();
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fprintf(stderr, "relaunch-migrate: standard output: %s\n", std::strerror(errno));
    return 2;
  }
  return status;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "relaunch-migrate: %s\n", error.what());
    return 2;
  }
}
