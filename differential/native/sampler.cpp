#include "differential/native/sampler.hpp"

#include <algorithm>

namespace relaunch::differential {
namespace py = pybind11;
namespace {

/// One in `count`, `times` times.
bool holds(Random& random, std::uint64_t times, std::uint64_t count) {
  return random.below(count) < times;
}

Shared shared(const py::handle alternatives) {
  return alternatives.cast<std::shared_ptr<Alternatives>>();
}

/// The value of a dict's first member.
py::object value_of(const py::object& described) {
  Py_ssize_t at = 0;
  PyObject* value = nullptr;
  if (PyDict_Next(described.ptr(), &at, nullptr, &value) == 0) throw py::value_error("empty");
  return py::reinterpret_borrow<py::object>(value);
}

Kind read_kind(const py::handle entry, const py::dict& kinds) {
  Kind made;
  if (py::isinstance<py::str>(entry)) {
    const auto rules = kinds[entry].cast<py::tuple>();
    made.valid = shared(rules[0]);
    made.odd = shared(rules[1]);
    return made;
  }
  for (const py::handle item : entry) made.items.push_back(read_kind(item, kinds));
  return made;
}

std::vector<Recipe::Field> read_fields(const py::handle given) {
  std::vector<Recipe::Field> fields;
  for (const py::handle entry : given) {
    const auto pair = py::reinterpret_borrow<py::tuple>(entry);
    fields.emplace_back(py::object(pair[0]), shared(pair[1]));
  }
  return fields;
}

Drawn draw_valid(const Kind& kind, Random& random) {
  static constexpr const char* kSequences[] = {"tuple", "tuple", "list", "namedtuple"};
  if (!kind.is_tuple()) return kind.valid->draw(random);
  py::list items;
  bool listed = false;
  for (const Kind& item : kind.items) {
    const Drawn drawn = draw_valid(item, random);
    listed |= drawn.listed;
    items.append(drawn.value);
  }
  const py::str sequence(kSequences[random.below(4)]);
  return {described(sequence.ptr(), std::move(items)), listed};
}

/// A tuple that is none, or of another length.
Drawn draw_wrong_tuple(const Kind& kind, Random& random) {
  const Drawn right = draw_valid(kind, random);
  py::list items = value_of(right.value);
  const std::uint64_t roll = random.below(100);
  if (roll < 35) {
    items.append(1);
    return {described(py::str(roll < 17 ? "tuple" : "list").ptr(), items), true};
  }
  if (roll < 60 && !items.empty()) {
    items.attr("pop")();
    return {described(py::str("tuple").ptr(), items), true};
  }
  switch (random.below(6)) {
    case 0: return {py::none(), true};
    case 1: return {py::int_(1), true};
    case 2: return {described(py::str("object").ptr(), py::int_(1)), true};
    case 3: return {described(py::str("dict").ptr(), py::int_(items.size())), true};
    case 4: return {described(py::str("str").ptr(), py::str("ab")), true};
    default: return {described(py::str("float").ptr(), py::str("0x1.0p+0")), true};
  }
}

/// The items of a tuple's argument where it is one of the right length, else freshly drawn ones.
Drawn items_of(const Kind& kind, const py::object& argument, Random& random) {
  if (py::isinstance<py::dict>(argument) && argument.contains("tuple")) {
    const py::list items = argument["tuple"];
    if (items.size() == kind.items.size())
      return {py::list(items[py::slice(0, items.size(), 1)]), false};
  }
  const Drawn drawn = draw_valid(kind, random);
  return {value_of(drawn.value), drawn.listed};
}

/// An odd argument; for a tuple mostly an odd item somewhere inside.
Drawn draw_odd(const Kind& kind, const py::object& argument, Random& random) {
  if (!kind.is_tuple()) return kind.odd->draw(random);
  if (kind.items.empty() || holds(random, 1, 5)) return draw_wrong_tuple(kind, random);
  const Drawn drawn = items_of(kind, argument, random);
  const auto items = py::reinterpret_borrow<py::list>(drawn.value);
  const std::uint64_t place = random.below(kind.items.size());
  const Drawn odd = draw_odd(kind.items[place], items[place], random);
  items[place] = odd.value;
  return {described(py::str("tuple").ptr(), items), drawn.listed || odd.listed};
}

/// How many disturbances a call has: mostly none, rarely several.
int draw_disturbances(Random& random) {
  const std::uint64_t roll = random.below(100);
  return roll < 60 ? 0 : roll < 90 ? 1 : roll < 98 ? 2 : 3;
}

}  // namespace

Sampler::Sampler(std::shared_ptr<const Recipe> recipe, const py::tuple& signature,
                 const py::dict& kinds, py::dict fixed, std::uint64_t key)
    : recipe_(std::move(recipe)),
      signature_(read_kind(signature, kinds)),
      fixed_(std::move(fixed)),
      key_(key) {}

Recipe::Recipe(const py::dict& given)
    : fields(read_fields(given["fields"])), options(read_fields(given["options"])) {
  for (const py::handle entry : given["disturbances"]) {
    const auto pair = py::reinterpret_borrow<py::tuple>(entry);
    weights += pair[0].cast<std::uint64_t>();
    const py::object what = pair[1];
    if (what.equal(py::str("argument"))) {
      disturbances.push_back({weights, Argument{}});
    } else if (what.equal(py::str("count"))) {
      disturbances.push_back({weights, Count{}});
    } else {
      std::vector<Drawn> changes;
      for (const py::handle change : what) {
        const auto parts = py::reinterpret_borrow<py::tuple>(change);
        changes.push_back({py::object(parts[0]), parts[1].cast<bool>()});
      }
      disturbances.push_back({weights, std::move(changes)});
    }
  }
  extra = shared(given["extra"]);
}

void Sampler::draw_options(std::uint64_t block) {
  if (block == block_) return;
  Random random(~key_, block);
  options_.clear();
  for (const auto& [name, rules] : recipe_->options) options_.push_back(rules->draw(random));
  block_ = block;
}

DrawnCall Sampler::call(std::uint64_t number, bool disturbed) {
  draw_options(number / kBlock);
  Random random(key_, number);
  DrawnCall made;
  const auto put = [&made](const py::object& name, const Drawn& drawn) {
    made.call[name] = drawn.value;
    made.listed |= drawn.listed;
  };
  for (const auto& [name, rules] : recipe_->fields) put(name, rules->draw(random));
  for (std::size_t i = 0; i < options_.size(); ++i) put(recipe_->options[i].first, options_[i]);
  if (PyDict_Update(made.call.ptr(), fixed_.ptr()) != 0) throw py::error_already_set();
  py::list arguments;
  for (const Kind& kind : signature_.items) {
    const Drawn drawn = draw_valid(kind, random);
    made.listed |= drawn.listed;
    arguments.append(drawn.value);
  }
  for (int left = disturbed ? draw_disturbances(random) : 0; left > 0; --left)
    made.listed |= disturb(random, made.call, arguments);
  made.call["args"] = arguments;
  return made;
}

bool Sampler::disturb(Random& random, const py::dict& call, py::list& arguments) {
  const std::uint64_t roll = random.below(recipe_->weights);
  const auto chosen = std::ranges::find_if(recipe_->disturbances,
                                           [&](const auto& one) { return roll < one.up_to; });
  if (std::holds_alternative<Recipe::Argument>(chosen->what)) {
    if (!signature_.items.empty()) return disturb_argument(random, arguments);
    disturb_count(random, arguments);
    return false;
  }
  if (std::holds_alternative<Recipe::Count>(chosen->what)) {
    disturb_count(random, arguments);
    return false;
  }
  const auto& changes = std::get<std::vector<Drawn>>(chosen->what);
  const Drawn& change = changes[random.below(changes.size())];
  if (PyDict_Update(call.ptr(), change.value.ptr()) != 0) throw py::error_already_set();
  return change.listed;
}

bool Sampler::disturb_argument(Random& random, py::list& arguments) {
  const std::uint64_t place = random.below(signature_.items.size());
  if (place >= arguments.size()) return false;
  const Drawn odd = draw_odd(signature_.items[place], arguments[place], random);
  arguments[place] = odd.value;
  return odd.listed;
}

void Sampler::disturb_count(Random& random, py::list& arguments) {
  if (!arguments.empty() && holds(random, 1, 2)) {
    arguments.attr("pop")();
  } else {
    arguments.append(recipe_->extra->draw(random).value);
  }
}

}  // namespace relaunch::differential
