// What `ballast top` shows, line by line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/messages/status.h"

namespace ballast {

// By which workers are sorted; what matters most comes first, or last.
enum class TopColumn : std::uint8_t { name, step, rate, slot, data, pull, compute, push, up, down };
inline constexpr std::size_t kTopColumns = 10;

struct TopSize {
  std::size_t columns = 80;
  std::size_t lines = 24;
};

struct TopView {
  std::optional<Status> status;       // none: nothing is known yet
  std::string silent;                 // why nothing new is known; empty: it is
  std::map<SessionId, double> rates;  // slots a second, of late
  TopColumn by = TopColumn::name;
  bool is_reversed = false;
  std::size_t first = 0;  // of the rows that are shown
  std::string analysis;   // lines of the last one; empty: none
};

// No more lines than there is room for, and none that is longer: what does not fit is cut, the analysis first, then
// workers (`first` says from which on), and the last line says which keys there are. Control characters in what others
// have chosen show as spaces.
std::vector<std::string> top_lines(const TopView& view, TopSize size);

// How many workers there are to scroll over.
std::size_t top_rows(const TopView& view);

}  // namespace ballast
