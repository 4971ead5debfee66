#pragma once
// When a responder sends a SACK, and its contents (MRC specification §7.5.2; bitmap base: MRC
// leaves it open, UEC and htsim take max(psn - 63, cumulative + 1)).
//
// Triggers: more than the threshold of bytes since the last one, A bit, CE mark, retransmission,
// reliability probe, duplicate; a packet that is refused (our choice: nothing may be taken after it for long,
// and what came before it would be held for lost). Every probe answer starts its bitmap at cumulative + 1, and so does
// every fourth SACK, so that the oldest holes are always described.

#include <algorithm>
#include <cstdint>

#include "endpoint/base/sequence.h"
#include "endpoint/base/transport_profile.h"
#include "endpoint/queue_pair/receive_window.h"
#include "fabric/packet/headers.h"

namespace mrclab::endpoint {

/// The fields of the triggering packet that a SACK reflects.
struct SackTrigger {
  EntropyValue entropy;
  uint16_t tx_timestamp = 0;
  bool ce_marked = false;  ///< outer header: the mark of a switch
};

class SackGenerator {
 public:
  explicit SackGenerator(uint32_t threshold_bytes, SackBase base = SackBase::kTrigger)
      : threshold_(threshold_bytes), base_(base) {}

  /// The value of SETH.mpr, in units of 128 PSNs; 0 if dynamic MPR is off.
  void set_range_units(uint8_t units) { range_units_ = units; }

  /// Counts a new packet. `forced`: A bit, CE mark or retransmission. True: send a SACK now.
  bool on_packet(uint64_t payload_bytes, bool forced) {
    received_bytes_ += payload_bytes;
    since_last_ += std::max<uint64_t>(payload_bytes, kMinCount);
    return forced || since_last_ > threshold_;
  }

  void refused(Sequence s) { newest_refused_ = std::max(newest_refused_, s); }

  /// The SACK for the packet `trigger_sequence`.
  Seth make(const ReceiveWindow& window, const PsnSpace& psns, Sequence trigger_sequence,
            const SackTrigger& trigger) {
    Seth seth = common(window, psns, trigger);
    seth.psn_offset_or_probe_id = static_cast<uint16_t>(trigger_sequence - window.cumulative());
    put_bitmap(seth, window, bitmap_base(window, trigger_sequence));
    return seth;
  }

  Seth make_probe_answer(const ReceiveWindow& window, const PsnSpace& psns, uint16_t probe_id,
                         const SackTrigger& trigger) {
    Seth seth = common(window, psns, trigger);
    seth.probe_response = true;
    seth.psn_offset_or_probe_id = probe_id;
    put_bitmap(seth, window, window.cumulative() + 1);
    return seth;
  }

 private:
  static constexpr uint64_t kMinCount = 1024;

  Sequence bitmap_base(const ReceiveWindow& window, Sequence trigger_sequence) {
    const Sequence first = window.cumulative() + 1;
    // A NACK has reported a hole that comes from a refusal; reporting it again would leave no room
    // for the trigger.
    const bool from_oldest_hole = ++count_ % 4 == 0 && first > newest_refused_;
    switch (base_) {
      case SackBase::kTrigger:
        return from_oldest_hole ? first : std::max(trigger_sequence - 63, first);
      case SackBase::kNewest: return std::max(window.highest() - 63, first);
      case SackBase::kCumulative: break;
    }
    return first;
  }
  Seth common(const ReceiveWindow& window, const PsnSpace& psns, const SackTrigger& trigger) {
    since_last_ = 0;
    Seth seth;
    seth.mark = trigger.ce_marked ? SackMark::kSkipOnce : SackMark::kNone;
    seth.entropy = trigger.entropy;
    seth.tx_timestamp = trigger.tx_timestamp;
    seth.cumulative = psns.psn(window.cumulative());
    seth.mpr = range_units_;
    seth.out_of_order = static_cast<uint16_t>(std::min(window.out_of_order(), 0x7FFFu));
    seth.received_units = static_cast<uint32_t>((received_bytes_ + 255) / 256 & 0xFF'FFFF);
    return seth;
  }
  static void put_bitmap(Seth& seth, const ReceiveWindow& window, Sequence base) {
    seth.sack_offset = static_cast<int16_t>(base - window.cumulative());
    seth.bitmap = window.bitmap(base);
  }

  uint32_t threshold_;
  SackBase base_;
  uint8_t range_units_ = 0;
  uint64_t since_last_ = 0;
  uint64_t received_bytes_ = 0;
  uint32_t count_ = 0;
  Sequence newest_refused_ = -1;
};

}  // namespace mrclab::endpoint
