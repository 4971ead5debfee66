#pragma once
// What names a path and its plane in packets of other implementations: learned from what varies
// between packets of the same two hosts, or given by a person.
//
//   path    the entropy value in source port and flow label, or where that does not name it (with
//           SRv6 it may be 0) the carrier
//   plane   by the first of these that varies: the block of the carrier; its last two uSIDs (which
//           uplink is taken changes neither, MRC paper §2.3); the host's NIC port, by MAC or tap
//
// What varies distinguishes planes but gives them no number, so they are
// classes: A, B, C in order of value.

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/traffic/carrier_format.h"
#include "analysis/traffic/vantage_guess.h"

namespace mrclab::analysis {

inline constexpr uint32_t kNoPlane = 256;  ///< the plane is not known
/// Planes without a number: kFirstClass is A.
inline constexpr uint32_t kFirstClass = 257, kMaxClasses = 256;

/// How the 32 bits of an entropy value lie in source port and flow label. SPEC §7.5.2.1 leaves the
/// order of the halves open; MRC emulators use either order, or one half alone.
enum class EvReading : uint8_t { kLabelPort, kPortLabel, kPort, kLabel };
inline constexpr size_t kEvReadings = 4;
const char* name_of(EvReading reading);
uint32_t read_entropy(EvReading reading, const PacketFacts& facts);

enum class PathBy : uint8_t { kEntropy, kCarrier };
enum class PlaneBy : uint8_t { kNothing, kBlock, kCarrier, kPort, kBits };
const char* name_of(PlaneBy plane_by);

/// The format of entropy values that the user gives with --ev-format.
struct GivenEv {
  PathBy path_by = PathBy::kEntropy;
  EvReading reading = EvReading::kLabelPort;
  /// The bits that hold the plane's number. In an entropy value bit 0 is the lowest; in a carrier
  /// bit 0 is the first of the address.
  std::optional<std::pair<uint8_t, uint8_t>> plane_bits = std::nullopt;  ///< lowest, highest
};

struct PathFormat {
  PathBy path_by = PathBy::kEntropy;
  Known path_known = Known::kAssumed;
  EvReading reading = EvReading::kLabelPort;
  std::optional<EvReading> reflected;  ///< what answers reflect; empty: nothing that data has
  PlaneBy plane_by = PlaneBy::kNothing;
  uint8_t plane_place = 0;             ///< kCarrier: which uSID, counted from the last in use
  uint8_t plane_width = 1;             ///< kCarrier: hextets in a uSID
  uint32_t plane_mask = 0;             ///< kCarrier: the bits of the uSID that vary
  std::vector<uint64_t> plane_values;  ///< kBlock, kCarrier: the value of each class, sorted
  std::unordered_map<uint64_t, uint32_t> class_of_port;  ///< kPort: by PacketFacts::port_at
  uint8_t first_bit = 0, last_bit = 0;                   ///< kBits
  size_t classes = 0;                                    ///< how many planes are distinguished

  /// The plane that this packet names; kNoPlane if it names none.
  uint32_t plane_of(const PacketFacts& facts, Stage stage) const;
};

class PathLearner {
 public:
  void add_data(const PacketFacts& facts, uint64_t identity);
  void add_reflected(EntropyValue reflected);
  PathFormat learned(const CarrierFormat& carriers, const VantageGuess& places,
                     const std::optional<GivenEv>& given) const;

 private:
  static constexpr size_t kMaxSeen = 1u << 15, kMaxReflected = 1u << 12;
  struct Seen {
    PacketFacts facts;
    uint64_t pair = 0;
  };
  void learn_reading(PathFormat& format) const;
  void learn_path(PathFormat& format, const CarrierFormat& carriers) const;
  bool learn_plane_in_block(PathFormat& format, const CarrierFormat& carriers) const;
  bool learn_plane_in_carrier(PathFormat& format, const CarrierFormat& carriers) const;
  bool try_plane_at(PathFormat& format, uint8_t place, uint8_t width) const;
  bool is_said_elsewhere(PathFormat& format) const;
  bool learn_plane_by_port(PathFormat& format, const VantageGuess& places) const;

  uint64_t packets_ = 0;
  std::vector<Seen> seen_;
  FlatIndex index_{kMaxSeen};
  std::vector<uint32_t> reflected_;
  FlatIndex reflected_index_{kMaxReflected};
  /// The indices into seen_ of one packet's sightings, by its identity.
  std::unordered_map<uint64_t, std::vector<uint32_t>> same_packet_;
};

}  // namespace mrclab::analysis
