// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/kineto.hpp"

#include <array>
#include <optional>

#include "sextant/io/files.hpp"
#include "sextant/io/json_stream.hpp"
#include "sextant/profile/attain.hpp"

namespace sextant {
namespace {

using profile::is_attention;
using profile::is_multiply;
using profile::Nanoseconds;
using profile::Recording;

/// Records of a trace beyond which it is not read on: they would fill the memory.
constexpr std::size_t most_records = 12'000'000;
/// A list this long is given room for all at once: doubling would need the memory twice, and pages
/// that nobody writes to cost none.
constexpr std::size_t many_records = 1'000'000;
/// Characters kept of one operator's shapes, types or other arguments.
constexpr std::size_t longest_argument = 4096;

enum class Category : std::uint8_t { other, op, note, call, kernel, copy, set, overhead };

Category category_of(std::string_view text) {
  struct Name {
    std::string_view text;
    Category category;
  };
  static constexpr std::array<Name, 15> names = {{{"cpu_op", Category::op},
                                                  {"kernel", Category::kernel},
                                                  {"cuda_runtime", Category::call},
                                                  {"cuda_driver", Category::call},
                                                  {"user_annotation", Category::note},
                                                  {"gpu_memcpy", Category::copy},
                                                  {"gpu_memset", Category::set},
                                                  {"overhead", Category::overhead},
                                                  {"hip_runtime", Category::call},
                                                  {"privateuse1_runtime", Category::call},
                                                  // Before PyTorch 1.12.
                                                  {"Operator", Category::op},
                                                  {"Kernel", Category::kernel},
                                                  {"Runtime", Category::call},
                                                  {"Memcpy", Category::copy},
                                                  {"Memset", Category::set}}};
  for (const Name& n : names) {
    if (n.text == text) return n.category;
  }
  return Category::other;
}

/// What one event says, before it is known what it is.
struct Event {
  bool complete = false;  ///< has a start and a length ("ph": "X")
  Category category = Category::other;
  std::uint32_t name = 0;
  std::int64_t process = 0;
  std::int64_t thread = 0;
  Nanoseconds start = 0;
  Nanoseconds length = 0;
  std::int64_t external = 0;
  std::int64_t correlation = 0;
  std::int64_t device = -1;
  // As they are written; reused from event to event.
  std::string dims, types, values, strides;
  std::string grid, block, bytes;
  std::string collective, elements, type, group;

  void clear() {
    complete = false;
    category = Category::other;
    name = 0;
    process = thread = start = length = external = correlation = 0;
    device = -1;
    for (std::string* s : {&dims, &types, &values, &strides, &grid, &block, &bytes, &collective,
                           &elements, &type, &group}) {
      s->clear();
    }
  }
};

class TraceReader {
 public:
  TraceReader(ByteSource& source, const std::string& file) : json_(source, file) {}

  Recording run() {
    const char first = json_.peek();
    if (first == '[') {
      events();
    } else if (first == '{') {
      document();
    } else {
      json_.fail(first == '\0' ? "the file is empty" : "this is no JSON",
                 "expected a trace that prof.export_chrome_trace(\"trace.json\") wrote");
    }
    json_.expect_end();
    return std::move(recording_);
  }
  bool has_events() const { return has_events_; }

 private:
  void document() {
    json_.enter_object();
    std::string_view key;
    while (json_.next_key(key)) {
      if (key == "traceEvents" && json_.peek() == '[') {
        events();
      } else if (key == "record_shapes" && json_.peek() != '{') {
        std::string text;
        json_.copy(text, 16);
        recording_.shapes_off = text == "0" || text == "false";
      } else if (key == "deviceProperties" && json_.peek() == '[') {
        devices();
      } else if (key == "distributedInfo" && json_.peek() == '{') {
        ranks();
      } else {
        json_.skip();
      }
    }
  }

