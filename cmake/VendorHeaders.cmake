# cuda.h comes from the CUDA toolkit or, without one, from the nvidia-cuda-runtime wheel of the
# Python that builds; hip_runtime_api.h from libamdhip64-dev. Only their declarations are used:
# nothing links to either driver.
find_package(Python QUIET COMPONENTS Interpreter)
if(Python_EXECUTABLE)
  execute_process(
    COMMAND "${Python_EXECUTABLE}" -c
      "import sysconfig, pathlib
for key in ('purelib', 'platlib'):
    for header in sorted(pathlib.Path(sysconfig.get_path(key), 'nvidia').glob('*/include/cuda.h')):
        print(header.parent)"
    OUTPUT_VARIABLE wheel_cuda_dirs OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REPLACE "\n" ";" wheel_cuda_dirs "${wheel_cuda_dirs}")
endif()
find_path(RELAUNCH_CUDA_INCLUDE_DIR cuda.h
  HINTS ENV CUDA_HOME PATHS ${wheel_cuda_dirs} /usr/local/cuda PATH_SUFFIXES include NO_CACHE)
if(NOT RELAUNCH_CUDA_INCLUDE_DIR)
  message(FATAL_ERROR "cuda.h not found: install the nvidia-cuda-runtime wheel or a CUDA toolkit")
endif()
find_path(RELAUNCH_HIP_INCLUDE_DIR hip/hip_runtime_api.h HINTS ENV ROCM_PATH PATHS /opt/rocm
  PATH_SUFFIXES include NO_CACHE)
if(NOT RELAUNCH_HIP_INCLUDE_DIR)
  message(FATAL_ERROR "hip/hip_runtime_api.h not found: install libamdhip64-dev")
endif()
add_library(relaunch_cuda_headers INTERFACE)
target_include_directories(relaunch_cuda_headers SYSTEM INTERFACE "${RELAUNCH_CUDA_INCLUDE_DIR}")
add_library(relaunch_hip_headers INTERFACE)
target_include_directories(relaunch_hip_headers SYSTEM INTERFACE "${RELAUNCH_HIP_INCLUDE_DIR}")
target_compile_definitions(relaunch_hip_headers INTERFACE __HIP_PLATFORM_AMD__ __HIP_PLATFORM_HCC__)
