// SPDX-License-Identifier: Apache-2.0
// What an operator was called with and how a kernel was launched, out of the texts of a recording.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/spec/device.hpp"
#include "sextant/units/units.hpp"

namespace sextant::profile {

/// One tensor of an operator's arguments.
struct Tensor {
  std::size_t argument = 0;  ///< its place; tensors of a list have the same
  std::vector<double> sizes;
  std::string_view type = {};        ///< "c10::BFloat16"; of a list's tensors nothing is recorded
  std::vector<double> strides = {};  ///< of a multiply's operands

  double elements() const;
  /// Of the last two dimensions, the one whose elements lie side by side; the last where nothing
  /// is known.
  double contiguous() const;
  bool transposed() const;
};

struct Shape {
  std::vector<Tensor> tensors;           ///< those with a size, in order
  std::vector<std::string_view> values;  ///< the other arguments, by place
  /// The first tensor at a place of the arguments.
  const Tensor* at(std::size_t argument) const;
};

/// Sizes, types, values and strides:
/// "[[8,4096],[4096,1024]]|["c10::BFloat16",…]|["",""]|[[4096,1],…]". The views point into it.
Shape shape_of(std::string_view text);

/// Bytes of one element, where the type has a fixed size.
std::optional<double> element_bytes_of(std::string_view type);
/// The type of a multiply's operands.
std::optional<Precision> precision_of(std::string_view type);
/// The type that a kernel's name has among its template's arguments.
std::string_view type_in(std::string_view kernel);

/// "8192x4096, 4096x1024 bf16"
std::string for_people(const Shape& shape);

/// How a kernel was launched, or what a copy moves.
struct Launch {
  double grid_x = 0;
  double blocks = 0;   ///< of the whole grid
  double threads = 0;  ///< of a block
  Bytes bytes;
  std::string_view collective;  ///< "allreduce"
  double elements = 0;          ///< of a collective's message
  std::string_view type;
  double ranks = 0;
};
/// "[320,1,1]|[512,1,1]|1024"; the views point into it.
Launch launch_of(std::string_view text);

}  // namespace sextant::profile