  void devices() {
    json_.enter_array();
    while (json_.next_item()) {
      if (json_.peek() != '{') {
        json_.skip();
        continue;
      }
      json_.enter_object();
      std::string_view key;
      while (json_.next_key(key)) {
        if (key == "name" && json_.peek() == '"' && recording_.devices.size() < 64) {
          recording_.devices.emplace_back(json_.string().substr(0, 200));
        } else {
          json_.skip();
        }
      }
    }
  }

  void ranks() {
    json_.enter_object();
    std::string_view key;
    while (json_.next_key(key)) {
      if (key == "rank" || key == "world_size") {
        const bool rank = key == "rank";
        (rank ? recording_.rank : recording_.ranks) = static_cast<int>(whole().value_or(0));
      } else {
        json_.skip();
      }
    }
  }

  void events() {
    has_events_ = true;
    json_.enter_array();
    while (json_.next_item()) {
      if (json_.peek() != '{') json_.fail("expected an event: an object with ph, name and ts");
      event();
    }
  }

  void event() {
    event_.clear();
    json_.enter_object();
    std::string_view key;
    while (json_.next_key(key)) {
      if (key == "ph") {
        if (json_.peek() != '"') json_.fail("ph: expected a letter");
        event_.complete = json_.string() == "X";
        if (!event_.complete) return json_.leave();
      } else if (key == "cat" && json_.peek() == '"') {
        event_.category = category_of(json_.string());
        if (event_.category == Category::other) return json_.leave();
      } else if (key == "name" && json_.peek() == '"') {
        event_.name = recording_.texts.number_of(json_.string());
      } else if (key == "pid") {
        event_.process = whole().value_or(-1);
      } else if (key == "tid") {
        event_.thread = whole().value_or(-1);
      } else if (key == "ts") {
        event_.start = json_.thousandths();
      } else if (key == "dur") {
        event_.length = json_.thousandths();
      } else if (key == "args" && json_.peek() == '{') {
        arguments();
      } else {
        json_.skip();
      }
    }
    keep();
  }

  void arguments() {
    json_.enter_object();
    std::string_view key;
    while (json_.next_key(key)) {
      if (key == "External id" || key == "external id") {
        event_.external = whole().value_or(0);
      } else if (key == "correlation") {
        event_.correlation = whole().value_or(0);
      } else if (key == "device") {
        event_.device = whole().value_or(-1);
      } else if (std::string* to = argument(key)) {
        json_.copy(*to, longest_argument);
      } else {
        json_.skip();
      }
    }
  }

  std::string* argument(std::string_view key) {
    struct Name {
      std::string_view text;
      std::string Event::*to;
    };
    static constexpr std::array<Name, 12> names = {{{"Input Dims", &Event::dims},
                                                    {"Input dims", &Event::dims},
                                                    {"Input Strides", &Event::strides},
                                                    {"Input type", &Event::types},
                                                    {"Concrete Inputs", &Event::values},
                                                    {"grid", &Event::grid},
                                                    {"block", &Event::block},
                                                    {"bytes", &Event::bytes},
                                                    {"Collective name", &Event::collective},
                                                    {"In msg nelems", &Event::elements},
                                                    {"dtype", &Event::type},
                                                    {"Group size", &Event::group}}};
    for (const Name& n : names) {
      if (n.text == key) return &(event_.*n.to);
    }
    return nullptr;
  }

  /// A whole number, perhaps in quotation marks; nothing where it is something else.
  std::optional<std::int64_t> whole() {
    const char c = json_.peek();
    if (c == '-' || (c >= '0' && c <= '9')) return json_.integer();
    if (c != '"') {
      json_.skip();
      return std::nullopt;
    }
    const std::string_view text = json_.string();
    std::int64_t value = 0;
    for (const char d : text) {
      if (d < '0' || d > '9' || value > 1'000'000'000'000) return std::nullopt;
      value = value * 10 + (d - '0');
    }
    return text.empty() ? std::nullopt : std::optional(value);
  }

  std::uint16_t thread() {
    const std::int64_t key = event_.process * 1'000'003 + event_.thread;
    const auto next = static_cast<std::uint16_t>(threads_.size() % 65536);
    return threads_.emplace(key, next).first->second;
  }

