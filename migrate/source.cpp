#include "migrate/source.hpp"

#include <algorithm>
#include <utility>

#include "migrate/files.hpp"
#include "migrate/json_line.hpp"
#include "migrate/lexer.hpp"
#include "migrate/mlir.hpp"
#include "migrate/scan.hpp"
#include "migrate/utf8.hpp"

namespace relaunch::migrate {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Lines and columns of places in a window that only moves on, each byte looked at once.
class Places {
 public:
  Place of(std::string_view bytes, std::size_t offset) {
    if (offset <= at_) return place_;
    std::string_view between = bytes.substr(at_, offset - at_);
    std::size_t newline = between.find('\n');
    while (newline != std::string_view::npos) {
      between.remove_prefix(newline + 1);
      place_ = {place_.line + 1, 1};
      newline = between.find('\n');
    }
    place_.column += count_code_points(between);
    at_ = offset;
    return place_;
  }

  /// From here on offsets count from the byte at `count`, which is not behind the last place.
  void drop(std::string_view bytes, std::size_t count) {
    of(bytes, count);
    at_ -= count;
  }

  /// The byte at `offset` is the first of the text.
  void begin(std::size_t offset) { at_ = offset; }

 private:
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

}  // namespace

Parsed read_chunk(std::string_view chunk, Form form) {
  if (chunk.size() > kLongestSignature || !chunk.starts_with('{') ||
      first_invalid(chunk) != std::string_view::npos) {
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

class SignatureReader::State {
 public:
  State(Window window, std::string path, Form form)
      : window_(std::move(window)), bytes_(window_.bytes()), path_(std::move(path)), form_(form) {
    if (bytes_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    places_.begin(at_);
    const bool whole = form == Form::automatic ? looks_like_code(bytes_) : is_embedded(form);
    if (!whole) return;
    enter({.end = bytes_.size(), .goes_on = !window_.is_last(), .is_rest = true}, form);
    // A form by name, and nothing around the signatures: a list after all.
    if (form == Form::automatic) return;
    first_ = embedded_->next();
    if (!first_) block_.reset();
  }

  std::optional<Signature> next() {
    std::optional<Signature> out;
    while (!out) {
      if (is_inside_line_) leave_line();
      if (!window_.is_last() && bytes_.size() - at_ <= kAhead) read_on();
      if (block_) {
        if (const auto piece = embedded()) make(piece->bytes, piece->form, out);
        continue;
      }
      at_ = std::min(bytes_.find_first_not_of(kBlanks, at_), bytes_.size());
      if (at_ == bytes_.size()) {
        if (!window_.is_last()) continue;
        at_end(out);
        break;
      }
      if (bytes_.size() - at_ <= kAhead && !window_.is_last()) continue;
      listed(out);
    }
    return out;
  }

 private:
  static constexpr std::size_t kAhead = 3 * kLongestSignature;  // what a search may look through
  static constexpr std::size_t kBehind = 1024;                  // and what tells of a comment

  void enter(Block block, Form form) {
    block_ = std::move(block);
    block_form_ = form;
    embedded_.emplace(bytes_, form, at_, block_->end);
  }

  /// Moves the window to where the reading is.
  void read_on() {
    const std::size_t count = at_ - std::min(at_, kBehind);
    places_.drop(bytes_, count);
    window_.drop(count);
    bytes_ = window_.bytes();
    at_ -= count;
    dropped_ += count;
    futile_ -= std::min(futile_, 4 * count);
    if (!block_) return;
    block_->end -= count;
    if (block_->goes_on) follow(*block_, window_);
    embedded_.emplace(bytes_, block_form_, at_, block_->end);
    first_.reset();
  }

  /// Goes on behind the line that `at_` is on.
  void leave_line() {
    at_ = line_end(bytes_, at_);
    while (at_ == bytes_.size() && !window_.is_last()) {
      read_on();
      at_ = line_end(bytes_, at_);
    }
    is_inside_line_ = false;
  }

  /// The next signature of the block; none where it ends or more must be read to tell.
  std::optional<Piece> embedded() {
    const auto piece = first_ ? std::exchange(first_, std::nullopt) : embedded_->next();
    const std::size_t settled = block_->goes_on ? bytes_.size() - kAhead : bytes_.size();
    if (piece && piece->bytes.begin < settled) {
      at_ = piece->bytes.end;
      return piece;
    }
    if (block_->goes_on) {
      at_ = std::max(at_, settled);
      return std::nullopt;
    }
    at_ = block_->end;
    is_inside_line_ = true;
    block_.reset();
    return std::nullopt;
  }

  // What these read goes into `out`, so that no signature is moved on its way to the caller.

  /// The signature of a list that begins at `at_`; none at a comment or a block of IR.
  void listed(std::optional<Signature>& out) {
    const std::size_t begin = at_;
    const std::size_t end = line_end(bytes_, begin);
    const bool is_comment = bytes_[begin] == '#' || bytes_.substr(begin, 2) == "//";
    if (!is_comment && end - begin <= kLongestSignature) {
      if (auto block = block_at(window_, begin, futile_)) {
        enter(std::move(*block), Form::ttir);
        return;
      }
    }
    is_inside_line_ = true;
    at_ = end;
    if (is_comment) return;
    if (end - begin > kLongestSignature) return make({begin, end}, form_, out);
    if (const auto piece = embedded_at(begin, end)) {
      at_ = std::max(piece->bytes.end, end);
      return make(piece->bytes, piece->form, out);
    }
    bool is_long = false;
    at_ = chunk_end(begin, end, is_long);
    if (is_long) return unclosed({begin, at_}, out);
    make({begin, at_}, form_, out);
  }

  /// A file without a signature says so once.
  void at_end(std::optional<Signature>& out) {
    if (any_) return;
    any_ = true;
    out = Signature{path_, {}, parse("", form_), {{}}, {}};
  }

  /// A call or assignment on a line that is no literal.
  std::optional<Piece> embedded_at(std::size_t begin, std::size_t end) {
    const bool looked_for = form_ == Form::automatic || form_ == Form::tree;
    if (!looked_for || !begins_name(bytes_[begin])) return std::nullopt;
    const auto piece = embedded_on_line(bytes_, begin, end, futile_);
    const bool wanted = piece && (form_ == Form::automatic || piece->form == form_);
    return wanted ? piece : std::nullopt;
  }

  /// Where the signature ends that begins on the line up to `end`: literals run over lines.
  std::size_t chunk_end(std::size_t begin, std::size_t end, bool& is_long) {
    const std::string_view line = bytes_.substr(begin, end - begin);
    if (form_ == Form::ttir || (form_ == Form::automatic && looks_like_mlir(line))) {
      return parameters_end(begin, end);
    }
    return runs_over_lines(line) ? literal_end(bytes_, begin, futile_, is_long) : end;
  }

  /// Parameters of IR go on after a line that ends in a comma.
  std::size_t parameters_end(std::size_t begin, std::size_t end) const {
    const std::size_t most = std::min(begin + kLongestSignature, bytes_.size());
    while (end < most) {
      const std::string_view line = bytes_.substr(begin, end - begin);
      const std::size_t last = line.find_last_not_of(kBlanks);
      if (last == std::string_view::npos || line[last] != ',') break;
      begin = end + 1;
      end = line_end(bytes_, begin);
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

  void make(Span span, Form form, std::optional<Signature>& out) {
    std::string_view chunk = bytes_.substr(span.begin, span.end - span.begin);
    // Of a line that is too long only its beginning may be there.
    const bool whole = chunk.size() <= kLongestSignature;
    chunk = chunk.substr(0, whole ? chunk.find_last_not_of(kBlanks) + 1 : kLongestSignature + 1);
    place(span.begin, chunk, read_chunk(chunk, form), out);
    out->read_as = form;
  }

  /// A literal whose end is too far away, of which the first line is told.
  void unclosed(Span line, std::optional<Signature>& out) {
    const std::string_view chunk = bytes_.substr(line.begin, line.end - line.begin);
    place(line.begin, chunk,
          too_long(chunk, form_,
                   "this literal has no end within the " + std::to_string(kLongestSignature) +
                       " bytes that a signature may have: not read"),
          out);
  }

  void place(std::size_t begin, std::string_view chunk, Parsed&& parsed,
             std::optional<Signature>& out) {
    any_ = true;
    const std::size_t in_file = dropped_ + begin;
    out.emplace(path_, places_.of(bytes_, begin), std::move(parsed), std::vector<Place>(),
                Span{in_file, in_file + chunk.size()});
    for (const Diagnostic& diagnostic : out->parsed.diagnostics) {
      out->places.push_back(place_in_file(*out, chunk, diagnostic.span));
    }
  }

  Window window_;
  std::string_view bytes_;   // of the window
  std::size_t dropped_ = 0;  // bytes of the file before it
  std::string path_;
  Form form_;
  Places places_;
  std::optional<Block> block_;
  Form block_form_ = Form::automatic;  // of what is looked for in it
  std::optional<Embedded> embedded_;   // where there is a block
  std::optional<Piece> first_;         // of it, when it was looked for already
  bool any_ = false;
  bool is_inside_line_ = false;  // what is left of the line belongs to what was read
  std::size_t at_ = 0;
  std::size_t futile_ = 0;
};

std::string Signature::source() const {
  return path + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

SignatureReader::SignatureReader(std::string_view bytes, std::string path, Form form)
    : state_(std::make_unique<State>(Window(bytes), std::move(path), form)) {}
SignatureReader::SignatureReader(ReadBytes read, std::string path, Form form)
    : state_(std::make_unique<State>(Window(std::move(read)), std::move(path), form)) {}
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
