// Many calls of one signature, each given to both launchers in this process and compared.
#ifndef RELAUNCH_DIFFERENTIAL_NATIVE_DUEL_HPP
#define RELAUNCH_DIFFERENTIAL_NATIVE_DUEL_HPP

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "differential/native/halves.hpp"
#include "differential/native/model.hpp"
#include "differential/native/objects.hpp"
#include "differential/native/sampler.hpp"

namespace relaunch::differential {

/// The entry points of a loaded recording driver (recorder/control.h), by their addresses.
struct RecorderCalls {
  explicit RecorderCalls(const pybind11::dict& addresses);

  void (*reset)();
  void (*set_slots)(const std::uint32_t* bytes, std::size_t count);
  void (*fail)(const char* function, std::uint32_t nth, int status);
  void (*no_context)();
  Note note;
  const char* (*events)();
};

/// What is known of a duel when its process has died: shared memory, written as it goes. Python's
/// side (volume.py) has the same layout.
struct Progress {
  std::uint64_t number;  // of the case in work
  double began;          // when, in seconds of the monotonic clock; 0.0: no case is in work
  std::uint64_t launches;
  std::uint64_t rejections;
  std::uint64_t nothing;
  std::uint64_t rewritten;   // other than legacy, in halves alone, as the list wants
  std::uint64_t left;        // entries of `open`
  std::uint32_t open[4096];  // numbers of the cases that are left to be judged, from the first one
};
static_assert(sizeof(Progress) == 7 * 8 + 4096 * 4);

class Duel {
 public:
  /// `legacy`: the generated launcher, None where there is none. `prefix`: the names of its
  /// arguments before kernel_metadata. `ours`: gives the precompiled launcher for the options in a
  /// call, None where it cannot be compared. `halves`: what legacy passes as C floats, and ours as
  /// the list wants; empty where there is nothing of the kind.
  struct Launchers {
    pybind11::object legacy;
    std::vector<std::string> prefix;
    pybind11::object ours;
    pybind11::object launch_metadata;
    std::vector<Half> halves;
    std::shared_ptr<const Model> model;  // judges where there is no legacy launcher; may be null
  };

  Duel(Sampler& sampler, const Objects& objects, Launchers launchers,
       std::vector<std::uint32_t> slots, const RecorderCalls& recorder);

  /// Runs the cases from `progress.number` to `end` - 1, at most 4096. A case for which an entry of
  /// the divergence list may hold is not run, and is left open like one in which launchers differ.
  void run(Progress& progress, std::uint64_t end);

  /// What one launcher does with a call: (the events' JSON, the exception or None). None where that
  /// launcher cannot be compared.
  pybind11::object outcome(const pybind11::dict& call, bool legacy);

 private:
  static constexpr std::size_t kOptions = 5;  // members of a call that our launcher is made with

  struct Outcome {
    std::string events;
    pybind11::object error;  // the exception's type; None: there is none

    bool operator==(const Outcome& other) const {
      return error.is(other.error) && events == other.events;
    }
  };
  struct Inputs {
    std::vector<pybind11::object> kept;
    std::vector<PyObject*> legacy;
    std::vector<PyObject*> ours;
    std::size_t before = 0;  // of ours that are in front of the kernel's arguments
  };
  struct Prefix {
    std::size_t place;  // among the first arguments of ours, if it is one of those
    pybind11::object name;
  };
  enum class Verdict { kLaunched, kRejected, kNothing, kRewritten, kOpen };

  Verdict compare(const pybind11::dict& call);
  Verdict compare_with_model(const pybind11::dict& call, PyObject* ours);
  static Verdict alike(const std::string& events, bool raised);
  std::optional<Outcome> wanted_of(const Outcome& was, const Inputs& inputs) const;
  Inputs inputs_of(PyObject* call) const;
  Outcome launch(PyObject* launcher, const std::vector<PyObject*>& arguments, PyObject* call,
                 pybind11::object* error = nullptr);
  void set_up(PyObject* call);
  pybind11::object launcher_for(const pybind11::dict& call);
  PyObject* hook_of(PyObject* word, int hook) const;
  pybind11::object handle_of(PyObject* given) const;
  pybind11::object metadata_of(PyObject* call) const;

  Sampler& sampler_;
  const Objects& objects_;
  Launchers launchers_;
  std::vector<std::uint32_t> slots_;
  const RecorderCalls& recorder_;
  std::vector<Prefix> prefix_;
  pybind11::object hooks_[2][3];
  pybind11::object last_options_[kOptions];
  pybind11::object last_launcher_;
};

}  // namespace relaunch::differential

#endif
