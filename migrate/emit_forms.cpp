#include "migrate/emit_forms.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "migrate/mlir_text.hpp"
#include "migrate/number.hpp"
#include "precompiled/core/types.hpp"

namespace relaunch::migrate {
namespace {

/// Thrown where the form has no place for something.
struct NoPlace {
  std::string what;
};

using Nodes = std::vector<PyKernelArg>;

std::string python_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

/// JSON text of a constant as Python, whose only differences here are three words and nan.
std::string python_value(std::string_view json) {
  std::string out;
  bool in_string = false;
  for (std::size_t at = 0; at < json.size();) {
    const char c = json[at];
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\') {
      out += json.substr(at, 2);
      at += 2;
      continue;
    }
    constexpr std::pair<std::string_view, std::string_view> kWords[] = {
        {"null", "None"}, {"true", "True"}, {"false", "False"}};
    const auto* const word = std::find_if(
        std::begin(kWords), std::end(kWords),
        [&](const auto& entry) { return !in_string && json.substr(at).starts_with(entry.first); });
    constexpr std::string_view kFloat = R"({"float": )";
    if (word != std::end(kWords)) {
      out += word->second;
      at += word->first.size();
    } else if (!in_string && json.substr(at).starts_with(kFloat)) {
      const std::size_t end = json.find('}', at);
      out +=
          "float(" + std::string(json.substr(at + kFloat.size(), end - at - kFloat.size())) + ")";
      at = end + 1;
    } else {
      out += c;
      ++at;
    }
  }
  return out;
}

// --- Python dicts: the signature of ASTSource and triton_meta --------------------------------

std::string item(const PyKernelArg& node);

/// `("i32", ("*fp16",))`, or a call where the items have names.
std::string tuple(const Nodes& nodes) {
  const bool named = std::any_of(nodes.begin(), nodes.end(),
                                 [](const PyKernelArg& node) { return !node.name.empty(); });
  std::string out = named ? "Tuple(" : "(";
  bool behind_name = false;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i > 0) out += ' ';
    if (!nodes[i].name.empty()) {
      out += nodes[i].name + "=";
      behind_name = true;
    } else if (behind_name) {
      throw NoPlace{"an item without a name behind one with a name"};
    }
    out += item(nodes[i]);
    if (i + 1 < nodes.size() || i == 0) out += ',';
  }
  return out + ")";
}

std::string item(const PyKernelArg& node) {
  if (node.type == ArgKind::ARG_TUPLE) return tuple(node.nested_tuple);
  return python_string(node.type == ArgKind::ARG_CONSTEXPR ? "constexpr" : node.dtype);
}

std::string dict(const Nodes& nodes) {
  std::string out = "{";
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i > 0) out += ", ";
    out += nodes[i].name.empty() ? std::to_string(i) : python_string(nodes[i].name);
    out += ": " + item(nodes[i]);
  }
  return out + "}";
}

/// `(0, 1)`, or the name of a parameter that has one.
std::string key_of(const Nodes& top, const std::vector<std::size_t>& path) {
  if (path.size() == 1 && !top[path[0]].name.empty()) return python_string(top[path[0]].name);
  std::string out = "(";
  for (const std::size_t index : path) out += std::to_string(index) + ", ";
  out.pop_back();
  if (path.size() > 1) out.pop_back();
  return out + ")";
}

/// Values and hints of a tree, by path.
struct Beside {
  std::string constants;
  std::string hints;      // {(0,): [["tt.divisibility", 16]]}
  std::string hinted;     // {(0,): 16, (1,): 1}
  bool has_ones = false;  // a hint 1, for which the first has no words
  std::vector<std::size_t> path;

  void collect(const Nodes& top, const Nodes& nodes) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      path.push_back(i);
      const PyKernelArg& node = nodes[i];
      if (!node.value.empty()) {
        constants +=
            (constants.empty() ? "" : ", ") + key_of(top, path) + ": " + python_value(node.value);
      }
      if (!node.hint.empty()) {
        std::string key = "(";
        for (const std::size_t index : path) key += std::to_string(index) + ",";
        key += ")";
        const std::string comma = hints.empty() ? "" : ", ";
        hints += comma + key + ": [[\"tt.divisibility\", 16]]";
        hinted += comma + key + ": " + node.hint;
        has_ones = has_ones || node.hint == "1";
      }
      collect(top, node.nested_tuple);
      path.pop_back();
    }
  }

  std::string attributes() const {
    return has_ones ? "AttrsDescriptor.from_hints({" + hinted + "})" : "{" + hints + "}";
  }
};

Beside beside(const Signature& signature) {
  const Nodes& top = signature.parsed.tree.parameters;
  Beside out;
  out.collect(top, top);
  for (const Constant& constant : signature.parsed.constants) {
    std::string name = constant.name;
    const auto index = index_value(name);
    // Gaps between the integer keys of a signature are closed: the index would mean another.
    if (name.starts_with('(') || (index && *index < top.size())) {
      throw NoPlace{"a constant of an index that is another parameter's place"};
    }
    if (!index) name = python_string(name);
    out.constants +=
        (out.constants.empty() ? "" : ", ") + name + ": " + python_value(constant.value);
  }
  return out;
}

