#ifndef RELAUNCH_DIFFERENTIAL_RECORDER_CUDA_IMAGE_HPP
#define RELAUNCH_DIFFERENTIAL_RECORDER_CUDA_IMAGE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace relaunch::recorder {

struct ParameterPlace {
  std::size_t offset;
  std::size_t size;
};

/// Remembers a module's image, where it is a cubin, in place of the one before. As a driver does,
/// it trusts the caller that the image is whole: its length is given nowhere.
void load_image(const void* image);
/// Forgets image and function: no table is known.
void forget_image();
/// What the handle stands for from now on; false where a cubin is loaded that lacks the function.
bool choose_function(const char* name, std::uint64_t handle);
/// Whether a table is known, of a function of a cubin.
bool knows_parameters(std::uint64_t handle);
/// The parameter, nothing behind the last one.
std::optional<ParameterPlace> parameter(std::uint64_t handle, std::size_t index);
/// Bytes of every parameter.
std::vector<std::uint32_t> parameter_sizes(std::uint64_t handle);

}  // namespace relaunch::recorder

#endif
