// SPDX-License-Identifier: Apache-2.0
// Any bytes as a request: the first line names the path, the rest is the body. What is answered is
// JSON, what is refused says why, and nothing is our own fault.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>

#include "cli/command_table.hpp"
#include "server/routes.hpp"
#include "server/search_job.hpp"
#include "server/search_request.hpp"
#include "sextant/spec/patience.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace sextant::server {
namespace {

/// Answers that take longer are given up, as the server does.
constexpr std::chrono::seconds most{2};

Response answer_within(const Action& action, const Request& request) {
  std::atomic<bool> over = false;
  std::atomic<bool> done = false;
  std::thread timer([&] {
    const auto end = std::chrono::steady_clock::now() + most;
    while (!done && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    over = true;
  });
  const Patience patience(over);
  Response response = answered([&] { return action(request); });
  done = true;
  timer.join();
  return response;
}

/// Those of the server, and what it reads of a search before it becomes a job.
const Routes& routes() {
  static const Routes all = [] {
    Routes r = command_routes();
    r[base + "/search"]["POST"] = [](const Request& request) {
      check_search(parse_json(request.body, "request"));
      return Response{.body = "{}"};
    };
    r[base + "/best"]["POST"] = [](const Request& request) {
      return Response{.body = search_at_once(parse_json(request.body, "request"))};
    };
    return r;
  }();
  return all;
}

// ---- requests that say something: an option of the command, with a value of its kind or none

using Random = std::minstd_rand;

template <class List>
const auto& any_of(const List& list, Random& random) {
  return *(std::begin(list) + static_cast<std::ptrdiff_t>(random() % std::size(list)));
}

Node number(Random& random) {
  static constexpr double numbers[] = {0,   1,   2,   3,    4,    7,    8,     16,   64,  100, 1000,
                                       1e5, 1e6, 1e9, 1e15, 1e18, 1e30, 1e308, 0.01, 0.5, 0.99};
  const double value = any_of(numbers, random);
  const double signed_value = random() % 8 == 0 ? -value : value;
  return value < 1e18 && value == static_cast<double>(static_cast<std::int64_t>(value))
             ? Node::of(static_cast<std::int64_t>(signed_value))
             : Node::of(signed_value);
}

std::string text(const cli::OptionDescription& option, Random& random) {
  static const std::vector<std::string> models = preset_names(PresetKind::model);
  static const std::vector<std::string> systems = preset_names(PresetKind::system);
  static const std::vector<std::string> runtimes = preset_names(PresetKind::runtime);
  static constexpr const char* texts[] = {
      "",        "x",      "nan", "-1",        "1e400",   "8",       "64 gpus",  "2 MW",
      "300B",    "40 $/h", "1 s", "-5 ms",     "8 TB/s",  "0.5",     "a,b,,c",   "vision",
      "experts", "tp=2",   "[]",  "{\"a\":1}", "a = 1\n", "poisson", "published"};
  if (!option.choices.empty() && random() % 4 != 0) return any_of(option.choices, random);
  if (option.preset == "model" && random() % 4 != 0) return any_of(models, random);
  if (option.preset == "system" && random() % 4 != 0) return any_of(systems, random);
  if (option.preset == "runtime" && random() % 4 != 0) return any_of(runtimes, random);
  return any_of(texts, random);
}

Node value_of(const cli::OptionDescription& option, Random& random) {
  const auto kind = random() % 16;
  if (kind == 0) return Node{};
  if (kind == 1) return Node::table();
  if (kind == 2) return Node::of(text(option, random));
  if (kind == 3) return number(random);
  if (option.type == "boolean") return Node::of(random() % 2 == 0);
  if (option.type == "integer" || option.type == "number") return number(random);
  if (option.type != "array") return Node::of(text(option, random));
  Node list = Node::array();
  for (auto i = random() % 4; i > 0; --i) list.items.push_back(Node::of(text(option, random)));
  return list;
}

/// Changes, adds or takes away an option of the request; nothing where it is none.
std::string mutated(const std::string& request, Random& random) {
  static const std::vector<cli::CommandDescription> commands = cli::describe_commands();
  const std::size_t line = std::min(request.find('\n'), request.size());
  const std::string path = request.substr(0, line);
  const std::string name = path == "best" ? "search" : path;
  const auto command =
      std::find_if(commands.begin(), commands.end(), [&](const auto& c) { return c.name == name; });
  if (command == commands.end() || command->options.empty() || line == request.size()) return "";
  Node body;
  try {
    body = parse_json(request.substr(line + 1), "request").root;
  } catch (const InputError&) {
    return "";
  }
  if (body.kind != Node::Kind::table) return "";
  for (auto changes = 1 + random() % 3; changes > 0; --changes) {
    if (!body.members.empty() && random() % 6 == 0) {
      const auto at = static_cast<std::ptrdiff_t>(random() % body.members.size());
      body.members.erase(body.members.begin() + at);
      continue;
    }
    const cli::OptionDescription& option = any_of(command->options, random);
    body.set(option.name, value_of(option, random));
  }
  return path + "\n" + to_json(body, 0);
}

void answer_one(const std::string& text) {
  const std::size_t line = text.find('\n');
  if (line == std::string::npos) return;
  const auto at = routes().find(base + "/" + text.substr(0, line));
  if (at == routes().end() || !at->second.contains("POST")) return;
  const Request request{.method = "POST",
                        .path = at->first,
                        .body = text.substr(line + 1),
                        .content_type = "application/json",
                        .host = "localhost"};
  const Response response = answer_within(at->second.at("POST"), request);
  if (response.status == 500) std::abort();
  parse_json(response.body, "answer");
}

std::string text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most_bytes, unsigned seed) {
  Random random(seed);
  const std::string next = random() % 4 == 0 ? "" : mutated(text_of(data, size), random);
  if (next.empty() || next.size() > most_bytes) return LLVMFuzzerMutate(data, size, most_bytes);
  std::memcpy(data, next.data(), next.size());
  return next.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  answer_one(text_of(data, size));
  return 0;
}

}  // namespace sextant::server
