#include "storage/copies/place.h"

#include <algorithm>

#include "storage/copies/sealed_place.h"

namespace ballast {

namespace {

StoreResult<std::unique_ptr<CopyPlace>> open_plain_place(const CopyTarget& target) {
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

}  // namespace

StoreStatus CopyPlace::look(const std::string& name) {
  const auto names = list(name);
  if (!names.ok()) {
    return names.status();
  }
  return std::ranges::find(names.value(), name) != names.value().end()
             ? StoreStatus{}
             : StoreStatus{StoreCode::missing, describe(name) + ": there is no such object"};
}

StoreResult<std::unique_ptr<CopyPlace>> open_copy_place(const CopyTarget& target) {
  auto place = open_plain_place(target);
  if (!place.ok()) {
    return place;
  }
  auto keys = target.copy_key_file.empty() ? StoreResult<CopyKeys>(CopyKeys()) : CopyKeys::load(target.copy_key_file);
  if (!keys.ok()) {
    return keys.status();
  }
  return make_sealed_place(std::move(place.value()), std::move(keys.value()), target.accept_plain);
}

}  // namespace ballast
