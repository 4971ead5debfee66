#include "recorded/run/syslog_export.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "fabric/text/counted_noun.h"
#include "fabric/text/input_error.h"
#include "fabric/text/yaml_write.h"

namespace mrclab::lab {
namespace {

constexpr std::time_t kStartSeconds = 1'767'225'600;  // kLogStart
constexpr int64_t kLongestSeconds = int64_t{10} * 366 * 86'400;

/// A device's name for a port. SONiC counts lanes, of which a port of four has its first; EOS counts from 1.
std::string device_port(const Topology& topology, PortRef port, SwitchLog switches) {
  const uint32_t number = port.port.value;
  if (topology.node(port.node).role == NodeRole::kHost) return fmt::format("eth{}", number);
  if (switches == SwitchLog::kEos) return fmt::format("Ethernet{}", number + 1);
  constexpr uint32_t kLanes = 4;
  return fmt::format("Ethernet{}", number * kLanes);
}

/// A NIC's port is a function of PCI's first bus for it here.
std::string pci_address(uint32_t port) {
  constexpr uint32_t kFirstBus = 0x1a;
  return fmt::format("0000:{:02x}:00.0", kFirstBus + port);
}

class SyslogWriter {
 public:
  SyslogWriter(const Scenario& scenario, SwitchLog switches, uint64_t stretch)
      : scenario_(scenario), topology_(scenario.topology), switches_(switches), stretch_(stretch) {}

  SyslogExport written() {
    std::vector<const ScheduledEffect*> effects;
    for (const ScheduledEffect& effect : scenario_.schedule) {
      if (effect.at <= scenario_.stop()) effects.push_back(&effect);
    }
    // A switch that loses its power with its ports writes nothing of them any more.
    std::stable_sort(effects.begin(), effects.end(), [](const auto* a, const auto* b) {
      return std::pair(a->at, !is_power(*a)) < std::pair(b->at, !is_power(*b));
    });
    for (const ScheduledEffect* effect : effects) {
      heals_ = effect->heals;
      std::visit([&](const auto& what) { take(effect->at, what); }, effect->effect);
    }
    for (const PortRef port : named_) {
      out_.ports += fmt::format("{} {}: {}\n", topology_.node(port.node).name,
                                device_port(topology_, port, switches_),
                                yaml_string(topology_.port_name(port)));
    }
    if (no_power_ > 0) {
      out_.notes.push_back(fmt::format("{} of a switch or host without power, which writes nothing",
                                       counted_noun(no_power_, "change")));
    }
    if (silent_ > 0) {
      out_.notes.push_back(fmt::format("{} that no port reports, such as silent loss and delay",
                                       counted_noun(silent_, "effect")));
    }
    if (errors_ > 0) {
      out_.notes.emplace_back("a line about bit errors has no rate, and no line has their end");
    }
    return std::move(out_);
  }

 private:
  static bool is_power(const ScheduledEffect& effect) {
    return std::holds_alternative<SwitchState>(effect.effect) ||
           std::holds_alternative<HostState>(effect.effect);
  }

  template <class Other>
  void take(FabricTime, const Other&) {
    silent();
  }
  void silent() { silent_ += heals_ ? 0 : 1; }
  void take(FabricTime, const WireState&) {}  // its ports' carriers have the lines

  void take(FabricTime at, const PortCarrier& carrier) {
    const PortRef port = carrier.port;
    const bool was_up = !dark_.contains(port);
    if (was_up == carrier.up) return;
    carrier.up ? (void)dark_.erase(port) : (void)dark_.insert(port);
    if (off_.contains(port.node)) {
      ++no_power_;
      return;
    }
    carrier_lines(at, port, carrier.up);
  }
  void take(FabricTime, const SwitchState& state) {
    power(state.node, state.work != SwitchWork::kDown);
  }
  void take(FabricTime, const HostState& state) {
    power(state.host, state.work != HostWork::kDown);
  }
  void take(FabricTime at, const WireErrors& errors) { bit_errors(at, errors.wire, errors.rate); }
  void take(FabricTime at, const WireCodewords& words) { bit_errors(at, words.wire, words.rate); }

