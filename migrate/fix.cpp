#include "migrate/fix.hpp"

#include <algorithm>
#include <utility>

#include "migrate/lexer.hpp"

namespace relaunch::migrate {
namespace {

constexpr std::size_t kMostPasses = 16;  // a finding may show only once another is mended

bool same_node(const PyKernelArg& a, const PyKernelArg& b);

bool same_nodes(const std::vector<PyKernelArg>& a, const std::vector<PyKernelArg>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_node);
}

/// Equal, places apart.
bool same_node(const PyKernelArg& a, const PyKernelArg& b) {
  return a.type == b.type && a.dtype == b.dtype && a.name == b.name && a.value == b.value &&
         a.hint == b.hint && same_nodes(a.nested_tuple, b.nested_tuple);
}

bool same_constants(const Parsed& a, const Parsed& b) {
  return std::equal(
      a.constants.begin(), a.constants.end(), b.constants.begin(), b.constants.end(),
      [](const Constant& x, const Constant& y) { return x.name == y.name && x.value == y.value; });
}

bool same_tree(const Parsed& a, const Parsed& b) {
  return a.form == b.form && same_nodes(a.tree.parameters, b.tree.parameters) &&
         same_constants(a, b);
}

bool same_codes(const Parsed& a, const Parsed& b) {
  return std::equal(a.diagnostics.begin(), a.diagnostics.end(), b.diagnostics.begin(),
                    b.diagnostics.end(),
                    [](const Diagnostic& x, const Diagnostic& y) { return x.code == y.code; });
}

/// `tree` with each `i32` that stands for a type in doubt replaced, in order; false where it is no
/// such tree. What is no `i32` in `tree` must be the same in `meant`.
bool differs_in(const std::vector<PyKernelArg>& tree, const std::vector<PyKernelArg>& meant,
                const std::vector<std::string>& types, std::size_t& next) {
  if (tree.size() != meant.size()) return false;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    PyKernelArg probe = tree[i];
    const std::string spelled =
        meant[i].type == ArgKind::ARG_CONSTEXPR ? "constexpr" : meant[i].dtype;
    if (probe.dtype == "i32" && next < types.size() && spelled == types[next]) {
      ++next;
      probe.type = meant[i].type;
      probe.dtype = meant[i].dtype;
    }
    probe.nested_tuple = meant[i].nested_tuple;
    if (!same_node(probe, meant[i]) ||
        !differs_in(tree[i].nested_tuple, meant[i].nested_tuple, types, next)) {
      return false;
    }
  }
  return true;
}

struct Pass {
  std::vector<Edit> edits;  // of the chunk
  bool hides = false;       // what it mends may have hidden other findings
};

/// A signature's bytes on the way to be mended.
struct Draft {
  std::string chunk;
  Parsed parsed;
  Form read_as;
};

/// Edits of the signature's text as edits of the chunk that it stands in. False where they are
/// written there with escapes, or over lines.
bool place(const std::vector<Edit>& edits, const Parsed& parsed, std::string_view chunk,
           std::vector<Edit>& out) {
  for (const Edit& edit : edits) {
    const Span span = parsed.origin ? parsed.origin->source_of(edit.span) : edit.span;
    const std::string_view taken = slice(parsed.tree.text, edit.span);
    if (span.end > chunk.size() || slice(chunk, span) != taken) return false;
    if (taken.find('\n') != std::string_view::npos) return false;
    out.push_back({span, edit.text});
  }
  return true;
}

/// The chunk with its edits; empty where two of them overlap.
std::optional<std::string> edited(std::string_view chunk, const std::vector<Edit>& edits) {
  std::string out;
  std::size_t at = 0;
  for (const Edit& edit : edits) {
    if (edit.span.begin < at) return std::nullopt;
    out += chunk.substr(at, edit.span.begin - at);
    out += edit.text;
    at = edit.span.end;
  }
  return out += chunk.substr(at);
}

class Mending {
 public:
  Mending(const Signature& signature, std::string_view bytes)
      : continues_(next_line_follows(signature, bytes)),
        before_{std::string(slice(bytes, signature.bytes)), signature.parsed, signature.read_as} {}

  Mended run() {
    std::vector<Remedy> first = remedies(before_.parsed);
    const bool any = std::any_of(first.begin(), first.end(),
                                 [](const Remedy& one) { return !one.edits.empty(); });
    Draft draft = before_;
    if (any && !(without_errors(draft) && without_warnings(draft))) {
      draft = before_;
      findings_ = 0;
      for (Remedy& one : first) {
        if (!one.edits.empty()) one = {{}, why_};
      }
    }
    return {std::move(draft.chunk), std::move(draft.parsed), std::move(first), findings_};
  }

 private:
  /// Whether another line stands right below a signature that a line of its own ends.
  static bool next_line_follows(const Signature& signature, std::string_view bytes) {
    const Parsed& parsed = signature.parsed;
    if (parsed.origin || (parsed.form != Form::csv && parsed.form != Form::aot)) return false;
    std::size_t at = bytes.find('\n', signature.bytes.end);
    while (at != std::string_view::npos) {
      const std::size_t begin = at + 1;
      at = bytes.find('\n', begin);
      const std::string_view line = bytes.substr(begin, at - begin);
      const std::size_t first = line.find_first_not_of(" \t\r");
      if (first == std::string_view::npos) return false;
      if (line[first] != '#') return true;
    }
    return false;
  }

  std::vector<Remedy> remedies(const Parsed& parsed) const {
    std::vector<Remedy> out;
    out.reserve(parsed.diagnostics.size());
    for (const Diagnostic& finding : parsed.diagnostics) {
      out.push_back(remedy_of(parsed, finding, continues_));
    }
    return out;
  }

