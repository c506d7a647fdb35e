#pragma once

#include <vector>

namespace trial {

template <class T>
bool is_empty(const std::vector<T>& values) {
  return values.size() == 0;  // finds readability-container-size-empty
}

}  // namespace trial
