// SPDX-License-Identifier: Apache-2.0
#include "server/connections.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <map>
#include <system_error>
#include <vector>

#include "server/workers.hpp"

namespace sextant::server {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  int get() const { return fd_; }
  void reset() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

// Of one answer, what the system holds until the client takes it.
constexpr int kernel_backlog = 128 * 1024;

Descriptor listen_on(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    throw std::system_error(std::make_error_code(std::errc::address_not_available),
                            host + ": " + gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> release(found, freeaddrinfo);
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
    Descriptor fd(::socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (fd.get() < 0) continue;
    const int on = 1;
    setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    // Connections inherit it. Left alone it grows to megabytes, which many who ask and never read
    // would fill.
    setsockopt(fd.get(), SOL_SOCKET, SO_SNDBUF, &kernel_backlog, sizeof kernel_backlog);
    if (::bind(fd.get(), a->ai_addr, a->ai_addrlen) == 0 && ::listen(fd.get(), 1024) == 0) {
      return fd;
    }
  }
  fail("cannot listen on " + host + " port " + std::to_string(port));
}

int port_of(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) fail("getsockname");
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

/// Room for the connections that limits allow, where the system lets us.
std::size_t descriptors_for(std::size_t wanted) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 256;
  const rlim_t enough = wanted + 64;
  if (limit.rlim_cur < enough) {
    limit.rlim_cur = std::min(enough, limit.rlim_max);
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  return limit.rlim_cur >= enough ? wanted : std::max<std::size_t>(limit.rlim_cur, 128) - 64;
}

enum class Phase : std::uint8_t {
  reading,    ///< a request, or nothing yet
  working,    ///< a worker has it
  writing,    ///< the answer
  streaming,  ///< events
  draining,   ///< hung up; waiting for the client to have read it
};

struct Connection {
  Descriptor fd;
  Phase phase = Phase::reading;
  Framer framer;
  std::string received;
  std::string unsent;
  std::size_t sent = 0;  ///< of `unsent`
  bool close = false;    ///< after the answer
  EventSource events;
  Clock::time_point deadline;
  std::uint32_t interest = 0;  ///< what epoll was asked for
};

constexpr std::uint64_t listening = 0;
constexpr std::uint64_t waking = 1;
constexpr std::uint64_t signalled = 2;
constexpr std::uint64_t first_connection = 3;
constexpr std::chrono::milliseconds tick{200};
// A stream whose reader is this far behind is not told more until it has caught up.
constexpr std::size_t stream_backlog = 64 * 1024;

}  // namespace

class Connections::Loop {
 public:
  Loop(const std::string& host, int port, const Exchange& exchange, const ConnectionLimits& limits)
      : limits_(limits),
        exchange_(exchange),
        listener_(listen_on(host, port)),
        port_(port_of(listener_.get())),
        epoll_(epoll_create1(EPOLL_CLOEXEC)),
        wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
        most_(descriptors_for(limits.connections)),
        workers_(
            limits.workers, [this] { wake(); }, limits.compute) {
    if (epoll_.get() < 0 || wake_.get() < 0) fail("epoll");
    watch(listener_.get(), listening, EPOLLIN);
    watch(wake_.get(), waking, EPOLLIN);
  }

  int port() const { return port_; }

  void wake() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = ::write(wake_.get(), &one, sizeof one);
  }
  void stop() {
    stopping_ = true;
    wake();
  }