  /// Mends all errors, and again in the second way, and compares the two. False with why_ set.
  bool without_errors(Draft& draft) {
    if (draft.parsed.ok()) return true;
    Draft probe = draft;
    if (!settle(draft, false)) return false;
    if (settle(probe, true) && as_probed(probe.parsed, draft.parsed)) return true;
    why_ = kOtherwise;
    return false;
  }

  /// Mends warnings until none is left to mend.
  bool without_warnings(Draft& draft) {
    for (std::size_t i = 0; i < kMostPasses; ++i) {
      Pass pass;
      if (!gather(draft, false, pass)) return false;
      if (pass.edits.empty()) return true;
      const Parsed before = draft.parsed;
      if (!apply(pass, draft)) return false;
      why_ = kOtherwise;
      if (!same_tree(before, draft.parsed)) return false;
    }
    why_ = "it has too many findings";
    return false;
  }

  bool settle(Draft& draft, bool probing) {
    for (std::size_t i = 0; i < kMostPasses && !draft.parsed.ok(); ++i) {
      Pass pass;
      if (!gather(draft, probing, pass) || !apply(pass, draft)) return false;
      why_ = "mended so, it would still have an error";
      if (!draft.parsed.ok() && !pass.hides) return false;
    }
    return draft.parsed.ok();
  }

  bool gather(Draft& draft, bool probing, Pass& out) {
    const std::vector<Remedy> found = remedies(draft.parsed);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Diagnostic& finding = draft.parsed.diagnostics[i];
      const Remedy& remedy = found[i];
      const bool is_limit = finding.code == kTooMany && i > 0;
      out.hides = out.hides || is_limit || finding.code == kControl || remedy.probe_is_python;
      if (remedy.edits.empty()) {
        why_ = "another error of this signature cannot be mended";
        if (finding.severity == Severity::error && !is_limit) return false;
        continue;
      }
      why_ = "it is written with escapes";
      const bool second = probing && (remedy.probe_is_python || !remedy.probe.empty());
      const std::vector<Edit>& edits = second ? remedy.probe : remedy.edits;
      if (!place(edits, draft.parsed, draft.chunk, out.edits)) return false;
      if (second && remedy.probe_is_python) draft.read_as = Form::dict;
      if (!probing) note(finding, remedy);
    }
    std::sort(out.edits.begin(), out.edits.end(),
              [](const Edit& a, const Edit& b) { return a.span.begin < b.span.begin; });
    return true;
  }

  void note(const Diagnostic& finding, const Remedy& remedy) {
    ++findings_;
    probe_adds_ = probe_adds_ || remedy.probe_adds;
    if (finding.code != kUnknownType) return;
    const std::string& type = remedy.edits.front().text;
    types_.push_back(type.substr(type.find_first_not_of(' ')));
  }

  bool apply(const Pass& pass, Draft& draft) {
    auto chunk = edited(draft.chunk, pass.edits);
    why_ = kOtherwise;
    if (!chunk) return false;
    draft.parsed = read_chunk(*chunk, draft.read_as);
    draft.chunk = std::move(*chunk);
    return true;
  }

  bool as_probed(Parsed& probe, const Parsed& after) const {
    if (after.form != before_.parsed.form || !same_constants(probe, after)) return false;
    std::vector<PyKernelArg>& parameters = probe.tree.parameters;
    if (probe_adds_) {
      if (parameters.empty()) return false;
      parameters.pop_back();
    }
    std::size_t next = 0;
    return differs_in(parameters, after.tree.parameters, types_, next) && next == types_.size();
  }

  static constexpr std::string_view kOtherwise = "mended so, it would be read otherwise";

  bool continues_;
  Draft before_;
  std::size_t findings_ = 0;
  std::vector<std::string> types_;  // that stand where no type stood, in order
  bool probe_adds_ = false;
  std::string_view why_;
};

}  // namespace

Mended mend(const Signature& signature, std::string_view bytes) {
  return Mending(signature, bytes).run();
}

FixedFile fix(std::string_view bytes, const std::string& path, Form form) {
  FixedFile out;
  std::size_t at = 0;
  SignatureReader reader(bytes, path, form);
  while (const auto signature = reader.next()) {
    const Mended mended = mend(*signature, bytes);
    if (mended.findings == 0) continue;
    out.findings += mended.findings;
    out.bytes += bytes.substr(at, signature->bytes.begin - at);
    out.bytes += mended.chunk;
    at = signature->bytes.end;
  }
  if (out.findings > 0) out.bytes += bytes.substr(at);
  return out;
}

std::optional<std::string> broken_promise(std::string_view before, std::string_view after,
                                          const std::string& path, Form form,
                                          const Compare& compare) {
  SignatureReader old_reader(before, path, form);
  SignatureReader new_reader(after, path, form);
  while (true) {
    const auto old_one = old_reader.next();
    const auto new_one = new_reader.next();
    if (!old_one && !new_one) return std::nullopt;
    if (!old_one || !new_one) return "there would be another number of signatures";
    const Mended promised = mend(*old_one, before);
    const std::string where =
        std::to_string(old_one->place.line) + ":" + std::to_string(old_one->place.column);
    if (!same_tree(promised.after, new_one->parsed) ||
        !same_codes(promised.after, new_one->parsed)) {
      return "the signature at " + where + " would be read otherwise than meant";
    }
    const Mended rest = mend(*new_one, after);
    if (rest.findings > 0) return "the signature at " + where + " would be changed again";
    if (compare) compare({*old_one, promised, *new_one, rest});
  }
}

}  // namespace relaunch::migrate
