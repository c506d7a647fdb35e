#include "differential/native/compare.hpp"

#include <stdexcept>
#include <vector>

namespace relaunch::differential {
namespace {

/// One place in a JSON text. Every reader leaves it behind what it read.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    if (at_ == text_.size()) throw std::invalid_argument("an outcome's JSON ends too early");
    return text_[at_];
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) throw std::invalid_argument(std::string("an outcome's JSON lacks a ") + c);
  }
  /// What follows a member: a comma, or the end of the object or list.
  void separator(char end) {
    if (peek() != end) expect(',');
  }
  std::string_view since(std::size_t start) const { return text_.substr(start, at_ - start); }

  /// A whole value as text.
  std::string_view value() {
    peek();
    const std::size_t start = at_;
    skip(0);
    return since(start);
  }

 private:
  static constexpr int kDeepest = 1000;

  void skip(int depth) {
    if (depth > kDeepest) throw std::invalid_argument("an outcome's JSON is nested too deeply");
    const char c = peek();
    if (c == '"') return skip_string();
    if (c != '{' && c != '[') return skip_word();
    ++at_;
    const char end = c == '{' ? '}' : ']';
    while (!take(end)) {
      skip(depth + 1);
      if (take(':')) skip(depth + 1);
      separator(end);
    }
  }
  void skip_string() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    if (at_ >= text_.size()) throw std::invalid_argument("an outcome's JSON has an open string");
    ++at_;
  }
  void skip_word() {
    const std::size_t end = text_.find_first_of(",]} \n:", at_);
    if (end == at_) throw std::invalid_argument("an outcome's JSON lacks a value");
    at_ = end == std::string_view::npos ? text_.size() : end;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// Walks two texts side by side until they differ.
class Walk {
 public:
  Walk(std::string_view expected, std::string_view got) : expected_(expected), got_(got) {}

  std::optional<std::string> run() {
    if (value(0)) return std::nullopt;
    return place() + reason_;
  }

 private:
  struct Step {
    std::string_view member;  // empty in a list
    std::size_t index;        // in a list
    std::string_view event;   // of an element of "events": what it is
  };
  static constexpr int kDeepest = 1000;

  bool value(int depth) {
    if (depth > kDeepest) throw std::invalid_argument("an outcome's JSON is nested too deeply");
    const char kind = expected_.peek();
    if (kind == got_.peek() && kind == '{') return object(depth);
    if (kind == got_.peek() && kind == '[') return list(depth);
    const std::string_view was = expected_.value();
    const std::string_view now = got_.value();
    if (was == now || (was == "null" && is_free())) return true;
    reason_ = byte(was, now);
    reason_.append("expected ").append(was).append(", got ").append(now);
    return false;
  }

  bool object(int depth) {
    expected_.expect('{');
    got_.expect('{');
    while (true) {
      const bool ended = expected_.take('}');
      if (ended || got_.peek() == '}') {
        if (ended && got_.take('}')) return true;
        Cursor& longer = ended ? got_ : expected_;
        reason_.assign(ended ? "unexpected member " : "lacks member ").append(longer.value());
        return false;
      }
      const std::string_view was = expected_.value();
      const std::string_view now = got_.value();
      if (was != now) {
        reason_.assign("expected member ").append(was).append(", got member ").append(now);
        return false;
      }
      expected_.expect(':');
      got_.expect(':');
      steps_.push_back({was.substr(1, was.size() - 2), 0, {}});
      if (!value(depth + 1)) return false;
      steps_.pop_back();
      expected_.separator('}');
      got_.separator('}');
    }
  }

  bool list(int depth) {
    expected_.expect('[');
    got_.expect('[');
    const bool events = steps_.size() == 1 && steps_[0].member == "events";
    for (std::size_t i = 0;; ++i) {
      const bool ended = expected_.take(']');
      if (ended || got_.peek() == ']') {
        if (ended && got_.take(']')) return true;
        steps_.push_back({{}, i, events ? name(ended ? got_ : expected_) : std::string_view{}});
        reason_ = ended ? "not expected" : "missing";
        return false;
      }
      const std::string_view was = events ? name(expected_) : std::string_view{};
      const std::string_view now = events ? name(got_) : std::string_view{};
      steps_.push_back({{}, i, was == now ? was : std::string_view{}});
      if (was != now) {
        reason_.assign("expected ").append(was).append(", got ").append(now);
        return false;
      }
      if (!value(depth + 1)) return false;
      steps_.pop_back();
      expected_.separator(']');
      got_.separator(']');
    }
  }

  /// What the event at a cursor is: the value of its call, hook or intake.
  static std::string_view name(const Cursor& at) {
    Cursor ahead = at;
    const std::string_view event = ahead.value();
    for (const std::string_view member : {"\"call\":", "\"hook\":", "\"intake\":"}) {
      const std::size_t found = event.find(member);
      if (found == std::string_view::npos) continue;
      Cursor word(event.substr(found + member.size()));
      const std::string_view text = word.value();
      return text.size() < 2 ? text : text.substr(1, text.size() - 2);
    }
    return {};
  }

  bool is_free() const {
    const std::size_t n = steps_.size();
    return n == 4 && steps_[0].member == "events" && steps_[2].member == "params";
  }

  /// For two hexadecimal texts of one length: which byte differs first.
  std::string byte(std::string_view was, std::string_view now) const {
    const bool hex =
        steps_.size() > 2 && (steps_[2].member == "params" || steps_[2].member == "attributes");
    if (!hex || was.front() != '"' || now.front() != '"' || was.size() != now.size()) return {};
    std::size_t at = 0;
    while (was[at] == now[at]) ++at;
    return std::string("byte ").append(std::to_string((at - 1) / 2)).append(": ");
  }

  std::string place() const {
    std::string text;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const Step& step = steps_[i];
      if (i == 0 && step.member == "events" && steps_.size() > 1) continue;
      if (i == 1 && steps_[0].member == "events") {
        text.append("event ").append(std::to_string(step.index));
        if (!step.event.empty()) text.append(" (").append(step.event).append(")");
        text += steps_.size() > 2 ? ": " : "";
      } else if (step.member.empty()) {
        text.append("[").append(std::to_string(step.index)).append("]");
      } else {
        if (!text.empty() && text.back() != ' ') text += '.';
        text += step.member;
      }
    }
    return text.empty() ? text : text.append(": ");
  }

  Cursor expected_;
  Cursor got_;
  std::vector<Step> steps_;
  std::string reason_;
};

}  // namespace

std::optional<std::string> first_difference(std::string_view expected, std::string_view got) {
  if (expected == got) return std::nullopt;
  return Walk(expected, got).run();
}

}  // namespace relaunch::differential
