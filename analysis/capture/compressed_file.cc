#include "analysis/capture/compressed_file.h"

#include <algorithm>
#include <array>
#include <boost/iostreams/categories.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_streambuf.hpp>
#include <cerrno>
#include <memory>

namespace mrclab::analysis {
namespace {

namespace io = boost::iostreams;

constexpr std::array<uint8_t, 2> kGzip{0x1F, 0x8B};
constexpr std::array<uint8_t, 4> kZstd{0x28, 0xB5, 0x2F, 0xFD};
constexpr std::array<uint8_t, 6> kXz{0xFD, '7', 'z', 'X', 'Z', 0x00};

bool starts_with(std::span<const uint8_t> bytes, std::span<const uint8_t> magic) {
  return bytes.size() >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin());
}

/// The compressed bytes, as Boost.Iostreams wants them. The file belongs to the Decompressor.
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

struct Decompressor {
  std::unique_ptr<std::FILE, CloseFile> file;  // outlives the filters
  io::filtering_streambuf<io::input> stream;
};

constexpr std::streamsize kBuffer = 1 << 16;

ssize_t read_some(void* cookie, char* to, size_t size) {
  try {
    auto& stream = static_cast<Decompressor*>(cookie)->stream;
    return std::max<std::streamsize>(stream.sgetn(to, static_cast<std::streamsize>(size)), 0);
  } catch (const std::exception&) {  // whatever a filter says of damaged data
    errno = EBADMSG;
    return -1;
  }
}

int close_it(void* cookie) {
  delete static_cast<Decompressor*>(cookie);
  return 0;
}

}  // namespace

bool is_compressed(std::span<const uint8_t> bytes) {
  return starts_with(bytes, kGzip) || starts_with(bytes, kZstd) || starts_with(bytes, kXz);
}

std::FILE* open_decompressed(std::FILE* file, std::span<const uint8_t> magic) {
  auto decompressor = std::make_unique<Decompressor>();
  decompressor->file.reset(file);
  io::filtering_streambuf<io::input>& stream = decompressor->stream;
  if (starts_with(magic, kGzip)) {
    stream.push(io::gzip_decompressor(io::gzip::default_window_bits, kBuffer), kBuffer);
  } else if (starts_with(magic, kZstd)) {
    stream.push(io::zstd_decompressor(kBuffer), kBuffer);
  } else {
    stream.push(io::lzma_decompressor(kBuffer), kBuffer);
  }
  stream.push(FileSource{file}, kBuffer);
  const cookie_io_functions_t functions{read_some, nullptr, nullptr, close_it};
  std::FILE* opened = ::fopencookie(decompressor.get(), "rb", functions);
  if (opened != nullptr) decompressor.release();  // close_it deletes it
  return opened;
}

}  // namespace mrclab::analysis
