#include "netio/record/history_writer.h"

#include <unistd.h>

#include <algorithm>

#include "fabric/base/byte_order.h"
#include "netio/system/output_folder.h"

namespace mrclab::netio {
namespace {

constexpr size_t kBufferBytes = 2048 * kCompactRecordBytes;

}  // namespace

HistoryWriter::HistoryWriter(const std::filesystem::path& path, uint32_t streams,
                             uint64_t max_bytes)
    : path_(path.string()),
      fd_(create_file(path)),
      streams_(streams),
      max_records_((std::max(max_bytes, uint64_t{kHistoryHeaderBytes}) - kHistoryHeaderBytes) /
                   kCompactRecordBytes) {
  buffer_.reserve(kBufferBytes);
  fd_.write_all(path_, header_bytes({.streams = streams_}));
}

HistoryWriter::~HistoryWriter() {
  try {
    finish(std::nullopt);
  } catch (const SystemError&) {
    // close() reports; a destructor cannot.
  }
}

void HistoryWriter::write_record(const HistoryBytes& record, uint32_t stream) {
  if (written_ == max_records_) {
    leave_out(record);
    return;
  }
  const CompactBytes bytes = compact_bytes(record, stream);
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  ++written_;
  if (buffer_.size() == kBufferBytes) flush();
}

void HistoryWriter::leave_out(const HistoryBytes& record) {
  // Nodes of a process run one after the other, so the records that find no room are not in the order
  // of time.
  const auto t = FabricTime::from_ps(static_cast<int64_t>(load_be<uint64_t>(record.data())));
  complete_ = std::min(complete_, t);
  ++left_out_;
}

void HistoryWriter::flush() {
  if (!fd_ || buffer_.empty()) return;
  try {
    fd_.write_all(path_, buffer_);
  } catch (const SystemError&) {
    fd_.reset();  // the header still marks the file as unfinished
    max_records_ = written_;
    buffer_.clear();
    throw;
  }
  checksum_ = checksum(checksum_, buffer_);
  buffer_.clear();
}

void HistoryWriter::close(EvidenceSeal offered) {
  offered.until = std::min(offered.until, complete_);
  offered.records = written_;
  finish(offered);
}

void HistoryWriter::finish(const std::optional<EvidenceSeal>& seal) {
  if (!fd_) return;
  flush();
  const auto header = header_bytes(
      {.streams = streams_, .records = written_, .left_out = left_out_, .complete = complete_});
  if (seal) {
    const std::string text = seal_of_history(*seal, checksum_, header);
    fd_.write_all(path_, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  }
  check_system_call("finish " + path_, ::pwrite(fd_.get(), header.data(), header.size(), 0));
  fd_.reset();
}

uint64_t history_share(const Topology& topology, const std::vector<uint32_t>& process_of_node,
                       uint32_t process, uint64_t bytes_of_run) {
  uint64_t ports = 0;
  uint64_t own = 0;
  for (const NodeSite& site : topology.nodes) {
    ports += site.ports.size();
    if (process_of_node.at(site.id.value) == process) own += site.ports.size();
  }
  return ports == 0 ? 0 : bytes_of_run / ports * own;
}

}  // namespace mrclab::netio
