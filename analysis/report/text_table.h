#pragma once
// Tables for the terminal, as wide as it is, coloured on request.

#include <string>
#include <string_view>
#include <vector>

#include "analysis/verdict/verdict.h"
#include "fabric/text/counted_noun.h"

namespace mrclab::analysis {

/// "PASS", "FAIL", "INCONCLUSIVE"
std::string capitals(Result result);
/// A whole number without decimals, any other with two: "95", "99.97"; "-" for no value.
std::string plain_number(const std::optional<double>& value);
/// "5.88 Tb/s"
std::string rate_text(double bps);

class TextTable {
 public:
  using Row = std::vector<std::string>;
  /// Narrower than 60 columns is laid out as 60.
  explicit TextTable(TableOptions options);

  size_t width() const { return options_.width; }
  /// Text that does not fit is continued below the text behind the first two spaces: "packets 12 of
  /// 12".
  void line(const std::string& text = {});
  void rule();
  void indented(const std::string& text, size_t indent);
  /// `word` in the colour of the result, then the text, wrapped below itself.
  void marked(const std::string& word, Result result, const std::string& text);
  /// A row of cells; `right`: which are right-aligned.
  void row(const Row& cells, const std::vector<size_t>& widths, const std::vector<bool>& right);
  /// Widths of the longest cells; the first column gives way so that the row fits.
  std::vector<size_t> fit(const std::vector<Row>& rows) const;

  std::string take() { return std::move(out_); }

 private:
  std::string coloured(const std::string& text, Result result) const;

  TableOptions options_;
  std::string out_;
};

}  // namespace mrclab::analysis
