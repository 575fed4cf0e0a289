// What the program makes and destroys by a handle: streams, events, the libraries' handles and their descriptors.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "tests/device_model/misuse.h"

namespace ballast::device_model {

template <typename Thing>
class Handles {
 public:
  explicit Handles(const char* kind) : kind_(kind) {}
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  ~Handles() {
    if (!things_.empty()) {
      misuse("the end of the program", std::to_string(things_.size()) + " left: " + kind_);
    }
  }

  Thing* make() {
    auto thing = std::make_unique<Thing>();
    Thing* const handle = thing.get();
    things_[handle] = std::move(thing);
    return handle;
  }
  Thing& at(std::string_view function, const Thing* handle) const {
    const auto found = things_.find(handle);
    if (found == things_.end()) {
      misuse(function, std::string("was given what is not, or no longer: ") + kind_);
    }
    return *found->second;
  }
  void destroy(std::string_view function, const Thing* handle) {
    at(function, handle);
    things_.erase(handle);
  }
  [[nodiscard]] const auto& all() const { return things_; }

 private:
  const char* kind_;
  std::map<const Thing*, std::unique_ptr<Thing>> things_;
};

}  // namespace ballast::device_model
