// The part of a run that mends files.

#include <string>
#include <string_view>

#include "migrate/emit.hpp"
#include "migrate/line_diff.hpp"
#include "migrate/session.hpp"

namespace relaunch::migrate {

/// Whether standard output has the report, and neither code, a diff nor a mended text.
bool Session::writes_text() const { return emit_.empty() && !quiet_; }

void Session::fix_file(const std::string& name) {
  const std::string shown = shown_path(name);
  std::string reason;
  const auto snapshot = Snapshot::of(name, reason);
  if (!snapshot) return unreadable(shown, reason);
  fix(snapshot->bytes(), shown, &*snapshot);
}

void Session::fix_input(std::string_view bytes) {
  quiet_ = true;
  fix(bytes, "<stdin>", nullptr);
}

void Session::fix(std::string_view bytes, const std::string& path, const Snapshot* snapshot) {
  const FixedFile fixed = migrate::fix(bytes, path, form_);
  const bool done = fixed.findings > 0 && replaced(path, bytes, fixed, snapshot);
  const std::string_view text = done ? std::string_view(fixed.bytes) : bytes;
  const bool is_output = snapshot == nullptr && fixing_ == Fixing::apply && emit_.empty();
  if (is_output) streams_.raw_out(text);
  if (fixed.findings > 0 && !done) {
    SignatureReader reader(bytes, path, form_);
    while (const auto signature = reader.next()) one(*signature);
    return;
  }
  broken_promise(bytes, text, path, form_, [this](const Pair& pair) { mended(pair); });
}

bool Session::replaced(const std::string& path, std::string_view before, const FixedFile& fixed,
                       const Snapshot* snapshot) {
  const auto not_fixed = [this, &path](std::size_t& counter, const std::string& reason) {
    ++counter;
    streams_.error("relaunch migrate: " + path + ": not fixed: " + reason + "\n");
    return false;
  };
  if (const auto broken = broken_promise(before, fixed.bytes, path, form_)) {
    return not_fixed(refused_, *broken);
  }
  const bool to_output = emit_.empty() && (fixing_ == Fixing::show || snapshot != nullptr);
  (to_output ? streams_.raw_out : streams_.raw_error)(unified_diff(before, fixed.bytes, path));
  if (fixing_ == Fixing::apply && snapshot != nullptr) {
    if (!streams_.flush()) return not_fixed(unfixed_, "the diff could not be shown first");
    const std::string reason = snapshot->replace(fixed.bytes);
    if (!reason.empty()) return not_fixed(unfixed_, reason);
  }
  fixed_ += fixed.findings;
  ++fixed_files_;
  return true;
}

void Session::mended(const Pair& pair) {
  count(pair.after.parsed);
  if (emit_ == "json") return streams_.out(to_json(pair) + "\n");
  const bool ok = pair.after.parsed.ok();
  if (ok && writes_text()) streams_.out(pair.after.source() + ": " + to_csv(pair.after) + "\n");
  (writes_text() ? streams_.out : streams_.error)(findings(pair.after, &pair.rest.remedies));
  if (ok && !emit_.empty()) write(pair.after);
}

}  // namespace relaunch::migrate
