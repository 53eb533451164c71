// SPDX-License-Identifier: Apache-2.0
#include "cli/answer.hpp"

#include "sextant/io/files.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace sextant::cli {

Node scenario_node(const Scenario& x, double devices) {
  Node root = Node::table();
  root.set("model", Node::of(x.problem.model.name));
  root.set("system", Node::of(x.system.name));
  root.set("runtime", Node::of(x.problem.runtime.name));
  root.set("gpus", Node::of(devices));
  return root;
}

Node to_node(const Breakdown& b) {
  Node n = Node::table();
  n.set("label", Node::of(b.label));
  n.set("seconds", Node::of(b.value));
  n.set("share", Node::of(b.share));
  Node& parts = n.set("parts", Node::array());
  for (const Breakdown& part : b.parts) parts.push(to_node(part));
  return n;
}

std::string assumptions_text(const std::vector<std::string>& assumptions) {
  std::string text = assumptions.empty() ? "" : "\nassumed:\n";
  for (const std::string& s : assumptions) text += "  " + s + "\n";
  return text;
}

void set_assumptions(Node& root, const std::vector<std::string>& assumptions) {
  Node& list = root.set("assumptions", Node::array());
  for (const std::string& s : assumptions) list.push(Node::of(s));
}

void check_figure_path(const std::string& path) {
  if (path.empty()) return;
  if (!path.ends_with(".svg") && !path.ends_with(".html")) {
    throw InputError("--plot: expected a file that ends in .svg or .html, got '" + path + "'");
  }
  check_writable(path);
}

void write_figure(const std::string& path, const plot::Figure& figure) {
  if (path.empty()) return;
  const std::string svg = plot::to_svg(figure);
  write_file_atomically(
      path, path.ends_with(".html") ? plot::to_html(svg, "Sextant: " + figure.title) : svg);
}

}  // namespace sextant::cli
