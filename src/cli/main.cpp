// SPDX-License-Identifier: Apache-2.0
// The command line: reads it, runs a command, and turns failures into messages and exit statuses
// (0 answered, 2 the input is wrong, 3 the world failed).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <system_error>

#include "cli/command_table.hpp"
#include "cli/terminal.hpp"
#include "server/answer_page.hpp"
#include "server/serve.hpp"
#include "sextant/io/files.hpp"
#include "sextant/options/meant.hpp"
#include "sextant/options/range.hpp"
#include "sextant/options/request.hpp"
#include "sextant/search/serving.hpp"
#include "sextant/search/space.hpp"
#include "sextant/spec/diagnostic.hpp"
#include "sextant/spec/flags.hpp"
#include "sextant/units/lists.hpp"
#include "sextant/units/parse.hpp"

namespace {

using namespace sextant;
using namespace sextant::cli;

/// Binds one option to CLI11; numbers that are wrong become problems, said with all the others.
class Binder {
 public:
  Binder(CLI::App& app, const Option& option, std::vector<Diagnostic>& problems)
      : app_(app), info_(option.info), help_(info_.help), problems_(problems) {
    const OptionDescription d = describe_option(option);
    flag_ = d.flags.empty() ? d.name : d.flags.front();
    names_ = info_.positional ? d.name : "";
    for (const std::string& flag : d.flags) names_ += (names_.empty() ? "" : ",") + flag;
    if (!d.no_flag.empty()) names_ += ",!" + d.no_flag;
  }

  void operator()(bool* value) { app_.add_flag(names_, *value, help_); }
  void operator()(std::optional<bool>* value) {
    flag([value](bool yes) { *value = yes; });
  }
  void operator()(PresetRef* value) { operator()(&value->name); }
  void operator()(std::string* value) {
    CLI::Option& o = finish(*app_.add_option(names_, *value, help_));
    if (!value->empty()) o.capture_default_str();
  }
  void operator()(int* value) { number(*value, "INT").capture_default_str(); }
  void operator()(double* value) { number(*value, "FLOAT").capture_default_str(); }
  void operator()(std::optional<int>* value) { number(*value, "INT"); }
  void operator()(std::optional<double>* value) { number(*value, "FLOAT"); }
  void operator()(std::vector<std::string>* value) {
    CLI::Option& o = finish(*app_.add_option(names_, *value, help_));
    if (info_.commas) o.delimiter(',');
  }
  // Read with all the others, so that everything that is wrong is said at once.
  void operator()(const GivenRef& value) {
    const std::string name(value.field->name);
    Node* table = value.table;
    if (std::holds_alternative<bool*>(value.field->target)) {
      return flag([table, name](bool yes) { table->set(name, Node::of(yes)); });
    }
    const auto put = [table, name](const std::string& text) { table->set(name, Node::of(text)); };
    finish(*app_.add_option_function<std::string>(names_, put, help_));
  }
  // None of the names is a problem beside the others; the value stays what it was.
  void operator()(const EnumRef& value) {
    const auto put = [value, flag = flag_, &problems = problems_](const std::string& given) {
      const auto at = std::find(value.names.begin(), value.names.end(), given);
      if (at != value.names.end()) {
        value.set(value.value, static_cast<std::size_t>(at - value.names.begin()));
      } else {
        problems.push_back({.file = flag,
                            .message = "unknown value '" + given + "'",
                            .hint = choice_hint(given, value.names)});
      }
    };
    std::string all;
    for (const std::string_view n : value.names) all += (all.empty() ? "" : ",") + std::string(n);
    CLI::Option& o = *app_.add_option_function<std::string>(names_, put, help_);
    o.type_name("TEXT:{" + all + "}");
    finish(o);
  }

 private:
  /// Its opposite counts the other way.
  template <class Put>
  void flag(const Put& put) {
    const auto read = [put, flag = flag_, &problems = problems_](std::int64_t count) {
      if (count == 0) problems.push_back({.file = flag, .message = "given with its opposite"});
      put(count > 0);
    };
    app_.add_flag_function(names_, read, help_);
  }

  template <class Number>
  CLI::Option& number(Number& value, const char* type) {
    CLI::Option& o = finish(*app_.add_option(names_, value, help_));
    bound(o, type);
    return o;
  }

