#include "analysis/capture/stream_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "analysis/capture/compressed_file.h"
#include "analysis/capture/open_capture.h"
#include "analysis/capture/pcapng_reader.h"
#include "fabric/text/visible_text.h"

namespace mrclab::analysis {
namespace {

constexpr size_t kFirst = 1u << 18, kLeastFirst = 24;
constexpr int kTickMs = 100;
constexpr size_t kMostAfterInterrupt = size_t{64} << 20;

}  // namespace

bool is_stream(const std::filesystem::path& path) {
  struct stat info {};
  const int got = path == "-" ? ::fstat(STDIN_FILENO, &info) : ::stat(path.c_str(), &info);
  return got == 0 && (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode) || S_ISCHR(info.st_mode));
}

/// What a FILE of the stream reads from.
struct StreamCookie {
  StreamFile* stream;
  bool all;
  size_t at = 0;

  static ssize_t read(void* self, char* to, size_t size) {
    auto& cookie = *static_cast<StreamCookie*>(self);
    const std::vector<uint8_t>& first = cookie.stream->first_;
    if (cookie.at < first.size()) {
      const size_t count = std::min(size, first.size() - cookie.at);
      std::memcpy(to, first.data() + cookie.at, count);
      cookie.at += count;
      return static_cast<ssize_t>(count);
    }
    return cookie.all ? static_cast<ssize_t>(cookie.stream->some(to, size, -1)) : 0;
  }
  static int close(void* self) {
    delete static_cast<StreamCookie*>(self);
    return 0;
  }
};

StreamFile::StreamFile(const std::filesystem::path& path, IsInterrupted interrupted,
                       Arrived arrived)
    : name_(path == "-" ? "the standard input" : visible(path.string())),
      interrupted_(std::move(interrupted)),
      arrived_(std::move(arrived)) {
  descriptor_ = path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                            : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) throw CaptureError("opening " + name_ + ": " + std::strerror(errno));
  first_.resize(kFirst);
  size_t have = 0;
  while (have < kFirst && !ended_) {
    // The first bytes of a file's header are waited for; of what follows only what is there.
    const int patience = have < kLeastFirst ? -1 : 2 * kTickMs;
    const size_t got = some(reinterpret_cast<char*>(first_.data()) + have, kFirst - have, patience);
    if (got == 0) break;
    have += got;
  }
  first_.resize(have);
}

StreamFile::~StreamFile() { ::close(descriptor_); }

size_t StreamFile::some(char* to, size_t size, int patience_ms) {
  for (int waited = 0; !ended_; waited += kTickMs) {
    if (patience_ms >= 0 && waited >= patience_ms) return 0;
    const bool interrupted = interrupted_ && interrupted_();
    if (arrived_) arrived_(bytes_);
    pollfd entry{descriptor_, POLLIN, 0};
    const int ready = ::poll(&entry, 1, kTickMs);
    if (ready < 0 && errno != EINTR) break;
    if (ready <= 0) {
      if (interrupted) break;
      continue;
    }
    if (interrupted && after_interrupt_ > kMostAfterInterrupt) break;
    const ssize_t got = ::read(descriptor_, to, size);
    if (got > 0) {
      bytes_ += static_cast<uint64_t>(got);
      after_interrupt_ += interrupted ? static_cast<size_t>(got) : 0;
      return static_cast<size_t>(got);
    }
    if (got < 0 && errno == EINTR) continue;
    break;
  }
  ended_ = true;
  return 0;
}

std::unique_ptr<CaptureReader> StreamFile::reader(bool all, const CaptureOptions& options) {
  if (first_.empty()) throw CaptureError("reading " + name_ + ": it ended without a byte");
  if (is_compressed(first_)) {
    throw CaptureError("reading " + name_ +
                       ": compressed data in a pipe: decompress it in front of it, as by zstd -dc");
  }
  const cookie_io_functions_t functions{StreamCookie::read, nullptr, nullptr, StreamCookie::close};
  auto cookie = std::make_unique<StreamCookie>(StreamCookie{this, all});
  std::FILE* file = ::fopencookie(cookie.get(), "rb", functions);
  if (file == nullptr) throw CaptureError("reading " + name_ + ": no memory");
  cookie.release();  // StreamCookie::close deletes it
  return capture_of_file(file, name_, PcapngReader::recognizes(first_), options);
}

std::unique_ptr<CaptureReader> StreamFile::look(const CaptureOptions& options) {
  return reader(false, options);
}

std::unique_ptr<CaptureReader> StreamFile::read(const CaptureOptions& options) {
  return reader(true, options);
}

}  // namespace mrclab::analysis
