# The Python tests with extensions built under a sanitizer, sourced by tools/steps.sh. Python itself is as it is: the
# sanitizer's runtime is loaded before it.

python_parts="_core _native relaunch_recorder_cuda relaunch_recorder_hip relaunch_hip_on_cuda"

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
  for name in $2; do libraries+=("$("${CXX:-g++}" -print-file-name="$name")"); done
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
  ASAN_OPTIONS=detect_leaks=0:handle_segv=0:handle_abort=0:log_path=$root/build/asan/reports/python \
    UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 PYTHONMALLOC=malloc \
    under_sanitizer asan "libasan.so libubsan.so" "$@"
}

# What reads binaries and what packs arguments.
asan_tests=(tests/python/launcher/test_launcher_binary.py tests/python/launcher/test_launcher_scalars.py)

step_asan-python() {
  sanitized_python asan || return
  (($#)) || set -- "${asan_tests[@]}"
  rm -rf build/asan/reports && mkdir build/asan/reports
  asan_python .venv/bin/pytest -n 2 --dist=loadgroup -m "not plain_build" "$@" && return
  find build/asan/reports -type f -exec cat {} + # pytest keeps what a process that dies has written
  return 1
}
