# The Python tests with extensions built under a sanitizer, sourced by tools/steps.sh. Python itself is as it is: the
# sanitizer's runtime is loaded before it.

python_parts="_core _native relaunch-migrate relaunch_recorder_cuda relaunch_recorder_hip relaunch_hip_on_cuda"

# sanitized_python PRESET: makes build/PRESET/python, an environment with the packages of .venv and relaunch as that
# preset builds it.
sanitized_python() {
  local preset=$1 environment=build/$1/python site folder
  # shellcheck disable=SC2086 # targets are words
  configure "$preset" && cmake --build --preset "$preset" --target $python_parts \
    --parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" | tail -n 1 || return
  rm -rf "$environment"
  .venv/bin/python -m venv --without-pip "$environment" || return
  site=$(site_of "$environment")
  # A folder named here is searched, but its own .pth files, which lead to the plain build, are not read.
  { site_of .venv && echo "import sanitized_import"; } >"$site/relaunch.pth"
  ln -s "$root/tools/sanitized_import.py" "$site/"
  mkdir "$site/relaunch"
  cp -rs "$root/relaunch/." "$site/relaunch/"
  for folder in generator differential audit kernels; do cp -rs "$root/$folder" "$site/relaunch/"; done
  cmake --install "build/$preset" --component Unspecified --prefix "$site" >/dev/null
}

site_of() { "$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }

# under_sanitizer PRESET LIBRARIES ARGS...: Python of that environment with runtime libraries of the compiler loaded
# before all others. The file that runs is the interpreter itself: a version manager's stand-in, or any script, would
# be what the runtime is loaded into, and could start another.
under_sanitizer() {
  local preset=$1 name interpreter=build/$1/python/bin/python libraries=()
  for name in $2; do libraries+=("$("${CXX:-g++}" -print-file-name="$name")"); done # a path stays what it is
  shift 2
  if [ "$(head -c 4 "$(readlink -f "$interpreter")" | tail -c 3)" != ELF ]; then
    say "$(readlink -f "$interpreter") is no program but a script"
    return 2
  fi
  LD_PRELOAD="${libraries[*]}" "$interpreter" "$@"
}

# Leaks are not looked for: what Python keeps until its process ends looks like one. tests/**/test_*_leaks.py count
# what launches leave behind. SIGSEGV and SIGABRT stay signals: that a worker dies of them is a result of tests.
# Objects of Python come from malloc, so that their bounds are known.
asan_python() {
  ASAN_OPTIONS=detect_leaks=0:handle_segv=0:handle_abort=0:log_path=$root/build/asan-python/reports/python \
    UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 UNDEFINED_REPORTS=$root/build/asan-python/reports \
    PYTHONMALLOC=malloc \
    under_sanitizer asan-python "libasan.so $root/build/asan-python/undefined_reports.so libubsan.so" "$@"
}

# Python's lock is a mutex and a condition of pthreads, so what one thread did with it held is known to come before what
# the next does. A child of fork goes on as it would without a sanitizer.
tsan_python() {
  TSAN_OPTIONS=halt_on_error=1:die_after_fork=0:log_path=$root/build/tsan/reports/python PYTHONMALLOC=malloc \
    under_sanitizer tsan libtsan.so "$@"
}

# tested_under PRESET ARGS...: pytest under that sanitizer. What it reported is shown at the end: pytest keeps what a
# process that dies has written.
tested_under() {
  local preset=$1 status=0
  shift
  rm -rf "build/$preset/reports" && mkdir "build/$preset/reports" || return
  "${preset%-python}_python" -m pytest -n 2 --dist=loadgroup "$@" || status=1
  if [ -n "$(ls "build/$preset/reports")" ]; then
    cat "build/$preset/reports"/*
    status=1
  fi
  return "$status"
}

# What packs arguments and launches, reads binaries and signatures, records, draws and compares.
asan_tests=(tests/python/launcher tests/python/test_recorder{,_pool,_reset}.py tests/python/test_verify.py
  tests/python/migrate tests/python/capi tests/reports tests/golden/test_precompiled.py
  tests/differential/test_{volume,sampler,marks,variadic}.py)

step_asan-python() {
  sanitized_python asan-python && sees_what_is_undefined || return
  (($#)) || set -- "${asan_tests[@]}"
  tested_under asan-python -m "not plain_build" "$@"
}

# A shift that is undefined, in a process whose standard error nobody reads: without a report a run would report nothing.
sees_what_is_undefined() {
  local folder=build/asan-python
  mkdir -p "$folder/reports"
  "${CC:-gcc}" -O1 -shared -fPIC tools/undefined_reports.c -o "$folder/undefined_reports.so" &&
    echo 'int shifted(int by) { return 1 << by; }' >"$folder/shift.c" &&
    "${CC:-gcc}" -g -fsanitize=undefined -shared -fPIC "$folder/shift.c" -o "$folder/shift.so" || return
  asan_python -c "import ctypes; ctypes.CDLL('$folder/shift.so').shifted(40)" 2>/dev/null
  grep -q "shift.c:1:.*undefined: Shift exponent 40" "$folder/reports"/undefined* && rm -rf "$folder/reports" ||
    { say "a shift that is undefined was not reported" && return 1; }
}

tsan_tests=(tests/python/launcher tests/python/test_recorder.py tests/reports)

step_tsan-python() {
  sanitized_python tsan && sees_races || return
  (($#)) || set -- "${tsan_tests[@]}"
  tested_under tsan -m "threads and not plain_build" "$@"
}

# Two threads of Python add to one number without its lock, the second long before the first has ended: a run that does
# not report that would report nothing.
sees_races() {
  local folder=build/tsan/race
  mkdir -p "$folder" build/tsan/reports
  echo 'volatile int counted; void count(void) { for (int i = 0; i < 20000000; ++i) ++counted; }' >"$folder/race.c" &&
    "${CC:-gcc}" -O1 -g -fsanitize=thread -shared -fPIC "$folder/race.c" -o "$folder/race.so" || return
  tsan_python -c "
import ctypes, threading
count = ctypes.CDLL('$folder/race.so').count
threads = [threading.Thread(target=count) for _ in range(2)]
for one in threads: one.start()
for one in threads: one.join()
" && say "a race that was put there was not reported" && return 1
  grep -q "data race .*race.c" build/tsan/reports/python* && rm -rf build/tsan/reports
}
