// SPDX-License-Identifier: Apache-2.0
#include "sextant/import/launch.hpp"

#include <algorithm>

namespace sextant {
namespace {

/// By its path, or as a container's image by its repository, with or without a tag.
bool names_program(const Word& word, std::string_view program) {
  const std::string_view text = word.text;
  const std::size_t slash = text.rfind('/');
  const std::string_view name = slash == text.npos ? text : text.substr(slash + 1);
  return name.substr(0, name.find_first_of(":@")) == program || text == program;
}

/// How many of the words from here name the program; none where they do not.
std::size_t named_at(const std::vector<Word>& words, std::size_t at, std::string_view program) {
  std::size_t count = 0;
  while (!program.empty()) {
    const std::string_view part = program.substr(0, program.find(' '));
    if (at + count >= words.size() || !names_program(words[at + count], part)) return 0;
    program.remove_prefix(std::min(part.size() + 1, program.size()));
    ++count;
  }
  return count;
}

struct OtherProgram {
  std::string_view name;
  std::string_view why;
  std::string_view hint;
};
constexpr std::string_view sends = "sends requests to a server, and says nothing of how it runs";
constexpr std::string_view as_traffic =
    "import the server's command; what is sent is 'sextant traffic' with --input, --output, "
    "--requests, --rate, or --arrivals closed with --concurrency";
constexpr std::string_view engine_only = "import what starts a server with the same engine";
constexpr OtherProgram other_programs[] = {
    {"vllm bench serve", sends, as_traffic},
    {"benchmark_serving.py", sends, as_traffic},
    {"sglang.bench_serving", sends, as_traffic},
    {"genai-perf", sends, as_traffic},
    {"aiperf", sends, as_traffic},
    {"guidellm", sends, as_traffic},
    {"trtllm-serve disaggregated", "has its engines in a file", "import that file: -c FILE"},
    {"trtllm-bench", "measures an engine that it starts for the lengths to come",
     "'sextant traffic --runtime trtllm' with --tp, --pp, --ep, --input, --output, --requests and "
     "--set runtime.engine.sized=true"},
    {"sglang.bench_one_batch", "measures an engine of its own", engine_only},
    {"sglang.bench_offline_throughput", "measures an engine of its own", engine_only},
};

}  // namespace

std::optional<ProgramLaunch> launch_in(const std::vector<Word>& words, const ImportFormat* only) {
  for (const ImportFormat& f : import_formats()) {
    if (only != nullptr && only != &f) continue;
    for (const std::string& program : f.programs) {
      for (std::size_t i = 0; i < words.size(); ++i) {
        const std::size_t count = named_at(words, i, program);
        if (count > 0) return ProgramLaunch{&f, i, i + count};
      }
    }
  }
  return std::nullopt;
}

std::optional<ProgramLaunch> bare_arguments(const std::vector<Word>& words,
                                            const ImportFormat* only) {
  if (words.empty() || !words.front().text.starts_with("--")) return std::nullopt;
  for (const ImportFormat& f : import_formats()) {
    if (only != nullptr ? only != &f : !f.reads(ImportSyntax::command)) continue;
    if (only != nullptr) return ProgramLaunch{&f, 0, 0};
    for (const std::vector<std::string>& keys : f.detect) {
      const bool all = std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
        return std::any_of(words.begin(), words.end(), [&](const Word& w) {
          return w.text == "--" + key || w.text.starts_with("--" + key + "=");
        });
      });
      if (all) return ProgramLaunch{&f, 0, 0};
    }
  }
  return std::nullopt;
}

std::optional<NoLaunch> no_launch(const std::vector<Word>& words,
                                  const std::optional<ProgramLaunch>& launch) {
  const std::size_t first = launch ? launch->first : 0;
  const std::size_t last = launch ? launch->first + 1 : words.size();
  for (std::size_t i = first; i < last; ++i) {
    for (const OtherProgram& o : other_programs) {
      if (named_at(words, i, o.name) == 0) continue;
      return NoLaunch{i, std::string(o.name), std::string(o.why), std::string(o.hint)};
    }
  }
  return std::nullopt;
}

}  // namespace sextant
