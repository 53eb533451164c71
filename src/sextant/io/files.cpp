// SPDX-License-Identifier: Apache-2.0
// Whole files by POSIX calls, since the standard library neither creates exclusively nor syncs.
#include "sextant/io/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "sextant/spec/diagnostic.hpp"

namespace sextant {
namespace {

namespace fs = std::filesystem;

std::string directory_of(const std::string& path) {
  const std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

bool is_dangling(const std::string& path) {
  std::error_code error;
  return fs::is_symlink(path, error) && !fs::exists(path, error);
}

/// What is not there, where it is not the file itself.
std::string what_is_missing(const std::string& path) {
  std::error_code error;
  if (is_dangling(path)) {
    return ", a link to '" + printable(fs::read_symlink(path, error).string(), 300) +
           "', which is not there";
  }
  const std::string folder = directory_of(path);
  return fs::exists(folder, error) ? ""
                                   : ", whose folder '" + printable(folder, 300) + "' is not there";
}

[[noreturn]] void fail(int error, const char* what, const std::string& path) {
  throw std::system_error(error, std::generic_category(),
                          std::string(what) + " '" + printable(path, 300) + "'" +
                              (error == ENOENT ? what_is_missing(path) : ""));
}

/// A file descriptor that closes itself.
class Handle {
 public:
  explicit Handle(int descriptor) : descriptor_(descriptor) {}
  ~Handle() { close(); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  int get() const { return descriptor_; }
  int close() {
    const int result = descriptor_ < 0 ? 0 : ::close(descriptor_);
    descriptor_ = -1;
    return result;
  }

 private:
  int descriptor_;
};

class FileSource : public ByteSource {
 public:
  explicit FileSource(std::string path)
      : path_(std::move(path)), file_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_.get() < 0) fail(errno, "cannot read", path_);
  }
  std::size_t read(char* to, std::size_t size) override {
    while (true) {
      const ssize_t n = ::read(file_.get(), to, size);
      if (n >= 0) return static_cast<std::size_t>(n);
      if (errno != EINTR) fail(errno, "cannot read", path_);
    }
  }

 private:
  std::string path_;
  Handle file_;
};

void write_all(int descriptor, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t n = ::write(descriptor, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(errno, "cannot write", path);
    content.remove_prefix(static_cast<std::size_t>(n));
  }
}

// Exists and is no regular file: there is nothing to replace.
bool special(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
}

// A link stays a link: what it points to is replaced.
std::string target_of_link(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? path : real.string();
}

void write_directly(const std::string& path, std::string_view content) {
  Handle file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0) fail(errno, "cannot write", path);
  write_all(file.get(), content, path);
}

// A new file beside the target, since rename() works within one file system only.
int create_beside(const std::string& target, std::string& name) {
  static std::atomic<unsigned> counter{0};
  const fs::path path(target);
  const std::string stem = directory_of(target) + "/." + path.filename().string() + "." +
                           std::to_string(::getpid()) + "-";
  int descriptor = -1;
  do {
    name = stem + std::to_string(counter++);
    descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EEXIST);
  return descriptor;
}

// An existing file keeps its mode; zero means success, as in the calls it stands between.
int copy_mode(const std::string& from, int to) {
  struct stat info {};
  if (::stat(from.c_str(), &info) != 0) return 0;
  return ::fchmod(to, info.st_mode & 07777);
}

}  // namespace

std::string read_file(const std::string& path, std::size_t limit) {
  FileSource file(path);
  std::string content;
  std::size_t filled = 0;
  while (true) {
    if (filled > limit) {
      throw InputError({Diagnostic{
          .file = path,
          .message = "the file is larger than " + std::to_string(limit >> 20) + " MiB"}});
    }
    constexpr std::size_t block = std::size_t{1} << 16;
    content.resize(filled + std::max(block, filled));
    const std::size_t n = file.read(content.data() + filled, content.size() - filled);
    if (n == 0) break;
    filled += n;
  }
  content.resize(filled);
  return content;
}

std::unique_ptr<ByteSource> open_file(const std::string& path) {
  return std::make_unique<FileSource>(path);
}

void write_file_atomically(const std::string& path, std::string_view content) {
  if (special(path)) return write_directly(path, content);
  if (is_dangling(path)) fail(ENOENT, "cannot write", path);
  const std::string target = target_of_link(path);
  std::string temporary;
  Handle file(create_beside(target, temporary));
  if (file.get() < 0) fail(errno, "cannot write", path);
  try {
    write_all(file.get(), content, path);
    if (copy_mode(target, file.get()) != 0 || ::fsync(file.get()) != 0 || file.close() != 0 ||
        ::rename(temporary.c_str(), target.c_str()) != 0) {
      fail(errno, "cannot write", path);
    }
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

void check_readable(const std::string& path) {
  const Handle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail(errno, "cannot read", path);
}

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (fs::is_directory(path)) return;
  fail(is_dangling(path) ? ENOENT
       : error           ? error.value()
                         : ENOTDIR,
       "cannot make the folder", path);
}

void check_writable(const std::string& path) {
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (!exists && is_dangling(path)) fail(ENOENT, "cannot write", path);
  if (exists && S_ISDIR(info.st_mode)) fail(EISDIR, "cannot write", path);
  if (exists && ::access(path.c_str(), W_OK) != 0) fail(errno, "cannot write", path);
  if (exists && !S_ISREG(info.st_mode)) return;
  const std::string target = exists ? target_of_link(path) : path;
  const std::string directory = directory_of(target);
  if (::stat(directory.c_str(), &info) != 0) fail(errno, "cannot write", path);
  if (!S_ISDIR(info.st_mode)) fail(ENOTDIR, "cannot write", path);
  if (::access(directory.c_str(), W_OK | X_OK) != 0) fail(errno, "cannot write", path);
}

}  // namespace sextant
