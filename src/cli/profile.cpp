// SPDX-License-Identifier: Apache-2.0
// `sextant profile`: a profiler's trace beside the model.
#include "sextant/answer/profile.hpp"

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "sextant/io/kineto.hpp"
#include "sextant/io/presets.hpp"
#include "sextant/options/settings.hpp"

namespace sextant::cli {
namespace {

/// A file from a network may unpack to no more than this.
class Bounded : public ByteSource {
 public:
  explicit Bounded(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}
  std::size_t read(char* to, std::size_t size) override {
    const std::size_t n = source_->read(to, size);
    if (n > left_) {
      throw InputError(fmt::format("trace: it unpacks to more than {}", format(Bytes(most))),
                       "sextant profile on your own machine reads any length");
    }
    left_ -= n;
    return n;
  }

 private:
  static constexpr std::size_t most = 2'000'000'000;
  std::unique_ptr<ByteSource> source_;
  std::size_t left_ = most;
};

profile::Recording recording_of(const PresetRef& trace, const Common& common) {
  if (trace.object != nullptr) {
    const std::string text = to_json(*trace.object);
    return parse_kineto(std::make_unique<TextSource>(text), "trace");
  }
  if (!common.sent.empty()) {
    auto file = unpacking(std::make_unique<TextSource>(common.sent), trace.name);
    return parse_kineto(std::make_unique<Bounded>(std::move(file)), trace.name);
  }
  if (common.lookup == Lookup::presets) {
    throw InputError("trace: the name of a file says nothing over a network",
                     "send the trace itself: the object with traceEvents, or the file as the body "
                     "and the rest in the query");
  }
  return read_kineto(trace.name);
}

}  // namespace

Answer run_profile(const ProfileOptions& o, const Common& common) {
  Flags flags;
  Device device;
  const std::vector<Setting> settings = settings_of(common, {"device"}, flags.problems);
  flags.attempt("--device", [&] { device = load_device(o.device, settings, common.lookup); });
  throw_if_any(std::move(flags.problems));
  profile::Question question{.attainable = {.chip = lower(device)}, .device = o.gpu};
  // PyTorch's own kernels, and attention by cuDNN where that is faster.
  for (const char* library : {"pytorch", "cudnn"}) {
    question.attainable.libraries.push_back(load_kernels(kernels_for(library, device)));
  }
  question.attainable.grouped = load_kernels(kernels_for("pytorch-grouped", device)).experts;
  profile::Recording recording = recording_of(o.trace, common);
  ProfileResult result{.trace = o.trace.name.empty() ? "trace" : o.trace.name,
                       .device = device.name,
                       .pieces = o.pieces};
  result.assumptions = assumptions_of(recording, device.name);
  result.profile = analyse(recording, question);
  return answer_of(result);
}

}  // namespace sextant::cli
