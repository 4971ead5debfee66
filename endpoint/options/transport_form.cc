#include "endpoint/options/transport_form.h"

#include <limits>

#include "endpoint/options/transport_choice.h"

namespace mrclab::endpoint {
namespace {

using Form = ValueForm;
using Kind = ValueForm::Kind;
using Key = ValueForm::Key;

/// `evs` in the words of the MRC API's EV profiles (endpoint/paths/ev_profile_values.h).
Form ev_profile_form() {
  constexpr int64_t kMost = std::numeric_limits<uint32_t>::max();
  const Form number = Form::either({Form::integer(0, kMost), Form::of(Kind::kHex)});
  const Form field = Form::map({{"width", Form::integer(1, 32), "bits", Key::kRequired},
                                {"init_val", number, "the bits that stay"},
                                {"min", number, "of the bits in mask"},
                                {"max", number, "of the bits in mask"},
                                {"mask", number, "the bits that run"}});
  const Form names = Form::list(Form::of(Kind::kText));
  return Form::either({Form::of(Kind::kText), names,
                       Form::map({{"fields", Form::list(field), "32 bits in all, from the highest",
                                   Key::kRequired}})});
}

struct FormOf {
  Form operator()(const TransportOption::Integer& kind) const {
    return Form::integer(kind.min, kind.max);
  }
  Form operator()(const TransportOption::Time&) const { return Form::of(Kind::kTime); }
  Form operator()(const TransportOption::Switch&) const { return Form::of(Kind::kSwitch); }
  Form operator()(const TransportOption::Rate&) const {
    return Form::either({Form::word({"unlimited"}), Form::of(Kind::kRate)});
  }
  Form operator()(const TransportOption::Share&) const { return Form::of(Kind::kShare); }
  Form operator()(const TransportOption::CountOrShare& kind) const {
    return Form::either({Form::integer(1, kind.max), Form::of(Kind::kShare)});
  }
  Form operator()(const TransportOption::Evs&) const { return ev_profile_form(); }
  Form operator()(const TransportOption::Word& kind) const { return Form::word(kind.words); }
};

}  // namespace

ValueForm transport_options_form() {
  std::vector<Key> keys;
  for (const TransportOption& option : transport_options()) {
    keys.push_back(
        {std::string(option.name), std::visit(FormOf{}, option.kind), std::string(option.about)});
  }
  return Form::map(std::move(keys));
}

ValueForm transport_form() {
  Form map = transport_options_form();
  const Form profile = Form::word(transport_profiles());
  map.keys.insert(map.keys.begin(), {"profile", profile, "where options have their values from"});
  return Form::either({profile, std::move(map)});
}

}  // namespace mrclab::endpoint
