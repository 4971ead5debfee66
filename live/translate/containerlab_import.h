#pragma once
// A topology file of containerlab as a fabric file. The links and the nodes' roles are in it; rates, latencies and
// queues are not, but for those of our own export, which has them as labels.

#include <filesystem>
#include <functional>
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
  std::vector<std::string> decided;   ///< sentences: which nodes have their role by what
};

/// The text of a file with containerlab's variables in place: ${NAME}, $NAME, ${NAME:-default}, ${NAME:=default} and
/// their kin (envsubst), of the environment. `variable` gives a variable's value, or null.
std::string with_variables(std::string_view text,
                           const std::function<const char*(const std::string&)>& variable);

/// The document in the file, with variables of the environment in place. Throws InputError, of a
/// Go template (.gotmpl) with the command that renders it.
YamlValue read_containerlab_document(const std::filesystem::path& path);

/// `name` of the fabric; `source`: what the file is called, for a comment; `hosts_per_leaf`: hung on each leaf of a file
/// without hosts. Throws InputError with positions in the
/// document.
ImportedFabric import_containerlab(const YamlValue& document, const std::string& name,
                                   std::string_view source, uint32_t hosts_per_leaf = 0);

/// The name that the file has for its lab.
std::string containerlab_name(const YamlValue& document);

}  // namespace mrclab::lab
