#pragma once
// The frames of one capture in the order of the file, a batch at a time. While one batch is looked at,
// the next can be decoded on another core: fill() touches nothing that front() shows.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/capture/capture_reader.h"
#include "analysis/traffic/frame_decoder.h"

namespace mrclab::analysis {

struct FrameBatch {
  static constexpr uint32_t kNone = 0xFFFF'FFFF;

  size_t size = 0;  ///< so many of the frames count
  std::vector<DecodedFrame> frames;
  std::vector<ForeignFrame> foreign;    ///< like `frames`; empty if no packets are foreign
  std::vector<std::string> drop_ports;  ///< the ports that comments of dropped frames name
  std::vector<uint32_t> drop_port_of;   ///< like `frames`: its index in drop_ports, or kNone
  std::vector<PauseSeenAt> pauses;      ///< one for each frame that is Decoded::kPause, in order
  std::vector<RoceFrame> roce;          ///< one for each frame that is Decoded::kRoce, in order
  std::vector<CaptureInterface>
      interfaces;  ///< those that the file described since the batch before
  bool last = false;
  std::string problem;  ///< why nothing behind it can be read; empty at the end of the file
};

class CaptureFeed {
 public:
  /// `number`: of the file. `batch`: how many frames are decoded at a time.
  CaptureFeed(std::unique_ptr<CaptureReader> reader, FrameDecoder decoder, uint32_t number,
              bool carried, size_t batch);

  bool may_fill() const { return !filled_ && !front_->last && !back_->last; }
  /// Not to be asked while fill() runs.
  bool has_next() const { return filled_; }
  /// Decodes the next batch, unless there is none or it waits already.
  void fill();
  /// Shows the batch that was filled, or does nothing.
  void next_batch();
  const FrameBatch& front() const { return *front_; }
  /// The reader's counters, which also count the records of a batch that front() does not show yet.
  const CaptureCounters& counters() const { return reader_->counters(); }

 private:
  void decode(const CaptureRecord& record, FrameBatch& batch);

  std::unique_ptr<CaptureReader> reader_;
  FrameDecoder decoder_;
  uint32_t number_;
  bool carried_;
  size_t batch_size_;
  std::vector<bool> host_ports_;  // by interface
  size_t told_ = 0;               // interfaces that a batch has named
  std::unique_ptr<FrameBatch> front_ = std::make_unique<FrameBatch>();
  std::unique_ptr<FrameBatch> back_ = std::make_unique<FrameBatch>();
  bool filled_ = false;  // back_ waits to be shown
  ForeignFrame none_;    // for the decoder, where no packets are foreign
};

}  // namespace mrclab::analysis
