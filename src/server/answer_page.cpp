// SPDX-License-Identifier: Apache-2.0
#include "server/answer_page.hpp"

#include <algorithm>
#include <string_view>

#include "server/page.hpp"
#include "sextant/options/request.hpp"
#include "sextant/units/lists.hpp"

namespace sextant::server {
namespace {

/// Which part of the page shows a command's answer, and what that part asks for beside it.
struct View {
  std::string_view command;
  std::string_view view;
  std::vector<std::string_view> flags;
  std::vector<std::string_view> others = {};  ///< options whose answers it does not show
};

const std::vector<View>& views() {
  static const std::vector<View> all = {
      {"train", "predict", {"sensitivity", "choices", "nearest"}},
      {"infer", "predict", {"sensitivity", "choices", "nearest"}},
      {"search", "search", {}, {"traffic", "systems", "budget", "plan"}},
      {"validate", "accuracy", {}},
  };
  return all;
}

}  // namespace

std::optional<std::string> answer_page(cli::Invocation& invocation, const cli::Command& command) {
  const auto* view = find_by(views(), &View::command, command.name);
  if (view == nullptr || !the_page().built) return std::nullopt;
  const std::unique_ptr<cli::Invocation> fresh = command.prepare();
  const Node request = write_request(invocation.all_options(), fresh->all_options());
  const bool other = std::any_of(view->others.begin(), view->others.end(),
                                 [&](std::string_view o) { return request.find(o) != nullptr; });
  if (other) return std::nullopt;
  for (const Option& o : invocation.options()) {
    if (!contains(view->flags, o.name)) continue;
    if (bool* const* flag = std::get_if<bool*>(&o.value)) **flag = true;
  }
  invocation.common.format = Format::json;
  return page_with_answer(view->view, to_json(request), invocation.run());
}

}  // namespace sextant::server
