// In which keys two job files differ, for the message that refuses a database of another job.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ballast {

// "training.batch: 128 there, 256 here; ..." for the first `limit` keys, "and N more" after them; empty if none differ.
// Reads the plain block style in which effective jobs are written (indented `key: value` lines and `- item` lists); a
// line of another style counts as a key of its own. `there` is the database's.
std::string describe_job_difference(std::string_view there, std::string_view here, std::size_t limit = 4);

// Whether no key of `model`, nor `data.name`, that both jobs have differs.
bool have_same_model(std::string_view there, std::string_view here);

}  // namespace ballast
