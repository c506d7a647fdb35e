#include "differential/recorder/journal.hpp"

#include <dlfcn.h>

#include <atomic>
#include <charconv>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "differential/recorder/control.h"

namespace relaunch::recorder {
namespace {

struct Failure {
  std::string function;
  std::uint32_t calls_before;
  int status;
};

/// All that one driver remembers. Everything but the atomics is guarded by `mutex`.
struct Journal {
  std::mutex mutex;
  std::string events;  // the objects, each followed by a comma
  std::deque<std::string> handed_out;
  std::optional<std::vector<std::uint32_t>> slots;
  std::map<std::uint64_t, std::vector<std::uint32_t>> function_slots;
  std::vector<Failure> failures;
  std::map<std::uint64_t, int> allowed_shared;  // by function
  std::optional<std::string> calls;             // as `events`, where calls are listed
  std::atomic<bool> watches_calls = false;      // one may fail, or calls are listed
  std::atomic<bool> records = true;
  std::atomic<bool> own_handles = false;
  std::atomic<std::uint64_t> handles = 0;
  std::atomic<int> driver_version = 0;  // 0: the recorder's own
  std::atomic<int> static_shared = 0;
  std::atomic<std::uint64_t> initial_context = kFirstContext;
  std::atomic<std::uint64_t> generation =
      1;  // grows when the contexts of all threads are forgotten
};

Journal& journal() {
  static Journal* const kept =
      new Journal;  // never destroyed: calls may come while the process ends
  return *kept;
}

struct ThreadContext {
  std::uint64_t generation = 0;
  std::uint64_t context = 0;
};
thread_local ThreadContext thread_context;

ThreadContext& this_thread() {
  const std::uint64_t generation = journal().generation.load(std::memory_order_acquire);
  if (thread_context.generation != generation) {
    thread_context = {generation, journal().initial_context.load(std::memory_order_relaxed)};
  }
  return thread_context;
}

std::string_view without_version(std::string_view name) {
  const std::size_t at = name.rfind("_v");
  if (at == std::string_view::npos || at + 2 == name.size()) return name;
  const bool digits = name.find_first_not_of("0123456789", at + 2) == std::string_view::npos;
  return digits ? name.substr(0, at) : name;
}

/// Whether the calling thread holds Python's global lock; 0 in a process without Python.
int gil_held() {
  using Check = int (*)();
  static std::atomic<Check> found = nullptr;
  Check check = found.load(std::memory_order_relaxed);
  if (check == nullptr) {
    check = reinterpret_cast<Check>(dlsym(RTLD_DEFAULT, "PyGILState_Check"));
    found.store(check, std::memory_order_relaxed);
  }
  return check == nullptr ? 0 : check();
}

void append_bytes(std::string& text, std::span<const std::byte> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  text += '"';
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4U];
    text += kDigits[std::to_integer<unsigned>(byte) & 15U];
  }
  text += '"';
}

void append_triple(std::string& text, std::string_view name, const unsigned (&values)[3]) {
  text.append(", \"").append(name).append("\": [");
  text.append(decimal(values[0])).append(", ").append(decimal(values[1]));
  text.append(", ").append(decimal(values[2])).append("]");
}

/// The sizes set for all launches, else the function's own, else null.
const std::vector<std::uint32_t>* slots_of(const Journal& kept, std::uint64_t function) {
  if (kept.slots) return &*kept.slots;
  const auto found = kept.function_slots.find(function);
  return found == kept.function_slots.end() ? nullptr : &found->second;
}

void append_params(std::string& text, void** params, const std::vector<std::uint32_t>* slots) {
  if (slots == nullptr) {
    text += "null";
    return;
  }
  text += '[';
  for (std::size_t i = 0; params != nullptr && i < slots->size(); ++i) {
    if (i != 0) text += ", ";
    if (params[i] == nullptr) {
      text += "null";
    } else {
      append_bytes(text, {static_cast<const std::byte*>(params[i]), (*slots)[i]});
    }
  }
  text += ']';
}

/// A JSON array of items that are each followed by a comma.
const char* hand_out(Journal& kept, const std::string& items) {
  std::string& text = kept.handed_out.emplace_back("[");
  text += items;
  if (text.size() > 1) text.pop_back();
  text += ']';
  return text.c_str();
}

template <typename Integer>
std::string number(Integer value, int base) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value, base).ptr;
  return {digits, end};
}

}  // namespace

std::string hex(std::uint64_t value) { return number(value, 16); }
std::string decimal(std::int64_t value) { return number(value, 10); }