  void power(NodeId node, bool on) { on ? (void)off_.erase(node) : (void)off_.insert(node); }

  /// SONiC's ports report that their error rate is high, and the others of these three write no line of it.
  void bit_errors(FabricTime at, WireId wire, const BitErrorRate& rate) {
    if (rate == BitErrorRate{}) return;
    const PortRef port = topology_.wire(wire).to;
    if (switches_ != SwitchLog::kSonic || topology_.node(port.node).role == NodeRole::kHost) {
      return silent();
    }
    ++errors_;
    sonic(at, port, "updatePortErrorStatus", "Port {} oper error event: high_ber occurred");
  }

  void carrier_lines(FabricTime at, PortRef port, bool up) {
    const std::string name = device_port(topology_, port, switches_);
    if (topology_.node(port.node).role == NodeRole::kHost) {
      const std::string boot =
          fmt::format("{:5}.{:06}", micros(at) / 1'000'000, micros(at) % 1'000'000);
      return line(at, port, time(at),
                  fmt::format("kernel: [{}] mlx5_core {} {}: Link {}", boot,
                              pci_address(port.port.value), name, up ? "up" : "down"));
    }
    if (switches_ == SwitchLog::kEos) {
      return line(at, port, time(at),
                  fmt::format("Ebra: %LINEPROTO-5-UPDOWN: Line protocol on Interface {}, changed "
                              "state to {}",
                              name, up ? "up" : "down"));
    }
    sonic(at, port, "updatePortOperStatus",
          up ? "Port {} oper state set from down to up" : "Port {} oper state set from up to down");
    sonic(at, port, "setHostIntfsOperStatus",
          up ? "Set operation status UP to host interface {}"
             : "Set operation status DOWN to host interface {}");
  }

  void sonic(FabricTime at, PortRef port, std::string_view function, std::string_view form) {
    const std::string name = device_port(topology_, port, switches_);
    const std::tm day = fmt::gmtime(kStartSeconds + micros(at) / 1'000'000);
    line(at, port, fmt::format("{:%Y %b %e %H:%M:%S}.{:06}", day, micros(at) % 1'000'000),
         fmt::format("NOTICE swss#orchagent: :- {}: {}", function,
                     fmt::format(fmt::runtime(form), name)));
  }

  void line(FabricTime at, PortRef port, const std::string& when, const std::string& text) {
    if (out_.lines == 0) out_.first = at;
    ++out_.lines;
    named_.insert(port);
    out_.log += fmt::format("{} {} {}\n", when, topology_.node(port.node).name, text);
  }

  /// Of the log, after its start; what is less is cut.
  int64_t micros(FabricTime at) const {
    constexpr int64_t kPsPerUs = 1'000'000;
    const auto us = static_cast<__int128>(at.ps()) * stretch_ / kPsPerUs;
    if (us / 1'000'000 > kLongestSeconds) {
      throw InputError(
          fmt::format("--stretch: found {}, by which {} is over ten years: expected less", stretch_,
                      to_string(at)));
    }
    return static_cast<int64_t>(us);
  }
  std::string time(FabricTime at) const {
    const std::tm day = fmt::gmtime(kStartSeconds + micros(at) / 1'000'000);
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}+00:00", day, micros(at) % 1'000'000);
  }

  const Scenario& scenario_;
  const Topology& topology_;
  SwitchLog switches_;
  uint64_t stretch_;
  std::set<PortRef> dark_, named_;
  std::set<NodeId> off_;
  bool heals_ = false;  ///< the effect that is being taken
  size_t silent_ = 0, no_power_ = 0, errors_ = 0;
  SyslogExport out_;
};

}  // namespace

SyslogExport syslog_of(const Scenario& scenario, SwitchLog switches, uint64_t stretch) {
  if (stretch < 1 || stretch > kMaxStretch) {
    throw InputError(fmt::format("--stretch: found {}, expected 1 to {}", stretch, kMaxStretch));
  }
  return SyslogWriter(scenario, switches, stretch).written();
}

}  // namespace mrclab::lab