  /// CLI::Range would let NaN through, and asks for both ends.
  void bound(CLI::Option& o, const std::string& type) const {
    const bool whole = type == "INT";
    const auto problem = [range = info_, whole](const std::string& text) -> std::string {
      double value = 0;
      int whole_number = 0;
      if (!CLI::detail::lexical_cast(text, value) ||
          (whole && std::isfinite(value) && std::abs(value) < 2e9 &&
           !CLI::detail::lexical_cast(text, whole_number))) {
        return std::string("expected a ") + (whole ? "whole " : "") + "number, not '" + text + "'";
      }
      if (!std::isfinite(value)) return "must be finite, not " + text;
      if (range.late || (value >= range.min && value <= range.max)) return "";
      return "expected " + range_words(range) + ", not " + text;
    };
    const bool bounded = std::isfinite(info_.min) || std::isfinite(info_.max);
    // Any number stands in for a wrong one: nothing is answered with it.
    const auto noted = [problem, flag = flag_, &problems = problems_](std::string& text) {
      if (std::string wrong = problem(text); !wrong.empty()) {
        problems.push_back({.file = flag, .message = std::move(wrong)});
        text = "1";
      }
      return std::string();
    };
    CLI::Validator validator(bounded ? type + " in " + range_words(info_) : "");
    o.transform(validator.operation(noted));
  }

  CLI::Option& finish(CLI::Option& o) const {
    if (info_.required && info_.unless.empty()) o.required();
    if (!info_.placeholder.empty()) o.type_name(std::string(info_.placeholder));
    return o;
  }

  CLI::App& app_;
  const OptionInfo& info_;
  std::string help_;
  std::string names_;
  std::string flag_;
  std::vector<Diagnostic>& problems_;
};

struct Program {
  CLI::App app{
      "Sextant: how fast, in how much memory, and why, a large language model trains or serves"};
  std::vector<std::unique_ptr<Invocation>>
      invocations;  ///< one a command that has options, at its defaults
  std::map<std::string, CLI::App*> groups;
  Invocation* chosen = nullptr;
  const Command* chosen_command = nullptr;
  std::vector<Diagnostic> problems;  ///< with numbers

  /// Commands that arguments do not name get their options only where `equip()` asks for them: most
  /// of the start of the program would be theirs.
  explicit Program(const std::vector<std::string>& arguments);
  void add(const Command& command);
  void equip();

 private:
  void equip(const Command& command, CLI::App& sub);
  std::vector<std::pair<const Command*, CLI::App*>> bare_;  ///< without options yet
};

void Program::add(const Command& command) {
  CLI::App* parent = &app;
  std::string name(command.name);
  if (const std::size_t blank = name.find(' '); blank != std::string::npos) {
    const std::string group = name.substr(0, blank);
    name = name.substr(blank + 1);
    parent = groups[group];
    if (parent == nullptr) {
      const auto* found = find_by(command_groups(), &CommandGroup::name, group);
      groups[group] = parent = app.add_subcommand(group, std::string(found->help));
      parent->require_subcommand(1);
    }
  }
  CLI::App* sub = parent->add_subcommand(name, std::string(command.help));
  sub->footer("Example:\n  " + std::string(command.example));
  bare_.emplace_back(&command, sub);
}

void Program::equip(const Command& command, CLI::App& sub) {
  invocations.push_back(command.prepare());
  Invocation* invocation = invocations.back().get();
  for (const Option& option : invocation->all_options()) {
    std::visit(Binder(sub, option, problems), option.value);
  }
  sub.callback([this, invocation, &command] {
    chosen = invocation;
    chosen_command = &command;
  });
}

void Program::equip() {
  for (const auto& [command, sub] : bare_) equip(*command, *sub);
  bare_.clear();
}

Program::Program(const std::vector<std::string>& arguments) {
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("sextant ") + SEXTANT_VERSION);
  app.footer("Each command has --help with an example.");
  for (const Command& command : commands()) add(command);
  std::erase_if(bare_, [&](const auto& bare) {
    const CLI::App& sub = *bare.second;
    if (!contains(arguments, sub.get_name())) return false;
    equip(*bare.first, *bare.second);
    return true;
  });
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
  }
  return names;
}

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* o : app.get_options()) {
    for (const std::string& n : o->get_lnames()) flags.push_back("--" + n);
    for (const std::string& n : o->get_snames()) flags.push_back("-" + n);
  }
  return flags;
}

std::string called(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? "sextant" : called(*parent) + " " + app.get_name();
}

/// Commands that know a flag: "it is of 'sextant train', 'sextant infer'".
std::string whose(const CLI::App& app, const std::string& flag) {
  std::string list;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::vector<std::string> flags = flags_of(*sub);
    if (!contains(flags, flag)) continue;
    list += (list.empty() ? "it is of '" : ", '") + called(*sub) + "'";
  }
  return list;
}

