#include "server/shard_news.h"

#include <doctest/doctest.h>

namespace ballast {
namespace {

TEST_CASE("a trouble is told when it comes, when it changes and when it is over") {
  ShardNews news;
  CHECK_FALSE(news.trouble(""));
  CHECK(news.trouble("the disk is full")->text == "the disk is full");
  CHECK_FALSE(news.trouble("the disk is full"));
  CHECK(news.trouble("the disk is slow")->text == "the disk is slow");
  CHECK(news.trouble("")->text.empty());
}

TEST_CASE("a copy that grows is told of now and then, and at once when anything else changes") {
  ShardNews news;
  CopyProgress progress;
  CHECK_FALSE(news.copying(progress, 1));
  progress.snapshot = {1, 4};
  CHECK(news.copying(progress, 1'000)->progress == progress);
  progress.bytes = 7;
  CHECK_FALSE(news.copying(progress, 999 + ShardNews::kCopyEvery));
  CHECK(news.copying(progress, 1'000 + ShardNews::kCopyEvery)->progress == progress);
  progress.done = true;
  CHECK(news.copying(progress, 1'001 + ShardNews::kCopyEvery)->progress == progress);
  CHECK_FALSE(news.copying(progress, 9'000'000));
}

}  // namespace
}  // namespace ballast
