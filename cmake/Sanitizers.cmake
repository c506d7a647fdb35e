# -DRELAUNCH_SANITIZE=address,undefined builds everything with those sanitizers (presets asan, tsan).
set(RELAUNCH_SANITIZE "" CACHE STRING "Sanitizers for every target, as -fsanitize takes them")
if(RELAUNCH_SANITIZE)
  add_compile_options(-fsanitize=${RELAUNCH_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${RELAUNCH_SANITIZE})
endif()
