#include "storage/copies/place.h"

#include <algorithm>

namespace ballast {

StoreResult<bool> CopyPlace::has(const std::string& name) {
  const auto names = list(name);
  return names.ok() ? StoreResult<bool>(std::ranges::find(names.value(), name) != names.value().end()) : names.status();
}

StoreResult<std::unique_ptr<CopyPlace>> open_copy_place(const CopyTarget& target) {
  if (target.place.empty()) {
    return StoreStatus{StoreCode::mismatch, "no place for copies was named: a folder, or s3://BUCKET/PREFIX"};
  }
  if (target.place.starts_with("s3://")) {
    return make_s3_place(target);
  }
  if (target.place.find("://") != std::string::npos) {
    return StoreStatus{StoreCode::mismatch,
                       target.place + ": copies go to a folder or to s3://BUCKET/PREFIX, not to such an address"};
  }
  return make_folder_place(target.place, target.has_to_be_there);
}

}  // namespace ballast
