#ifndef RELAUNCH_DIFFERENTIAL_RECORDER_CUDA_IMAGE_HPP
#define RELAUNCH_DIFFERENTIAL_RECORDER_CUDA_IMAGE_HPP

#include <cstddef>
#include <optional>

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
/// The function that is asked about from now on; false where a cubin is loaded that lacks it.
bool choose_function(const char* name);
/// Whether a table is known, of a function of a cubin.
bool knows_parameters();
/// The parameter, nothing behind the last one.
std::optional<ParameterPlace> parameter(std::size_t index);

}  // namespace relaunch::recorder

#endif
