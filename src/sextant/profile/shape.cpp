// SPDX-License-Identifier: Apache-2.0
#include "sextant/profile/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "sextant/units/lists.hpp"

namespace sextant::profile {
namespace {

/// What is read of one operator: more would be an attack.
constexpr std::size_t most_tensors = 4096;
constexpr std::size_t most_sizes = 16;
constexpr double most_size = 1e12;

/// Text up to the next '|', which is taken off.
std::string_view part(std::string_view& rest) {
  const std::size_t at = rest.find('|');
  const std::string_view first = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
  return first;
}

std::string_view without_marks(std::string_view text) {
  if (text.starts_with('"')) text.remove_prefix(1);
  if (text.ends_with('"')) text.remove_suffix(1);
  return text;
}

/// ["a","b"]: what stands between the marks.
std::vector<std::string_view> strings_of(std::string_view text) {
  std::vector<std::string_view> all;
  std::size_t at = 0;
  while (all.size() < most_tensors && (at = text.find('"', at)) != std::string_view::npos) {
    const std::size_t end = text.find('"', at + 1);
    if (end == std::string_view::npos) break;
    all.push_back(text.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return all;
}

std::vector<double> numbers_of(std::string_view text) {
  std::vector<double> all;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end && all.size() < most_sizes) {
    double value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error == std::errc{}) all.push_back(value);
    at = error == std::errc{} ? next : at + 1;
  }
  return all;
}

// Sizes of tensors, and lists of them: [[8,4096],[],[[0],[1,8]]].
void read_sizes(std::string_view text, Shape& shape) {
  int depth = 0;
  std::size_t argument = 0;
  for (std::size_t at = 0; at < text.size() && shape.tensors.size() < most_tensors; ++at) {
    const char c = text[at];
    if (c == ',' && depth == 1) ++argument;
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (c != '[' || depth < 2) continue;
    const std::size_t end = text.find_first_of("[]", at + 1);
    if (end == std::string_view::npos) return;
    if (text[end] == '[' || end == at + 1) continue;
    std::vector<double> sizes = numbers_of(text.substr(at + 1, end - at - 1));
    const bool whole =
        std::all_of(sizes.begin(), sizes.end(), [](double s) { return s >= 0 && s <= most_size; });
    if (whole && !sizes.empty()) shape.tensors.push_back({argument, std::move(sizes)});
    at = end;
    --depth;
  }
}

struct Type {
  std::string_view name;
  double bytes;
  std::optional<Precision> precision;
  std::string_view said;
};
constexpr std::array<Type, 22> types = {{{"c10::BFloat16", 2, Precision::bf16, "bf16"},
                                         {"c10::Half", 2, Precision::fp16, "fp16"},
                                         {"float", 4, Precision::fp32, "fp32"},
                                         {"double", 8, Precision::fp32, "fp64"},
                                         {"long int", 8, {}, "int64"},
                                         {"long", 8, {}, "int64"},
                                         {"int", 4, {}, "int32"},
                                         {"short", 2, {}, "int16"},
                                         {"bool", 1, {}, "bool"},
                                         {"unsigned char", 1, {}, "uint8"},
                                         {"signed char", 1, Precision::int8, "int8"},
                                         {"c10::Float8_e4m3fn", 1, Precision::fp8, "fp8"},
                                         {"c10::Float8_e5m2", 1, Precision::fp8, "fp8"},
                                         {"c10::Float8_e4m3fnuz", 1, Precision::fp8, "fp8"},
                                         {"c10::Float8_e5m2fnuz", 1, Precision::fp8, "fp8"},
                                         {"c10::Float8_e8m0fnu", 1, {}, "e8m0"},
                                         {"c10::Float4_e2m1fn_x2", 1, Precision::fp4, "fp4"},
                                         {"BFloat16", 2, Precision::bf16, "bf16"},
                                         {"Half", 2, Precision::fp16, "fp16"},
                                         {"Float", 4, Precision::fp32, "fp32"},
                                         {"Long", 8, {}, "int64"},
                                         {"c10::complex<float>", 8, {}, "complex"}}};

const Type* find(std::string_view name) { return find_by(types, &Type::name, name); }

}  // namespace

bool Tensor::transposed() const {
  const std::size_t n = strides.size();
  return n >= 2 && n == sizes.size() && strides[n - 2] == 1 && strides[n - 1] != 1 &&
         sizes[n - 1] != 1;
}

double Tensor::contiguous() const {
  if (sizes.empty()) return 1;
  return transposed() ? sizes[sizes.size() - 2] : sizes.back();
}

double Tensor::elements() const {
  double n = 1;
  for (const double s : sizes) n *= s;
  return n;
}

const Tensor* Shape::at(std::size_t argument) const {
  return find_by(tensors, &Tensor::argument, argument);
}

Shape shape_of(std::string_view text) {
  Shape shape;
  read_sizes(part(text), shape);
  const std::vector<std::string_view> names = strings_of(part(text));
  for (Tensor& t : shape.tensors) {
    if (t.argument < names.size()) t.type = names[t.argument];
  }
  shape.values = strings_of(part(text));
  Shape strides;
  read_sizes(part(text), strides);
  for (Tensor& t : shape.tensors) {
    if (const Tensor* const s = strides.at(t.argument)) t.strides = s->sizes;
  }
  return shape;
}

std::optional<double> element_bytes_of(std::string_view type) {
  const Type* const t = find(type);
  return t == nullptr ? std::nullopt : std::optional(t->bytes);
}

std::optional<Precision> precision_of(std::string_view type) {
  const Type* const t = find(type);
  return t == nullptr ? std::nullopt : t->precision;
}

std::string_view type_in(std::string_view kernel) {
  for (const std::string_view name : {"c10::BFloat16", "c10::Half"}) {
    if (kernel.find(name) != std::string_view::npos) return name;
  }
  // cuBLAS and CUTLASS write theirs in small letters.
  if (kernel.find("bf16") != std::string_view::npos) return "c10::BFloat16";
  if (kernel.find("f16") != std::string_view::npos) return "c10::Half";
  return kernel.find("float") != std::string_view::npos ? "float" : "c10::BFloat16";
}

std::string for_people(const Shape& shape) {
  std::string text;
  std::string_view type;
  std::size_t said = 0;
  for (const Tensor& t : shape.tensors) {
    if (++said > 6) {
      text += fmt::format(", and {} more", shape.tensors.size() - 6);
      break;
    }
    if (!text.empty()) text += ", ";
    std::string sizes;
    for (const double s : t.sizes) sizes += (sizes.empty() ? "" : "x") + fmt::format("{:.0f}", s);
    text += sizes;
    if (t.transposed()) text += "'";
    if (type.empty() && precision_of(t.type)) type = t.type;
  }
  if (const Type* const t = find(type)) text += fmt::format(" {}", t->said);
  return text;
}

Launch launch_of(std::string_view text) {
  Launch l;
  const std::vector<double> grid = numbers_of(part(text));
  const std::vector<double> block = numbers_of(part(text));
  const auto product = [](const std::vector<double>& all) {
    double n = all.empty() ? 0 : 1;
    for (const double x : all) n *= x;
    return n;
  };
  l.grid_x = grid.empty() ? 0 : grid.front();
  l.blocks = product(grid);
  l.threads = product(block);
  const std::vector<double> bytes = numbers_of(part(text));
  if (!bytes.empty()) l.bytes = Bytes(bytes.front());
  l.collective = without_marks(part(text));
  const std::vector<double> elements = numbers_of(part(text));
  if (!elements.empty()) l.elements = elements.front();
  l.type = without_marks(part(text));
  const std::vector<double> ranks = numbers_of(part(text));
  if (!ranks.empty()) l.ranks = ranks.front();
  return l;
}

}  // namespace sextant::profile
