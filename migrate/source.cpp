#include "migrate/source.hpp"

#include <algorithm>
#include <utility>

#include "migrate/files.hpp"
#include "migrate/json_line.hpp"
#include "migrate/lexer.hpp"
#include "migrate/mlir.hpp"
#include "migrate/utf8.hpp"

namespace relaunch::migrate {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Lines and columns of offsets that only grow, each byte looked at once.
class Places {
 public:
  explicit Places(std::string_view bytes) : bytes_(bytes) {
    if (bytes.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  }

  Place of(std::size_t offset) {
    if (offset <= at_) return place_;
    const std::string_view between = bytes_.substr(at_, offset - at_);
    const std::size_t newline = between.rfind('\n');
    if (newline == std::string_view::npos) {
      place_.column += count_code_points(between);
    } else {
      place_.line += static_cast<std::size_t>(std::count(between.begin(), between.end(), '\n'));
      place_.column = count_code_points(between.substr(newline + 1)) + 1;
    }
    at_ = offset;
    return place_;
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  Place place_;
};

bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

Place place_in_file(const Signature& signature, std::string_view chunk, Span span) {
  const Parsed& parsed = signature.parsed;
  const Place in_chunk = parsed.origin ? place_of(chunk, parsed.origin->source_of(span).begin)
                                       : place_of(parsed.tree.text, span.begin);
  const Place& start = signature.place;
  if (in_chunk.line > 1) return {start.line + in_chunk.line - 1, in_chunk.column};
  return {start.line, start.column + in_chunk.column - 1};
}

/// A line of a collection, or any other text of one signature.
Parsed read(std::string_view chunk, Form form) {
  if (!chunk.starts_with('{') || first_invalid(chunk) != std::string_view::npos) {
    return parse(chunk, form);
  }
  const auto object = chunk.find("\"text\"") == std::string_view::npos
                          ? std::nullopt
                          : read_json_line(chunk, lex(chunk));
  if (!object || is_tree_line(*object)) return parse(chunk, form);
  const auto row = find_row(*object);
  if (!row) return parse(chunk, form);
  const bool reads_text = form == Form::csv || form == Form::aot || form == Form::dict;
  std::optional<std::string_view> constants;
  if (row->constants != nullptr) {
    constants = row->constants->kind == Literal::Kind::dict
                    ? slice(chunk, row->constants->span)
                    : std::string_view(row->constants->text.bytes);
  }
  Parsed out = parse(row->text->text.bytes, reads_text ? form : Form::automatic, constants);
  out.origin = row->text->text;
  return out;
}

}  // namespace

class SignatureReader::State {
 public:
  State(std::string_view bytes, std::string path, Form form)
      : bytes_(bytes), path_(std::move(path)), form_(form), places_(bytes) {
    if (bytes_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    const bool whole = form == Form::automatic ? looks_like_code(bytes) : is_embedded(form);
    if (!whole) return;
    embedded_.emplace(bytes, form, at_, bytes.size());
    // A form by name, and nothing around the signatures: a list after all.
    first_ = embedded_->next();
    is_list_ = !first_ && form != Form::automatic;
    if (is_list_) embedded_.reset();
    if (!is_list_) at_ = bytes.size();
  }

  std::optional<Signature> next() {
    while (true) {
      if (embedded_) {
        const auto piece = first_ ? std::exchange(first_, std::nullopt) : embedded_->next();
        if (piece) return made(piece->bytes, piece->form);
        embedded_.reset();
      }
      const std::size_t indent = std::min(bytes_.find_first_not_of(kBlanks, at_), bytes_.size());
      if (indent == bytes_.size()) return at_end();
      at_ = indent;
      const std::size_t end = line_end(at_);
      if (bytes_[at_] == '#') {
        at_ = end;
        continue;
      }
      const std::size_t begin = at_;
      at_ = ir_end(bytes_, begin, futile_);
      if (at_ > begin) {
        embedded_.emplace(bytes_, Form::ttir, begin, at_);
        continue;
      }
      if (const auto piece = embedded_at(begin, end)) {
        at_ = line_end(std::max(piece->bytes.end, end));
        return made(piece->bytes, piece->form);
      }
      at_ = chunk_end(begin, end);
      return made({begin, at_}, form_);
    }
  }

 private:
  std::size_t line_end(std::size_t at) const {
    return std::min(bytes_.find('\n', at), bytes_.size());
  }

  /// A file without a signature says so once.
  std::optional<Signature> at_end() {
    if (any_) return std::nullopt;
    any_ = true;
    return Signature{path_, {}, parse("", form_), {{}}};
  }

  /// A call or assignment on a line that is no literal.
  std::optional<Piece> embedded_at(std::size_t begin, std::size_t end) const {
    const bool looked_for = form_ == Form::automatic || form_ == Form::tree;
    if (!looked_for || !begins_name(bytes_[begin])) return std::nullopt;
    const auto piece = embedded_on_line(bytes_, begin, end);
    const bool wanted = piece && (form_ == Form::automatic || piece->form == form_);
    return wanted ? piece : std::nullopt;
  }

  /// Where the signature ends that begins on the line up to `end`: literals run over lines.
  std::size_t chunk_end(std::size_t begin, std::size_t end) {
    const std::string_view line = bytes_.substr(begin, end - begin);
    if (form_ == Form::ttir || (form_ == Form::automatic && looks_like_mlir(line))) {
      return parameters_end(end);
    }
    return runs_over_lines(line) ? literal_end(bytes_, begin, futile_) : end;
  }

  /// Parameters of IR go on after a line that ends in a comma.
  std::size_t parameters_end(std::size_t end) const {
    std::size_t begin = bytes_.rfind('\n', end - 1) + 1;
    while (end < bytes_.size()) {
      const std::string_view line = bytes_.substr(begin, end - begin);
      const std::size_t last = line.find_last_not_of(kBlanks);
      if (last == std::string_view::npos || line[last] != ',') break;
      begin = end + 1;
      end = line_end(begin);
    }
    return end;
  }

  /// Whether the signature that begins with this line may have more lines: literals may.
  bool runs_over_lines(std::string_view line) const {
    if (form_ == Form::csv || form_ == Form::aot) return false;
    if (form_ != Form::automatic && form_ != Form::tree) return true;
    const std::vector<Token> tokens = lex(line);
    if (form_ == Form::tree) return tokens.front().is('{');
    const Form told = detect(line, tokens);
    if (told != Form::csv && told != Form::aot) return true;
    // `(` by itself: what tells stands on a later line.
    const bool brackets_only = std::all_of(tokens.begin(), tokens.end(), [](const Token& token) {
      return token.kind == Token::Kind::end || token.is('(');
    });
    return brackets_only && tokens.size() > 1;
  }

  Signature made(Span span, Form form) {
    any_ = true;
    const std::string_view raw = bytes_.substr(span.begin, span.end - span.begin);
    const std::string_view chunk = raw.substr(0, raw.find_last_not_of(kBlanks) + 1);
    Signature out{path_, places_.of(span.begin), read(chunk, form), {}};
    for (const Diagnostic& diagnostic : out.parsed.diagnostics) {
      out.places.push_back(place_in_file(out, chunk, diagnostic.span));
    }
    return out;
  }

  std::string_view bytes_;
  std::string path_;
  Form form_;
  Places places_;
  std::optional<Embedded> embedded_;
  std::optional<Piece> first_;
  bool is_list_ = true;
  bool any_ = false;
  std::size_t at_ = 0;
  std::size_t futile_ = 0;
};

std::string Signature::source() const {
  return path + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

SignatureReader::SignatureReader(std::string_view bytes, std::string path, Form form)
    : state_(std::make_unique<State>(bytes, std::move(path), form)) {}
SignatureReader::~SignatureReader() = default;
SignatureReader::SignatureReader(SignatureReader&&) noexcept = default;
SignatureReader& SignatureReader::operator=(SignatureReader&&) noexcept = default;

std::optional<Signature> SignatureReader::next() { return state_->next(); }

std::vector<Signature> read_signatures(std::string_view bytes, std::string path, Form form) {
  SignatureReader reader(bytes, std::move(path), form);
  std::vector<Signature> out;
  while (auto signature = reader.next()) out.push_back(std::move(*signature));
  return out;
}

}  // namespace relaunch::migrate
