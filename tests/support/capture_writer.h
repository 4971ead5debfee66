#pragma once
// A tiny writer of pcapng and classic pcap for tests, apart from the product's own writer: either
// byte order, any resolution, and deliberately wrong blocks.

#include <unistd.h>

#include <array>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/history/evidence_seal.h"

namespace mrclab::test {

inline constexpr uint32_t kInbound = 1, kOutbound = 2;

class CaptureWriter {
 public:
  struct Options {
    bool big_endian = false;
    std::optional<uint8_t> tsresol = uint8_t{9};  ///< nullopt: the default, microseconds
    std::optional<int64_t> tsoffset = std::nullopt;
  };
  CaptureWriter() : CaptureWriter(Options{}) {}
  explicit CaptureWriter(Options options) : options_(options) { section(); }

  void section() {
    std::vector<uint8_t> body;
    put32(body, 0x1A2B3C4D);
    put16(body, 1);
    put16(body, 0);
    put32(body, 0xFFFF'FFFF);
    put32(body, 0xFFFF'FFFF);
    block(0x0A0D0D0A, body);
    interfaces_ = 0;
  }

  uint32_t interface(std::string_view name, uint16_t link_type = 1) {
    std::vector<uint8_t> body;
    put16(body, link_type);
    put16(body, 0);
    put32(body, 0);
    option(body, 2, {reinterpret_cast<const uint8_t*>(name.data()), name.size()});
    if (options_.tsresol) option(body, 9, std::span{&*options_.tsresol, 1});
    if (options_.tsoffset) {
      std::vector<uint8_t> value;
      put32(value, 0);
      put32(value, 0);
      const auto raw = std::bit_cast<std::array<uint8_t, 8>>(*options_.tsoffset);
      for (size_t i = 0; i < 8; ++i) value[i] = options_.big_endian ? raw[7 - i] : raw[i];
      option(body, 14, value);
    }
    option(body, 0, {});
    block(1, body);
    return interfaces_++;
  }

  void packet(uint32_t interface, uint32_t direction, uint64_t units,
              std::span<const uint8_t> bytes, uint32_t original, std::string_view comment = {}) {
    std::vector<uint8_t> body;
    put32(body, interface);
    put32(body, static_cast<uint32_t>(units >> 32));
    put32(body, static_cast<uint32_t>(units));
    put32(body, static_cast<uint32_t>(bytes.size()));
    put32(body, original);
    append_padded(body, bytes);
    std::vector<uint8_t> flags;
    put32(flags, direction);
    option(body, 2, flags);
    if (!comment.empty()) {
      option(body, 1, {reinterpret_cast<const uint8_t*>(comment.data()), comment.size()});
    }
    option(body, 0, {});
    block(6, body);
  }

  void block(uint32_t type, std::span<const uint8_t> body) {
    const auto length = static_cast<uint32_t>(12 + (body.size() + 3) / 4 * 4);
    put32(bytes_, type);
    put32(bytes_, length);
    append_padded(bytes_, body);
    put32(bytes_, length);
  }

  void put32(std::vector<uint8_t>& out, uint32_t value) const { put(out, value, 4); }
  void put16(std::vector<uint8_t>& out, uint32_t value) const { put(out, value, 2); }

  std::vector<uint8_t>& bytes() { return bytes_; }
  void save(const std::filesystem::path& path) const { save(path, bytes_); }
  /// As a writer of ours closes it: the last block seals the file.
  void save_sealed(const std::filesystem::path& path, const EvidenceSeal& seal) const {
    const std::string text = to_text(seal, checksum(0, bytes_));
    std::vector<uint8_t> body(12);  // of interface 0, at no time
    option(body, 1, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
    option(body, 0, {});
    CaptureWriter sealed = *this;
    sealed.block(5, body);
    save(path, sealed.bytes_);
  }

 private:
  static void save(const std::filesystem::path& path, std::span<const uint8_t> bytes) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
  }
  void put(std::vector<uint8_t>& out, uint32_t value, unsigned size) const {
    for (unsigned i = 0; i < size; ++i) {
      const unsigned shift = 8 * (options_.big_endian ? size - 1 - i : i);
      out.push_back(static_cast<uint8_t>(value >> shift));
    }
  }
  static void append_padded(std::vector<uint8_t>& out, std::span<const uint8_t> bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
    out.resize((out.size() + 3) / 4 * 4);
  }
  void option(std::vector<uint8_t>& out, uint16_t code, std::span<const uint8_t> value) const {
    put16(out, code);
    put16(out, static_cast<uint32_t>(value.size()));
    append_padded(out, value);
  }

  Options options_;
  std::vector<uint8_t> bytes_;
  uint32_t interfaces_ = 0;
};

/// A file that goes away with the test.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& name)
      : path_(std::filesystem::temp_directory_path() /
              ("mrclab-test-" + std::to_string(::getpid()) + "-" + name)) {}
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace mrclab::test
