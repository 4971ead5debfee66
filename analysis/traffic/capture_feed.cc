#include "analysis/traffic/capture_feed.h"

#include <utility>

#include "analysis/traffic/first_look.h"

namespace mrclab::analysis {

CaptureFeed::CaptureFeed(std::unique_ptr<CaptureReader> reader, FrameDecoder decoder,
                         uint32_t number, bool carried, size_t batch)
    : reader_(std::move(reader)),
      decoder_(std::move(decoder)),
      number_(number),
      carried_(carried),
      batch_size_(batch) {}

void CaptureFeed::fill() {
  if (!may_fill()) return;
  FrameBatch& batch = *back_;
  batch.size = 0;
  batch.frames.resize(batch_size_);
  batch.drop_port_of.resize(batch_size_);
  if (decoder_.any_foreign()) batch.foreign.resize(batch_size_);
  batch.drop_ports.clear();
  batch.pauses.clear();
  batch.roce.clear();
  batch.interfaces.clear();
  CaptureRecord record;
  try {
    while (batch.size < batch_size_ && !batch.last) {
      if (reader_->next(record)) {
        decode(record, batch);
      } else {
        batch.last = true;
      }
    }
  } catch (const CaptureError& error) {
    batch.last = true;
    batch.problem = error.what();
  }
  const std::vector<CaptureInterface>& described = reader_->interfaces();
  batch.interfaces.assign(described.begin() + static_cast<std::ptrdiff_t>(told_), described.end());
  told_ = described.size();
  filled_ = true;
}

void CaptureFeed::decode(const CaptureRecord& record, FrameBatch& batch) {
  const std::vector<CaptureInterface>& interfaces = reader_->interfaces();
  while (host_ports_.size() <= record.interface) {
    host_ports_.push_back(names_host_port(interfaces[host_ports_.size()].name));
  }
  const size_t at = batch.size++;
  DecodedFrame& frame = batch.frames[at];
  const FrameDecoder::Place place{carried_, host_ports_[record.interface],
                                  FirstLook::tap_of(number_, record.interface)};
  decoder_.decode(record, interfaces[record.interface].link_type, place, frame,
                  batch.foreign.empty() ? none_ : batch.foreign[at]);
  batch.drop_port_of[at] = FrameBatch::kNone;
  if (frame.decoded == Decoded::kPause) batch.pauses.push_back(decoder_.pause());
  if (frame.decoded == Decoded::kRoce) batch.roce.push_back(decoder_.roce());
  const std::string_view port = decoder_.note().port;
  if (port.empty() || frame.sighting.event != PacketEvent::kDropped) return;
  batch.drop_port_of[at] = static_cast<uint32_t>(batch.drop_ports.size());
  batch.drop_ports.emplace_back(port);
}

void CaptureFeed::next_batch() {
  if (!filled_) return;
  std::swap(front_, back_);
  filled_ = false;
}

}  // namespace mrclab::analysis
