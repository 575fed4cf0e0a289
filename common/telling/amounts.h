// Amounts for people.
#pragma once

#include <cstdint>
#include <string>

namespace ballast {

// For printf's %llu.
inline unsigned long long number(std::uint64_t value) { return value; }

// "1 step", "2 steps"; `many` where the plural is another word.
std::string count_text(std::uint64_t count, const std::string& one, const std::string& many = {});

// "0 B", "999 B", "1.2 MB", "102.2 MB": powers of 1000, one decimal, rounded to nearest.
std::string bytes_text(std::uint64_t bytes);

// With so many decimals.
std::string fixed(double value, int digits);

}  // namespace ballast
