// SPDX-License-Identifier: Apache-2.0
// The cache of one rank as blocks: those of running requests, and those of prefixes that are kept
// while nobody needs the room, least recently used first to go.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

namespace sextant {

class BlockCache {
 public:
  using Ids = std::span<const std::uint32_t>;

  /// `unit`: blocks that one prefix id stands for.
  BlockCache(std::int64_t blocks, std::int64_t unit) : total_(blocks), unit_(unit) {}

  std::int64_t total() const { return total_; }
  std::int64_t used() const { return used_; }
  /// What requests may still take; kept prefixes make room.
  std::int64_t free() const { return total_ - used_; }
  std::int64_t unit() const { return unit_; }

  void take(std::int64_t blocks) {
    used_ += blocks;
    while (used_ + idle_ > total_ && oldest_ != none) drop_oldest();
  }
  void give(std::int64_t blocks) { used_ -= blocks; }

  /// How many ids from the front are kept.
  std::size_t match(Ids ids) const;
  /// What pinning them would take from the free blocks: those that no request holds.
  std::int64_t pin_cost(Ids ids) const;
  /// A request works with these, all kept.
  void pin(Ids ids);
  /// A request has computed `ids` in blocks that it has taken; returns how many are kept now.
  std::size_t keep(Ids ids);
  /// It no longer needs them: the last ones go first.
  void release(Ids ids);

 private:
  static constexpr std::int32_t none = -1;
  struct Entry {
    std::uint32_t id = 0;
    std::int32_t users = 0;
    std::int32_t older = none;
    std::int32_t newer = none;
  };

  Entry& entry(std::int32_t i) { return entries_[static_cast<std::size_t>(i)]; }
  void unlink(std::int32_t i);
  void drop_oldest();

  std::int64_t total_;
  std::int64_t unit_;
  std::int64_t used_ = 0;
  std::int64_t idle_ = 0;  // blocks of kept prefixes that nobody uses
  std::unordered_map<std::uint32_t, std::int32_t> places_;
  std::vector<Entry> entries_;
  std::vector<std::int32_t> spare_;
  std::int32_t oldest_ = none;
  std::int32_t newest_ = none;
};

}  // namespace sextant
