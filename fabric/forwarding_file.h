#pragma once
// The part of a fabric file that says who forwards and how packets find their way (fabric_file.h shows
// it), and what not every switch can do of it.

#include <optional>
#include <string>

#include "fabric/fabric_shape.h"
#include "fabric/yaml.h"

namespace mrclab {

/// A word, or a map of planes and switches to words: "p2: kernel", of which a later one wins. All throw
/// InputError with the position.
ForwardingChoice read_forwarding(const YamlValue& value, const FabricShape& shape);
/// A word, or a map with what ECMP is like: an srv6 fabric may have it for workloads that ask for it.
RoutingChoice read_routing(const YamlValue& value);

/// They read back as the same.
std::string forwarding_text(const ForwardingChoice& choice);
std::string routing_text(const RoutingChoice& choice);

/// What a fabric asks of switches that cannot do it.
struct ForwardingMisfit {
  std::string key;  ///< of the fabric file
  std::string found, expected;
};
/// The first one, of a shape that is complete.
std::optional<ForwardingMisfit> forwarding_misfit(const FabricShape& shape);

}  // namespace mrclab
