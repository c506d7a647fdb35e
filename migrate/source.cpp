#include "migrate/source.hpp"

#include <algorithm>
#include <utility>

#include "migrate/brackets.hpp"
#include "migrate/json_line.hpp"
#include "migrate/lexer.hpp"
#include "migrate/utf8.hpp"

namespace relaunch::migrate {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

class SourceReader {
 public:
  SourceReader(std::string_view bytes, std::string path, Form form)
      : bytes_(bytes), path_(std::move(path)), form_(form), brackets_(bytes) {}

  std::vector<Signature> run() {
    if (bytes_.starts_with(kByteOrderMark)) line_begin_ = kByteOrderMark.size();
    while (line_begin_ < bytes_.size()) {
      const std::size_t line_end = std::min(bytes_.find('\n', line_begin_), bytes_.size());
      const std::string_view line = bytes_.substr(line_begin_, line_end - line_begin_);
      const std::size_t indent = line.find_first_not_of(kBlanks);
      if (indent == std::string_view::npos || line[indent] == '#') {
        next_line(line_end);
        continue;
      }
      const std::size_t begin = line_begin_ + indent;
      const bool may_run_on = runs_over_lines(line.substr(indent));
      const std::size_t end = may_run_on ? brackets_.literal_end(begin) : line_end;
      add(begin, end);
      next_line(end);
    }
    if (out_.empty()) {
      out_.push_back({path_, {}, parse("", form_), {{}}});
    }
    return std::move(out_);
  }

 private:
  void next_line(std::size_t end) {
    line_ += static_cast<std::size_t>(
        std::count(bytes_.begin() + static_cast<std::ptrdiff_t>(line_begin_),
                   bytes_.begin() + static_cast<std::ptrdiff_t>(end), '\n') +
        1);
    line_begin_ = end + 1;
  }

  /// Whether the signature that begins with this line may have more lines: literals may.
  bool runs_over_lines(std::string_view line) const {
    if (form_ == Form::csv) return false;
    if (form_ == Form::dict || form_ == Form::json) return true;
    const std::vector<Token> tokens = lex(line);
    if (form_ == Form::tree) return tokens.front().is('{');
    if (detect(line, tokens) == Form::dict) return true;
    // `(` by itself: what tells stands on a later line.
    const bool brackets_only = std::all_of(tokens.begin(), tokens.end(), [](const Token& token) {
      return token.kind == Token::Kind::end || token.is('(');
    });
    return brackets_only && tokens.size() > 1;
  }

  void add(std::size_t begin, std::size_t end) {
    const std::string_view raw = bytes_.substr(begin, end - begin);
    const std::string_view chunk = raw.substr(0, raw.find_last_not_of(kBlanks) + 1);
    Signature out{path_, {}, read(chunk), {}};
    const std::string_view before = bytes_.substr(line_begin_, begin - line_begin_);
    out.place = {line_, count_code_points(before) + 1};
    for (const Diagnostic& diagnostic : out.parsed.diagnostics) {
      out.places.push_back(place_in_file(out, chunk, diagnostic.span));
    }
    out_.push_back(std::move(out));
  }

  static Place place_in_file(const Signature& signature, std::string_view chunk, Span span) {
    const Parsed& parsed = signature.parsed;
    const Place in_chunk = parsed.origin ? place_of(chunk, parsed.origin->source_of(span).begin)
                                         : place_of(parsed.tree.text, span.begin);
    const Place& start = signature.place;
    if (in_chunk.line > 1) return {start.line + in_chunk.line - 1, in_chunk.column};
    return {start.line, start.column + in_chunk.column - 1};
  }

  Parsed read(std::string_view chunk) const {
    if (!chunk.starts_with('{') || first_invalid(chunk) != std::string_view::npos) {
      return parse(chunk, form_);
    }
    const auto object = chunk.find("\"text\"") == std::string_view::npos
                            ? std::nullopt
                            : read_json_line(chunk, lex(chunk));
    if (!object || is_tree_line(*object)) return parse(chunk, form_);
    const auto row = find_row(*object);
    if (!row) return parse(chunk, form_);
    const bool reads_text = form_ == Form::csv || form_ == Form::dict;
    std::optional<std::string_view> constants;
    if (row->constants != nullptr) {
      constants = row->constants->kind == Literal::Kind::dict
                      ? slice(chunk, row->constants->span)
                      : std::string_view(row->constants->text.bytes);
    }
    Parsed out = parse(row->text->text.bytes, reads_text ? form_ : Form::automatic, constants);
    out.origin = row->text->text;
    return out;
  }

  std::string_view bytes_;
  std::string path_;
  Form form_;
  Brackets brackets_;
  std::size_t line_begin_ = 0;
  std::size_t line_ = 1;
  std::vector<Signature> out_;
};

}  // namespace

std::string Signature::source() const {
  return path + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

std::vector<Signature> read_signatures(std::string_view bytes, std::string path, Form form) {
  return SourceReader(bytes, std::move(path), form).run();
}

}  // namespace relaunch::migrate
