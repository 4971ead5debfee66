#pragma once
// DCQCN (Zhu et al., SIGCOMM 2015), the congestion control of RoCEv2: a receiver answers ECN marks by
// congestion notification packets (CNPs), and the sender's rate limiter of that queue pair cuts its rate and
// recovers by timer and byte counter.
//
//   RC  current rate     RT  target rate     a  estimate of congestion, 0 to 1
//
// Two orders of the same steps are in use. The paper cuts at every CNP and lets `a` decay when none came for
// a while; NICs' firmware looks for CNPs at fixed instants, `a` before the rate, in whole Mb/s and 1/1024.
// All arithmetic is of integers. Timers are evaluated when the limiter is asked.

#include <cstdint>

#include "fabric/base/units.h"

namespace mrclab::endpoint {

struct DcqcnParameters {
  enum class Order : uint8_t { kPaper, kFirmware };
  Order order = Order::kPaper;
  uint64_t alpha_one = uint64_t{1} << 30;  ///< what `a` = 1 is
  uint64_t alpha_first = alpha_one;        ///< `a` at the first CNP
  /// Without a CNP `a` becomes a x alpha_keep / alpha_of; with one 1 - alpha_keep / alpha_of is added.
  uint64_t alpha_keep = 255, alpha_of = 256;
  FabricTime alpha_period = FabricTime::from_us(55);
  FabricTime cut_period;  ///< kFirmware: between two looks for CNPs; the paper cuts at each
  FabricTime increase_period = FabricTime::from_us(55);
  Bytes increase_bytes{10'000'000};  ///< of the byte counter; 0: there is none
  /// Steps of increase by timer or bytes that recover only (F, "threshold").
  uint32_t fast_recovery = 5;
  BitRate additive{40'000'000};  ///< R_AI
  BitRate hyper{0};              ///< R_HAI
  BitRate least{1'000'000};
  BitRate unit{1};  ///< cuts are multiples of this
};

/// How long it takes until what one cut did is over: five increases by timer, which are 97 % of the way back, or 1/g
/// updates of `a`, whichever is longer (our measure). A run that is shorter shows the first cuts alone.
FabricTime dcqcn_loop_time(const DcqcnParameters& parameters);

/// The paper's (§5; byte counter by htsim), and NVIDIA's firmware defaults.
DcqcnParameters dcqcn_paper();
DcqcnParameters dcqcn_firmware();

/// The reaction point: the rate limiter of one queue pair. It begins at line rate.
class DcqcnLimiter {
 public:
  DcqcnLimiter(const DcqcnParameters& parameters, BitRate line);

  void on_cnp(FabricTime now);
  /// A packet of so many bytes on the wire leaves now.
  void on_sent(Bytes wire, FabricTime now);
  /// When the next packet may leave.
  FabricTime earliest_start() const { return earliest_; }

  /// RC and RT after what was due by `now`.
  BitRate rate(FabricTime now);
  BitRate target(FabricTime now);
  /// `a`, in parts of alpha_one.
  uint64_t alpha(FabricTime now);

 private:
  void advance(FabricTime now);
  void update_alpha(FabricTime now);
  void look_for_cnp(FabricTime now);
  void cut(FabricTime now);
  void increase_by_timer(FabricTime now);
  void increase();
  void decay_alpha(bool congested);
  bool is_recovered() const { return rate_ == line_ && target_ == line_; }

  DcqcnParameters parameters_;
  BitRate line_, rate_, target_;
  uint64_t alpha_;
  bool active_ = false;                        ///< a CNP has come
  bool seen_ = false;                          ///< kFirmware: a CNP since `a` was last updated
  bool pending_ = false;                       ///< kFirmware: a CNP since the last look
  uint32_t timer_steps_ = 0, byte_steps_ = 0;  // T and BC
  Bytes counted_;
  FabricTime alpha_due_ = FabricTime::never();
  FabricTime look_due_ = FabricTime::never();
  FabricTime increase_due_ = FabricTime::never();
  FabricTime earliest_;
};

/// The notification point of one queue pair: when a mark becomes a CNP (paper §3.1: at once, but at most one
/// in a period; a mark within the period is answered at its end).
class DcqcnNotifier {
 public:
  explicit DcqcnNotifier(FabricTime period) : period_(period) {}
  /// A packet arrived marked. True: a CNP goes out now.
  bool on_marked(FabricTime now);
  /// When a remembered mark is due; never() without one.
  FabricTime deadline() const;
  /// True: a CNP goes out now.
  bool on_timer(FabricTime now);

 private:
  FabricTime period_;
  FabricTime quiet_until_ = FabricTime::zero();
  bool remembered_ = false;
};

}  // namespace mrclab::endpoint
