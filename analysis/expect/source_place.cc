#include "analysis/expect/source_place.h"

namespace mrclab::analysis {

bool names_its_place(std::string_view source) {
  constexpr std::string_view kPlaces[] = {"section ", "sections ", "figure ", "figures ",
                                          "table ",   "page ",     "pages ",  "§",
                                          "annex ",   "appendix "};
  for (const std::string_view place : kPlaces) {
    for (size_t at = source.find(place); at != std::string_view::npos;
         at = source.find(place, at + 1)) {
      const std::string_view rest = source.substr(at + place.size());
      const bool letter = place.starts_with("a");  // annex A17, appendix B
      if (rest.empty()) continue;
      const char first = rest.front();
      if ((first >= '1' && first <= '9') || (letter && first >= 'A' && first <= 'Z')) return true;
    }
  }
  return false;
}

}  // namespace mrclab::analysis
