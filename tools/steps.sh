# The steps of `./run test`, sourced by `run` at the repository root after set-up. Each step is a
# function step_NAME; `run_steps NAME...` runs them all, even after a failure, and then exits 1 if
# one failed.

. tools/sanitizers.sh

all_steps=(format ruff mypy unit asan threads fuzz tidy pytest mutants)

cpp_sources() {
  find precompiled migrate capi differential kernels tests tools relaunch \
    \( -name '*.cpp' -o -name '*.hpp' -o -name '*.h' -o -name '*.c' -o -name '*.def' \
    -o -name '*.cu' -o -name '*.hip' \) -type f -print0 2>/dev/null | sort -z
}

step_format() { cpp_sources | xargs -0 clang-format-19 --dry-run --Werror; }

step_ruff() {
  .venv/bin/ruff check . && .venv/bin/ruff format --check .
}

# mypy reads the package as it is installed: a folder of links under build/typed.
step_mypy() {
  local entry
  rm -rf build/typed
  mkdir -p build/typed/relaunch
  for entry in relaunch/*; do ln -s "$root/$entry" build/typed/relaunch/; done
  ln -s "$root/generator" "$root/differential" "$root/audit" "$root/kernels" build/typed/relaunch/
  export MYPYPATH=build/typed:tests/bench:tests/python/memory # whose programs import their neighbours
  .venv/bin/mypy --strict build/typed/relaunch &&
    .venv/bin/mypy --strict --explicit-package-bases tools tests
}

# configure PRESET [ARGS...]: ARGS go to cmake.
configure() { PATH="$root/.venv/bin:$PATH" cmake --preset "$@" >"build/configure-$1.log" 2>&1 ||
  { cat "build/configure-$1.log" && return 1; }; }

# build_and_run PRESET TARGETS [ARGS...]: builds the test programs and runs them; ARGS go to ctest.
build_and_run() {
  local preset=$1 targets=$2 jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
  shift 2
  # shellcheck disable=SC2086 # targets are words
  configure "$preset" &&
    cmake --build --preset "$preset" --target $targets --parallel "$jobs" &&
    ctest --preset "$preset" --parallel "$jobs" "$@" | grep -v -E '^ *(Start +)?[0-9/]+ .*Passed|^ +Start '
}

unit_programs="relaunch_unit_tests relaunch_thread_tests"
step_unit() { build_and_run release "$unit_programs" "$@"; }
step_asan() { build_and_run asan "$unit_programs" "$@"; }
step_tsan() { build_and_run tsan "$unit_programs" "$@"; }

# Only the tests that have threads, under ThreadSanitizer.
step_threads() { build_and_run tsan relaunch_thread_tests --tests-regex '^Threads\.' "$@"; }

# Each fuzz target for a few seconds; `./run fuzz --seconds 60 cubin` for longer, and for some.
step_fuzz() {
  configure asan &&
    cmake --build --preset asan --target relaunch_fuzzers --parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" |
    tail -n 2 &&
    .venv/bin/python tools/fuzz.py build/asan --jobs 0 "$@"
}

# Of the preset without a precompiled header: every source is read as it stands.
step_tidy() {
  configure debug -DRELAUNCH_BUILD_TIDY_PLUGIN=ON &&
    cmake --build --preset debug --target relaunch_own_declarations | tail -n 1 &&
    .venv/bin/python tools/tidy.py build/debug
}

# Device tests have a process of their own: the others load the recording drivers into theirs.
step_pytest() {
  if (($# == 0)); then
    .venv/bin/python -m pytest tests/device || return
    set -- --ignore=tests/device
  fi
  .venv/bin/python -m pytest -n 2 --dist=loadgroup "$@"
}

# A few seeded faults; `./run mutants` tries all of them.
step_mutants() { .venv/bin/python -m tools.mutants --quick; }

run_native_benchmarks() {
  configure release -DRELAUNCH_BUILD_BENCHMARKS=ON &&
    cmake --build --preset release --target relaunch_benchmarks --parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" |
    tail -n 1 &&
    build/release/tests/bench/native/relaunch_benchmarks "$@"
}

run_steps() {
  local name begin status failed=0 total=$SECONDS results=()
  for name in "$@"; do
    if ! declare -F "step_$name" >/dev/null; then
      say "no step '$name'; there are: ${all_steps[*]} tsan asan-python tsan-python"
      exit 2
    fi
  done
  for name in "$@"; do
    printf '\n== %s\n' "$name"
    begin=$SECONDS status=0
    "step_$name" </dev/null || status=$?
    if ((status == 0)); then
      results+=("$(printf '%-8s ok      %4d s' "$name" $((SECONDS - begin)))")
    else
      results+=("$(printf '%-8s FAILED  %4d s' "$name" $((SECONDS - begin)))")
      failed=1
    fi
    printf -- '-- %s\n' "${results[-1]}"
  done
  printf '\n== summary\n'
  printf '%s\n' "${results[@]}"
  printf '%-8s %s  %4d s\n' all "$( ((failed)) && echo FAILED || echo 'ok    ')" $((SECONDS - total))
  return "$failed"
}
