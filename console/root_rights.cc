#include "console/root_rights.h"

#include <unistd.h>

#include "fabric/text/yaml.h"

namespace mrclab::lab {

void require_root(const std::string& verb) {
  if (::geteuid() == 0) return;
  throw InputError("'mrclab " + verb + "' needs root for network namespaces; run with sudo");
}

}  // namespace mrclab::lab
