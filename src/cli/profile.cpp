// SPDX-License-Identifier: Apache-2.0
// `sextant profile`: a profiler's trace beside the model.
#include "sextant/answer/profile.hpp"

#include "cli/flags.hpp"
#include "sextant/io/kineto.hpp"
#include "sextant/io/presets.hpp"

namespace sextant::cli {
namespace {

profile::Recording recording_of(const PresetRef& trace, Lookup lookup) {
  if (trace.object != nullptr) {
    const std::string text = to_json(*trace.object);
    return parse_kineto(std::make_unique<TextSource>(text), "trace");
  }
  if (lookup == Lookup::presets) {
    throw InputError("trace: the name of a file says nothing over a network",
                     "send the trace itself, the object with traceEvents");
  }
  return read_kineto(trace.name);
}

}  // namespace

Answer run_profile(const ProfileOptions& o, const Common& common) {
  const std::vector<Setting> settings = settings_of(common, {"device"});
  const Device device = load_device(o.device, settings, common.lookup);
  profile::Question question{.attainable = {.chip = lower(device)}, .device = o.gpu};
  // PyTorch's own kernels, and attention by cuDNN where that is faster.
  for (const char* library : {"pytorch", "cudnn"}) {
    question.attainable.libraries.push_back(load_kernels(kernels_for(library, device)));
  }
  question.attainable.grouped = load_kernels(kernels_for("pytorch-grouped", device)).experts;
  profile::Recording recording = recording_of(o.trace, common.lookup);
  ProfileResult result{.trace = o.trace.name.empty() ? "trace" : o.trace.name,
                       .device = device.name};
  result.assumptions = assumptions_of(recording, device.name);
  result.profile = analyse(recording, question);
  return answer_of(result);
}

}  // namespace sextant::cli
