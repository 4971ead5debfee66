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

#include "fabric/history/evidence_seal.h"

namespace mrclab::analysis {

/// Hands out the next bytes without copying them a second time. A file goes through one buffer that
/// grows to the longest look-ahead asked for; the caller bounds that.
class ByteSource {
 public:
  explicit ByteSource(std::span<const uint8_t> memory) : view_(memory), unsummed_(memory.data()) {}
  explicit ByteSource(std::FILE* file) : file_(file), buffer_(kBuffer) {
    std::setvbuf(file, nullptr, _IONBF, 0);  // this buffer is enough
  }

  /// At least `size` bytes from here on, fewer only at the end of the input. Valid until the next
  /// call.
  std::span<const uint8_t> peek(size_t size) {
    if (view_.size() < size && file_) [[unlikely]]
      refill(size);
    return view_;
  }
  /// `size` must not exceed what peek returned.
  void skip(size_t size) {
    view_ = view_.subspan(size);
    position_ += size;
  }
  uint64_t position() const { return position_; }
  bool failed() const { return failed_; }

  /// To be called before anything is skipped, where the checksum will be asked for.
  void keep_checksum() { summing_ = true; }
  /// The checksum of all bytes that were skipped so far (fabric/history/evidence_seal.h). The source sums them up only
  /// when it is asked or refills its buffer, because long pieces cost half as much per byte as pieces of one record.
  uint32_t checksum_of_skipped() {
    checksum_ = checksum(checksum_, {unsummed_, view_.data()});
    unsummed_ = view_.data();
    return checksum_;
  }

 private:
  static constexpr size_t kBuffer = 1u << 18;
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  [[gnu::noinline]] void refill(size_t size) {
    if (summing_) checksum_of_skipped();
    const size_t have = view_.size();
    if (have > 0) std::memmove(buffer_.data(), view_.data(), have);
    if (buffer_.size() < size) buffer_.resize(size);
    const size_t got = std::fread(buffer_.data() + have, 1, buffer_.size() - have, file_.get());
    view_ = {buffer_.data(), have + got};
    unsummed_ = buffer_.data();
    failed_ = std::ferror(file_.get()) != 0;
  }

  std::unique_ptr<std::FILE, Close> file_;
  std::vector<uint8_t> buffer_;
  std::span<const uint8_t> view_;
  const uint8_t* unsummed_ = nullptr;  // what was skipped from here on is not in checksum_ yet
  uint64_t position_ = 0;
  uint32_t checksum_ = 0;
  bool summing_ = false;
  bool failed_ = false;
};

}  // namespace mrclab::analysis
