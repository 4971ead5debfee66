#include "netio/record/run_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "fabric/history/event_text.h"
#include "fabric/history/window_text.h"
#include "fabric/packet/whole_frame.h"
#include "netio/system/output_folder.h"
#include "netio/system/system_error.h"

namespace mrclab::netio {

EventLog::EventLog(const std::filesystem::path& file, uint64_t windows_max)
    : path_(file.string()), out_(name_of_open(create_file(file))), windows_max_(windows_max) {
  require_written();
}

void EventLog::require_written() const {
  if (!out_) throw SystemError("write " + path_, errno != 0 ? errno : EIO);
}

void EventLog::write(const Topology& topology, NodeId node, const EventRecord& record) {
  if (written_ >= kMaxEvents) {
    ++dropped_;
    complete_ = std::min(complete_, record.t);
    return;
  }
  ++written_;
  last_ = std::max(last_, record.t);
  write_line(event_line(topology, node, record));
}

void EventLog::write(const Topology& topology, NodeId node, const WindowRecord& record) {
  if (windows_ >= windows_max_) {
    windows_until_ = windows_left_out_ == 0 ? record.t : std::min(windows_until_, record.t);
    ++windows_left_out_;
    return;
  }
  ++windows_;
  last_ = std::max(last_, record.t);
  write_line(window_line(topology, node, record));
}

void EventLog::write_line(const std::string& line) {
  errno = 0;
  out_ << line << '\n';
  require_written();
  checksum_ = checksum(checksum(checksum_, line), "\n");
}

void EventLog::flush() {
  errno = 0;
  out_.flush();
  require_written();
}

void EventLog::close(EvidenceSeal offered) {
  offered.until = std::min(offered.until, complete_);
  if (windows_left_out_ > 0) write_line(windows_left_out_line(windows_until_, windows_left_out_));
  offered.records = written_ + windows_ + (windows_left_out_ > 0 ? 1 : 0);
  write_line(seal_line(offered, last_, checksum_));
  out_.close();
  require_written();
}

RunRecorder::RunRecorder(const Topology& topology, NodeId node, FabricTime end,
                         PcapngWriter* capture, bool capture_passed, EventLog* events,
                         HistoryWriter* records, Wanted wanted)
    : topology_(topology),
      node_(node),
      end_(end),
      capture_(capture),
      capture_passed_(capture_passed),
      events_(events),
      records_(records),
      wanted_(std::move(wanted)),
      first_stream_(records != nullptr ? first_stream(topology, node) : 0),
      history_(topology, node, end) {
  if (capture_ == nullptr) return;
  if (capture_passed_) {
    interface_of_port_.resize(topology.node(node).ports.size(), kNoInterface);
  }
  if (wanted_) return;
  for (uint32_t i = 0; i < interface_of_port_.size(); ++i) add_interface(PortId{i});
  add_drop_interface();
}

uint32_t RunRecorder::add_interface(PortId port) {
  const PortRef of{node_, port};
  return interface_of_port_[port.value] = capture_->add_interface(
             topology_.port_name(of), topology_.link_name(topology_.port(of).link));
}

uint32_t RunRecorder::add_drop_interface() {
  if (drop_interface_ != kNoInterface) return drop_interface_;
  const std::string& name = topology_.node(node_).name;
  return drop_interface_ = capture_->add_interface(name + ":drop", "frames dropped in " + name);
}

void RunRecorder::packet(const PacketRecord& record) {
  if (muted_) return;
  if (watch_ != nullptr) watch_->packet(node_, record);
  if (record.t > end_) return;
  last_ = std::max(last_, record.t);
  history_.packet(
      record);  // which finds the hash of the content with the frame, behind its first port
  if (wanted_ && (!record.frame || !wanted_(record.frame))) return;
  if (records_ != nullptr) {
    const uint32_t egress = record.direction == Direction::kEgress ? 1 : 0;
    records_->write_record(history_record(record), first_stream_ + 2 * record.port.value + egress);
  }
  if (capture_ != nullptr && record.frame) capture(record);
}

void RunRecorder::capture(const PacketRecord& record) {
  PcapngRecord captured;
  captured.t = record.t;
  captured.direction = record.direction;
  captured.bytes = record.frame.bytes();
  std::array<uint8_t, kCaptureSnapLength> first;
  if (record.frame.has_lent()) {
    const auto kept = std::span(first).first(std::min(whole_size(record.frame), first.size()));
    copy_first(record.frame, kept);
    captured.bytes = kept;
  }
  captured.original_length = record.frame.modelled_size().value;
  if (record.event == PacketEvent::kDropped) {
    const std::string comment = fmt::format("drop: {} {} {}", name_of(record.cause),
                                            topology_.port_name({node_, record.port}),
                                            record.direction == Direction::kIngress ? "in" : "out");
    captured.comment = comment;
    captured.interface = add_drop_interface();
    capture_->write(captured);
  } else if (capture_passed_) {
    const uint32_t known = interface_of_port_[record.port.value];
    captured.interface = known != kNoInterface ? known : add_interface(record.port);
    if (record.event == PacketEvent::kTrimmed) captured.comment = "trimmed";
    capture_->write(captured);
  }
}

void RunRecorder::event(const EventRecord& record) {
  if (muted_) return;
  if (watch_ != nullptr) watch_->event(node_, record);
  if (record.t > end_) return;
  last_ = std::max(last_, record.t);
  if (events_ != nullptr) events_->write(topology_, node_, record);
}

/// Not passed to the watch of single steps: a window sums up events and is not an event.
void RunRecorder::window(const WindowRecord& record) {
  if (muted_ || record.t > end_) return;
  last_ = std::max(last_, record.t);
  if (events_ != nullptr) events_->write(topology_, node_, record);
}

}  // namespace mrclab::netio
