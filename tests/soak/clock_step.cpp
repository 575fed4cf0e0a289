// Preloaded into a process, lets its clock be stepped: the real-time clock is off by as many seconds as the file that
// $BALLAST_CLOCK_OFFSET names holds, a double, which may change at any moment. Monotonic clocks cannot step.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <ctime>

namespace {

constexpr long kNanoseconds = 1'000'000'000;
constexpr std::time_t kYears = 1'000'000'000;  // no machine is up for so many seconds: later times are real time

double offset() {
  static const double* value = [] {
    static const double none = 0;
    const char* path = std::getenv("BALLAST_CLOCK_OFFSET");
    const int file = path == nullptr ? -1 : ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
      return &none;
    }
    void* place = ::mmap(nullptr, sizeof(double), PROT_READ, MAP_SHARED, file, 0);
    ::close(file);
    return place == MAP_FAILED ? &none : static_cast<const double*>(place);
  }();
  return *static_cast<const volatile double*>(value);
}

timespec moved(timespec time, double seconds) {
  const double whole = std::floor(seconds);
  time.tv_sec += static_cast<std::time_t>(whole);
  time.tv_nsec += static_cast<long>((seconds - whole) * kNanoseconds);
  if (time.tv_nsec >= kNanoseconds) {
    time.tv_nsec -= kNanoseconds;
    ++time.tv_sec;
  }
  return time;
}

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static auto* real = next<int(clockid_t, timespec*)>("clock_gettime");
  const int result = real(clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    *time = moved(*time, offset());
  }
  return result;
}

int gettimeofday(timeval* time, void* /*zone*/) noexcept {
  timespec now{};
  const int result = clock_gettime(CLOCK_REALTIME, &now);
  *time = {now.tv_sec, now.tv_nsec / 1000};
  return result;
}

std::time_t time(std::time_t* out) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) {
    *out = now.tv_sec;
  }
  return now.tv_sec;
}

// The kernel waits by its own clock, which has not stepped.
int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until) {
  using Wait = int(pthread_cond_t*, pthread_mutex_t*, const timespec*);
  // On x86-64 a name without its version may be that of old conditions, which are laid out otherwise.
  static void* versioned = ::dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
  static auto* real = versioned != nullptr ? reinterpret_cast<Wait*>(versioned) : next<Wait>("pthread_cond_timedwait");
  const timespec by_kernel = until->tv_sec > kYears ? moved(*until, -offset()) : *until;
  return real(condition, mutex, &by_kernel);
}

}  // extern "C"
