// SPDX-License-Identifier: Apache-2.0
// cpp-httplib reads requests and writes answers, both in memory. Its own connections are not used:
// it holds a thread for each, so that a few dozen idle ones would keep everyone else waiting.
#include "server/exchange.hpp"

#include <httplib.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "server/errors.hpp"
#include "sextant/units/lists.hpp"

namespace sextant::server {
namespace {

std::string error_body(const std::string& message) { return error_answer(errors_json(message)); }

/// A request in memory and the answer to it.
class MemoryStream : public httplib::Stream {
 public:
  explicit MemoryStream(std::string_view request) : request_(request) {}
  std::string answer;

  bool is_readable() const override { return !request_.empty(); }
  bool is_writable() const override { return true; }
  ssize_t read(char* to, size_t size) override {
    const size_t n = std::min(size, request_.size());
    std::memcpy(to, request_.data(), n);
    request_.remove_prefix(n);
    return static_cast<ssize_t>(n);
  }
  ssize_t write(const char* from, size_t size) override {
    answer.append(from, size);
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return INVALID_SOCKET; }

 private:
  std::string_view request_;
};

/// What handlers and the library have to tell each other beside the request.
struct Current {
  bool accepts_gzip = false;
  EventSource events = {};
};
thread_local Current current;

Request to_request(const httplib::Request& from) {
  return {.method = from.method,
          .path = from.path,
          .query = {from.params.begin(), from.params.end()},
          .body = from.body,
          .content_type = from.get_header_value("Content-Type"),
          .host = from.get_header_value("Host"),
          .origin = from.get_header_value("Origin"),
          .if_none_match = from.get_header_value("If-None-Match"),
          .accepts_gzip = current.accepts_gzip};
}

void put(Response from, httplib::Response& to) {
  to.status = from.status;
  for (const auto& [name, value] : from.headers) to.set_header(name, value);
  if (from.events) {
    current.events = std::move(from.events);
    // Only the head is written here; the connection goes on with what the source says.
    to.set_chunked_content_provider(from.type, [](size_t, httplib::DataSink&) { return false; });
  } else if (!from.constant.empty()) {
    // A provider, because the library would compress a body again.
    const std::string_view bytes = from.constant;
    to.set_content_provider(bytes.size(), from.type,
                            [bytes](size_t offset, size_t length, httplib::DataSink& sink) {
                              sink.write(bytes.data() + offset, length);
                              return true;
                            });
  } else if (from.status != 304 && from.status != 204) {
    to.body = std::move(from.body);
    to.set_header("Content-Type", from.type);
  }
}

void log_line(const httplib::Request& request, const httplib::Response& response) {
  std::string path = request.path.substr(0, 200);
  std::replace_if(
      path.begin(), path.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7F; }, '?');
  std::fprintf(stderr, "%s %s %d\n", request.method.c_str(), path.c_str(), response.status);
}

const char* reason_of(int status) {
  switch (status) {
    case 408:
      return "Request Timeout";
    case 411:
      return "Length Required";
    case 413:
      return "Payload Too Large";
    case 415:
      return "Unsupported Media Type";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return "Bad Request";
  }
}

}  // namespace

struct Exchange::Library : httplib::Server {
  Library(server::Handler handler, bool log) {
    svr_sock_ = 0;  // else it takes itself to be shutting down, and providers are not asked
    const auto all = [h = std::move(handler)](const httplib::Request& request,
                                              httplib::Response& response) {
      put(h(to_request(request)), response);
    };
    const char* every = ".*";
    Get(every, all).Post(every, all).Put(every, all).Patch(every, all).Delete(every, all);
    Options(every, all);
    set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (!response.body.empty()) return;
      response.body = error_body("HTTP status " + std::to_string(response.status));
      response.set_header("Content-Type", std::string(json_type));
    });
    set_keep_alive_max_count(1000000);
    set_keep_alive_timeout(60);  // as connections do; only said here
    if (log) set_logger(log_line);
  }

  Answer run(std::string_view request) {
    MemoryStream stream(request);
    Answer answer;
    current = {};
    const auto setup = [](httplib::Request& r) {
      // Answers are never cut into ranges, nor compressed on the way: brotli at its highest level
      // takes longer than the answer itself.
      r.ranges.clear();
      r.headers.erase("Expect");
      current.accepts_gzip =
          r.get_header_value("Accept-Encoding").find("gzip") != std::string::npos;
      r.headers.erase("Accept-Encoding");
    };
    const bool ok = process_request(stream, false, answer.close, setup);
    answer.bytes = std::move(stream.answer);
    answer.events = std::exchange(current.events, {});
    // Without a source to follow, an answer that could not be written whole ends the connection.
    if (!ok && !answer.events) answer.close = true;
    return answer;
  }
};

Exchange::Exchange(Handler handler, bool log, std::vector<std::string> slow_paths)
    : library_(std::make_unique<Library>(std::move(handler), log)),
      slow_paths_(std::move(slow_paths)) {}
Exchange::~Exchange() = default;

Answer Exchange::answer(std::string_view request) const { return library_->run(request); }

bool Exchange::slow(std::string_view request) const {
  constexpr std::string_view post = "POST ";
  if (!request.starts_with(post)) return false;
  request.remove_prefix(post.size());
  // As the library will read it: what is written in another way is the same path.
  const std::string target(request.substr(0, request.find_first_of(" ?#\r")));
  const std::string path = httplib::detail::decode_url(target, false);
  return contains(slow_paths_, path);
}

Answer Exchange::refuse(int status, const std::string& message) const {
  const std::string body = error_body(message);
  Answer a;
  a.close = true;
  a.bytes = "HTTP/1.1 " + std::to_string(status) + " " + reason_of(status) +
            "\r\nContent-Type: " + std::string(json_type) +
            "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" +
            body;
  return a;
}

std::string chunk(std::string_view text) {
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", text.size());
  return size + std::string(text) + "\r\n";
}

}  // namespace sextant::server
