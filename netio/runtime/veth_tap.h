#pragma once
// Independent evidence: libpcap on the veths themselves, whole frames in both directions, beside
// what the daemons write about themselves. One thread reads all interfaces into one pcapng file.
// Its time stamps are the kernel's, counted from when the taps were opened; fabric time is in the
// frames' trailers.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fabric/base/ids.h"
#include "netio/kernel/namespace.h"
#include "netio/system/file_descriptor.h"

namespace mrclab::netio {

/// One end of a veth. The namespace outlives the taps.
struct TapPort {
  std::string name;  ///< name of the interface in the file: "h0:p2"
  const NetworkNamespace* where = nullptr;
  std::string device;  ///< "p2"
  WireId out;          ///< the wire that begins here; any other that a trailer names ends here
};

struct TapReport {
  uint64_t interfaces = 0;
  uint64_t packets = 0;
  uint64_t bytes = 0;       ///< sum of the packets' lengths
  uint64_t dropped = 0;     ///< the kernel's buffer was full
  uint64_t skipped = 0;     ///< the file had reached its bound
  double cpu_seconds = 0;   ///< CPU time of the reading thread
  double open_seconds = 0;  ///< about 12 ms for each interface
};

/// Reads from its construction until finish().
class VethTaps {
 public:
  /// With this many ports the kernel's buffers take 2 GiB.
  static constexpr size_t kMaxPorts = 1024;

  /// Throws SystemError when an interface cannot be opened or the file cannot be made.
  VethTaps(const std::vector<TapPort>& ports, const std::filesystem::path& file,
           uint64_t max_file_bytes);
  /// Into a pipe or file for somebody who looks on: each packet is written as soon as it is read, with the wall clock's
  /// time, `most` of them. An error of the pipe ends the reading (rounds_done() is over).
  VethTaps(const std::vector<TapPort>& ports, FileDescriptor pipe, std::string name, uint64_t most);
  /// Ends without waiting for what is left.
  ~VethTaps();
  VethTaps(const VethTaps&) = delete;
  VethTaps& operator=(const VethTaps&) = delete;

  /// Bytes of the kernel's buffer that every interface can hold unread.
  uint64_t room() const;
  /// The reader visits all interfaces in rounds; these count the rounds that have begun and those
  /// that are over. A frame that was sent before a round began is, when that round is over, in the
  /// file or in the part of the buffers that room() leaves out. After an error every round counts
  /// as over.
  uint64_t rounds_begun() const;
  uint64_t rounds_done() const;
  uint64_t packets() const;  ///< written so far

  /// Reads what the kernel has counted so far and ends. Throws SystemError if the file could not be
  /// written.
  TapReport finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mrclab::netio
