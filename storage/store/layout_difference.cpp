#include "storage/store/layout_difference.h"

#include "storage/store/job_difference.h"

namespace ballast {

bool has_other_layout(const Identity& there, const Identity& here) {
  return there.layout_digest != here.layout_digest && have_same_model(there.effective_job, here.effective_job);
}

std::string other_layout_text(const std::string& there, const std::string& here) {
  return "this database was made by another version of Ballast, which laid out the model's parameters in another way "
         "(layout " +
         there + " there, " + here +
         " here), and cannot be read by this one. Go on with the version that made it; or export its weights with "
         "that version (`ballast export`), and begin a run of its own from them (training.init_from)";
}

}  // namespace ballast