/// Whether a flag is an axis of searches.
bool is_searched(const std::string& flag) {
  bool found = false;
  const auto look = [&, name = field_of_flag(flag)](std::string_view axis, const auto&) {
    found = found || axis == name;
  };
  SearchSpace training;
  ServingSpace serving;
  describe(look, training);
  describe(look, serving);
  return found;
}

Diagnostic unknown_flag(const CLI::App& app, const CLI::App& command, const std::string& flag) {
  const std::vector<std::string> flags = flags_of(command);
  if (contains(flags, flag)) {
    return {
        .file = flag, .message = "comes after the command", .hint = called(command) + " " + flag};
  }
  if (called(command) == "sextant search" && is_searched(flag)) {
    return {.file = flag,
            .message = "is what a search finds",
            .hint = "hold it with --fix " + flag.substr(2) + "=VALUE"};
  }
  std::string hint = option_meant(flag, flags);
  if (hint.empty()) hint = whose(app, flag);
  if (hint.empty()) hint = "'" + called(command) + " --help' lists its options";
  return {.file = flag, .message = "unknown option of '" + called(command) + "'", .hint = hint};
}

/// The command that was reached.
const CLI::App& asked(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return *at;
}

/// What of a command line nobody takes. CLI11 names it in the order it met it, values first, and
/// does not say what may have been meant.
std::vector<Diagnostic> unknown(const CLI::App& app) {
  const CLI::App* at = &asked(app);
  std::vector<Diagnostic> flags;
  std::vector<Diagnostic> others;
  const std::vector<std::string> names = names_of_commands(*at);
  for (const std::string& a : app.remaining(true)) {
    if (a.starts_with("-") && !parse_number(a)) {
      flags.push_back(unknown_flag(app, *at, a.substr(0, a.find('='))));
    } else if (!names.empty()) {
      const std::string hint = did_you_mean(a, names);
      return {{.message = "unknown command '" + a + "'",
               .hint = hint.empty() ? "'" + called(*at) + " --help' lists the commands" : hint}};
    } else {
      others.push_back({.message = "'" + a + "': '" + called(*at) + "' takes no such argument",
                        .hint = "options begin with --"});
    }
  }
  return flags.empty() ? others : flags;  // values of flags that nobody knows are no news
}

/// What CLI11 says, in our words where its own are none that people use.
std::string said_of(const CLI::ParseError& e) {
  const std::string text = e.what();
  if (text.ends_with(" missing") && text.find(": 1 required ") != text.npos) {
    return text.substr(0, text.find(": 1 required ")) + ": needs a value";
  }
  constexpr std::string_view several = ": At Most 1 required but received ";
  const std::size_t at = text.find(several);
  if (at == text.npos) return text;
  return text.substr(0, at) + ": given " + text.substr(at + several.size()) +
         " times, once will do";
}

/// What CLI11 found wrong, what nobody takes, and numbers that are none.
std::string problems_of(const CLI::App& app, const CLI::ParseError& e,
                        const std::vector<Diagnostic>& numbers) {
  std::vector<Diagnostic> problems = unknown(app);
  problems.insert(problems.end(), numbers.begin(), numbers.end());
  const auto code = static_cast<CLI::ExitCodes>(e.get_exit_code());
  const bool command = !problems.empty() && problems.front().file.empty();
  if (problems.empty()) {
    const CLI::App& at = asked(app);
    return called(at) + ": " + said_of(e) + "\n'" + called(at) + " --help' lists " +
           (names_of_commands(at).empty() ? "its options" : "the commands");
  }
  if (code != CLI::ExitCodes::ExtrasError && !command) {
    problems.insert(problems.begin(), {.message = said_of(e)});
  }
  return InputError(std::move(problems)).what();
}

/// Problems are said by an option's first name; who gave it by its other name looks for that one.
std::string as_given(std::string message, Invocation& invocation,
                     const std::vector<std::string>& arguments) {
  const auto given = [&](const std::string& flag) {
    return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& a) {
      return a == flag || a.starts_with(flag + "=");
    });
  };
  for (const Option& option : invocation.all_options()) {
    if (option.info.alias.empty()) continue;
    const std::vector<std::string> flags = describe_option(option).flags;
    if (flags.size() < 2) continue;
    const auto other = std::find_if(flags.begin() + 1, flags.end(), given);
    if (given(flags.front()) || other == flags.end()) continue;
    const std::string from = flags.front() + ": ";
    for (std::size_t at = message.find(from); at != std::string::npos;
         at = message.find(from, at + other->size())) {
      if (at == 0 || message[at - 1] == '\n') message.replace(at, from.size(), *other + ": ");
    }
  }
  return message;
}

