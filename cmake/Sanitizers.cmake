# -DRELAUNCH_SANITIZE=address,undefined builds everything with those sanitizers (presets asan, asan-python, tsan).
set(RELAUNCH_SANITIZE "" CACHE STRING "Sanitizers for every target, as -fsanitize takes them")
if(RELAUNCH_SANITIZE)
  add_compile_options(-fsanitize=${RELAUNCH_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND RELAUNCH_SANITIZE MATCHES "undefined")
    # A driver's functions are called by declarations of our own, where the driver's enumerations are int.
    add_compile_options(-fno-sanitize=function)
  endif()
  add_link_options(-fsanitize=${RELAUNCH_SANITIZE})
endif()
