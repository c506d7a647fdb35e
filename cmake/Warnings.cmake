# Warnings are errors in our own builds; -DRELAUNCH_WERROR=OFF is for compilers we have not met.
option(RELAUNCH_WERROR "Treat warnings as errors" ON)
add_library(relaunch_warnings INTERFACE)
target_compile_options(relaunch_warnings INTERFACE -Wall -Wextra
  $<$<BOOL:${RELAUNCH_WERROR}>:-Werror>)
