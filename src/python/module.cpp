// SPDX-License-Identifier: Apache-2.0
// sextant._core: runs a command for Python. Arguments come as the JSON of a request and answers go
// back as text, so that Python, the command line and the server cannot differ.
#include <pybind11/pybind11.h>

#include <system_error>

#include "cli/command_table.hpp"
#include "sextant/options/request.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace {

namespace py = pybind11;
using namespace sextant;

/// The text of the request was made by the package: a place in it tells a caller nothing.
std::vector<Diagnostic> without_places(std::vector<Diagnostic> problems, const std::string& name) {
  for (Diagnostic& d : problems) {
    if (d.file.starts_with("--")) d.field = field_of_flag(d.file);
    d.file = "sextant." + name;
    d.line = d.column = d.caret = 0;
    d.excerpt.clear();
  }
  return problems;
}

std::string run(std::string name, const std::string& request, const std::string& format) {
  const py::gil_scoped_release release;
  const cli::Command* command = cli::find_command(name);
  if (command == nullptr) throw InputError("no command is called '" + name + "'");
  const std::unique_ptr<cli::Invocation> invocation = command->prepare();
  for (char& ch : name) {
    if (ch == ' ') ch = '.';
  }
  const Document document = parse_json(request, "sextant." + name);
  try {
    invocation->fill(document, document.root);
  } catch (const InputError& e) {
    throw InputError(without_places(e.diagnostics(), name));
  }
  if (!parse_enum(format, invocation->common.format)) {
    throw InputError("no format is called '" + format + "'");
  }
  return invocation->run();
}

py::dict to_dict(const Diagnostic& d) {
  py::dict dict;
  dict["file"] = d.file;
  dict["line"] = d.line;
  dict["column"] = d.column;
  dict["field"] = d.field;
  dict["message"] = d.message;
  dict["hint"] = d.hint;
  return dict;
}

/// sextant.InputError. Never freed: the interpreter may raise it until its end.
PyObject* input_error = nullptr;

void raise(const py::object& error) {
  PyErr_SetObject(py::type::handle_of(error).ptr(), error.ptr());
}

void translate(std::exception_ptr failure) {  // NOLINT(performance-unnecessary-value-param)
  try {
    if (failure) std::rethrow_exception(failure);
  } catch (const InputError& e) {
    py::object error = py::reinterpret_borrow<py::object>(input_error)(e.what());
    py::list diagnostics;
    for (const Diagnostic& d : e.diagnostics()) diagnostics.append(to_dict(d));
    error.attr("diagnostics") = diagnostics;
    raise(error);
  } catch (const std::system_error& e) {
    // With a number Python chooses the class: FileNotFoundError, PermissionError.
    raise(py::reinterpret_borrow<py::object>(PyExc_OSError)(e.code().value(), e.what()));
  }
}

}  // namespace

PYBIND11_MODULE(_core, m) {
  m.doc() = "Runs the commands of Sextant.";
  m.attr("version") = SEXTANT_VERSION;
  input_error = PyErr_NewExceptionWithDoc(
      "sextant.InputError",
      "The input is wrong. Its text names every problem; diagnostics holds them one by one, with "
      "file, line, column, field, message and hint.",
      PyExc_ValueError, nullptr);
  m.attr("InputError") = py::reinterpret_borrow<py::object>(input_error);
  py::register_exception_translator(&translate);
  m.def("run", &run, py::arg("command"), py::arg("request"), py::arg("format"),
        "What a command says in a format: text, json, csv or html. Other threads run meanwhile.");
}
