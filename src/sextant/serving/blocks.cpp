// SPDX-License-Identifier: Apache-2.0
#include "sextant/serving/blocks.hpp"

namespace sextant {

std::size_t BlockCache::match(Ids ids) const {
  std::size_t n = 0;
  while (n < ids.size() && places_.contains(ids[n])) ++n;
  return n;
}

std::int64_t BlockCache::pin_cost(Ids ids) const {
  std::int64_t idle = 0;
  for (const std::uint32_t id : ids) {
    idle += entries_[static_cast<std::size_t>(places_.at(id))].users == 0 ? unit_ : 0;
  }
  return idle;
}

void BlockCache::pin(Ids ids) {
  for (const std::uint32_t id : ids) {
    const std::int32_t i = places_.at(id);
    if (entry(i).users++ > 0) continue;
    unlink(i);
    idle_ -= unit_;
    used_ += unit_;
  }
}

std::size_t BlockCache::keep(Ids ids) {
  std::size_t n = 0;
  // Where another request was faster, this one's blocks stay its own.
  for (; n < ids.size() && !places_.contains(ids[n]); ++n) {
    if (spare_.empty()) {
      spare_.push_back(static_cast<std::int32_t>(entries_.size()));
      entries_.emplace_back();
    }
    const std::int32_t i = spare_.back();
    spare_.pop_back();
    entry(i) = {.id = ids[n], .users = 1};
    places_.emplace(ids[n], i);
  }
  return n;
}

void BlockCache::release(Ids ids) {
  for (std::size_t n = ids.size(); n-- > 0;) {
    const std::int32_t i = places_.at(ids[n]);
    if (--entry(i).users > 0) continue;
    used_ -= unit_;
    idle_ += unit_;
    entry(i).older = newest_;
    entry(i).newer = none;
    (newest_ == none ? oldest_ : entry(newest_).newer) = i;
    newest_ = i;
  }
}

void BlockCache::unlink(std::int32_t i) {
  const Entry e = entry(i);
  (e.older == none ? oldest_ : entry(e.older).newer) = e.newer;
  (e.newer == none ? newest_ : entry(e.newer).older) = e.older;
}

void BlockCache::drop_oldest() {
  const std::int32_t i = oldest_;
  unlink(i);
  places_.erase(entry(i).id);
  spare_.push_back(i);
  idle_ -= unit_;
}

}  // namespace sextant
