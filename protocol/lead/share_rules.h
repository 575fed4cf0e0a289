// By which rules the slots of a step are shared out.
#pragma once

#include "protocol/ids.h"
#include "protocol/lead/predicted_end.h"

namespace ballast {

// What is shorter makes no difference.
struct ShareFloors {
  Micros gain = 20'000;         // slots go to another session if all end so much sooner
  Micros late_slot = 20'000;    // beyond three of a session's slots
  Micros late_share = 250'000;  // beyond three times what was predicted
  bool operator==(const ShareFloors&) const = default;
};

struct ShareRules {
  StepSize step;
  bool by_speed = true;       // standing ranges by predicted end, else even ones
  bool redistributes = true;  // what sessions have left and suspects do not bring; else of those lost or late by `late`
  Micros late = 10'000'000;   // a share of which nothing can be predicted
  ShareFloors floors;
  bool operator==(const ShareRules&) const = default;
};

}  // namespace ballast
