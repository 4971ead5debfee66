#include "fabric/mapper/orchestrator_keys.h"

#include "fabric/mapper/rtt_time_kind.h"

namespace mrclab {
namespace {

const KeyTable<OrchestratorProfile>& orchestrator_keys() {
  using O = OrchestratorProfile;
  using OrchestratorRow = KeyRow<O>;
  static const KeyTable<O> kKeys(
      {OrchestratorRow::of("period", &O::period, rtt_time_kind(),
                           "between two LLDP frames of a port; it stands for 30 s of a product"),
       OrchestratorRow::of(
           "provisioning", &O::provisioning, rtt_time_kind(),
           "from a switch's power to its table; carriers that name it are dropped until then"),
       OrchestratorRow::of(
           "check", &O::check,
           "on: it forwards only once its table and its neighbours are as planned")});
  return kKeys;
}

}  // namespace

const KeyRow<OrchestratorProfile>& orchestrator_key() {
  static const KeyRow<OrchestratorProfile> kKey{
      "orchestrator",
      ValueForm::either({ValueForm::of(ValueForm::Kind::kSwitch), orchestrator_keys().form()}),
      "neighbours exchange LLDP over every link, and switches are provisioned and checked",
      [](const YamlValue& value, OrchestratorProfile& out) {
        out = {};
        if (value.is_scalar()) {
          out.on = value.as_bool();
          return;
        }
        check_form(value, orchestrator_keys().form());
        out.on = true;
        orchestrator_keys().read(value, out);
      },
      [](const OrchestratorProfile& in) {
        return in.on ? orchestrator_keys().written(in) : std::string();
      }};
  return kKey;
}

}  // namespace mrclab
