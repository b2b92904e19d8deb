// Tells ThreadSanitizer what the locks of Rust's standard library do. That library comes without the sanitizer: what it does out of
// line, waiting above all, is not seen, and what a lock guards would look like a race.
//
// Linked with `--wrap` for each function here, so that calls from instrumented code come here first. `check-threads` passes the names
// of their symbols.

#include <stdbool.h>
#include <stdint.h>

void __tsan_acquire(void *);
void __tsan_release(void *);

// std::sys::sync::mutex::futex::Mutex::lock_contended
void real_lock(void *mutex) __asm__("__real_" MUTEX_LOCK);
void lock(void *mutex) __asm__("__wrap_" MUTEX_LOCK);
void lock(void *mutex) {
    real_lock(mutex);
    __tsan_acquire(mutex);
}

// std::sys::sync::condvar::futex::Condvar::wait_timeout
bool real_wait(void *condvar, void *mutex, uint64_t seconds, uint32_t nanoseconds) __asm__("__real_" CONDVAR_WAIT);
bool wait(void *condvar, void *mutex, uint64_t seconds, uint32_t nanoseconds) __asm__("__wrap_" CONDVAR_WAIT);
bool wait(void *condvar, void *mutex, uint64_t seconds, uint32_t nanoseconds) {
    __tsan_release(mutex);
    bool is_in_time = real_wait(condvar, mutex, seconds, nanoseconds);
    __tsan_acquire(mutex);
    return is_in_time;
}

// std::sys::sync::once::futex::Once::call; the last two are a closure.
void real_call(void *once, bool ignores_poison, void *closure, void *vtable) __asm__("__real_" ONCE_CALL);
void call(void *once, bool ignores_poison, void *closure, void *vtable) __asm__("__wrap_" ONCE_CALL);
void call(void *once, bool ignores_poison, void *closure, void *vtable) {
    real_call(once, ignores_poison, closure, vtable);
    __tsan_acquire(once);
    __tsan_release(once);
}
