// SPDX-License-Identifier: Apache-2.0
#include "sextant/report/trace.hpp"

#include <fmt/format.h>

namespace sextant {
namespace {

// Colours of Chrome's palette by what happens; Perfetto takes them from the names instead.
std::string_view colour_of(Activity what) {
  switch (what) {
    case Activity::forward:
      return "thread_state_running";
    case Activity::recompute:
      return "thread_state_runnable";
    case Activity::backward:
      return "rail_response";
    case Activity::weights:
      return "rail_animation";
    case Activity::bubble:
      return "grey";
    case Activity::gradients:
    case Activity::parameters:
    case Activity::send_forward:
    case Activity::send_backward:
      return "thread_state_iowait";
    case Activity::optimizer:
      return "rail_load";
    case Activity::host:
    case Activity::spread:
      break;
  }
  return "generic_work";
}

// Rows of the trace: a stage's work, what it sends forward, what it sends back.
int row_of(const TimelineSpan& s) {
  const int below = s.what == Activity::send_forward    ? 1
                    : s.what == Activity::send_backward ? 2
                                                        : 0;
  return 3 * s.stage + below;
}

void add_name(fmt::memory_buffer& out, int row, std::string_view name) {
  fmt::format_to(
      std::back_inserter(out),
      "{{\"ph\":\"M\",\"pid\":0,\"tid\":{0},\"name\":\"thread_name\",\"args\":{{\"name\":"
      "\"{1}\"}}}},\n{{\"ph\":\"M\",\"pid\":0,\"tid\":{0},\"name\":\"thread_sort_index\","
      "\"args\":{{\"sort_index\":{0}}}}},\n",
      row, name);
}

void add_span(fmt::memory_buffer& out, const TimelineSpan& s) {
  fmt::format_to(std::back_inserter(out),
                 ",\n{{\"ph\":\"X\",\"pid\":0,\"tid\":{},\"name\":\"{}\",\"cat\":\"{}\",\"ts\":"
                 "{:.3f},\"dur\":{:.3f},\"cname\":\"{}\"",
                 row_of(s), name_of(s.what), name_of(s.what), s.start.value * 1e6,
                 s.length.value * 1e6, colour_of(s.what));
  if (s.microbatch >= 0) {
    fmt::format_to(std::back_inserter(out), ",\"args\":{{\"microbatch\":{},\"chunk\":{}}}",
                   s.microbatch, s.chunk);
  }
  out.push_back('}');
}

}  // namespace

std::string to_trace(const Timeline& timeline) {
  fmt::memory_buffer out;
  fmt::format_to(std::back_inserter(out), "{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
  for (int stage = 0; stage < timeline.stages; ++stage) {
    add_name(out, 3 * stage, fmt::format("stage {}", stage));
    if (timeline.stages == 1) continue;
    add_name(out, 3 * stage + 1, fmt::format("stage {} sends on", stage));
    add_name(out, 3 * stage + 2, fmt::format("stage {} sends back", stage));
  }
  fmt::format_to(std::back_inserter(out),
                 "{{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\",\"args\":{{\"name\":\"one "
                 "pipeline\"}}}}");
  for (const TimelineSpan& s : timeline.spans) add_span(out, s);
  for (const TimelineSpan& s : timeline.transfers) add_span(out, s);
  fmt::format_to(std::back_inserter(out), "\n]}}\n");
  return fmt::to_string(out);
}

}  // namespace sextant
