// What ThreadSanitizer cannot see for itself: a hand-over through libzmq, which is not built with it.
#pragma once

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define BALLAST_TSAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define BALLAST_TSAN 1
#endif

#if defined(BALLAST_TSAN)
#include <sanitizer/tsan_interface.h>
#define BALLAST_TSAN_RELEASE(pointer) __tsan_release(pointer)
#define BALLAST_TSAN_ACQUIRE(pointer) __tsan_acquire(pointer)
#else
#define BALLAST_TSAN_RELEASE(pointer) static_cast<void>(pointer)
#define BALLAST_TSAN_ACQUIRE(pointer) static_cast<void>(pointer)
#endif
