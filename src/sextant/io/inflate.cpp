// SPDX-License-Identifier: Apache-2.0
// gzip, by zlib: the one place that knows it.
#include <zlib.h>

#include <array>
#include <new>
#include <stdexcept>
#include <vector>

#include "sextant/io/bytes.hpp"
#include "sextant/spec/diagnostic.hpp"

namespace sextant {
namespace {

constexpr std::size_t packed_block = std::size_t{1} << 18;

class Unpacker : public ByteSource {
 public:
  Unpacker(std::unique_ptr<ByteSource> source, std::string file)
      : source_(std::move(source)), file_(std::move(file)), input_(packed_block) {
    filled_ = fill();
    // A file of one byte is no gzip either.
    if (filled_ == 1) filled_ += source_->read(input_.data() + 1, input_.size() - 1);
    packed_ = filled_ >= 2 && input_[0] == '\x1f' && input_[1] == '\x8b';
    if (!packed_) return;
    constexpr int gzip_only = 16 + MAX_WBITS;
    if (inflateInit2(&stream_, gzip_only) != Z_OK) throw std::bad_alloc();
    offer(filled_);
  }
  ~Unpacker() override {
    if (packed_) inflateEnd(&stream_);
  }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  std::size_t read(char* to, std::size_t size) override {
    return packed_ ? unpack(to, size) : plain(to, size);
  }

 private:
  std::size_t fill() { return source_->read(input_.data(), input_.size()); }
  void offer(std::size_t size) {
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(size);
  }

  std::size_t plain(char* to, std::size_t size) {
    if (given_ == filled_) return source_->read(to, size);
    const std::size_t n = std::min(size, filled_ - given_);
    std::memcpy(to, input_.data() + given_, n);
    given_ += n;
    return n;
  }

  std::size_t unpack(char* to, std::size_t size) {
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(size);
    while (stream_.avail_out == size && !ended_) {
      if (stream_.avail_in == 0) offer(fill());
      if (stream_.avail_in == 0) fail("the gzip file ends in the middle");
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_STREAM_END) {
        next_member();
      } else if (status != Z_OK) {
        fail("the gzip file is damaged");
      }
    }
    return size - stream_.avail_out;
  }

  /// A gzip file may be several, one after the other.
  void next_member() {
    if (stream_.avail_in == 0) offer(fill());
    if (stream_.avail_in == 0) {
      ended_ = true;
      return;
    }
    inflateReset(&stream_);
  }

  [[noreturn]] void fail(const char* message) const {
    throw InputError({Diagnostic{.file = file_,
                                 .message = message,
                                 .hint = "copy it again, or have the profiler write it again"}});
  }

  std::unique_ptr<ByteSource> source_;
  std::string file_;
  std::vector<char> input_;
  z_stream stream_{};
  std::size_t filled_ = 0;
  std::size_t given_ = 0;
  bool packed_ = false;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> unpacking(std::unique_ptr<ByteSource> source, std::string file) {
  return std::make_unique<Unpacker>(std::move(source), std::move(file));
}

std::string unpacked(std::string_view packed, const std::string& file) {
  Unpacker source(std::make_unique<TextSource>(packed), file);
  std::string text;
  std::array<char, 65536> buffer;
  while (const std::size_t n = source.read(buffer.data(), buffer.size()))
    text.append(buffer.data(), n);
  return text;
}

std::string packed(std::string_view text) {
  z_stream stream{};
  // Tables that suit the text: clearing large ones takes longer than packing a short answer.
  const bool short_text = text.size() <= std::size_t{1} << 14;
  const int window = short_text ? 14 : MAX_WBITS;
  const int memory = short_text ? 5 : 8;
  constexpr int as_gzip = 16;
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, as_gzip + window, memory,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  std::string out(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  // zlib reads through a pointer it does not declare const.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = deflate(&stream, Z_FINISH);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("an answer cannot be packed");
  return out;
}

}  // namespace sextant
