#ifndef RELAUNCH_DIFFERENTIAL_NATIVE_RANDOM_HPP
#define RELAUNCH_DIFFERENTIAL_NATIVE_RANDOM_HPP

#include <cstdint>

namespace relaunch::differential {

/// Mixes all bits of a number: the output function of SplitMix64.
constexpr std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

/// SplitMix64: the same numbers on every machine. One generator per case, made from a key and the
/// case's number, so that any case can be drawn without those before it.
class Random {
 public:
  Random(std::uint64_t key, std::uint64_t number) : state_(mixed(key ^ mixed(number + kStep))) {}

  std::uint64_t bits() { return mixed(state_ += kStep); }
  /// 0 to count - 1; `count` must not be 0. The bias is below count / 2^64.
  std::uint64_t below(std::uint64_t count) { return bits() % count; }
  /// 0.0 to 1.0, the latter excluded.
  double real() { return static_cast<double>(bits() >> 11U) * 0x1p-53; }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15U;
  std::uint64_t state_;
};

}  // namespace relaunch::differential

#endif
