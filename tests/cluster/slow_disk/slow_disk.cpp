// A disk that takes its time, for one process: preloaded (LD_PRELOAD), each call that waits for the disk waits so many
// milliseconds more as the file that $BALLAST_SLOW_DISK names says at that moment; none where there is no such file.

#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace {

using Call = int (*)(int);

void wait() {
  const char* file = std::getenv("BALLAST_SLOW_DISK");
  if (file == nullptr) {
    return;
  }
  long milliseconds = 0;
  if (std::ifstream(file) >> milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  }
}

int after_waiting(const char* name, int descriptor) {
  wait();
  return reinterpret_cast<Call>(::dlsym(RTLD_NEXT, name))(descriptor);
}

}  // namespace

extern "C" {

int fsync(int descriptor) { return after_waiting("fsync", descriptor); }
int fdatasync(int descriptor) { return after_waiting("fdatasync", descriptor); }
}
