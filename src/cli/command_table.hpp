// SPDX-License-Identifier: Apache-2.0
// The table of commands, and what can be derived from it: an invocation that flags or a request
// fill in, and a list of every command and option for help, OpenAPI, completion and manual pages.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/from.hpp"
#include "sextant/answer/answer.hpp"
#include "sextant/options/common.hpp"
#include "sextant/options/request.hpp"
#include "sextant/options/rl_scenario.hpp"
#include "sextant/options/scenario.hpp"
#include "sextant/options/search_systems.hpp"
#include "sextant/options/traffic_scenario.hpp"

namespace sextant::cli {

/// One use of a command: options at their defaults until someone writes through options().
class Invocation {
 public:
  virtual ~Invocation() = default;
  /// The command's own options.
  virtual std::vector<Option> options() = 0;
  virtual Answer answer() const = 0;
  /// The answer in the format that was asked for.
  std::string run() const;
  /// Fills the options from a request. Throws all that is wrong with it, and with the scenario that
  /// the rest of it gives.
  void fill(const Document& document, const Node& request, const RequestRules& rules = {});
  /// Throws these problems with options, and what is wrong with the scenario that the others give.
  [[noreturn]] void refuse(std::vector<Diagnostic> problems);

  /// Own options and the common ones. Where a command uses the name "output" for something else,
  /// the file keeps only -o; where it uses -o as well, there is no such file. Any other common
  /// option gives way to one of its name.
  std::vector<Option> all_options();

  Common common;

 private:
  /// Throws what is wrong with a scenario, where there is one.
  virtual void check(const Common& common) const = 0;
};

struct Command {
  std::string_view name;  ///< "train", "ops gemm"
  std::string_view help;
  std::string_view example;
  std::unique_ptr<Invocation> (*prepare)();
};

template <class Options, auto run_command>
class InvocationOf : public Invocation {
 public:
  std::vector<Option> options() override { return options_of(options_); }
  Answer answer() const override {
    if constexpr (requires { Options::imports; }) {
      Common shared = common;
      const Options whole = filled(shared);
      return run(whole, shared);
    } else {
      return run(options_, common);
    }
  }

 private:
  /// With what a file says, and its settings.
  Options filled(Common& shared) const {
    Options whole = options_;
    Options fresh;
    try {
      whole.notes =
          fill_from({options_.from, Options::imports}, options_of(whole),
                    options_.from.empty() ? std::vector<Option>() : options_of(fresh), shared);
    } catch (const InputError& e) {
      Common known = shared;
      // What the file would have said is not known, and nothing to complain about.
      if (whole.model.empty()) known.unread.emplace_back("model");
      if (whole.system.empty()) known.unread.emplace_back("system");
      sextant::refuse(e.diagnostics(), known, [&](const Common& c) { check_scenario(whole, c); });
    }
    return whole;
  }
  void check(const Common& shared) const override {
    if constexpr (requires { Options::imports; }) {
      Common own = shared;
      const Options whole = filled(own);
      check_scenario(whole, own);
    } else if constexpr (requires { check_scenario(options_, shared); }) {
      check_scenario(options_, shared);
    }
  }
  static Answer run(const Options& options, const Common& common) {
    if constexpr (requires { Answer(run_command(options, common)); }) {
      return run_command(options, common);
    } else {
      return Answer::verbatim(run_command(options, common));
    }
  }

  Options options_;
};

/// A line of the table: the options, the function that takes them, and what help says.
template <class Options, auto run_command>
Command command(std::string_view name, std::string_view help, std::string_view example) {
  return {name, help, example, []() -> std::unique_ptr<Invocation> {
            return std::make_unique<InvocationOf<Options, run_command>>();
          }};
}

/// All commands, in the order of help.
std::span<const Command> commands();
/// Of these, those that a page without a server leaves out.
std::vector<Command> local_commands();
/// For those of parts that not every program has; before anyone asks for the others.
void add_command(const Command& command);
/// Null when there is none.
const Command* find_command(std::string_view name);

/// Words that only lead to commands: {"ops", help}.
struct CommandGroup {
  std::string_view name;
  std::string_view help;
};
std::span<const CommandGroup> command_groups();

/// An option as a program may want to know it.
struct OptionDescription {
  std::string name;                ///< of a request's field: "kv_precision"
  std::vector<std::string> flags;  ///< "-o", "--output"; empty for a positional
  std::string no_flag;             ///< "--no-sp", or empty
  std::string help;
  std::string type;  ///< of JSON: "string", "boolean", "integer", "number" or "array" (of strings)
  std::string placeholder;
  std::string default_text;  ///< empty where there is none
  std::vector<std::string> choices;
  std::string preset;             ///< the kind of preset that it names, or empty
  bool object = false;            ///< in a request an object may stand for the preset
  bool number = false;            ///< in a request a number may stand for the text
  std::optional<double> maximum;  ///< that a request over a network may give
  bool required = false;
  std::string unless;  ///< options that may stand for a required one: "a,b"
  bool positional = false;
  bool commas = false;
  bool local = false;
  bool reads = false;
};

struct CommandDescription {
  std::string name;
  std::string help;
  std::string example;
  std::vector<OptionDescription> options;
};

std::vector<CommandDescription> describe_commands();
OptionDescription describe_option(const Option& option);

/// "--kv-precision", "-m".
std::string flag_of(std::string_view name);

}  // namespace sextant::cli
