// SPDX-License-Identifier: Apache-2.0
// A plan: what stays, what varies, and the numbering of all its points. A point's number decides
// everything about it, so work can be split, gone on with and put together in any way.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/io/node.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/io/settings.hpp"
#include "sextant/io/store.hpp"
#include "sextant/sweep/inputs.hpp"

namespace sextant::sweep {

/// One field and the values it takes.
struct Axis {
  std::string field;  ///< as the plan writes it, and the column is named
  std::string path;   ///< for find_slot()
  std::string canonical;
  Layer layer = Layer::point;
  CellType type = CellType::real;
  std::string unit;  ///< base unit of a quantity: "B/s"
  std::string help;
  std::string zip;  ///< axes of one name advance together
  Place place;
  std::vector<double> numbers;     ///< see number_of()
  std::vector<std::string> texts;  ///< of names and settings; else empty

  std::size_t size() const { return numbers.size(); }
  const std::string& text(std::size_t i) const;
  Cell cell(std::size_t i) const;
};

/// Axes that advance together; a digit of a point's number.
struct Wheel {
  std::vector<std::size_t> axes;
  std::size_t size = 0;
  bool makes_problem = false;
};

/// The inner search that a plan asks for: at every point, the best strategy by this objective.
struct Best {
  std::string objective;
};

struct Plan {
  Task task = Task::train;
  std::string file, text;
  Lookup lookup = Lookup::anywhere;  ///< where names may lead
  Node root;                         ///< as parsed, for comparison with another
  Inputs base;                       ///< without the axes
  std::vector<Setting> settings;     ///< of specs, for all points
  std::vector<Axis> axes;            ///< in the plan's order
  std::vector<Wheel> wheels;         ///< most significant first: what makes problems, then the rest
  std::vector<std::string> given;    ///< canonical fields of the base and the axes, sorted
  std::uint64_t count = 0;           ///< of points
  std::uint64_t inner = 1;           ///< points in a row that share a problem
  bool energy = false;               ///< energies too; several times the work
  std::optional<Best> best;

  bool gives(std::string_view canonical) const;
};

/// More points than this are a mistake: at 100,000 a second they take a day, and a terabyte.
inline constexpr std::uint64_t max_points = 10'000'000'000;
/// More values than this on all axes together are, too.
inline constexpr std::uint64_t max_values = 1'000'000;

/// Reads and checks a plan; presets that it names are loaded once, points are not. Throws
/// InputError with everything that is wrong.
Plan read_plan(std::string text, std::string file, Lookup lookup = Lookup::anywhere);

/// The digit of every wheel at a point.
void digits_of(const Plan& plan, std::uint64_t point, std::span<std::size_t> digits);

/// What differs between a plan and the text of another, one line each: "axis[1].values: …". Empty
/// where nothing does but comments and layout.
std::vector<std::string> differences(const Plan& plan, const std::string& other_text);

/// "317 years", "4.2 hours".
std::string duration_text(double seconds);

}  // namespace sextant::sweep
