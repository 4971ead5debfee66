#include "scenario/import/log_text.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>

#include "analysis/capture/compressed_file.h"
#include "fabric/text/yaml.h"

namespace mrclab::lab {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

[[noreturn]] void refuse(const std::string& file, const std::string& found,
                         const std::string& expected) {
  throw InputError(file + ": found " + found + ": expected " + expected);
}

void append_utf8(std::string& text, uint32_t code) {
  const auto add = [&](uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0 | code >> 6);
    add(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    add(0xE0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3F));
    add(0x80 | (code & 0x3F));
  } else {
    add(0xF0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3F));
    add(0x80 | (code >> 6 & 0x3F));
    add(0x80 | (code & 0x3F));
  }
}

std::string from_utf16(std::string_view bytes, bool little) {
  const auto unit = [&](size_t at) {
    const auto first = static_cast<uint8_t>(bytes[at]),
               second = static_cast<uint8_t>(bytes[at + 1]);
    return static_cast<uint32_t>(little ? second << 8 | first : first << 8 | second);
  };
  std::string text;
  for (size_t at = 0; at + 1 < bytes.size(); at += 2) {
    const uint32_t high = unit(at);
    const uint32_t low = at + 3 < bytes.size() ? unit(at + 2) : 0;
    const bool pair = high >> 10 == 0xD800 >> 10 && low >> 10 == 0xDC00 >> 10;
    append_utf8(text, pair ? 0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF) : high);
    if (pair) at += 2;
  }
  return text;
}

/// Every second byte of a text in UTF-16 is 0, as long as it is English.
bool looks_like_utf16(std::string_view bytes, size_t zero_at) {
  constexpr size_t kLooked = 64;
  if (bytes.size() < 8) return false;
  for (size_t at = 0; at + 1 < std::min(bytes.size(), kLooked); at += 2) {
    if (bytes[at + zero_at] != '\0' || bytes[at + 1 - zero_at] == '\0') return false;
  }
  return true;
}

/// Escape sequences that set colours (dmesg --color, journalctl, grep): ECMA-48, ESC [ ... letter.
std::string without_colours(std::string_view text) {
  std::string plain;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\x1b' || at + 1 >= text.size() || text[at + 1] != '[') {
      plain += text[at];
      continue;
    }
    at += 2;
    while (at < text.size() && text[at] >= 0x20 && text[at] < 0x40) ++at;
  }
  return plain;
}

}  // namespace

LogText decoded_log(std::string bytes, const std::string& file) {
  LogText log{std::move(bytes), {}};
  const auto starts = [&](std::string_view mark) {
    return log.text.compare(0, mark.size(), mark) == 0;
  };
  const bool little = starts("\xFF\xFE") || looks_like_utf16(log.text, 1);
  const bool big = starts("\xFE\xFF") || looks_like_utf16(log.text, 0);
  if (little || big) {
    const size_t mark = starts("\xFF\xFE") || starts("\xFE\xFF") ? 2 : 0;
    log.text = from_utf16(std::string_view(log.text).substr(mark), little);
    log.notes.emplace_back("The file is in UTF-16.");
  }
  if (starts("\xEF\xBB\xBF")) log.text.erase(0, 3);
  if (log.text.substr(0, 4096).find('\0') != std::string::npos) {
    refuse(file, "bytes that are no text", "a log as text, or compressed");
  }
  if (log.text.find('\x1b') != std::string::npos) log.text = without_colours(log.text);
  return log;
}

LogText read_log_text(const std::filesystem::path& path, size_t limit) {
  const std::string name = path.string();
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) refuse(name, "a folder", "a file");
  File file(std::fopen(path.c_str(), "rbe"));
  if (!file) refuse(name, std::string("no readable file: ") + std::strerror(errno), "a log");
  uint8_t magic[analysis::kCompressionMagicBytes]{};
  const std::span<const uint8_t> first(magic, std::fread(magic, 1, sizeof magic, file.get()));
  std::string bytes(reinterpret_cast<const char*>(first.data()), first.size());
  if (analysis::is_compressed(first)) {
    std::rewind(file.get());
    file.reset(analysis::open_decompressed(file.release(), first));
    if (!file) refuse(name, "no memory to decompress it", "some");
    bytes.clear();
  }
  constexpr size_t kPiece = size_t{1} << 16;
  for (;;) {
    const size_t before = bytes.size();
    bytes.resize(before + kPiece);
    errno = 0;
    const size_t got = std::fread(bytes.data() + before, 1, kPiece, file.get());
    bytes.resize(before + got);
    if (bytes.size() > limit) {
      refuse(name, "more than " + std::to_string(limit >> 20) + " MiB of text",
             "a part of the log");
    }
    if (got == 0) break;
  }
  LogText log = decoded_log(std::move(bytes), name);
  if (std::ferror(file.get()) != 0 && log.text.empty()) {
    refuse(name, errno == EBADMSG ? "damaged compressed data" : std::strerror(errno),
           "a whole file");
  }
  if (std::ferror(file.get()) != 0) {
    log.notes.emplace_back("The file is damaged or cut: what is in front of that was read.");
  }
  return log;
}

}  // namespace mrclab::lab
