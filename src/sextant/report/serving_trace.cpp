// SPDX-License-Identifier: Apache-2.0
#include "sextant/report/serving_trace.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sextant {
namespace {

std::string_view kind_of(const StepSpan& s) {
  if (s.prompt_tokens == 0) return "decode";
  return s.decoding > 0 ? "mixed" : "prefill";
}

}  // namespace

std::string to_trace(const std::vector<StepSpan>& spans) {
  fmt::memory_buffer out;
  const auto put = std::back_inserter(out);
  fmt::format_to(put, "{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
  int replicas = 0;
  for (const StepSpan& s : spans) replicas = std::max(replicas, s.replica + 1);
  for (int i = 0; i < replicas; ++i) {
    fmt::format_to(put,
                   "{{\"ph\":\"M\",\"pid\":0,\"tid\":{0},\"name\":\"thread_name\",\"args\":"
                   "{{\"name\":\"replica {0}\"}}}},\n",
                   i);
  }
  fmt::format_to(put,
                 "{{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\",\"args\":{{\"name\":"
                 "\"engines\"}}}}");
  for (const StepSpan& s : spans) {
    fmt::format_to(put,
                   ",\n{{\"ph\":\"X\",\"pid\":0,\"tid\":{},\"name\":\"{}\",\"ts\":{:.3f},\"dur\":"
                   "{:.3f},\"args\":{{\"steps\":{},\"decoding\":{},\"prompt_tokens\":{}}}}}",
                   s.replica, kind_of(s), s.start * 1e6, s.seconds * 1e6, s.steps, s.decoding,
                   s.prompt_tokens);
    fmt::format_to(put,
                   ",\n{{\"ph\":\"C\",\"pid\":0,\"name\":\"replica {}\",\"ts\":{:.3f},\"args\":"
                   "{{\"waiting\":{},\"running\":{},\"cache %\":{:.1f}}}}}",
                   s.replica, s.start * 1e6, s.waiting, s.running, s.cache * 100);
  }
  fmt::format_to(put, "\n]}}\n");
  return fmt::to_string(out);
}

}  // namespace sextant
