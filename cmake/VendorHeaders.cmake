# cuda.h comes from the CUDA toolkit or, without one, from the nvidia-cuda-runtime wheel of the
# Python that builds; hip_runtime_api.h from libamdhip64-dev or ROCm or, without either, from an
# installed Triton. Only their declarations are used: nothing links to either driver.
find_package(Python QUIET COMPONENTS Interpreter)

# Folders of the building Python's packages that match a pattern.
function(relaunch_package_folders pattern result)
  set(found "")
  if(Python_EXECUTABLE)
    execute_process(
      COMMAND "${Python_EXECUTABLE}" -c
        "import sys, sysconfig, pathlib
for key in ('purelib', 'platlib'):
    for folder in sorted(pathlib.Path(sysconfig.get_path(key)).glob(sys.argv[1])):
        print(folder)" "${pattern}"
      OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REPLACE "\n" ";" found "${found}")
  endif()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

relaunch_package_folders("nvidia/*/include" wheel_cuda_dirs)
find_path(RELAUNCH_CUDA_INCLUDE_DIR cuda.h
  HINTS ENV CUDA_HOME PATHS ${wheel_cuda_dirs} /usr/local/cuda PATH_SUFFIXES include NO_CACHE)
if(NOT RELAUNCH_CUDA_INCLUDE_DIR)
  message(FATAL_ERROR "cuda.h not found: install the nvidia-cuda-runtime wheel or a CUDA toolkit")
endif()
relaunch_package_folders("triton/backends/amd/include" wheel_hip_dirs)
find_path(RELAUNCH_HIP_INCLUDE_DIR hip/hip_runtime_api.h
  HINTS ENV ROCM_PATH PATHS /opt/rocm ${wheel_hip_dirs} PATH_SUFFIXES include NO_CACHE)
if(NOT RELAUNCH_HIP_INCLUDE_DIR)
  message(FATAL_ERROR "hip/hip_runtime_api.h not found: install libamdhip64-dev, ROCm or Triton")
endif()
add_library(relaunch_cuda_headers INTERFACE)
target_include_directories(relaunch_cuda_headers SYSTEM INTERFACE "${RELAUNCH_CUDA_INCLUDE_DIR}")
add_library(relaunch_hip_headers INTERFACE)
target_include_directories(relaunch_hip_headers SYSTEM INTERFACE "${RELAUNCH_HIP_INCLUDE_DIR}")
target_compile_definitions(relaunch_hip_headers INTERFACE __HIP_PLATFORM_AMD__ __HIP_PLATFORM_HCC__)