Call::Call(const char* function) : function_(without_version(function)) {
  Journal& kept = journal();
  if (!kept.watches_calls.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(kept.mutex);
  if (kept.calls) kept.calls->append("\"").append(function_).append("\",");
  for (Failure& failure : kept.failures) {
    if (failure.function == function_ && failure.calls_before-- == 0) status_ = failure.status;
  }
}

bool Call::recorded() { return journal().records.load(std::memory_order_relaxed); }

void Call::record(std::initializer_list<std::string> arguments) const {
  Journal& kept = journal();
  if (!kept.records.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(kept.mutex);
  std::string& text = kept.events;
  text.append("{\"call\": \"").append(function_).append("\", \"args\": [");
  for (const std::string& argument : arguments) {
    if (text.back() != '[') text += ", ";
    text.append("\"").append(argument).append("\"");
  }
  text += "]},";
}

void Call::record_fields(std::string_view fields) const {
  Journal& kept = journal();
  if (!kept.records.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(kept.mutex);
  kept.events.append("{\"call\": \"").append(function_).append("\", ");
  kept.events.append(fields).append("},");
}

void Call::record(const Launch& launch) const {
  Journal& kept = journal();
  if (!kept.records.load(std::memory_order_relaxed)) return;
  const int gil = gil_held();  // asked before the lock: it is Python's code
  const std::lock_guard lock(kept.mutex);
  std::string& text = kept.events;
  text.append("{\"call\": \"").append(function_).append("\"");
  append_triple(text, "grid", launch.grid);
  append_triple(text, "block", launch.block);
  text.append(", \"shared\": ").append(decimal(launch.shared_bytes));
  text.append(", \"stream\": \"0x").append(hex(launch.stream));
  text.append("\", \"function\": \"0x").append(hex(launch.function));
  text.append("\", \"gil_held\": ").append(decimal(gil));
  text.append(", \"attributes\": [");
  for (const Attribute& attribute : launch.attributes) {
    if (text.back() != '[') text += ", ";
    text.append("[").append(decimal(attribute.id)).append(", ");
    append_bytes(text, attribute.value);
    text += ']';
  }
  text += "], \"params\": ";
  append_params(text, launch.params,
                slots_of(kept, reinterpret_cast<std::uint64_t>(launch.function)));
  text += "},";
}

int static_shared() { return journal().static_shared.load(std::memory_order_relaxed); }

int allowed_shared(std::uint64_t function) {
  Journal& kept = journal();
  const std::lock_guard lock(kept.mutex);
  const auto found = kept.allowed_shared.find(function);
  return found == kept.allowed_shared.end() ? 0 : found->second;
}

void allow_shared(std::uint64_t function, int bytes) {
  Journal& kept = journal();
  const std::lock_guard lock(kept.mutex);
  kept.allowed_shared[function] = bytes;
}

std::uint64_t next_function() {
  constexpr std::uint64_t kStep = 0x10;
  Journal& kept = journal();
  return kept.own_handles ? kFunction + kStep * kept.handles++ : kFunction;
}

bool has_own_handles() { return journal().own_handles; }

void set_function_slots(std::uint64_t function, std::vector<std::uint32_t> bytes) {
  Journal& kept = journal();
  const std::lock_guard lock(kept.mutex);
  kept.function_slots[function] = std::move(bytes);
}

int driver_version(int own) {
  const int given = journal().driver_version.load(std::memory_order_relaxed);
  return given != 0 ? given : own;
}

std::uint64_t current_context() { return this_thread().context; }
void set_current_context(std::uint64_t context) { this_thread().context = context; }

}  // namespace relaunch::recorder

using relaunch::recorder::journal;

extern "C" {

void relaunch_recorder_reset(void) {
  auto& kept = journal();
  const std::lock_guard lock(kept.mutex);
  kept.events.clear();
  kept.handed_out.clear();
  kept.slots.reset();
  kept.failures.clear();
  kept.calls.reset();
  kept.watches_calls = false;
  kept.records = true;
  kept.driver_version = 0;
  kept.static_shared = 0;
  kept.allowed_shared.clear();
  kept.initial_context = relaunch::recorder::kFirstContext;
  ++kept.generation;
}

void relaunch_recorder_set_slots(const uint32_t* bytes, size_t count) {
  auto& kept = journal();
  const std::lock_guard lock(kept.mutex);
  kept.slots.emplace(bytes, bytes + count);
}

void relaunch_recorder_own_handles(void) { journal().own_handles = true; }

void relaunch_recorder_set_function_slots(uint64_t function, const uint32_t* bytes, size_t count) {
  relaunch::recorder::set_function_slots(function, {bytes, bytes + count});
}

void relaunch_recorder_fail(const char* function, uint32_t nth, int status) {
  auto& kept = journal();
  const std::lock_guard lock(kept.mutex);
  kept.failures.push_back({function, nth, status});
  kept.watches_calls = true;
}

void relaunch_recorder_driver_version(int version) { journal().driver_version = version; }

void relaunch_recorder_static_shared(int bytes) { journal().static_shared = bytes; }

void relaunch_recorder_no_context(void) {
  auto& kept = journal();
  const std::lock_guard lock(kept.mutex);
  kept.initial_context = 0;
  ++kept.generation;
}

void relaunch_recorder_mode(int mode) { journal().records = mode == RELAUNCH_RECORDER_RECORD; }

void relaunch_recorder_note(const char* event_json) {
  auto& kept = journal();
  if (!kept.records.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(kept.mutex);
  kept.events.append(event_json).append(",");
}

void relaunch_recorder_list_calls(void) {
  auto& kept = journal();
  const std::lock_guard lock(kept.mutex);
  kept.calls.emplace();
  kept.watches_calls = true;
}

const char* relaunch_recorder_calls(void) {
  auto& kept = journal();
  const std::lock_guard lock(kept.mutex);
  return hand_out(kept, kept.calls.value_or(""));
}

const char* relaunch_recorder_events(void) {
  auto& kept = journal();
  const std::lock_guard lock(kept.mutex);
  return hand_out(kept, kept.events);
}

}  // extern "C"