  bool run(bool until_signal) {
    Descriptor signals;
    if (until_signal) {
      sigset_t set;
      sigemptyset(&set);
      sigaddset(&set, SIGINT);
      sigaddset(&set, SIGTERM);
      signals = Descriptor(signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
      if (signals.get() < 0) fail("signalfd");
      watch(signals.get(), signalled, EPOLLIN);
    }
    Clock::time_point next_sweep = Clock::now() + tick;
    while (!stopping_) {
      turn();
      const Clock::time_point now = Clock::now();
      if (now < next_sweep) continue;
      next_sweep = now + tick;
      sweep(now);
    }
    return finish();
  }

 private:
  void watch(int fd, std::uint64_t id, std::uint32_t events) const {
    epoll_event e{};
    e.events = events;
    e.data.u64 = id;
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &e) != 0) fail("epoll");
  }
  void want(std::uint64_t id, Connection& c, std::uint32_t events) const {
    if (c.interest == events) return;
    epoll_event e{};
    e.events = events;
    e.data.u64 = id;
    epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, c.fd.get(), &e);
    c.interest = events;
  }

  void turn() {
    std::array<epoll_event, 256> events{};
    const int n = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                             static_cast<int>(tick.count()));
    for (int i = 0; i < n; ++i) {
      const epoll_event& e = events[static_cast<std::size_t>(i)];
      if (e.data.u64 == listening) {
        accept_some();
      } else if (e.data.u64 == waking) {
        std::uint64_t count = 0;
        [[maybe_unused]] const ssize_t r = ::read(wake_.get(), &count, sizeof count);
      } else if (e.data.u64 == signalled) {
        stopping_ = true;
      } else {
        attend(e.data.u64, e.events);
      }
    }
    for (Workers::Done& done : workers_.take_done()) deliver(done.id, std::move(done.answer));
  }

  void accept_some() {
    for (int i = 0; i < 64; ++i) {
      Descriptor fd(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (fd.get() < 0) {
        // Without descriptors the pending connection would wake us for ever.
        if ((errno == EMFILE || errno == ENFILE) && make_room()) continue;
        return;
      }
      if (connections_.size() >= most_ && !make_room()) continue;  // and this one is closed
      const int on = 1;
      setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      const std::uint64_t id = next_id_++;
      auto c = std::make_unique<Connection>();
      c->framer = Framer(limits_.frame);
      c->deadline = Clock::now() + limits_.idle;
      c->interest = EPOLLIN;
      watch(fd.get(), id, EPOLLIN);
      c->fd = std::move(fd);
      connections_.emplace(id, std::move(c));
    }
  }

  // Whoever holds a place for nothing gives way to who comes, the oldest first (ids grow with age):
  // an idle one, an unfinished request, a watcher of events, a reader that does not read.
  bool make_room() {
    const auto rank = [](const Connection& c) {
      switch (c.phase) {
        case Phase::reading:
          return c.received.empty() ? 0 : 1;
        case Phase::draining:
          return 0;
        case Phase::streaming:
          return 2;
        case Phase::writing:
          return 3;
        case Phase::working:
          break;
      }
      return 4;
    };
    const auto first = std::min_element(
        connections_.begin(), connections_.end(),
        [&](const auto& a, const auto& b) { return rank(*a.second) < rank(*b.second); });
    if (first == connections_.end() || rank(*first->second) > 3) return false;
    drop(first->first);
    return true;
  }

  // Answers that nobody takes may not fill the memory: the slowest readers go.
  void bound_unsent() {
    while (unsent_ > limits_.unsent) {
      const auto most = std::max_element(connections_.begin(), connections_.end(),
                                         [](const auto& a, const auto& b) {
                                           return a.second->unsent.size() < b.second->unsent.size();
                                         });
      if (most == connections_.end() || most->second->unsent.empty()) return;
      drop(most->first);
    }
  }

  // Nor may requests that do not end: whoever has sent the most of one is told so.
  void bound_received() {
    while (received_ > limits_.received) {
      const auto most = std::max_element(
          connections_.begin(), connections_.end(), [](const auto& a, const auto& b) {
            return a.second->received.size() < b.second->received.size();
          });
      Connection& c = *most->second;
      if (c.phase != Phase::reading) {  // and sends on while it is answered
        drop(most->first);
        continue;
      }
      received_ -= c.received.size();
      std::string().swap(c.received);
      deliver(most->first, exchange_.refuse(503, "too much is being sent at once"));
    }
  }

  void drop(std::uint64_t id) {
    const auto at = connections_.find(id);
    if (at == connections_.end()) return;
    received_ -= at->second->received.size();
    unsent_ -= at->second->unsent.size();
    connections_.erase(at);
  }

  void attend(std::uint64_t id, std::uint32_t events) {
    const auto at = connections_.find(id);
    if (at == connections_.end()) return;
    Connection& c = *at->second;
    // A client that is gone needs no answer; the worker's will find nobody.
    if ((events & (EPOLLERR | EPOLLHUP)) != 0) return drop(id);
    if ((events & EPOLLOUT) != 0 && !send_some(id, c)) return;
    if ((events & EPOLLIN) != 0) receive(id, c);
  }

  void receive(std::uint64_t id, Connection& c) {
    std::array<char, 65536> buffer;
    const ssize_t n = ::recv(c.fd.get(), buffer.data(), buffer.size(), 0);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
    if (n <= 0) return drop(id);
    if (c.phase != Phase::reading) return;  // drained, or chatter beside a stream
    const auto size = static_cast<std::size_t>(n);
    if (c.received.empty()) c.deadline = Clock::now() + limits_.request;
    c.received.append(buffer.data(), size);
    received_ += size;
    advance(id, c);
  }

  // Looks whether a whole request is there; `lane` is for one that is quick.
  void advance(std::uint64_t id, Connection& c, Lane lane = Lane::quick) {
    switch (c.framer.look(c.received)) {
      case Framer::State::refused:
        return deliver(id, exchange_.refuse(c.framer.status(), c.framer.reason()));
      case Framer::State::incomplete:
        return bound_received();
      case Framer::State::complete:
        break;
    }
    const std::size_t size = c.framer.size();
    std::string request;
    if (size == c.received.size()) {
      request.swap(c.received);
    } else {
      request = c.received.substr(0, size);
      c.received.erase(0, size);
    }
    received_ -= size;
    c.framer.reset();
    c.phase = Phase::working;
    want(id, c, 0);
    if (request.size() > limits_.quick || exchange_.slow(request)) lane = Lane::slow;
    workers_.add({id, [this, r = std::move(request)] { return exchange_.answer(r); }, lane});
  }

  void deliver(std::uint64_t id, Answer answer) {
    const auto at = connections_.find(id);
    if (at == connections_.end()) return;
    Connection& c = *at->second;
    c.phase = Phase::writing;
    c.close = answer.close || stopping_;
    c.events = std::move(answer.events);
    c.unsent = std::move(answer.bytes);
    c.sent = 0;
    c.deadline = Clock::now() + limits_.answer;
    unsent_ += c.unsent.size();
    if (send_some(id, c)) bound_unsent();
  }

  /// False when the connection is no more.
  bool send_some(std::uint64_t id, Connection& c) {
    while (c.sent < c.unsent.size()) {
      const ssize_t n =
          ::send(c.fd.get(), c.unsent.data() + c.sent, c.unsent.size() - c.sent, MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        want(id, c, c.phase == Phase::streaming ? EPOLLIN | EPOLLOUT : EPOLLOUT);
        return true;
      }
      if (n <= 0) return drop(id), false;
      c.sent += static_cast<std::size_t>(n);
    }
    unsent_ -= c.unsent.size();
    std::string().swap(c.unsent);
    c.sent = 0;
    return after_sending(id, c);
  }

  bool after_sending(std::uint64_t id, Connection& c) {
    if (c.events) {
      c.phase = Phase::streaming;
      want(id, c, EPOLLIN);
      return true;
    }
    if (c.close) {
      // Closing with bytes unread would make the system tell the client that all is lost, before
      // it has read the answer.
      ::shutdown(c.fd.get(), SHUT_WR);
      c.phase = Phase::draining;
      c.deadline = Clock::now() + limits_.drain;
      want(id, c, EPOLLIN);
      return true;
    }
    c.phase = Phase::reading;
    c.deadline = Clock::now() + (c.received.empty() ? limits_.idle : limits_.request);
    want(id, c, EPOLLIN);
    if (c.received.empty()) return true;
    advance(id, c, Lane::behind);
    return connections_.contains(id);
  }

  // What has waited too long, and what streams have to say.
  void sweep(Clock::time_point now) {
    std::vector<std::uint64_t> all;
    all.reserve(connections_.size());
    for (const auto& [id, c] : connections_) all.push_back(id);
    for (const std::uint64_t id : all) {
      const auto at = connections_.find(id);
      if (at == connections_.end()) continue;
      Connection& c = *at->second;
      if (c.phase == Phase::streaming) {
        stream(id, c);
      } else if (now >= c.deadline && c.phase != Phase::working) {
        if (c.phase == Phase::reading && !c.received.empty()) {
          deliver(id, exchange_.refuse(408, "the request did not arrive in time"));
        } else {
          drop(id);
        }
      }
    }
  }

  void stream(std::uint64_t id, Connection& c) {
    if (c.unsent.size() - c.sent > stream_backlog) return;
    const std::optional<std::string> text = c.events();
    const std::size_t before = c.unsent.size();
    if (text) {
      if (!text->empty()) c.unsent += chunk(*text);
    } else {
      c.unsent += last_chunk;
      c.events = {};
      c.close = true;
      c.deadline = Clock::now() + limits_.answer;
      c.phase = Phase::writing;
    }
    unsent_ += c.unsent.size() - before;
    if (c.unsent.empty() || send_some(id, c)) bound_unsent();
  }

  // No new requests; what workers have is still answered, for a moment.
  bool finish() {
    listener_.reset();
    const Clock::time_point end = Clock::now() + limits_.finish;
    const auto busy = [&] {
      return std::any_of(connections_.begin(), connections_.end(), [](const auto& entry) {
        return entry.second->phase == Phase::working || entry.second->phase == Phase::writing;
      });
    };
    while (busy() && Clock::now() < end) turn();
    connections_.clear();
    return workers_.stop_within(std::chrono::milliseconds(50));
  }

  const ConnectionLimits limits_;
  const Exchange& exchange_;
  Descriptor listener_;
  const int port_;
  Descriptor epoll_;
  Descriptor wake_;
  const std::size_t most_;
  std::map<std::uint64_t, std::unique_ptr<Connection>> connections_;  ///< by age
  std::uint64_t next_id_ = first_connection;
  std::size_t received_ = 0;
  std::size_t unsent_ = 0;
  std::atomic<bool> stopping_ = false;
  Workers workers_;  ///< last: its threads use the rest
};

Connections::Connections(const std::string& host, int port, const Exchange& exchange,
                         const ConnectionLimits& limits)
    : loop_(std::make_unique<Loop>(host, port, exchange, limits)) {}
Connections::~Connections() = default;
int Connections::port() const { return loop_->port(); }
bool Connections::run(bool until_signal) { return loop_->run(until_signal); }
void Connections::stop() { loop_->stop(); }

}  // namespace sextant::server
