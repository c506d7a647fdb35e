#include "migrate/session.hpp"

#include <algorithm>
#include <utility>

#include "migrate/emit.hpp"
#include "migrate/emit_cpp.hpp"
#include "migrate/emit_forms.hpp"
#include "migrate/utf8.hpp"

namespace relaunch::migrate {
namespace {

/// `1 signature`, `2 signatures`.
std::string counted(std::size_t number, std::string_view noun) {
  return std::to_string(number) + " " + std::string(noun) + (number == 1 ? "" : "s");
}

}  // namespace

std::vector<std::string_view> emitted_names() {
  std::vector<std::string_view> out = {"json", "python", "cpp", "csv"};
  for (const Form form : written_forms()) out.push_back(form_name(form));
  return out;
}

Session::Session(Form form, std::string emit, Streams streams, Fixing fixing)
    : form_(form),
      emit_(std::move(emit)),
      streams_(std::move(streams)),
      fixing_(fixing),
      quiet_(fixing == Fixing::show),
      by_form_(form_names().size()) {}

void Session::read(ReadBytes bytes, const std::string& path) {
  SignatureReader reader(std::move(bytes), path, form_);
  while (const auto signature = reader.next()) one(*signature);
}

void Session::one(const Signature& signature) {
  count(signature.parsed);
  const bool ok = signature.parsed.ok();
  if (emit_ == "json") {
    streams_.out(to_json(signature) + "\n");
  } else if (emit_.empty()) {
    if (ok) streams_.out(signature.source() + ": " + to_csv(signature) + "\n");
    streams_.out(findings(signature));
  } else {
    streams_.error(findings(signature));
    if (ok) write(signature);
  }
}

void Session::count(const Parsed& parsed) {
  ++signatures_;
  if (parsed.ok()) {
    ++by_form_[static_cast<std::size_t>(parsed.form)];
  } else {
    ++failed_;
  }
  warnings_ += static_cast<std::size_t>(
      std::count_if(parsed.diagnostics.begin(), parsed.diagnostics.end(),
                    [](const Diagnostic& d) { return d.severity == Severity::warning; }));
}

void Session::write(const Signature& signature) {
  if (emit_ == "python") return streams_.out(to_python(signature));
  if (emit_ == "csv") return streams_.out(to_csv(signature) + "\n");
  if (emit_ == "cpp") {
    if (written_ == 0) streams_.out(cpp_begin());
    return streams_.out(to_cpp(signature, ++written_));
  }
  const Written written = write_as(signature, *find_form(emit_));
  if (written.text) return streams_.out(*written.text + "\n");
  ++unwritten_;
  streams_.error(signature.source() + ": " + emit_ + " has no place for " + written.reason + "\n");
}

void Session::unreadable(std::string_view path, std::string_view reason) {
  ++unreadable_;
  streams_.error("relaunch migrate: " + std::string(path) + ": " + std::string(reason) + "\n");
}

int Session::finish() {
  if (emit_ == "cpp") streams_.out((written_ == 0 ? cpp_begin() : "") + cpp_end(written_));
  (writes_text() ? streams_.out : streams_.error)(summary());
  if (unreadable_ + unfixed_ > 0) return 2;
  const bool shown = fixing_ == Fixing::show && fixed_ > 0;
  return shown || failed_ + unwritten_ + refused_ > 0 ? 1 : 0;
}

std::string Session::summary() const {
  std::string out = counted(signatures_, "signature") + ": " +
                    std::to_string(signatures_ - failed_) + " read, " + std::to_string(failed_) +
                    " failed";
  if (unwritten_ > 0) out += ", " + std::to_string(unwritten_) + " not written";
  if (warnings_ > 0) out += ", " + counted(warnings_, "warning");
  if (fixed_ > 0) {
    out += ", " + counted(fixed_, "finding") +
           (fixing_ == Fixing::show ? " would be fixed in " : " fixed in ") +
           counted(fixed_files_, "file");
  }
  if (unreadable_ > 0) out += ", " + counted(unreadable_, "file") + " could not be read";
  if (unfixed_ + refused_ > 0) out += ", " + counted(unfixed_ + refused_, "file") + " not fixed";
  out += "\n";
  if (form_ != Form::automatic || signatures_ == failed_) return out;
  std::string told;
  for (std::size_t i = 0; i < by_form_.size(); ++i) {
    if (by_form_[i] == 0) continue;
    told += (told.empty() ? "" : ", ") + std::to_string(by_form_[i]) + " " +
            std::string(form_name(static_cast<Form>(i)));
  }
  return out + "read as: " + told + "\n";
}

std::string findings(const Signature& signature, const std::vector<Remedy>* remedies) {
  std::string out;
  for (std::size_t i = 0; i < signature.parsed.diagnostics.size(); ++i) {
    const Diagnostic& found = signature.parsed.diagnostics[i];
    const Place& place = signature.places[i];
    out += signature.path + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) +
           ": " + found.code + (found.severity == Severity::warning ? " warning: " : " ") +
           found.message + "\n" + caret(signature.parsed.tree.text, found.span) + "\n";
    if (remedies != nullptr) out += "  not fixed: " + std::string((*remedies)[i].reason) + "\n";
  }
  return out;
}

std::string shown_path(std::string_view path) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t length = sequence_length(path.substr(at));
    if (length > 0) {
      out += path.substr(at, length);
      at += length;
      continue;
    }
    const auto byte = static_cast<unsigned char>(path[at++]);
    out += std::string("\\udc") + kDigits[byte >> 4U] + kDigits[byte & 15U];
  }
  return out;
}

}  // namespace relaunch::migrate
