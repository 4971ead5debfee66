#include "analysis/capture/open_capture.h"

#include <pcap/pcap.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "analysis/capture/byte_source.h"
#include "analysis/capture/compressed_file.h"
#include "analysis/capture/pcapng_reader.h"
#include "fabric/text/input_file.h"
#include "fabric/text/visible_text.h"

namespace mrclab::analysis {
namespace {

/// The link type as in the file. libpcap gives raw IP another number; all other types that can hold
/// MRC have the file's.
uint16_t link_type_of(pcap_t* pcap) {
  constexpr uint16_t kLinkTypeRaw = 101;
  const int type = pcap_datalink(pcap);
  return type == DLT_RAW ? kLinkTypeRaw : static_cast<uint16_t>(type);
}

/// Everything that is not pcapng: libpcap reads the formats and byte orders. One interface, named
/// after the file; directions and comments do not exist there.
class LibpcapReader final : public CaptureReader {
 public:
  /// Takes the file over.
  LibpcapReader(std::FILE* file, const std::filesystem::path& path, CaptureOptions options)
      : CaptureReader(options), name_(path.string()), file_(file) {
    std::array<char, PCAP_ERRBUF_SIZE> error{};
    pcap_.reset(
        pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, error.data()));
    if (!pcap_) {
      std::fclose(file);
      throw CaptureError("reading " + name_ + ": " + error.data());
    }
    interfaces_.push_back({visible(path.stem().string().substr(0, kMaxNameBytes)),
                           link_type_of(pcap_.get()), 1'000'000'000, 0});
  }

  bool read_next(CaptureRecord& record) override {
    for (;;) {
      pcap_pkthdr* header = nullptr;
      const u_char* bytes = nullptr;
      const int got = pcap_next_ex(pcap_.get(), &header, &bytes);
      if (got == PCAP_ERROR_BREAK) return false;
      if (got != 1 && std::ferror(file_) != 0) {
        throw CaptureError("reading " + name_ +
                           ": its data is damaged or cut here: what is in front of that was read");
      }
      if (got != 1) throw CaptureError("reading " + name_ + ": " + pcap_geterr(pcap_.get()));
      const std::optional<FabricTime> t = time_of(*header);
      if (!t) {
        ++counters_.time_out_of_range;
        continue;
      }
      record = {0, CaptureDirection::kUnknown, *t, {bytes, header->caplen}, header->len, {}};
      ++counters_.records;
      return true;
    }
  }

 private:
  struct Close {
    void operator()(pcap_t* pcap) const { pcap_close(pcap); }
  };

  std::optional<FabricTime> time_of(const pcap_pkthdr& header) {
    constexpr int64_t kSeconds = 9'000'000;  // what FabricTime can hold
    int64_t seconds = header.ts.tv_sec;
    const int64_t ns = header.ts.tv_usec;  // nanoseconds, as asked for
    learn_base(seconds);
    if (__builtin_sub_overflow(seconds, base_seconds(), &seconds)) return std::nullopt;
    if (seconds < 0 || seconds > kSeconds || ns < 0 || ns >= 1'000'000'000) return std::nullopt;
    return FabricTime::from_ns(seconds * 1'000'000'000 + ns);
  }

  std::string name_;
  std::FILE* file_;  // libpcap's
  std::unique_ptr<pcap_t, Close> pcap_;
};

std::FILE* open_plain(const std::filesystem::path& path) {
  require_input_file(path);
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    throw CaptureError("opening " + path.string() + ": " + std::strerror(errno));
  }
  return file;
}

/// The file, decompressed where it has to be.
std::FILE* open_file(const std::filesystem::path& path) {
  std::FILE* file = open_plain(path);
  std::array<uint8_t, kCompressionMagicBytes> magic{};
  const size_t got = std::fread(magic.data(), 1, magic.size(), file);
  if (!is_compressed(std::span(magic).first(got))) {  // also of a pipe, which cannot go back
    if (std::fseek(file, 0, SEEK_SET) == 0) return file;
  } else if (std::fseek(file, 0, SEEK_SET) == 0) {
    file = open_decompressed(file, magic);
    if (file != nullptr) return file;
    throw CaptureError("opening " + path.string() + ": cannot decompress it");
  }
  std::fclose(file);
  throw CaptureError("opening " + path.string() + ": it cannot be read twice; write it to a file");
}

constexpr size_t kMagicBytes = 12;

}  // namespace

std::unique_ptr<CaptureReader> open_capture(const std::filesystem::path& path,
                                            CaptureOptions options) {
  auto source = std::make_unique<ByteSource>(open_file(path));
  const bool pcapng = PcapngReader::recognizes(source->peek(kMagicBytes));
  if (source->failed()) {
    throw CaptureError("reading " + path.string() + ": damaged compressed data, or a read error");
  }
  if (pcapng) return std::make_unique<PcapngReader>(std::move(source), path.string(), options);
  source.reset();
  return std::make_unique<LibpcapReader>(open_file(path), path, options);
}

std::unique_ptr<CaptureReader> capture_of_file(std::FILE* file, const std::string& name,
                                               bool pcapng, CaptureOptions options) {
  if (!pcapng) return std::make_unique<LibpcapReader>(file, name, options);
  return std::make_unique<PcapngReader>(std::make_unique<ByteSource>(file), name, options);
}

std::unique_ptr<CaptureReader> capture_in_memory(std::span<const uint8_t> bytes,
                                                 CaptureOptions options) {
  if (PcapngReader::recognizes(bytes)) {
    return std::make_unique<PcapngReader>(std::make_unique<ByteSource>(bytes), "memory", options);
  }
  std::FILE* file =
      bytes.empty() ? nullptr
                    : ::fmemopen(const_cast<uint8_t*>(bytes.data()), bytes.size(), "rb");  // reads
  if (file == nullptr) throw CaptureError("reading memory: there are no bytes");
  if (!is_compressed(bytes)) return std::make_unique<LibpcapReader>(file, "memory", options);
  std::FILE* plain = open_decompressed(file, bytes);
  if (plain == nullptr) throw CaptureError("reading memory: cannot decompress it");
  // Only pcapng: libpcap would have to read a stream from its start again.
  return std::make_unique<PcapngReader>(std::make_unique<ByteSource>(plain), "memory", options);
}

}  // namespace mrclab::analysis
