#include "differential/recorder/answers.hpp"

#include <map>
#include <mutex>
#include <string>

namespace relaunch::recorder {

const char* error_text(int status) {
  if (status == 0) return "no error";
  if (status == kInvalidValue) return "invalid argument";
  static std::mutex mutex;
  static auto* const texts = new std::map<int, std::string>;  // nodes never move, nor does the map
  const std::lock_guard lock(mutex);
  return texts->try_emplace(status, "error " + std::to_string(status)).first->second.c_str();
}

}  // namespace relaunch::recorder
