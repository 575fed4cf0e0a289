// Where an address's name leads, found out without waiting for the resolver.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/net/address.h"

namespace ballast {

// One thread; the resolver, which may take seconds, works on another, which nobody waits for at the end. All lookups of
// this process that want to know of one host at the same time share that.
class NameLookup {
 public:
  struct Answer {
    std::string address;
    Resolution found;
  };

  // Asks for an address; nothing happens while an earlier one has not been answered.
  void begin(const std::string& address);
  // The answer, once.
  std::optional<Answer> take();

 private:
  struct Asked;
  class UnderWay;
  std::shared_ptr<Asked> asked_;  // null: nothing is under way
  std::string address_;
};

}  // namespace ballast
