#pragma once
// A capture that comes through a pipe, as of `tcpdump -w - | mrclab analyze -`. A pipe gives its bytes once, and a file is
// read twice, at first to see whose format it has: so the first bytes are kept.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analysis/capture/capture_reader.h"

namespace mrclab::analysis {

/// Is it "-", a named pipe, or a descriptor of a pipe, a socket or a terminal?
bool is_stream(const std::filesystem::path& path);

class StreamFile {
 public:
  using IsInterrupted = std::function<bool()>;
  /// Called some times a second with the bytes that have come, by the thread that reads.
  using Arrived = std::function<void(uint64_t bytes)>;

  /// Opens it and waits for its first bytes. Once `interrupted` is true the stream ends where no more bytes are there, or
  /// behind 64 MiB of them. Throws CaptureError.
  StreamFile(const std::filesystem::path& path, IsInterrupted interrupted, Arrived arrived = {});
  ~StreamFile();
  StreamFile(const StreamFile&) = delete;
  StreamFile& operator=(const StreamFile&) = delete;

  /// What has come first.
  std::unique_ptr<CaptureReader> look(const CaptureOptions& options);
  /// All of it, once. This must outlive the reader.
  std::unique_ptr<CaptureReader> read(const CaptureOptions& options);
  const std::string& name() const { return name_; }

 private:
  friend struct StreamCookie;
  /// 0 at the end.
  size_t some(char* to, size_t size, int patience_ms);
  std::unique_ptr<CaptureReader> reader(bool all, const CaptureOptions& options);

  std::string name_;
  int descriptor_ = -1;
  IsInterrupted interrupted_;
  Arrived arrived_;
  std::vector<uint8_t> first_;
  size_t after_interrupt_ = 0;  // bytes
  uint64_t bytes_ = 0;
  bool ended_ = false;
};

}  // namespace mrclab::analysis
