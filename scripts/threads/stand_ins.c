// Stands in front of functions that ThreadSanitizer does not see through. Linked with `--wrap` for each, so that calls of the program
// come here first; `check-threads` passes the names of the standard library's.

#include <linux/close_range.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>

void __tsan_acquire(void *);
void __tsan_release(void *);

// Locks of the standard library, which comes without the sanitizer: what it does out of line, waiting above all, is not seen, and what
// a lock guards would look like a race.

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

// The sanitizer knows a descriptor by its number, and writes reports through pipes that another thread may have opened: each thread
// stays in the program's table, and believes that it has one of its own.
long real_syscall(long, long, long, long, long, long, long) __asm__("__real_syscall");
long syscall_of_thread(long, long, long, long, long, long, long) __asm__("__wrap_syscall");
long syscall_of_thread(long number, long a, long b, long c, long d, long e, long f) {
    if (number == SYS_close_range && (c & CLOSE_RANGE_UNSHARE)) {
        return 0;
    }
    return real_syscall(number, a, b, c, d, e, f);
}

// A report needs more room than the stacks of our threads have.
int real_set_stack_size(pthread_attr_t *, size_t) __asm__("__real_pthread_attr_setstacksize");
int set_stack_size(pthread_attr_t *, size_t) __asm__("__wrap_pthread_attr_setstacksize");
int set_stack_size(pthread_attr_t *attributes, size_t bytes) {
    size_t enough = 8 << 20;
    return real_set_stack_size(attributes, bytes < enough ? enough : bytes);
}
