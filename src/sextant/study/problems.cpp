// SPDX-License-Identifier: Apache-2.0
#include "sextant/study/problems.hpp"

#include <map>

#include "sextant/io/embedded.hpp"
#include "sextant/scenario/catalogue.hpp"
#include "sextant/spec/flags.hpp"
#include "sextant/tech/usual.hpp"

namespace sextant::study {

Technology load_technology(const TechnologyNames& names, const std::vector<Setting>& settings,
                           Lookup lookup) {
  Technology t;
  Flags wrong;
  // What is wrong with one part hides nothing of the others; a name that is none is its field's.
  const auto take = [&](const char* field, auto& part, auto load, const std::string& name) {
    try {
      part = load(name, settings, lookup);
    } catch (const InputError& e) {
      for (Diagnostic d : e.diagnostics()) {
        if (d.file.empty() && d.field.empty()) d.field = field;
        wrong.problems.push_back(std::move(d));
      }
    }
  };
  using Settings = const std::vector<Setting>&;
  const auto node = [](const std::string& n, Settings s, Lookup l) { return load_node(n, s, l); };
  const auto dram = [](const std::string& n, Settings s, Lookup l) { return load_dram(n, s, l); };
  const auto link = [](const std::string& n, Settings s, Lookup l) { return load_link(n, s, l); };
  const auto core = [](const std::string& n, Settings s, Lookup l) { return load_core(n, s, l); };
  take("node", t.node, node, names.node.empty() ? usual_node : names.node);
  const UsualParts usual = usual_parts(t.node);
  take("dram", t.memory, dram, names.dram.empty() ? usual.memory : names.dram);
  take("link", t.link, link, names.link.empty() ? usual.link : names.link);
  const std::string own = names.core.empty() ? usual_core : names.core;
  take("core", t.core, core, own == "own" ? usual.core : own);
  throw_if_any(std::move(wrong.problems));
  t.bridge = load_link("d2d");
  t.bond = load_link("hybrid-bond");
  t.core_node = load_node(t.core.node, {}, lookup);
  return t;
}

Problem problem_of(const System& system, const char* runtime_name, const Model& model,
                   const Training& work) {
  // Searches ask for the same runtime thousands of times; servers and studies from several threads.
  thread_local Catalogue catalogue;
  thread_local std::map<std::string, Runtime> runtimes;
  auto at = runtimes.find(runtime_name);
  if (at == runtimes.end()) at = runtimes.emplace(runtime_name, load_runtime(runtime_name)).first;
  const Runtime& runtime = at->second;
  std::string reason;
  const auto libraries = catalogue.libraries(system, runtime, reason);
  if (!libraries) throw InputError(reason);
  return prepare(system, runtime, *libraries, model, work);
}

Strategy small_strategy() {
  Strategy s;
  s.tp = 4;
  s.pp = 4;
  s.dp = 64;
  s.sp = true;
  s.zero = 1;
  return s;
}

CsvTable shipped_cases(std::string_view file) {
  for (const EmbeddedFile& f : embedded_cases()) {
    if (f.path == file) return parse_csv(f.text(), std::string(file));
  }
  throw InputError("the program was built without " + std::string(file));
}

}  // namespace sextant::study