std::string as_ast(const Signature& signature) {
  const Beside parts = beside(signature);
  std::string out = "ASTSource(fn=kernel, signature=" + dict(signature.parsed.tree.parameters);
  out += ", constexprs={" + parts.constants + "}";
  if (!parts.hints.empty()) out += ", attrs=" + parts.attributes();
  return out + ")";
}

std::string as_inductor(const Signature& signature) {
  const Beside parts = beside(signature);
  return "triton_meta={'signature': " + dict(signature.parsed.tree.parameters) +
         ", 'constants': {" + parts.constants + "}, 'configs': [" +
         (parts.hints.empty() ? "" : parts.attributes()) + "]}";
}

// --- Comma text of the ahead-of-time compiler ------------------------------------------------

std::string as_aot(const Signature& signature) {
  std::string out;
  for (const PyKernelArg& node : signature.parsed.tree.parameters) {
    if (!node.name.empty()) throw NoPlace{"a name"};
    if (node.type == ArgKind::ARG_TUPLE) throw NoPlace{"a tuple"};
    if (!out.empty()) out += ", ";
    if (node.type == ArgKind::ARG_KERNEL) {
      if (!node.value.empty()) throw NoPlace{"the value of a parameter"};
      out += node.dtype + (node.hint.empty() ? "" : ":" + node.hint);
    } else if (node.value.empty()) {
      out += "constexpr";
    } else {
      std::string value = python_value(node.value);
      constexpr std::string_view kFloat = "float(\"";
      if (value.starts_with(kFloat)) value = value.substr(kFloat.size(), value.size() - 9);
      if (value == "None") value = "nullopt";
      if (value.find_first_of("\"[{ ") != std::string::npos) throw NoPlace{"a constant's value"};
      out += value;
    }
  }
  if (out.empty()) throw NoPlace{"a kernel without arguments"};
  return out;
}

// --- IR ----------------------------------------------------------------------------------------

constexpr std::pair<std::string_view, std::string_view> kIrScalars[] = {
    {"fp16", "f16"},
    {"bf16", "bf16"},
    {"fp32", "f32"},
    {"fp64", "f64"},
    {"fp8e4nv", "f8E4M3FN"},
    {"fp8e4b8", "f8E4M3FNUZ"},
    {"fp8e4b15", "f8E4M3B11FNUZ"},
    {"fp8e5", "f8E5M2"},
    {"fp8e5b16", "f8E5M2FNUZ"},
};

std::string ir_scalar(std::string_view type) {
  for (const auto& [ours, theirs] : kIrScalars) {
    if (ours == type) return std::string(theirs);
  }
  const bool integer = type.size() > 1 && index_value(type.substr(1));
  if (integer && type.starts_with('i')) return std::string(type);
  if (integer && type.starts_with('u')) return "ui" + std::string(type.substr(1));
  throw NoPlace{"the type '" + std::string(type) + "'"};
}

std::string ir_type(const std::string& type) {
  if (type == "nvTmaDesc") return "!tt.ptr<i8, 0>";
  if (type.starts_with('*')) return "!tt.ptr<" + ir_type(type.substr(1)) + ">";
  const auto descriptor = parse_descriptor(type);
  if (!descriptor) return ir_scalar(type);
  const std::size_t open = type.find('[');
  const std::size_t close = type.find(']');
  if (type.substr(close) != "]>") throw NoPlace{"a descriptor's layout"};
  std::string shape = type.substr(open + 1, close - open - 1);
  std::erase(shape, ' ');
  std::replace(shape.begin(), shape.end(), ',', 'x');
  std::string out =
      std::string(descriptor->is_im2col ? "!ttng.tensordesc_im2col<" : "!tt.tensordesc<") + shape +
      "x" + ir_scalar(descriptor->element) + ">";
  if (descriptor_named(out) != type) throw NoPlace{"a block that is not spelled like [64, 64]"};
  return out;
}

std::string as_ttir(const Signature& signature) {
  std::string out;
  std::size_t number = 0;
  for (const PyKernelArg& node : signature.parsed.tree.parameters) {
    if (node.type == ArgKind::ARG_TUPLE) throw NoPlace{"a tuple"};
    if (node.type == ArgKind::ARG_CONSTEXPR) throw NoPlace{"a constexpr"};
    if (!node.value.empty()) throw NoPlace{"the value of a parameter"};
    if (!out.empty()) out += ", ";
    out += "%" + (node.name.empty() ? std::to_string(number) : node.name) + ": ";
    out += ir_type(node.dtype);
    std::string attributes;
    if (node.dtype == "nvTmaDesc") attributes = "tt.nv_tma_desc = 1 : i32";
    if (!node.hint.empty()) {
      attributes +=
          (attributes.empty() ? "" : ", ") + ("tt.divisibility = " + node.hint) + " : i32";
    }
    if (!attributes.empty()) out += " {" + attributes + "}";
    ++number;
  }
  return "tt.func public @kernel(" + out + ")";
}

