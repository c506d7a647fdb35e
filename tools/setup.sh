# Set-up on demand, sourced by `run` at the repository root. `set_up GROUP...` brings the system
# packages of the groups (build, test, bench, pages), the Python environment .venv and the extensions up
# to date; each part is skipped when a stamp says that what it was made from has not changed.
# Progress goes to stderr: stdout belongs to the job.

say() { printf 'relaunch: %s\n' "$*" >&2; }

# A stamp FILE holds the key of what was last made; `current FILE KEY` is true while it still holds.
current() { [ -f "$1" ] && [ "$(<"$1")" = "$2" ]; }

digest() { sha256sum | cut -c 1-32; }

# with_progress TITLE COMMAND...: the output goes to a log; a line every 15 s shows that it lives,
# and a failure shows the end of the log.
with_progress() {
  local title=$1 log begin=$SECONDS pid status=0 next=15
  shift
  mkdir -p build/logs
  log=build/logs/${title//[^a-zA-Z0-9]/-}.log
  say "$title ..."
  "$@" >"$log" 2>&1 </dev/null &
  pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.2
    if ((SECONDS - begin >= next)); then
      say "  $((SECONDS - begin)) s: $(tail -n 1 "$log" | tr -d '\r' | cut -c 1-100)"
      next=$((SECONDS - begin + 15))
    fi
  done
  wait "$pid" || status=$?
  if ((status != 0)); then
    say "$title failed (status $status); the end of $log:"
    tail -n 40 "$log" >&2
    return "$status"
  fi
  say "$title: done in $((SECONDS - begin)) s"
}

# --- System packages -----------------------------------------------------------------------------

newer_or_equal() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

has_command() { command -v "$1" >/dev/null 2>&1; }

has_header() {
  printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$1" |
    "${CXX:-g++}" -x c++ -E -I/opt/rocm/include - >/dev/null 2>&1
}

has_compiler() {
  has_command "${CXX:-g++}" && has_command gcc &&
    newer_or_equal "$("${CXX:-g++}" -dumpfullversion -dumpversion)" 12
}

has_fuzzer() {
  has_command clang++-19 &&
    compgen -G "$(clang++-19 -print-resource-dir)/lib/*/libclang_rt.fuzzer*.a"
}

has_clang_headers() {
  local headers
  headers=$(clang++-19 -print-resource-dir)/../../../include
  [ -f "$headers/clang/Frontend/FrontendPluginRegistry.h" ] && [ -f "$headers/llvm/Support/Registry.h" ]
}

has_cmake() { has_command cmake && newer_or_equal "$(cmake --version | sed -n '1s/[^0-9]*//p')" 3.25; }

# The newest python3.N that works (a version manager may put dead stand-ins on PATH), can make
# environments and has its C headers; also a plain python3. Prints its path.
find_python() {
  local name path
  for name in python3.{20..10} python3; do
    path=$(command -v "$name") || continue
    "$path" - >/dev/null 2>&1 <<'PYTHON' || continue
import ensurepip, os, sys, sysconfig, venv
header = os.path.join(sysconfig.get_path("include"), "Python.h")
sys.exit(not (sys.version_info >= (3, 10) and os.path.exists(header)))
PYTHON
    echo "$path"
    return
  done
  return 1
}

# One line per need: group, Debian packages, how to tell that it is there, in words.
needs() {
  cat <<'TEXT'
build|g++|has_compiler|g++ 12 or newer, and gcc
build|cmake|has_cmake|CMake 3.25 or newer
build|ninja-build|has_command ninja|Ninja
build|python3-venv python3-dev|find_python|Python 3.10 or newer with venv and its C headers
build|libcli11-dev|has_header CLI/CLI.hpp|CLI11
build|libamdhip64-dev|has_header hip/hip_runtime_api.h|the HIP headers
test|libgtest-dev|has_header gtest/gtest.h|GoogleTest
test|clang-format-19|has_command clang-format-19|clang-format 19
test|clang-19|has_command clang++-19|clang 19
test|libclang-rt-19-dev|has_fuzzer|clang 19's libFuzzer and sanitizers
test|lld-19|has_command ld.lld-19|lld 19
test|clang-tidy-19|has_command clang-tidy-19|clang-tidy 19
test|libclang-19-dev llvm-19-dev|has_clang_headers|clang 19's C++ headers
bench|libbenchmark-dev|has_header benchmark/benchmark.h|Google Benchmark
bench|valgrind|has_command valgrind|valgrind
pages|chromium|has_command chromium|Chromium
TEXT
}

# Fills `packages` and `words` with what the groups lack. The compiler comes first: later probes
# need it.
find_missing() {
  local group package probe word
  packages=() words=()
  while IFS='|' read -r group package probe word; do
    [[ " $* " == *" $group "* ]] || continue
    # shellcheck disable=SC2086 # a probe and its arguments
    if ! $probe >/dev/null 2>&1 </dev/null; then
      read -r -a package <<<"$package"
      packages+=("${package[@]}")
      words+=("$word (Debian: ${package[*]})")
    fi
  done < <(needs)
}

install_packages() {
  export DEBIAN_FRONTEND=noninteractive
  apt-get -q update && apt-get -q install -y --no-install-recommends "$@"
}

set_up_system() {
  local key stamp=build/stamps/system packages words
  key="$* $(needs | digest) ${CXX:-g++}"
  current "$stamp-${*// /-}" "$key" && return
  find_missing "$@"
  if ((${#packages[@]})); then
    if [ "$(id -u)" = 0 ] && has_command apt-get; then
      with_progress "installing ${packages[*]}" install_packages "${packages[@]}" || exit 2
      find_missing "$@"
    fi
  fi
  if ((${#packages[@]})); then
    say "missing on this system:"
    printf '  %s\n' "${words[@]}" >&2
    say "as root on Debian 12: apt-get install ${packages[*]}"
    exit 2
  fi
  mkdir -p build/stamps
  printf '%s' "$key" >"$stamp-${*// /-}"
}

# --- Python environment and extensions -----------------------------------------------------------

install_python_packages() {
  .venv/bin/python -m pip install --disable-pip-version-check --progress-bar off -r requirements/dev.txt
}

set_up_environment() {
  local key python
  key="$root $(digest <requirements/dev.txt)"
  [ -x .venv/bin/python ] && current .venv/relaunch-packages "$key" && return
  if ! [ -x .venv/bin/python ] || ! current .venv/relaunch-place "$root"; then
    python=$(find_python)
    rm -rf .venv build/wheel-* build/release build/debug build/asan build/asan-python build/tsan # they name the old one
    with_progress "Python environment from $python" "$python" -m venv .venv || exit 2
    printf '%s' "$root" >.venv/relaunch-place
  fi
  with_progress "locked Python packages" install_python_packages || exit 2
  printf '%s' "$key" >.venv/relaunch-packages
}

# What the built extensions depend on: contents of C++ and CMake sources, names of Python sources.
build_inputs() {
  local folders=(cmake precompiled migrate differential generator kernels relaunch)
  cat pyproject.toml CMakeLists.txt requirements/dev.txt
  find "${folders[@]}" -name '*.py' -print0 | sort -z
  find "${folders[@]}" -type f ! -name '*.py' ! -name '*.pyc' ! -name '*.md' ! -name '*.json' \
    -print0 | sort -z | xargs -0 sha256sum
}

install_relaunch() {
  CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)} PATH="$root/.venv/bin:$PATH" \
    .venv/bin/python -m pip install --disable-pip-version-check -v --no-build-isolation --no-deps -e .
}

set_up_extensions() {
  local key
  key="$root $(build_inputs | digest)"
  current .venv/relaunch-build "$key" && return
  with_progress "building relaunch" install_relaunch || exit 1
  printf '%s' "$key" >.venv/relaunch-build
}

set_up() {
  set_up_system "$@"
  # Two jobs started at once set up one after the other.
  mkdir -p build
  if has_command flock; then
    exec 8>build/setup.lock
    flock 8
  fi
  set_up_environment
  set_up_extensions
  exec 8>&-
}
