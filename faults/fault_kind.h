#pragma once
// The one table of fault kinds. The parser of scenario files, the text that repeats a fault, its
// description, `mrclab fault` with its help and completion, and the chaos generator are made from
// it. A new kind is a row here and its holds in holds.cc.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mrclab::faults {

enum class FaultKind : uint8_t {
  kLinkDown,
  kBlackhole,
  kWireLoss,
  kBitErrors,
  kDelay,
  kJitter,
  kReorder,
  kDuplicate,
  kRate,
  kOpticGlitch,
  kOpticDead,
  kFlap,
  kPortDown,
  kNicDead,
  kSwitchHang,
  kSwitchCrash,
  kSwitchReboot,
  kSwitchWrongRoute,
  kSwitchMissingRoute,
  kStaleTable,
  kTrimOff,
  kEcnOff,
  kEcnAlways,
  kBuffer,
  kPlaneDown,
  kHostPause,
  kHostRestart,
  kLossyEv,
  kIncast,
  kDenylist,
  kSlowReceiver,
  kPcieStall,
  kPauseStorm,
  kLineCard,
  kPowerLoss,
  kDrain,
  kAttack,
  kVerbs,
};
inline constexpr size_t kFaultKinds = static_cast<size_t>(FaultKind::kVerbs) + 1;

/// The kind of target of a fault, and so the keys that name it.
enum class TargetForm : uint8_t {
  kLinks,            ///< link
  kWires,            ///< wire, or link with direction: up | down | both (default)
  kWiresOrSwitches,  ///< those, or switch
  kOptics,           ///< optic
  kPorts,            ///< port
  kHosts,            ///< host
  kSwitches,         ///< switch
  kPlanes,           ///< plane
  kHostPaths,        ///< host, path
  kDenials,          ///< host, path, and perhaps toward
  kRoutes,           ///< route: ports of switches, which stand for the routes that lead out of them
  kRoutesTo,         ///< route, and to: another port of the same switch
  kBurst,            ///< from, to: hosts
  kLineCards,        ///< card
  kPowerZones,       ///< zone
  kOutOfUse,         ///< switch or link
};

/// A parameter of a fault beside its target.
enum class Parameter : uint8_t {
  kFor,        ///< how long; absent: not healed
  kLoss,       ///< share of frames; with kBurst: while the wire is in its bad state
  kBurst,      ///< mean frames in the bad state (Gilbert-Elliott)
  kGap,        ///< mean frames in the good state
  kEvery,      ///< the n-th frame, again and again
  kCarrier,    ///< word: keep, lost (the receiving port sees no light)
  kErrorRate,  ///< per bit
  kBy,         ///< extra time of flight
  kUpTo,       ///< jitter, uniform from 0
  kShare,      ///< share of frames, or of a host's line rate
  kTo,         ///< rate
  kDown,       ///< how long each outage is
  kUp,         ///< how long between two outages
  kStagger,    ///< from one link's outage to the next one's
  kCount,      ///< outages
  kReload,     ///< after booting, until the table is loaded
  kLost,       ///< share of the buffer
  kSize,       ///< bytes of each sender
  kSeed,       ///< seed of the draws that make the schedule; absent: from the scenario's seed
  kFec,        ///< word: the code that corrects the wire's errors
  kDfe,        ///< share of the line's errors that are followed by another
  kRetrain,    ///< how long a link is down that is trained anew
  kLimit,      ///< codewords lost in a row, after which it is
  kAttack,     ///< word: what a host does that it should not
  kQp,         ///< the low 12 bits of a queue pair's number; absent: all of the host's
  kStatus,     ///< word: what a queue pair's work completes with
};
inline constexpr size_t kParameters = static_cast<size_t>(Parameter::kStatus) + 1;

/// How a parameter is written, and what its int64 counts.
enum class Quantity : uint8_t {
  kTime,       ///< picoseconds
  kShare,      ///< parts per billion
  kErrorRate,  ///< per 10^15 bits
  kBitRate,    ///< bit/s
  kBytes,
  kCount,
  kCarrierWord,  ///< 0 keep, 1 lost
  kFecWord,      ///< FecCode
  kAttackWord,   ///< AttackKind
  kStatusWord,   ///< VerbsStatus, from 0 for its kFatal
};

struct ParameterInfo {
  std::string_view name;  ///< the key
  Quantity quantity;
  int64_t min;
  int64_t max;
  std::string_view about;
};
const ParameterInfo& info(Parameter parameter);

struct ParameterUse {
  Parameter parameter;
  bool required = false;
};

struct FaultInfo {
  FaultKind kind;
  std::string_view name;  ///< the key in files
  TargetForm targets;
  std::span<const ParameterUse> parameters;  ///< in the order in which they are written
  std::string_view about;                    ///< one line: what happens
  std::string_view example;                  ///< the body, on the fabric octet
  bool takes(Parameter parameter) const;
};
const FaultInfo& info(FaultKind kind);
/// All kinds, in the order of FaultKind.
std::span<const FaultInfo> all_faults();
std::optional<FaultKind> find_fault(std::string_view name);
/// The keys that name the target, in the order in which they are written.
std::span<const std::string_view> keys_of(TargetForm form);

/// The words of Quantity::kCarrierWord, by number.
const std::vector<std::string>& carrier_words();
/// Those of Quantity::kFecWord.
const std::vector<std::string>& fec_words();
/// Those of Quantity::kAttackWord.
const std::vector<std::string>& attack_words();
/// Those of Quantity::kStatusWord.
const std::vector<std::string>& status_words();
/// Which wires of a link are meant: both, that from the host towards the T1, the other.
const std::vector<std::string>& direction_words();

}  // namespace mrclab::faults
