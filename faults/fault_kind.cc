#include "faults/fault_kind.h"

#include <algorithm>
#include <array>

#include "fabric/node/effect_fields.h"

namespace mrclab::faults {
namespace {

constexpr int64_t kHour = int64_t{3'600'000'000'000'000};  // the longest time in a file
constexpr int64_t kOne = Probability::kOne;
constexpr int64_t kMillion = 1'000'000;

using P = Parameter;
constexpr std::array kParameterTable{
    ParameterInfo{"for", Quantity::kTime, 1, kHour, "how long; absent: not healed"},
    ParameterInfo{"loss", Quantity::kShare, 1, kOne, "share of the frames"},
    ParameterInfo{"burst", Quantity::kCount, 1, kMillion, "mean frames of a bad stretch"},
    ParameterInfo{"gap", Quantity::kCount, 1, kMillion, "mean frames between bad stretches"},
    ParameterInfo{"every", Quantity::kCount, 1, 1'000 * kMillion, "each n-th frame"},
    ParameterInfo{"carrier", Quantity::kCarrierWord, 0, 1, "keep, or lost at the receiving port"},
    ParameterInfo{"rate", Quantity::kErrorRate, 1, int64_t{BitErrorRate::kOne} / 20,
                  "errors per bit, such as 1e-6; with fec before the correction"},
    ParameterInfo{"by", Quantity::kTime, 1, kMaxWireDelay.ps() / 2, "how much longer"},
    ParameterInfo{"up_to", Quantity::kTime, 1, kMaxWireDelay.ps() / 2, "uniform from 0 to this"},
    ParameterInfo{"share", Quantity::kShare, 1, kOne,
                  "share of the frames, or of a host's line rate"},
    ParameterInfo{"to", Quantity::kBitRate, kMillion, int64_t{10'000'000} * kMillion, "the rate"},
    ParameterInfo{"down", Quantity::kTime, 1, kHour, "how long each outage is"},
    ParameterInfo{"up", Quantity::kTime, 1, kHour, "how long between two outages"},
    ParameterInfo{"stagger", Quantity::kTime, 0, kHour, "from one link's outage to the next one's"},
    ParameterInfo{"count", Quantity::kCount, 1, 1'000, "outages"},
    ParameterInfo{"reload", Quantity::kTime, 0, kHour, "from boot to the table being loaded"},
    ParameterInfo{"lost", Quantity::kShare, 1, kOne, "share of the buffer"},
    ParameterInfo{"size", Quantity::kBytes, 64, int64_t{kMaxBurst.value}, "bytes of each sender"},
    ParameterInfo{"seed", Quantity::kCount, 0, 999'999'999'999'999'999, "of the fault's own draws"},
    ParameterInfo{"fec", Quantity::kFecWord, 0, 3,
                  "the wire's code: kp4 RS(544,514), kr4 RS(528,514), ll RS(272,257)"},
    ParameterInfo{"dfe", Quantity::kShare, 1, kOne * 9 / 10,
                  "errors of the line that an equalizer makes another one of"},
    ParameterInfo{"retrain", Quantity::kTime, 1'000, kHour,
                  "how long the link is down when too many codewords are lost"},
    ParameterInfo{"limit", Quantity::kCount, 1, 64,
                  "codewords lost in a row, after which it is trained anew; absent: 3"},
    ParameterInfo{"kind", Quantity::kAttackWord, 0, 5,
                  "loop, tenant, spoof, probes, flood or no_ecn: what the host does"},
    ParameterInfo{"qp", Quantity::kCount, 1, 0xFFF,
                  "low 12 bits of a queue pair's number, 1 for the host's first; absent: all"},
    ParameterInfo{"status", Quantity::kStatusWord, 0,
                  static_cast<int64_t>(effect_table::kVerbsWords.size()) - 2,
                  "what the oldest work completes with, behind it all is flushed; fatal: all is "
                  "flushed, and there is the event alone"},
};
static_assert(kParameterTable.size() == kParameters);

constexpr ParameterUse required(P parameter) { return {parameter, true}; }
constexpr ParameterUse optional(P parameter) { return {parameter, false}; }

constexpr std::array kJustFor{optional(P::kFor)};
constexpr std::array kWireLoss{optional(P::kLoss),  optional(P::kBurst),   optional(P::kGap),
                               optional(P::kEvery), optional(P::kCarrier), optional(P::kFor)};
constexpr std::array kBitErrors{required(P::kErrorRate), optional(P::kFec),   optional(P::kDfe),
                                optional(P::kRetrain),   optional(P::kLimit), optional(P::kSeed),
                                optional(P::kFor)};
constexpr std::array kDelay{required(P::kBy), optional(P::kUpTo), optional(P::kFor)};
constexpr std::array kJitter{required(P::kUpTo), optional(P::kFor)};
constexpr std::array kReorder{required(P::kShare), required(P::kBy), optional(P::kFor)};
constexpr std::array kDuplicate{required(P::kShare), optional(P::kFor)};
constexpr std::array kRate{required(P::kTo), optional(P::kFor)};
constexpr std::array kGlitch{required(P::kDown), optional(P::kStagger)};
constexpr std::array kFlap{required(P::kCount), required(P::kDown), required(P::kUp),
                           optional(P::kUpTo), optional(P::kSeed)};
constexpr std::array kReboot{required(P::kDown), optional(P::kReload)};
constexpr std::array kBuffer{required(P::kLost), optional(P::kFor)};
constexpr std::array kRestart{required(P::kDown)};
constexpr std::array kLossyEv{required(P::kLoss), optional(P::kFor)};
constexpr std::array kIncast{required(P::kSize)};
constexpr std::array kSlowReceiver{optional(P::kTo), optional(P::kShare), optional(P::kFor)};
constexpr std::array kVerbs{optional(P::kQp), required(P::kStatus)};
constexpr std::array kAttack{required(P::kAttack), optional(P::kShare), optional(P::kFor)};

using K = FaultKind;
using T = TargetForm;
constexpr std::array kTable{
    FaultInfo{K::kLinkDown, "link_down", T::kLinks, kJustFor,
              "a link carries nothing either way, and both ends see it",
              R"({link: "p0.t0-0:u0", for: 50us})"},
    FaultInfo{K::kBlackhole, "blackhole", T::kWires, kJustFor,
              "a wire loses every frame, and no port notices",
              R"({link: "p0.t0-0:u0", direction: up, for: 50us})"},
    FaultInfo{K::kWireLoss, "wire_loss", T::kWires, kWireLoss,
              "a wire loses frames: at random, in bursts, or each n-th",
              R"({link: "p0.t0-0:u0", direction: up, loss: 20%, for: 50us})"},
    FaultInfo{K::kBitErrors, "bit_errors", T::kWiresOrSwitches, kBitErrors,
              "bits flip: on a wire, where the next port finds them, or inside a switch",
              R"({link: "p0.t0-0:u0", rate: 1e-6, for: 50us})"},
    FaultInfo{K::kDelay, "delay", T::kWires, kDelay, "every frame takes longer over a wire",
              R"({link: "p0.t0-0:u0", by: 2us, up_to: 500ns, for: 50us})"},
    FaultInfo{K::kJitter, "jitter", T::kWires, kJitter, "frames take longer at random, in order",
              R"({link: "p0.t0-0:u0", up_to: 2us, for: 50us})"},
    FaultInfo{K::kReorder, "reorder", T::kWires, kReorder,
              "some frames are held back, and others overtake them",
              R"({link: "p0.t0-0:u0", share: 10%, by: 3us, for: 50us})"},
    FaultInfo{K::kDuplicate, "duplicate", T::kWires, kDuplicate, "some frames are carried twice",
              R"({link: "p0.t0-0:u0", share: 10%, for: 50us})"},
    FaultInfo{K::kRate, "rate", T::kWires, kRate, "a wire is slower: lanes lost, a brown-out",
              R"({link: "p0.t0-0:u0", to: 50Gb/s, for: 50us})"},
    FaultInfo{K::kOpticGlitch, "optic_glitch", T::kOptics, kGlitch,
              "the links of a transceiver go down, one after the other",
              R"({optic: "p0.t0-0:o0", down: 100us, stagger: 20us})"},
    FaultInfo{K::kOpticDead, "optic_dead", T::kOptics, kJustFor,
              "the links of a transceiver go down together", R"({optic: "p0.t0-0:o0", for: 50us})"},
    FaultInfo{K::kFlap, "flap", T::kLinks, kFlap,
              "a link goes down and up again and again, each time `up_to` longer at random",
              R"({link: "p0.t0-0:u0", count: 3, down: 20us, up: 40us, up_to: 10us})"},
    FaultInfo{K::kPortDown, "port_down", T::kPorts, kJustFor,
              "a port of a NIC or switch dies; its neighbour sees no light either",
              R"({port: "h0:p2", for: 50us})"},
    FaultInfo{K::kNicDead, "nic_dead", T::kHosts, kJustFor, "all ports of a NIC die",
              R"({host: h3, for: 50us})"},
    FaultInfo{K::kSwitchHang, "switch_hang", T::kSwitches, kJustFor,
              "a switch keeps its links up and forwards nothing",
              R"({switch: p0.t1-0, for: 50us})"},
    FaultInfo{K::kSwitchCrash, "switch_crash", T::kSwitches, kJustFor,
              "a switch loses its power, and with it what it had queued",
              R"({switch: p0.t1-0, for: 50us})"},
    FaultInfo{K::kSwitchReboot, "switch_reboot", T::kSwitches, kReboot,
              "a switch crashes, boots, and has no routes until its table is loaded",
              R"({switch: p0.t1-0, down: 50us, reload: 20us})"},
    FaultInfo{K::kSwitchWrongRoute, "switch_wrong_route", T::kRoutesTo, kJustFor,
              "the routes out of one port of a switch lead out of another",
              R"({route: "p0.t0-0:u0", to: "p0.t0-0:u1", for: 50us})"},
    FaultInfo{K::kSwitchMissingRoute, "switch_missing_route", T::kRoutes, kJustFor,
              "the routes out of a port of a switch are gone",
              R"({route: "p0.t0-0:u0", for: 50us})"},
    FaultInfo{K::kStaleTable, "stale_table", T::kRoutes, kJustFor,
              "a switch forwards as before a recabling: the ports' routes are one place off",
              R"({route: ["p0.t0-0:u0", "p0.t0-0:u1"], for: 50us})"},
    FaultInfo{K::kTrimOff, "trim_off", T::kSwitches, kJustFor, "a switch drops what it should trim",
              R"({switch: "p0.t0-*", for: 50us})"},
    FaultInfo{K::kEcnOff, "ecn_off", T::kSwitches, kJustFor, "a switch marks nothing",
              R"({switch: "p0.t0-*", for: 50us})"},
    FaultInfo{K::kEcnAlways, "ecn_always", T::kSwitches, kJustFor, "a switch marks everything",
              R"({switch: p0.t0-0, for: 50us})"},
    FaultInfo{K::kBuffer, "buffer", T::kSwitches, kBuffer, "a switch has less buffer",
              R"({switch: "p0.t0-*", lost: 75%, for: 50us})"},
    FaultInfo{K::kPlaneDown, "plane_down", T::kPlanes, kJustFor, "all links of a plane go down",
              R"({plane: p3, for: 50us})"},
    FaultInfo{K::kHostPause, "host_pause", T::kHosts, kJustFor,
              "a straggler: a host's applications stand still, its NIC goes on",
              R"({host: h3, for: 50us})"},
    FaultInfo{K::kHostRestart, "host_restart", T::kHosts, kRestart,
              "a host loses its power; its queue pairs and applications do not come back",
              R"({host: h3, down: 50us})"},
    FaultInfo{K::kLossyEv, "lossy_ev", T::kHostPaths, kLossyEv,
              "a NIC loses data frames of one entropy value",
              R"({host: h0, path: p1/u2, loss: 20%, for: 50us})"},
    FaultInfo{K::kIncast, "incast", T::kBurst, kIncast,
              "hosts send a burst to one, without congestion control",
              R"({from: "h[1-7]", to: h0, size: 1MiB})"},
    FaultInfo{K::kDenylist, "denylist", T::kDenials, kJustFor,
              "a controller takes paths out of use; nothing is broken",
              R"({host: "h[0-3]", path: [p0/u1, "p3/*"], toward: h4, for: 50us})"},
    FaultInfo{K::kSlowReceiver, "slow_receiver", T::kHosts, kSlowReceiver,
              "a NIC moves what it receives to memory at a lower rate, or share of its line rate",
              R"({host: h3, share: 25%, for: 50us})"},
    FaultInfo{K::kPcieStall, "pcie_stall", T::kHosts, kJustFor,
              "a NIC cannot move what it receives to memory", R"({host: h3, for: 20us})"},
    FaultInfo{K::kPauseStorm, "pause_storm", T::kHosts, kJustFor,
              "a NIC never stops pausing RoCE's data (where switches and NICs pause: pfc)",
              R"({host: h3, for: 200us})"},
    FaultInfo{K::kLineCard, "line_card", T::kLineCards, kJustFor,
              "a line card dies: the links of all its ports go down together",
              R"({card: "p0.t0-0:c1", for: 50us})"},
    FaultInfo{
        K::kPowerLoss, "power_loss", T::kPowerZones, kReboot,
        "all switches and hosts on one feed lose power; the queue pairs of these hosts do not "
        "come back",
        R"({zone: spine-0, down: 50us, reload: 20us})"},
    FaultInfo{K::kDrain, "drain", T::kOutOfUse, kJustFor,
              "an operator takes a switch or link out of service: no MRC host uses a path over it, "
              "and nothing is broken",
              R"({switch: p0.t1-0, for: 50us})"},
    FaultInfo{
        K::kAttack, "attack", T::kBurst, kAttack,
        "hosts do what they should not: long carriers, another's tenant or address, floods of "
        "datagrams or probes, deaf to ECN",
        R"({kind: loop, from: h3, to: h0, share: 50%, for: 50us})"},
    FaultInfo{K::kVerbs, "verbs", T::kHosts, kVerbs,
              "a NIC ends queue pairs of its host, with an error completion or an event alone",
              R"({host: h3, qp: 1, status: retry_exceeded})"},
};
static_assert(kTable.size() == kFaultKinds);

constexpr std::array kLinkKeys{std::string_view("link")};
constexpr std::array kWireKeys{std::string_view("wire"), std::string_view("link"),
                               std::string_view("direction")};
constexpr std::array kWireOrSwitchKeys{std::string_view("wire"), std::string_view("link"),
                                       std::string_view("direction"), std::string_view("switch")};
constexpr std::array kOpticKeys{std::string_view("optic")};
constexpr std::array kPortKeys{std::string_view("port")};
constexpr std::array kHostKeys{std::string_view("host")};
constexpr std::array kSwitchKeys{std::string_view("switch")};
constexpr std::array kPlaneKeys{std::string_view("plane")};
constexpr std::array kPathKeys{std::string_view("host"), std::string_view("path")};
constexpr std::array kDenialKeys{std::string_view("host"), std::string_view("path"),
                                 std::string_view("toward")};
constexpr std::array kRouteKeys{std::string_view("route")};
constexpr std::array kRouteToKeys{std::string_view("route"), std::string_view("to")};
constexpr std::array kBurstKeys{std::string_view("from"), std::string_view("to")};
constexpr std::array kCardKeys{std::string_view("card")};
constexpr std::array kZoneKeys{std::string_view("zone")};
constexpr std::array kOutOfUseKeys{std::string_view("switch"), std::string_view("link")};

}  // namespace

const ParameterInfo& info(Parameter parameter) {
  return kParameterTable.at(static_cast<size_t>(parameter));
}

bool FaultInfo::takes(Parameter parameter) const {
  return std::any_of(parameters.begin(), parameters.end(),
                     [&](const ParameterUse& use) { return use.parameter == parameter; });
}

const FaultInfo& info(FaultKind kind) { return kTable.at(static_cast<size_t>(kind)); }

std::span<const FaultInfo> all_faults() { return kTable; }

std::optional<FaultKind> find_fault(std::string_view name) {
  const auto found =
      std::find_if(kTable.begin(), kTable.end(), [&](const auto& row) { return row.name == name; });
  if (found == kTable.end()) return std::nullopt;
  return found->kind;
}

std::span<const std::string_view> keys_of(TargetForm form) {
  switch (form) {
    case TargetForm::kLinks: return kLinkKeys;
    case TargetForm::kWires: return kWireKeys;
    case TargetForm::kWiresOrSwitches: return kWireOrSwitchKeys;
    case TargetForm::kOptics: return kOpticKeys;
    case TargetForm::kPorts: return kPortKeys;
    case TargetForm::kHosts: return kHostKeys;
    case TargetForm::kSwitches: return kSwitchKeys;
    case TargetForm::kPlanes: return kPlaneKeys;
    case TargetForm::kHostPaths: return kPathKeys;
    case TargetForm::kDenials: return kDenialKeys;
    case TargetForm::kRoutes: return kRouteKeys;
    case TargetForm::kRoutesTo: return kRouteToKeys;
    case TargetForm::kBurst: return kBurstKeys;
    case TargetForm::kLineCards: return kCardKeys;
    case TargetForm::kPowerZones: return kZoneKeys;
    case TargetForm::kOutOfUse: return kOutOfUseKeys;
  }
  return {};
}

const std::vector<std::string>& carrier_words() {
  static const std::vector<std::string> kWords{"keep", "lost"};
  return kWords;
}

const std::vector<std::string>& fec_words() {
  static const std::vector<std::string> kWords(effect_table::kFecWords.begin(),
                                               effect_table::kFecWords.end());
  return kWords;
}

const std::vector<std::string>& attack_words() {
  static const std::vector<std::string> kWords(effect_table::kAttackWords.begin(),
                                               effect_table::kAttackWords.end());
  return kWords;
}

const std::vector<std::string>& status_words() {
  static const std::vector<std::string> kWords(effect_table::kVerbsWords.begin() + 1,
                                               effect_table::kVerbsWords.end());
  return kWords;
}

const std::vector<std::string>& direction_words() {
  static const std::vector<std::string> kWords{"both", "up", "down"};
  return kWords;
}

}  // namespace mrclab::faults
