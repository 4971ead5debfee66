#pragma once
// A forward-only view of a file or of memory with bounded look-ahead.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

namespace mrclab::analysis {

/// Hands out the next bytes without copying them a second time. A file goes through one buffer that
/// grows to the longest look-ahead asked for; the caller bounds that.
class ByteSource {
 public:
  explicit ByteSource(std::span<const uint8_t> memory) : view_(memory) {}
  explicit ByteSource(std::FILE* file) : file_(file), buffer_(kBuffer) {
    std::setvbuf(file, nullptr, _IONBF, 0);  // this buffer is enough
  }

  /// At least `size` bytes from here on, fewer only at the end of the input. Valid until the next
  /// call.
  std::span<const uint8_t> peek(size_t size) {
    if (view_.size() < size && file_) refill(size);
    return view_;
  }
  /// `size` must not exceed what peek returned.
  void skip(size_t size) {
    view_ = view_.subspan(size);
    position_ += size;
  }
  uint64_t position() const { return position_; }
  bool failed() const { return failed_; }

 private:
  static constexpr size_t kBuffer = 1u << 18;
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void refill(size_t size) {
    const size_t have = view_.size();
    if (have > 0) std::memmove(buffer_.data(), view_.data(), have);
    if (buffer_.size() < size) buffer_.resize(size);
    const size_t got = std::fread(buffer_.data() + have, 1, buffer_.size() - have, file_.get());
    view_ = {buffer_.data(), have + got};
    failed_ = std::ferror(file_.get()) != 0;
  }

  std::unique_ptr<std::FILE, Close> file_;
  std::vector<uint8_t> buffer_;
  std::span<const uint8_t> view_;
  uint64_t position_ = 0;
  bool failed_ = false;
};

}  // namespace mrclab::analysis