  void keep() {
    if (!event_.complete || event_.category == Category::other) return;
    if (event_.length < 0) json_.fail("dur: expected a time that is not negative");
    constexpr Nanoseconds far = Nanoseconds{1} << 61;
    if (event_.start < -far || event_.start > far || event_.length > far)
      json_.fail("ts: the time is too far away");
    if (++records_ > most_records) {
      json_.fail(
          "the trace has more than 12,000,000 operators, calls and kernels",
          "profile fewer steps: schedule=torch.profiler.schedule(wait=1, warmup=1, active=2)");
    }
    const Nanoseconds end = event_.start + event_.length;
    switch (event_.category) {
      case Category::op:
        add(recording_.operators,
            {event_.start, end, event_.name, shape(), low(event_.external), thread()});
        break;
      case Category::note:
        recording_.notes.push_back({event_.start, end, event_.name});
        break;
      case Category::overhead:
        recording_.overhead.push_back({event_.start, end, event_.name});
        break;
      case Category::call:
        add(recording_.calls, {event_.start, end, event_.name, low(event_.correlation),
                               low(event_.external), thread()});
        break;
      default:
        activity(end);
    }
  }

  template <class T>
  void add(std::vector<T>& to, const T& record) {
    if (to.size() == many_records) to.reserve(most_records);
    to.push_back(record);
  }

  static std::uint32_t low(std::int64_t number) {
    return static_cast<std::uint32_t>(number & 0xFFFFFFFF);
  }

  void activity(Nanoseconds end) {
    profile::Work work = profile::Work::kernel;
    if (event_.category == Category::copy) work = profile::Work::copy;
    if (event_.category == Category::set) work = profile::Work::set;
    const std::int64_t device = event_.device >= 0 ? event_.device : event_.process;
    line_ = event_.grid + '|' + event_.block + '|' + event_.bytes;
    if (!event_.collective.empty()) {
      line_ +=
          '|' + event_.collective + '|' + event_.elements + '|' + event_.type + '|' + event_.group;
    }
    add(recording_.activities,
        {event_.start, end, event_.name, low(event_.correlation), low(event_.external),
         recording_.texts.number_of(line_),
         static_cast<std::uint16_t>(std::clamp<std::int64_t>(device, 0, 65535)), work});
  }

  /// Sizes, types, and where they matter the rest: scalars differ from call to call, and only
  /// attention's say what it does; strides say how a multiply's operands lie.
  std::uint32_t shape() {
    if (event_.dims.empty()) return 0;
    const std::string_view name = recording_.texts[event_.name];
    line_ = event_.dims + '|' + event_.types;
    if (is_attention(name)) line_ += '|' + event_.values;
    if (is_multiply(name)) line_ += "||" + event_.strides;
    return recording_.texts.number_of(line_);
  }

  JsonStream json_;
  Recording recording_;
  Event event_;
  std::unordered_map<std::int64_t, std::uint16_t> threads_;
  std::string line_;
  std::size_t records_ = 0;
  bool has_events_ = false;
};

[[noreturn]] void fail(const std::string& file, std::string message, std::string hint) {
  throw InputError(
      {Diagnostic{.file = file, .message = std::move(message), .hint = std::move(hint)}});
}

}  // namespace

Recording parse_kineto(std::unique_ptr<ByteSource> source, const std::string& file) {
  const std::unique_ptr<ByteSource> text = unpacking(std::move(source), file);
  TraceReader reader(*text, file);
  Recording r = reader.run();
  if (!reader.has_events()) {
    fail(file, "there are no traceEvents: this is no trace of PyTorch's profiler",
         "prof.export_chrome_trace(\"trace.json\") writes one");
  }
  if (r.activities.empty()) {
    fail(file, "the trace has no work of a device",
         "profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]");
  }
  return r;
}

Recording read_kineto(const std::string& path) { return parse_kineto(open_file(path), path); }

}  // namespace sextant