int fail(const std::string& message, int status) {
  std::fprintf(stderr, "%s\n", visible(message).c_str());
  return status;
}

std::string answer_text(Invocation& invocation, const Command& command) {
  if (invocation.common.format != Format::html) return invocation.run();
  if (std::optional<std::string> view = server::answer_page(invocation, command)) return *view;
  return invocation.run();
}

int answer(Invocation& invocation, const Command& command) {
  const Common& common = invocation.common;
  if (!common.output.empty()) check_writable(common.output);
  const std::string text = answer_text(invocation, command);
  if (!common.output.empty()) {
    write_file_atomically(common.output, text);
    return 0;
  }
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw std::system_error(errno, std::generic_category(), "standard output");
  }
  return 0;
}

/// "sextant help train" as people ask elsewhere: "sextant train --help".
std::vector<std::string> asked_for(std::vector<std::string> arguments) {
  if (arguments.empty() || arguments.front() != "help") return arguments;
  arguments.erase(arguments.begin());
  arguments.emplace_back("--help");
  return arguments;
}

/// The command that arguments name, and how many of them do.
std::pair<const CLI::App*, std::size_t> named(const CLI::App& app,
                                              const std::vector<std::string>& arguments) {
  const CLI::App* at = &app;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::vector<const CLI::App*> subs =
        at->get_subcommands([&](const CLI::App* sub) { return sub->get_name() == arguments[i]; });
    if (subs.empty()) return {at, i};
    at = subs.front();
  }
  return {at, arguments.size()};
}

/// Flags that need a value and have the next flag in its place, which CLI11 would take for it.
void check_values_given(const CLI::App& app, const std::vector<std::string>& arguments) {
  const auto [command, first] = named(app, arguments);
  const auto option = [command = command](const std::string& a) -> const CLI::Option* {
    return a.starts_with("--") && a != "--" ? command->get_option_no_throw(a) : nullptr;
  };
  std::vector<Diagnostic> problems;
  for (std::size_t i = first; i + 1 < arguments.size() && arguments[i] != "--"; ++i) {
    const CLI::Option* o = option(arguments[i]);
    if (o == nullptr || o->get_expected_min() == 0) continue;
    if (const std::string& next = arguments[++i]; option(next) != nullptr) {
      problems.push_back({.file = arguments[i - 1],
                          .message = "needs a value",
                          .hint = "'" + next + "' is the next option"});
      --i;
    }
  }
  throw_if_any(std::move(problems));
}

/// CLI11 takes "--" after a flag of several values for their end alone: what follows would be
/// flags.
std::vector<std::string> marked(const CLI::App& app, std::vector<std::string> arguments) {
  const auto mark = std::find(arguments.begin(), arguments.end(), "--");
  if (mark == arguments.end() || mark == arguments.begin()) return arguments;
  const CLI::App* command = named(app, arguments).first;
  const auto flag =
      std::find_if(std::reverse_iterator(mark), arguments.rend(),
                   [](const std::string& a) { return a.starts_with("-") && !parse_number(a); });
  if (flag == arguments.rend()) return arguments;
  const CLI::Option* option = command->get_option_no_throw(flag->substr(0, flag->find('=')));
  if (option != nullptr && option->get_expected_max() > 1) arguments.insert(mark, "--");
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  add_command(server::serve_command());
  const std::vector<std::string> given = asked_for({argv + std::min(argc, 1), argv + argc});
  Program p(given);
  const std::vector<std::string> arguments = marked(p.app, given);
  try {
    p.app.name(argc > 0 ? argv[0] : "sextant");
    check_values_given(p.app, arguments);
    p.app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    if (!p.problems.empty()) p.chosen->refuse(std::move(p.problems));
    return answer(*p.chosen, *p.chosen_command);
  } catch (const CLI::Success& e) {
    return p.app.exit(e);
  } catch (const CLI::ParseError& e) {
    p.equip();  // flags may be another command's
    return fail(problems_of(p.app, e, p.problems), 2);
  } catch (const InputError& e) {
    return fail(p.chosen == nullptr ? e.what() : as_given(e.what(), *p.chosen, arguments), 2);
  } catch (const std::system_error& e) {
    return fail("sextant: " + std::string(e.what()), 3);
  } catch (const std::bad_alloc&) {
    return fail("sextant: out of memory", 3);
  } catch (const std::exception& e) {
    return fail("sextant: internal error: " + std::string(e.what()), 3);
  }
}
