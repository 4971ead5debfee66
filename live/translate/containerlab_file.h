#pragma once
// A topology file of containerlab, as far as a fabric can be made of it: nodes with the evidence of their role, and links
// between two of them. Everything else of a node is not looked at.

#include <map>
#include <string>
#include <vector>

#include "fabric/text/yaml.h"

namespace mrclab::lab {

struct LabNode {
  std::string name;
  std::string kind, image, group;           ///< its own, or its group's, or the file's default
  std::map<std::string, YamlValue> labels;  ///< those of defaults, kind and group beneath its own
  bool added = false;                       ///< a host that the import hung on a leaf
};

/// Why links to this node are no part of a fabric ("of kind bridge"); empty: they are.
std::string outside_reason(const LabNode& node);

struct LabLink {
  struct End {
    size_t node;  ///< among the file's nodes
    std::string interface;
  };
  End a, b;
  YamlValue at;  ///< in the file
};

struct ContainerlabFile {
  std::string name;
  YamlValue nodes_at;  ///< where errors about a node point: nodes_at.fail_at_key(its name, ...)
  std::map<std::string, YamlValue> labels;  ///< those of all nodes (`defaults`)
  std::vector<LabNode> nodes;
  std::vector<LabLink> links;
  std::vector<std::string> left_out;  ///< sentences: what was in the file and is not here
};

/// Throws InputError with the position. Left out and listed are links to the machine itself (`host:`, `macvlan:`,
/// `mgmt-net:`), dummies, vxlans, links to bridges and to nodes of the management network, and those of a node to itself.
ContainerlabFile read_containerlab(const YamlValue& document);

}  // namespace mrclab::lab
