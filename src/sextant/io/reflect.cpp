// SPDX-License-Identifier: Apache-2.0
// What messages and lists say of a field.
#include "sextant/io/reflect.hpp"

#include <algorithm>
#include <array>

#include "sextant/spec/diagnostic.hpp"
#include "sextant/units/format.hpp"

namespace sextant {
namespace {

struct TypeName {
  std::string operator()(const bool*) const { return "true or false"; }
  std::string operator()(const int*) const { return "whole number"; }
  std::string operator()(const std::int64_t*) const { return "whole number"; }
  std::string operator()(const double*) const { return "number"; }
  std::string operator()(const std::string*) const { return "text"; }
  std::string operator()(const QuantityRef& q) const {
    return "quantity in " + unit_of(q.dimension);
  }
  std::string operator()(const EnumRef& e) const {
    std::string out = "one of";
    for (const std::string_view name : e.names)
      out += (out.size() > 6 ? ", " : " ") + std::string(name);
    return out;
  }
  std::string operator()(const StructRef&) const { return "table"; }
  std::string operator()(const ListRef&) const { return "list"; }
};

// A field of exactly that name, deeper in the struct.
std::string find_deeper(std::string_view key, const StructRef& fields) {
  for (const Slot& slot : fields.fields) {
    if (slot.name == key) return std::string(slot.name);
    if (const auto* inner = std::get_if<StructRef>(&slot.target)) {
      const std::string found = find_deeper(key, *inner);
      if (!found.empty()) return join_path(slot.name, found);
    }
  }
  return "";
}

}  // namespace

std::string join_path(std::string_view prefix, std::string_view name) {
  if (prefix.empty()) return std::string(name);
  if (name.empty()) return std::string(prefix);
  return std::string(prefix) + "." + std::string(name);
}

Field within_physics(Field field, Dimension dimension) {
  struct Physical {
    Dimension dimension;
    double least, most;  // `least` where it may not be zero
  };
  constexpr std::array ranges = std::to_array<Physical>({
      {{.data = 1}, 1, 1e15},
      {{.time = -1, .data = 1}, 1, 1e17},
      {{.time = -1, .work = 1}, 1, 1e21},
      {{.time = -1}, 1, 1e13},
      {{.time = 1}, 1e-15, 1e9},
      {{.time = -1, .energy = 1}, 1e-6, 1e9},
      {{.energy = 1}, 1e-21, 1e12},
      {{.data = -1, .energy = 1}, 1e-18, 1},
      {{.work = -1, .energy = 1}, 1e-21, 1},
      {{.money = 1}, 1e-6, 1e12},
      {{.length = 1}, 1e-6, 1},
      {{.length = 2}, 1e-12, 1},
  });
  for (const Physical& r : ranges) {
    if (!(r.dimension == dimension)) continue;
    if (field.min == above_zero) field.min = r.least;
    field.max = std::min(field.max, r.most);
  }
  return field;
}

std::string unit_of(Dimension dimension) {
  // Written quantities are a number, a blank and the unit.
  const std::string text = write_quantity(0, dimension);
  const std::size_t blank = text.find(' ');
  return blank == std::string::npos ? "its unit" : text.substr(blank + 1);
}

std::string type_of(const Target& target) { return std::visit(TypeName{}, target); }

std::string suggest_field(std::string_view key, const StructRef& fields) {
  std::vector<std::string> names;
  for (const Slot& slot : fields.fields) names.emplace_back(slot.name);
  std::string near = closest(key, names);
  return near.empty() ? find_deeper(key, fields) : near;
}

namespace {

bool same(const Target& a, const Target& b) {
  return std::visit(
      [&](const auto& x) {
        using T = std::decay_t<decltype(x)>;
        const T& y = std::get<T>(b);
        if constexpr (std::is_pointer_v<T>) {
          return *x == *y;
        } else if constexpr (std::is_same_v<T, QuantityRef>) {
          return *x.value == *y.value;
        } else if constexpr (std::is_same_v<T, EnumRef>) {
          return x.get(x.value) == y.get(y.value);
        } else if constexpr (std::is_same_v<T, StructRef>) {
          return same_values(x, y);
        } else {
          const std::size_t size = x.size(x.list);
          if (size != y.size(y.list)) return false;
          for (std::size_t i = 0; i < size; ++i) {
            if (!same(x.element(x.list, i).target, y.element(y.list, i).target)) return false;
          }
          return true;
        }
      },
      a);
}

}  // namespace

bool same_values(const StructRef& a, const StructRef& b) {
  const auto alike = [](const Slot& x, const Slot& y) { return same(x.target, y.target); };
  return std::equal(a.fields.begin(), a.fields.end(), b.fields.begin(), alike);
}

}  // namespace sextant
