#include "analysis/checks/check_result.h"

namespace mrclab::analysis {

std::string_view name_of(Result result) {
  switch (result) {
    case Result::kPass: return "pass";
    case Result::kFail: return "fail";
    case Result::kInconclusive: return "inconclusive";
    case Result::kNoChecks: return "no checks";
  }
  return "inconclusive";
}

int exit_code(Result result) {
  switch (result) {
    case Result::kPass: return 0;
    case Result::kFail: return 1;
    case Result::kInconclusive:
    case Result::kNoChecks: return 3;
  }
  return 3;
}

int worse_exit_code(int a, int b) {
  const auto rank = [](int code) { return code == 1 ? 2 : code == 0 ? 0 : 1; };
  return rank(b) > rank(a) ? b : a;
}

std::string to_string(const WhereToLook& where) {
  const bool ends = where.until != FabricTime::never();
  std::string text =
      to_string(where.from) + " to " + (ends ? to_string(where.until) : std::string("the end"));
  if (!where.who.empty()) text += ", " + where.who;
  if (where.packet && where.packet->frame > 0) {
    text += ", frame " + std::to_string(where.packet->frame) + " of " + where.packet->file;
  }
  return text;
}

CheckResult without_evidence(CheckResult check, Looked looked) {
  check.measured.reset();  // a number that was measured on nothing would look like one
  std::string why = nothing_in(looked);
  check.looked = std::move(looked);
  return unjudged(std::move(check), std::move(why));
}

CheckResult passed(CheckResult check, Looked looked) {
  if (looked.count() == 0) return without_evidence(std::move(check), std::move(looked));
  check.looked = std::move(looked);
  check.result = Outcome(Result::kPass);
  return check;
}

CheckResult failed(CheckResult check, std::string why) {
  check.result = Outcome(Result::kFail);
  check.note = std::move(why);
  return check;
}

CheckResult proven(CheckResult check, std::string why) {
  check.proven = true;
  return failed(std::move(check), std::move(why));
}

CheckResult unjudged(CheckResult check, std::string why) {
  check.result = Outcome();
  check.note = std::move(why);
  return check;
}

}  // namespace mrclab::analysis
