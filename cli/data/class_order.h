// The order in which `ballast data describe` lists classes and values.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ballast {

// A number that is the whole field and within what a job file may hold (1e30 on either side of 0); nothing otherwise.
std::optional<double> number_in(const std::string& field);

// By their numbers if all are numbers (equal ones by their bytes), otherwise by their bytes. A worker takes classes in
// the order of data.classes, whatever that is.
std::vector<std::string> in_class_order(std::vector<std::string> names);

}  // namespace ballast