// --- Values --------------------------------------------------------------------------------------

/// A value that is given this type.
std::string value_of(const PyKernelArg& node) {
  constexpr std::pair<std::string_view, std::string_view> kPlain[] = {
      {"i32", "2"},
      {"i64", "2147483649"},
      {"u64", "9223372036854775809"},
      {"fp32", "0.5"},
      {"u1", "True"}};
  constexpr std::pair<std::string_view, std::string_view> kMultiples[] = {
      {"i32", "16"}, {"i64", "4294967296"}, {"u64", "9223372036854775808"}};
  const auto find = [&](const auto& table) -> std::string {
    for (const auto& [type, value] : table) {
      if (type == node.dtype) return std::string(value);
    }
    throw NoPlace{"the type '" + node.dtype + (node.hint.empty() ? "'" : ":" + node.hint + "'")};
  };
  if (node.hint == "16") return find(kMultiples);
  if (!node.hint.empty()) throw NoPlace{"the hint 1"};
  if (!node.dtype.starts_with('*')) return find(kPlain);
  constexpr std::pair<std::string_view, std::string_view> kDtypes[] = {
      {"i1", "bool"},
      {"i8", "int8"},
      {"i16", "int16"},
      {"i32", "int32"},
      {"i64", "int64"},
      {"u8", "uint8"},
      {"u16", "uint16"},
      {"u32", "uint32"},
      {"u64", "uint64"},
      {"fp16", "float16"},
      {"bf16", "bfloat16"},
      {"fp32", "float32"},
      {"fp64", "float64"},
      {"fp8e5", "float8_e5m2"},
      {"fp8e4nv", "float8_e4m3fn"},
      {"fp8e4b8", "float8_e4m3fnuz"},
      {"fp8e5b16", "float8_e5m2fnuz"}};
  for (const auto& [ours, theirs] : kDtypes) {
    if (ours == std::string_view(node.dtype).substr(1)) return "torch." + std::string(theirs);
  }
  throw NoPlace{"the type '" + node.dtype + "'"};
}

std::string value_list(const Nodes& nodes, char open, char close);

std::string one_value(const PyKernelArg& node) {
  if (node.type == ArgKind::ARG_KERNEL) {
    if (!node.value.empty()) throw NoPlace{"the value of a parameter"};
    return value_of(node);
  }
  if (node.type == ArgKind::ARG_TUPLE) return value_list(node.nested_tuple, '[', ']');
  const bool kept = node.value == "1" || node.value == "null" || node.value.starts_with('"');
  if (!kept) throw NoPlace{"a constexpr other than 1, None and strings"};
  return python_value(node.value);
}

std::string value_list(const Nodes& nodes, char open, char close) {
  std::string out(1, open);
  for (const PyKernelArg& node : nodes) {
    if (!node.name.empty()) throw NoPlace{"names beside arguments without"};
    if (out.size() > 1) out += ", ";
    out += one_value(node);
  }
  return out + close;
}

std::string as_values(const Signature& signature) {
  const Nodes& nodes = signature.parsed.tree.parameters;
  const bool named = !nodes.empty() && std::all_of(nodes.begin(), nodes.end(),
                                                   [](const auto& n) { return !n.name.empty(); });
  if (!named) return value_list(nodes, '[', ']');
  std::string out = "{";
  for (const PyKernelArg& node : nodes) {
    if (out.size() > 1) out += ", ";
    out += python_string(node.name) + ": " + one_value(node);
  }
  return out + "}";
}

struct Writer {
  Form form;
  std::string (*write)(const Signature&);
};

constexpr Writer kWriters[] = {
    {Form::aot, as_aot},       {Form::ast, as_ast},   {Form::inductor, as_inductor},
    {Form::values, as_values}, {Form::ttir, as_ttir},
};

}  // namespace

std::vector<Form> written_forms() {
  std::vector<Form> out;
  for (const Writer& writer : kWriters) out.push_back(writer.form);
  return out;
}

Written write_as(const Signature& signature, Form form) {
  const auto* const writer = std::find_if(std::begin(kWriters), std::end(kWriters),
                                          [form](const Writer& w) { return w.form == form; });
  try {
    std::string text = writer->write(signature);
    const Parsed back = parse(text, form);
    if (!back.ok() || dump(back.tree) != dump(signature.parsed.tree)) {
      throw NoPlace{"something that reads differently there"};
    }
    return {std::move(text), {}};
  } catch (const NoPlace& missing) {
    return {std::nullopt, missing.what};
  }
}

}  // namespace relaunch::migrate
