// SPDX-License-Identifier: Apache-2.0
// What answers about scenarios have in common.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/answer/answer.hpp"
#include "sextant/predict/energy.hpp"
#include "sextant/predict/infer.hpp"
#include "sextant/predict/uncertainty.hpp"
#include "sextant/scenario/scenario.hpp"

namespace sextant {

/// What was asked: model, system, runtime, devices.
Record head_of(const Scenario& scenario, double devices);

/// "8.03 B", "5884", "59.9": how many, without an exponent.
std::string format_count(double n, int digits = 4);

/// The names of those that are switched on, of parts each of which is or is not.
template <Described T>
std::vector<std::string_view> parts_on(T parts) {
  std::vector<std::string_view> names;
  for (const Slot& part : reflect(parts).fields) {
    if (*std::get<bool*>(part.target)) names.push_back(part.name);
  }
  return names;
}

/// A part of a device's memory.
struct Occupied {
  std::string name;
  Bytes bytes;
  std::string note;
};
/// What a served model takes of a device, by part.
Record memory_record(const ServingMemory& memory);
/// "memory of a device: 60 GiB of 80 GiB", and a line a part.
void say_memory(Answer& answer, const std::string& of_what, Bytes total, Bytes capacity,
                const std::vector<Occupied>& parts);
/// "does not fit: 3 GiB too much", of the devices' memory or of another's, and that nothing near it
/// fits where nothing does.
void say_misfit(Answer& answer, Bytes over, std::string_view whose, bool neighbours);

/// "days", "days_low", "days_high": a number, and where it lies nine times in ten.
struct NumberAndRange {
  Item value;
  Item low = {};
  Item high = {};
};
void add(Record& record, std::string_view name, NumberAndRange number);
/// Of what grows as a time does, and is as sure.
template <class T>
NumberAndRange as_sure(const T& number, const Interval& time) {
  return {number, time.low * number, time.high * number};
}

/// Of one device, for so many devices that make so many tokens together.
struct EnergyAnswer {
  Energy device;
  double devices = 1;
  double tokens = 1;
  Interval time = {};  ///< that it is drawn in; no case measured power, so that is held
};

/// "energy": joules of one device by what draws them, and of a token on all devices; and the line
/// "energy 401 J a device, 24.5 mJ a token: compute 60 %, memory 10 %, links 2 %, idle 28 %".
void add(Answer& answer, const EnergyAnswer& energy);

/// Dollars that a million tokens cost where so many devices make so many tokens in that time, each
/// at so many dollars an hour.
double dollars_per_million(double price, double devices, Seconds time, double tokens);

/// Before the times of what does not fit.
inline constexpr std::string_view unfitting = "does not fit; if it did, ";

/// Assumes that a device runs at its lowest clock, where that still draws more than its limit.
void assume_overdrawn(std::vector<std::string>& assumptions, const Chip& chip, Watts power,
                      Hertz clock);
/// The same by what steps of an engine draw at most, beyond idling.
void assume_overdrawn(std::vector<std::string>& assumptions, const Chip& chip, double watts);

/// A headline number: "uncertainty", and a line for people.
struct Headline {
  double value = 0;  ///< in base units
  Dimension unit = Seconds::dimension;
};
Interval add(Answer& answer, const Likeness& likeness, const Headline& headline);
/// The same of one item of a list.
Interval add(Record& record, const Likeness& likeness, const Headline& headline);
/// The line: "12 ms to 15 ms nine times in ten: h100-sxm measured".
std::string sure_text(const Interval& interval, const Headline& headline);
/// The record alone, and "12 ms to 15 ms".
Record uncertainty_record(const Interval& interval, const Headline& headline);
std::string range_text(const Interval& interval, const Headline& headline);
/// "unmeasured": choices outside of everything measured; for people, a line each.
void add(Record& record, const std::vector<Unmeasured>& unmeasured);
void say_unmeasured(Answer& answer, const std::vector<Unmeasured>& unmeasured);

}  // namespace sextant
