#include "endpoint/mapper/mapper_agent.h"

#include <algorithm>

#include "fabric/base/random.h"
#include "fabric/probes/probe_route.h"

namespace mrclab::endpoint {

MapperAgent::MapperAgent(const Topology& topology, uint32_t host, uint64_t seed)
    : topology_(topology),
      host_(host),
      seed_(seed),
      grid_(grid_of(topology)),
      period_(probe_period(topology)),
      timeout_(probe_timeout(topology)),
      has_light_(topology.planes, true) {
  for (uint32_t plane = 0; plane < topology.planes; ++plane) {
    turns_.emplace_back(probe_offset(host, plane, period_), plane);
  }
  std::sort(turns_.begin(), turns_.end());
  // Of a link as any other: what other rates change is little beside the base RTT that a slow one takes more.
  for (const ProbeKind kind : {ProbeKind::kT0, ProbeKind::kT1, ProbeKind::kCross}) {
    const bool has = kind == ProbeKind::kT0 || (grid_.t1 > 0 && kind == ProbeKind::kT1) ||
                     (grid_.t1 > 1 && grid_.t0 > 1);
    if (!has) continue;
    const uint32_t far = (topology.host_row(host) + 1) % grid_.t0;
    idle_[static_cast<size_t>(kind)] =
        idle_round_trip(topology, host, {kind, 0, 0, far, grid_.t1 > 1 ? 1u : 0u});
  }
  begin_period(0);
}

FabricTime MapperAgent::start_of(uint64_t period) const {
  return period_ * static_cast<int64_t>(period);
}

FabricTime MapperAgent::report_at(const Period& period) const {
  return start_of(period.number + 1) + timeout_;
}

uint32_t MapperAgent::nonce_of(uint32_t sequence) const {
  const auto nonce = static_cast<uint32_t>(
      draw(seed_, topology_.host(host_), PortId{}, DrawPurpose::kProbeNonce, sequence));
  return topology_.mapper.form == ProbeForm::kStamp ? nonce & 0xFFFF : nonce;
}

void MapperAgent::begin_period(uint64_t number) {
  next_period_ = number + 1;
  turn_ = 0;
  waiting_.clear();
  periods_.push_back({number, next_sequence_, {}, {}, false});
  // Late ones are looked for as long again as a timeout lasts, and no longer.
  while (report_at(periods_.front()) + timeout_ < start_of(number)) periods_.pop_front();
}

FabricTime MapperAgent::deadline() const {
  if (!running_) return FabricTime::never();
  const Period& newest = periods_.back();
  FabricTime due = start_of(next_period_);
  if (!waiting_.empty() && turn_ > 0) {
    due = start_of(newest.number) + turns_[turn_ - 1].first;
  } else if (turn_ < turns_.size()) {
    due = start_of(newest.number) + turns_[turn_].first;
  }
  for (const Period& period : periods_) {
    if (!period.reported) return std::min(due, report_at(period));
  }
  return due;
}

std::optional<MapperAgent::Due> MapperAgent::next_probe(FabricTime now) {
  if (!running_) return std::nullopt;
  while (waiting_.empty()) {
    if (turn_ == turns_.size()) {
      if (start_of(next_period_) > now) return std::nullopt;
      begin_period(next_period_);
    }
    const auto [offset, plane] = turns_[turn_];
    if (start_of(periods_.back().number) + offset > now) return std::nullopt;
    ++turn_;
    if (!has_light_[plane]) {
      periods_.back().unsent.push_back("p" + std::to_string(plane));
      continue;
    }
    waiting_ = probes_of(grid_, topology_.mapper, host_, plane, periods_.back().number);
    std::reverse(waiting_.begin(), waiting_.end());
  }
  Due due{waiting_.back(), {next_sequence_, nonce_of(next_sequence_), now}};
  waiting_.pop_back();
  ++next_sequence_;
  periods_.back().probes.push_back({due.probe, now});
  return due;
}

std::optional<ProbeReport> MapperAgent::next_report(FabricTime now) {
  if (!running_) return std::nullopt;
  const auto due = std::find_if(periods_.begin(), periods_.end(),
                                [](const Period& period) { return !period.reported; });
  if (due == periods_.end() || report_at(*due) > now) return std::nullopt;
  due->reported = true;
  ProbeReport report;
  report.period = due->number;
  for (Sent& sent : due->probes) {
    if (sent.fate == Fate::kUnderWay) sent.fate = Fate::kLost;
    report.sent += sent.fate == Fate::kBack || sent.fate == Fate::kLost ? 1 : 0;
    if (sent.fate == Fate::kLost) report.lost.push_back(to_string(sent.probe));
    if (sent.damaged) report.damaged.push_back(to_string(sent.probe));
    if (sent.slow) report.slow.push_back(to_string(sent.probe));
  }
  report.late = std::exchange(late_, {});
  report.unsent = std::move(due->unsent);
  report.dark = std::exchange(dark_, {});
  report.lit = std::exchange(lit_, {});
  report.marked = std::exchange(marked_, 0);
  report.again = std::exchange(again_, 0);
  report.forged = std::exchange(forged_, 0);
  return report;
}

void MapperAgent::receive(uint32_t port, const SeenProbe& seen, FabricTime now) {
  if (!running_) return;
  for (Period& period : periods_) {
    const uint32_t place = seen.tag.sequence - period.first_sequence;
    if (place >= period.probes.size()) continue;
    Sent& sent = period.probes[place];
    const bool ours = seen.tag.nonce == nonce_of(seen.tag.sequence) &&
                      seen.form == topology_.mapper.form && port == sent.probe.plane &&
                      sent.fate != Fate::kNotMade;
    if (!ours) break;
    if (seen.damaged) {  // its number and nonce are right, so it is one of ours
      sent.damaged = sent.fate == Fate::kUnderWay;
      return;
    }
    if (seen.marked) ++marked_;
    if (sent.fate == Fate::kBack) {
      ++again_;
    } else if (sent.fate == Fate::kLost) {
      late_.emplace_back(period.number, to_string(sent.probe));
      sent.fate = Fate::kBack;
    } else {
      sent.fate = Fate::kBack;
      const FabricTime idle = idle_[static_cast<size_t>(sent.probe.kind)];
      sent.slow = seen.trimmed || now - sent.at > idle + topology_.base_rtt;
    }
    return;
  }
  forged_ += seen.damaged ? 0 : 1;
}

void MapperAgent::set_light(uint32_t port, bool lit, FabricTime now) {
  has_light_[port] = lit;
  if (running_) (lit ? lit_ : dark_).emplace_back(now.ps(), "p" + std::to_string(port));
}

void MapperAgent::set_running(bool running, FabricTime now) {
  if (running == running_) return;
  running_ = running;
  if (!running) return;
  periods_.clear();
  late_.clear();
  dark_.clear();
  lit_.clear();
  marked_ = again_ = forged_ = 0;
  begin_period(static_cast<uint64_t>(now.ps() / period_.ps()) + 1);
}

}  // namespace mrclab::endpoint
