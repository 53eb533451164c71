// SPDX-License-Identifier: Apache-2.0
// The specs that a point's names, settings and technology lead to; what was loaded is kept.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sextant/sweep/plan.hpp"

namespace sextant::sweep {

class Specs {
 public:
  explicit Specs(const Plan& plan) : plan_(plan) {}

  /// Loads or generates what the scene's inputs name, sets the fields of specs to the axes' values
  /// at these digits, and lowers all to a problem. Throws InputError where that cannot be.
  Problem problem(Scene& scene, const std::vector<std::size_t>& digits);

 private:
  void read_settings(const std::vector<std::size_t>& digits);
  void load_system_of(Scene& scene);
  void generate_system(Scene& scene);
  void load_libraries_of(Scene& scene);
  void apply_axes(Scene& scene, const std::vector<std::size_t>& digits,
                  std::initializer_list<std::string_view> roots);

  /// From what was loaded before, by everything that it depends on.
  template <class T, class Load>
  const T& kept(std::map<std::string, T>& cache, const std::string& name, const Load& load);

  const Plan& plan_;
  std::vector<Setting> settings_;  ///< the plan's and those of axes
  std::string settings_key_;       ///< the latter, as text
  std::map<std::string, System> systems_;
  std::map<std::string, Model> models_;
  std::map<std::string, Runtime> runtimes_;
  std::map<std::string, Libraries> libraries_;
  std::map<std::string, LogicNode> nodes_;
  std::map<std::string, MemoryPart> drams_;
  std::map<std::string, LinkPart> links_;
  std::map<std::string, CoreTemplate> cores_;
};

}  // namespace sextant::sweep
