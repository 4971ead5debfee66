#pragma once
// A topology file of containerlab as a fabric file. The links and the nodes' roles are in it; rates, latencies and
// queues are not, but for those of our own export, which has them as labels.

#include <string>
#include <string_view>
#include <vector>

#include "fabric/text/yaml.h"
#include "fabric/topology/fabric_shape.h"

namespace mrclab::lab {

struct ImportedFabric {
  std::string text;                   ///< the fabric file
  FabricShape shape;                  ///< its contents
  std::vector<std::string> left_out;  ///< sentences: what is not in it
};

/// `name` of the fabric; `source`: what the file is called, for a comment. Throws InputError with positions in the
/// document.
ImportedFabric import_containerlab(const YamlValue& document, const std::string& name,
                                   std::string_view source);

/// The name that the file has for its lab.
std::string containerlab_name(const YamlValue& document);

}  // namespace mrclab::lab
