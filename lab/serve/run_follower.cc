#include "lab/serve/run_follower.h"

#include <fcntl.h>
#include <unistd.h>

#include "fabric/history/evidence_seal.h"
#include "fabric/text/line_file.h"
#include "fabric/text/yaml.h"
#include "netio/system/system_error.h"

namespace mrclab::lab {
namespace {

constexpr size_t kPiece = size_t{1} << 16;

netio::FileDescriptor open_to_read(const std::string& path) {
  return netio::FileDescriptor(
      netio::check_system_call("open " + path, ::open(path.c_str(), O_RDONLY | O_CLOEXEC)));
}

}  // namespace

RunFollower::RunFollower(const std::filesystem::path& folder,
                         const std::vector<std::string>& processes, NodeRecordReader& told)
    : told_(told) {
  for (const std::string& process : processes) {
    const std::string records = folder / "history" / (process + ".bin");
    const std::string lines = folder / "events" / (process + ".jsonl");
    records_.push_back({records, open_to_read(records)});
    lines_.push_back({lines, open_to_read(lines)});
    // The header is written when the file is closed.
    const off_t behind = ::lseek(records_.back().fd.get(), kHistoryHeaderBytes, SEEK_SET);
    netio::check_system_call("read " + records, behind);
  }
}

bool RunFollower::Growing::more() {
  const size_t before = rest.size();
  rest.resize(before + kPiece);
  const ssize_t count = ::read(fd.get(), rest.data() + before, kPiece);
  rest.resize(before + static_cast<size_t>(std::max<ssize_t>(count, 0)));
  return netio::check_system_call("read " + path, count) > 0;
}

void RunFollower::take_records(Growing& file) {
  while (file.more()) {
    size_t at = 0;
    for (; at + kCompactRecordBytes <= file.rest.size(); at += kCompactRecordBytes) {
      // A file that was closed ends in a seal. No record of a lab's first three months looks like one.
      if (file.rest.compare(at, kSealWord.size(), kSealWord) == 0) break;
      const auto* bytes = reinterpret_cast<const uint8_t*>(file.rest.data() + at);
      const auto record =
          parse_compact(std::span<const uint8_t, kCompactRecordBytes>(bytes, kCompactRecordBytes),
                        told_.streams());
      if (!record) throw InputError(file.path + ": found a record that is none");
      told_.append_record(*record);
    }
    file.rest.erase(0, at);
  }
}

void RunFollower::take_lines(Growing& file) {
  while (file.more()) {
    size_t begin = 0;
    for (size_t end = file.rest.find('\n'); end != std::string::npos;
         end = file.rest.find('\n', begin)) {
      told_.take_line(file.rest.substr(begin, end - begin));
      begin = end + 1;
    }
    file.rest.erase(0, begin);
    if (file.rest.size() > LineFile::kMaxLineBytes) {
      throw InputError(file.path + ": found a line of more than 1 MiB");
    }
  }
}

void RunFollower::read() {
  for (Growing& file : records_) take_records(file);
  for (Growing& file : lines_) take_lines(file);
}

}  // namespace mrclab::lab
