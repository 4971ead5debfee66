#pragma once
// When the messages of an offered load may be posted.

#include <cstdint>

#include "fabric/base/units.h"

namespace mrclab::endpoint {

/// Time that one message of `size` takes at `load` of all `ports` of this rate; rounded up.
FabricTime message_interval(Bytes size, uint32_t pmtu, BitRate port_rate, uint32_t ports,
                            Probability load);

/// The time that a message of `size` takes at a rate of its bytes; rounded up.
FabricTime message_interval(Bytes size, BitRate rate);

/// Message number n may be posted at first + n x interval, or after n times of which that is the mean.
class ArrivalTimes {
 public:
  struct Rule {
    FabricTime first;
    FabricTime interval;   ///< zero: at once
    bool poisson = false;  ///< the interval is a mean
    uint64_t seed = 0;     ///< of Poisson arrivals
  };
  explicit ArrivalTimes(const Rule& rule) : rule_(rule) {}

  /// When the next message may be posted.
  FabricTime due() const;
  /// The sender has posted that message.
  void pass();
  uint64_t passed() const { return passed_; }

 private:
  Rule rule_;
  FabricTime waited_;  ///< of Poisson arrivals: from `first` to the last message that was posted
  uint64_t passed_ = 0;
};

}  // namespace mrclab::endpoint
