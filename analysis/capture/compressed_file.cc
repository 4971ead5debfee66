#include "analysis/capture/compressed_file.h"

#include <lz4frame.h>
#include <algorithm>
#include <array>
#include <boost/iostreams/categories.hpp>
#include <boost/iostreams/filter/bzip2.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <cerrno>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace mrclab::analysis {
namespace {

namespace io = boost::iostreams;

constexpr std::array<uint8_t, 2> kGzip{0x1F, 0x8B};
constexpr std::array<uint8_t, 4> kZstd{0x28, 0xB5, 0x2F, 0xFD};
constexpr std::array<uint8_t, 3> kBzip2{'B', 'Z', 'h'};
constexpr std::array<uint8_t, 4> kLz4{0x04, 0x22, 0x4D, 0x18};
constexpr std::array<uint8_t, 6> kXz{0xFD, '7', 'z', 'X', 'Z', 0x00};

bool starts_with(std::span<const uint8_t> bytes, std::span<const uint8_t> magic) {
  return bytes.size() >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin());
}

/// The compressed bytes, as a source of Boost.Iostreams. The file belongs to the Decompressor.
struct FileSource {
  using char_type = char;
  using category = io::source_tag;
  std::FILE* file;
  std::streamsize read(char* to, std::streamsize size) {
    const size_t got = std::fread(to, 1, static_cast<size_t>(size), file);
    return got == 0 ? -1 : static_cast<std::streamsize>(got);
  }
};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

/// What fopencookie reads from.
class Decompressor {
 public:
  virtual ~Decompressor() = default;
  /// Bytes, 0 at the end, or -1 for damaged data; of those in front of the damage all have been given out before.
  virtual std::streamsize read(char* to, std::streamsize size) = 0;
};

constexpr std::streamsize kBuffer = 1 << 16;

/// A filter of Boost.Iostreams throws for damaged data and for bytes behind the end, and what it had decompressed in that
/// call is lost with it. So the file is then read again up to the last whole call, and from there a byte at a time.
template <class Filter>
class FilterDecompressor final : public Decompressor {
 public:
  template <class Make>
  FilterDecompressor(std::FILE* file, Make make) : file_(file), make_(std::move(make)) {
    begin();
  }

  std::streamsize read(char* to, std::streamsize size) override {
    if (!careful_) {
      try {
        const std::streamsize got = std::max<std::streamsize>(filter_->read(source_, to, size), 0);
        given_ += got;
        return got;
      } catch (const std::exception&) {
        go_back();
      }
    }
    return read_carefully(to, size);
  }

 private:
  void begin() {
    std::rewind(file_.get());
    source_ = FileSource{file_.get()};
    filter_.emplace(make_());
  }

  void go_back() {
    careful_ = true;
    begin();
    std::vector<char> seen(kBuffer);
    for (std::streamsize left = given_; left > 0;) {
      const std::streamsize got =
          filter_->read(source_, seen.data(), std::min<std::streamsize>(left, kBuffer));
      if (got <= 0) return;
      left -= got;
    }
  }

  std::streamsize read_carefully(char* to, std::streamsize size) {
    std::streamsize got = 0;
    try {
      while (!damaged_ && got < size) {
        if (filter_->read(source_, to + got, 1) <= 0) break;
        ++got;
      }
    } catch (const std::exception&) {  // whatever a filter throws for damaged data
      damaged_ = true;
    }
    return got == 0 && damaged_ ? -1 : got;
  }

  std::unique_ptr<std::FILE, CloseFile> file_;
  std::function<Filter()> make_;
  FileSource source_{};
  std::optional<Filter> filter_;
  std::streamsize given_ = 0;
  bool careful_ = false, damaged_ = false;
};

/// Boost.Iostreams has no filter for LZ4.
class Lz4Decompressor final : public Decompressor {
 public:
  explicit Lz4Decompressor(std::FILE* file) : file_(file), input_(kBuffer) {
    std::rewind(file);
    LZ4F_dctx* context = nullptr;
    damaged_ = LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)) != 0;
    context_.reset(context);
  }

  std::streamsize read(char* to, std::streamsize size) override {
    while (!damaged_) {
      if (at_ == have_) {
        at_ = 0;
        have_ = std::fread(input_.data(), 1, input_.size(), file_.get());
        if (have_ == 0) {
          damaged_ = expects_ != 0;  // the file ends within a frame
          return damaged_ ? -1 : 0;
        }
      }
      size_t given = static_cast<size_t>(size), used = have_ - at_;
      expects_ = LZ4F_decompress(context_.get(), to, &given, input_.data() + at_, &used, nullptr);
      at_ += used;
      damaged_ = LZ4F_isError(expects_) != 0;
      if (given > 0) return static_cast<std::streamsize>(given);
    }
    return -1;
  }

 private:
  struct Free {
    void operator()(LZ4F_dctx* context) const { LZ4F_freeDecompressionContext(context); }
  };
  std::unique_ptr<std::FILE, CloseFile> file_;
  std::unique_ptr<LZ4F_dctx, Free> context_;
  std::vector<char> input_;
  size_t at_ = 0, have_ = 0, expects_ = 0;
  bool damaged_ = false;
};

std::unique_ptr<Decompressor> decompressor_of(std::FILE* file, std::span<const uint8_t> magic) {
  if (starts_with(magic, kGzip)) {
    return std::make_unique<FilterDecompressor<io::gzip_decompressor>>(
        file, [] { return io::gzip_decompressor(io::gzip::default_window_bits, kBuffer); });
  }
  if (starts_with(magic, kZstd)) {
    return std::make_unique<FilterDecompressor<io::zstd_decompressor>>(
        file, [] { return io::zstd_decompressor(kBuffer); });
  }
  if (starts_with(magic, kLz4)) return std::make_unique<Lz4Decompressor>(file);
  if (starts_with(magic, kBzip2)) {
    return std::make_unique<FilterDecompressor<io::bzip2_decompressor>>(
        file, [] { return io::bzip2_decompressor(false, kBuffer); });
  }
  return std::make_unique<FilterDecompressor<io::lzma_decompressor>>(
      file, [] { return io::lzma_decompressor(kBuffer); });
}

ssize_t read_some(void* cookie, char* to, size_t size) {
  const std::streamsize got =
      static_cast<Decompressor*>(cookie)->read(to, static_cast<std::streamsize>(size));
  if (got < 0) errno = EBADMSG;
  return got;
}

int close_it(void* cookie) {
  delete static_cast<Decompressor*>(cookie);
  return 0;
}

}  // namespace

bool is_compressed(std::span<const uint8_t> bytes) {
  return starts_with(bytes, kGzip) || starts_with(bytes, kZstd) || starts_with(bytes, kXz) ||
         starts_with(bytes, kLz4) ||
         (starts_with(bytes, kBzip2) && bytes.size() > 4 && bytes[4] == 0x31);
}

std::FILE* open_decompressed(std::FILE* file, std::span<const uint8_t> magic) {
  std::unique_ptr<Decompressor> decompressor = decompressor_of(file, magic);
  const cookie_io_functions_t functions{read_some, nullptr, nullptr, close_it};
  std::FILE* opened = ::fopencookie(decompressor.get(), "rb", functions);
  if (opened != nullptr) decompressor.release();  // close_it deletes it
  return opened;
}

}  // namespace mrclab::analysis
