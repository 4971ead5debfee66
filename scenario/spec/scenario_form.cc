#include "scenario/spec/scenario_form.h"

#include "analysis/expect/expectation.h"
#include "analysis/expect/expectation_form.h"
#include "endpoint/options/transport_form.h"
#include "endpoint/workload/workload_entry.h"
#include "fabric/topology/fabric_form.h"
#include "faults/fault_form.h"
#include "scenario/spec/dilation.h"
#include "scenario/spec/mechanism.h"
#include "scenario/spec/named_transport.h"
#include "scenario/spec/program_form.h"
#include "scenario/spec/scenario_value.h"

namespace mrclab::lab {
namespace {

using Form = ValueForm;
using Kind = ValueForm::Kind;
using Key = ValueForm::Key;

const Form kText = Form::of(Kind::kText), kTime = Form::of(Kind::kTime);

Form workload_form() {
  std::vector<Key> kinds = endpoint::workload_kinds();
  kinds.push_back({"exec", exec_form(), "a program of yours on a host; `timing: wall`"});
  for (Key& kind : kinds) kind.need = Key::kOneOf;
  return Form::list(Form::map(std::move(kinds)), 1);
}

/// A word alone, or a map with one expectation and perhaps what was published.
Form expectation_list(bool with_programs, size_t least) {
  std::vector<Key> keys = analysis::expectation_kinds();
  if (with_programs) {
    keys.push_back({"program", check_program_form(), "a program of yours; it passes by exit code 0",
                    Key::kOneOf});
  }
  for (Key& key : analysis::published_keys()) keys.push_back(std::move(key));
  return Form::list(
             Form::either({Form::word(analysis::plain_expectations()), Form::map(std::move(keys))}),
             least, analysis::kMaxExpectations)
      .elsewhere();
}

Form contrast_form() {
  return Form::list(
      Form::map({{"transport", Form::word(transport_names()), "which", Key::kRequired},
                 {"name", Form::of(Kind::kName), "what it is called; absent: as the transport"},
                 {"options", endpoint::transport_options_form().elsewhere(), "in place of its own"},
                 {"watchdog", watchdog_form(), "in place of the fabric's"},
                 {"expect", expectation_list(false, 1), "what then must hold", Key::kRequired}}),
      0, kMaxContrasts);
}

Form one_or_list(const Form& form) { return Form::either({form, Form::list(form)}); }

}  // namespace

const ValueForm& scenario_form() {
  const Form mechanisms = Form::list(Form::word(mechanism_names()));
  const Form scope = Form::word({"hosts", "all", "none"});
  static const Form kForm = Form::map(
      {{"name", Form::of(Kind::kName), "what it is called", Key::kRequired},
       {"id", one_or_list(kText).elsewhere(), "what it is called elsewhere, such as L5"},
       {"about", kText, "what happened, its source, what was compressed"},
       {"fabric", Form::either({kText, fabric_form()}).elsewhere(),
        "a shipped fabric's name, a path, or the fabric itself", Key::kRequired},
       {"seed", Form::integer(0, kMaxSeed), "of all draws"},
       {"transport", endpoint::transport_form().elsewhere(), "a profile, or options"},
       {"without", mechanisms, "mechanisms that are switched off"},
       {"fails_without", mechanisms, "each of them alone makes an expectation fail"},
       {"dilation", Form::either({Form::word({"auto"}), Form::integer(1, kMaxDilation)}),
        "lab seconds per fabric second"},
       {"timing", Form::word({"carried", "wall"}),
        "wall: by this machine's clock, where others forward or run"},
       {"workload", workload_form().elsewhere(), "what hosts do", Key::kRequired},
       {"faults", faults::faults_form().elsewhere(), "what breaks, and when"},
       {"end", Form::either({Form::word({"never"}), kTime}), "of the run", Key::kRequired},
       {"captures", scope, "where daemons capture packets"},
       {"taps", scope, "where libpcap does, on the veths; live only"},
       {"payload", Form::word({"real", "elided"}), "elided: headers alone, nothing to verify"},
       {"expect", expectation_list(true, 0), "what must hold"},
       {"contrast", contrast_form().elsewhere(), "what other transports make of it"}});
  return kForm;
}

}  // namespace mrclab::lab
