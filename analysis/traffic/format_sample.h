#pragma once
// A sample of the beginning of every file: did this lab make the packets or another implementation,
// and if so in which format and captured where? These answers are there before the first packet is
// analyzed, so that a capture is read in one pass.

#include <optional>

#include "analysis/capture/capture_reader.h"
#include "analysis/traffic/carrier_format.h"
#include "analysis/traffic/path_format.h"
#include "analysis/traffic/vantage_guess.h"

namespace mrclab::analysis {

/// What the user may state about a capture because its packets do not carry it.
struct GivenFormat {
  std::optional<CarrierFormat> carriers = std::nullopt;
  std::optional<GivenEv> ev = std::nullopt;
  std::optional<GivenPlace> place = std::nullopt;
};

/// The format of packets that another implementation made ("foreign" ones), as far as the sample
/// shows it.
struct LearnedFormat {
  bool foreign = false;  ///< there are such packets
  uint64_t packets = 0;  ///< foreign ones in the sample
  bool whole = true;     ///< the sample was the whole capture
  bool carriers_seen = false;
  CarrierFormat carriers;
  std::vector<Ipv6Address> blocks;
  PathFormat paths;
  VantageGuess places;
};

class FormatSample {
 public:
  /// One MRC packet. `ours`: something other than its headers (a time
  /// trailer) shows that this lab made it.
  void sample_packet(const MrcPacket& packet, uint32_t tap, WireEnd end, bool ours);
  bool any_foreign() const { return format_.foreign; }
  void set_cut() { format_.whole = false; }
  LearnedFormat learned(const GivenFormat& given);
  /// Is most of what this host sent in our format? Empty for a host that is not in the sample.
  std::optional<bool> is_ours(const Ipv6Address& source) const;

 private:
  struct Source {
    uint32_t ours = 0, foreign = 0;
  };
  LearnedFormat format_;
  CarrierLearner carriers_;
  PathLearner paths_;
  FlatIndex source_index_{1u << 16};
  std::vector<Source> sources_;
};

}  // namespace mrclab::analysis
