# Warnings are errors in our own builds; -DRELAUNCH_WERROR=OFF is for compilers we have not met.
option(RELAUNCH_WERROR "Treat warnings as errors" ON)
add_library(relaunch_warnings INTERFACE)
target_compile_options(relaunch_warnings INTERFACE -Wall -Wextra
  $<$<BOOL:${RELAUNCH_WERROR}>:-Werror>)
# g++ 12 sees overlapping copies in `"text" + std::string(...)` where there are none (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(relaunch_warnings INTERFACE -Wno-restrict)
endif()
