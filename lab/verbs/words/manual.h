#pragma once
// Manual pages in the language of man(7), from the same table as --help.

#include <string>
#include <vector>

#include "lab/cli/verb_table.h"

namespace mrclab::lab {

struct ManualPage {
  std::string name;  ///< "mrclab", "mrclab-run": section 1
  std::string text;
};

/// One page for the command and one for each verb; verbs below a verb are parts of its page.
std::vector<ManualPage> manual_pages(const Verb& command);

/// What a page must not read as a request or as an escape: backslashes, leading dots, hyphens that are meant
/// to be copied.
std::string roff_text(const std::string& text);

}  // namespace mrclab::lab
