#include "scenario/judging/dependences.h"

#include <fmt/format.h>

#include "endpoint/congestion/dcqcn_choice.h"
#include "endpoint/options/profile_maker.h"
#include "endpoint/roce/rc_timers.h"
#include "scenario/spec/transport_fit.h"

namespace mrclab::lab {
namespace {

using analysis::Dependence;
using endpoint::TransportProfile;

void add_timers(const TransportProfile& profile, FabricTime run, std::vector<Dependence>& all) {
  const FabricTime first = endpoint::rc_times(profile).first();
  if (profile.timers == endpoint::RcTimers::kCompressed) {
    TransportProfile real = profile;
    real.timers = endpoint::RcTimers::kConnectX;
    const endpoint::RcTimes times = endpoint::rc_times(real);
    all.push_back(
        {Dependence::On::kTimeouts,
         fmt::format(
             "compressed timers: RC's ACK timeout is {}; a ConnectX's first one is {}, and its "
             "regular one {} as NCCL sets it",
             to_string(first), to_string(times.first()), to_string(times.regular))});
    return;
  }
  if (first < run) return;
  all.push_back(
      {Dependence::On::kLosses,
       first == FabricTime::never()
           ? "RC has no ACK timer here: what no NAK reports stays lost"
           : fmt::format("a run of {}: RC's first ACK timeout comes after {}, so what no NAK "
                         "reports stays lost here",
                         to_string(run), to_string(first))});
}

}  // namespace

std::vector<Dependence> dependences_of(const Scenario& scenario) {
  std::vector<Dependence> all;
  if (!uses_roce(scenario)) return all;
  const TransportProfile profile = endpoint::make_profile(scenario.transport, scenario.topology);
  const FabricTime run = scenario.stop();
  add_timers(profile, run, all);
  const endpoint::DcqcnPlace place{scenario.topology.host_rate, profile.base_rtt};
  if (const auto dcqcn = endpoint::dcqcn_parameters(profile, place)) {
    const FabricTime loop = endpoint::dcqcn_loop_time(*dcqcn);
    if (run < loop) {
      all.push_back(
          {Dependence::On::kCnps,
           fmt::format("a window of {}: DCQCN's timers need {} to come back from a cut, so "
                       "rates are those of its first cuts",
                       to_string(run), to_string(loop))});
    }
  }
  return all;
}

}  // namespace mrclab::lab
