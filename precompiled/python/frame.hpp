#pragma once
// Where the frame of a launch lies: on the stack, or, where it is too large or there are too many,
// on the heap.

#include <cstdint>

namespace relaunch {

/// A data_ptr() or hook may launch again, as deep as Python's recursion limit of 1000 lets it, on a
/// stack of 8 MiB: frames up to the first size fit that often. Larger ones are on the stacks of all
/// threads together only so many times, and otherwise on the heap. 256 parameters of 8 bytes, each
/// in a tuple of its own, need half of the second size.
inline constexpr std::uint32_t kSmallFrame = 6400;
inline constexpr std::uint32_t kLargestStackFrame = 16 * 1024;
inline constexpr int kMostLargeFrames = 64;

/// One of the large frames that are on stacks now. Under the GIL.
class LargeFrame {
 public:
  LargeFrame() noexcept { ++count_; }
  LargeFrame(const LargeFrame&) = delete;
  LargeFrame& operator=(const LargeFrame&) = delete;
  ~LargeFrame() { --count_; }
  static bool is_allowed() noexcept { return count_ < kMostLargeFrames; }

 private:
  static inline int count_ = 0;
};

}  // namespace relaunch
