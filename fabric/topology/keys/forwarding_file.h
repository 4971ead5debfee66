#pragma once
// Reads the part of a fabric file that names the program that forwards for each switch and how packets
// find their way (fabric_file.h shows it), and finds what a chosen forwarder cannot do.

#include <optional>
#include <string>

#include "fabric/text/value_form.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/fabric_shape.h"

namespace mrclab {

/// What `forwarding:`, `routing:` and `speaker:` may hold.
ValueForm forwarding_form();
ValueForm routing_form();
ValueForm speaker_form();

/// A word, or a map of planes and switches to words: "p2: kernel", of which a later one wins. All throw
/// InputError with the position.
ForwardingChoice read_forwarding(const YamlValue& value, const FabricShape& shape);
/// Which program speaks BGP, in the same forms, into `shape`: the kernel forwards for switches that are named.
void read_speaker(const YamlValue& value, FabricShape& shape);
/// A word, or a map with the details of FARE or ECMP: a fabric with routing srv6 may have them, too, for
/// workloads that ask for ECMP.
RoutingChoice read_routing(const YamlValue& value);

/// Both texts read back as the same choice.
std::string forwarding_text(const ForwardingChoice& choice);
std::string routing_text(const RoutingChoice& choice);
std::string speaker_text(const SpeakerChoice& choice);

/// Something that the fabric asks of a switch whose forwarder cannot do it.
struct ForwardingMisfit {
  std::string key;  ///< key in the fabric file
  std::string found, expected;
};
/// The first misfit of a complete shape; empty if there is none.
std::optional<ForwardingMisfit> forwarding_misfit(const FabricShape& shape);

}  // namespace mrclab
