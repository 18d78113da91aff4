// Runs one experiment on POSIX threads and prints one JSON line: the seconds of N rounds.
//
// Usage: evenkeel-peer BENCH VARIANT MONITORS N. Exit status: 0 with exactly one line; 1 if the run failed its own
// check, with a message on standard error and no line; 2 if the arguments make no sense. The suite limits the process to
// one processor.

#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_MONITORS = 4 };

// A monitor: a lock, and the data that it guards.
struct monitor {
    _Alignas(64) pthread_mutex_t mutex;
    uint64_t entries;
    bool waiting;
};

static struct monitor monitors[MOST_MONITORS];
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static size_t count;
static uint64_t n;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

_Noreturn static void fail(int status, const char* what, const char* about) {
    fprintf(stderr, "evenkeel-peer: %s%s\n", what, about);
    exit(status);
}

// Checks calls that fail only when memory or threads have run out.
static void must(int error, const char* what) {
    if (error != 0) {
        fail(1, what, strerror(error));
    }
}

static pthread_t start(void* (*go)(void*), void* part) {
    pthread_t thread;
    must(pthread_create(&thread, NULL, go, part), "cannot start a thread: ");
    return thread;
}

static void join(pthread_t thread, void** result) {
    must(pthread_join(thread, result), "cannot join a thread: ");
}

static void check(bool right, const char* what) {
    if (!right) {
        fail(1, "check failed: ", what);
    }
}

// Parties that begin together.

static _Atomic int missing;

static void gather(void) {
    atomic_fetch_sub(&missing, 1);
    while (atomic_load(&missing) > 0) {
        sched_yield();
    }
}

// Yields: each of several threads makes its share of N.

struct yielder {
    uint64_t share, made;
    double from, to;
};

static void* yields(void* part) {
    struct yielder* self = part;
    gather();
    self->from = now();
    for (; self->made < self->share; self->made++) {
        sched_yield();
    }
    self->to = now();
    return NULL;
}

static double ctxswitch(int parties) {
    struct yielder parts[2] = {{n / parties + n % parties, 0, 0, 0}, {n / parties, 0, 0, 0}};
    pthread_t threads[2];
    missing = parties;
    for (int i = 0; i < parties; i++) {
        threads[i] = start(yields, &parts[i]);
    }
    uint64_t made = 0;
    double from = 0, to = 0;
    for (int i = 0; i < parties; i++) {
        join(threads[i], NULL);
        made += parts[i].made;
        from = i == 0 || parts[i].from < from ? parts[i].from : from;
        to = parts[i].to > to ? parts[i].to : to;
    }
    check(made == n, "yields are missing");
    return to - from;
}

// Entry and exit. Another thread sleeps beside: without it the library omits the locked
// instructions that every program with threads needs.

static pthread_mutex_t asleep = PTHREAD_MUTEX_INITIALIZER;

static void* sleeper(void* part) {
    must(pthread_mutex_lock(&asleep), "cannot wait: ");
    must(pthread_mutex_unlock(&asleep), "cannot wait: ");
    return part;
}

static inline void enter(size_t count) {
    for (size_t i = 0; i < count; i++) {
        pthread_mutex_lock(&monitors[i].mutex);
    }
}

static inline void leave(size_t count) {
    for (size_t i = count; i-- > 0;) {
        pthread_mutex_unlock(&monitors[i].mutex);
    }
}

// All rounds, compiled for each number of monitors by itself, as the suite's Rust code is.
__attribute__((always_inline)) static inline void rounds(size_t count) {
    for (uint64_t i = 0; i < n; i++) {
        enter(count);
        for (size_t at = 0; at < count; at++) {
            monitors[at].entries++;
        }
        leave(count);
    }
}

static double mutex(void) {
    pthread_mutex_lock(&asleep);
    pthread_t other = start(sleeper, NULL);
    double from = now();
    switch (count) {
        case 1: rounds(1); break;
        case 2: rounds(2); break;
        case 4: rounds(4); break;
        default: rounds(count);
    }
    double took = now() - from;
    pthread_mutex_unlock(&asleep);
    join(other, NULL);
    for (size_t i = 0; i < count; i++) {
        check(monitors[i].entries == n, "entries are missing");
    }
    return took;
}

// Wait and signal, as in the suite's Rust code: a signaller that finds no waiter lets the other
// run.

static _Atomic bool begun;

static void* waiter(void* part) {
    double* took = part;
    enter(count);
    atomic_store(&begun, true);
    double from = now();
    for (uint64_t i = 0; i < n; i++) {
        monitors[0].waiting = true;
        while (monitors[0].waiting) {
            for (size_t other = count; other-- > 1;) {
                pthread_mutex_unlock(&monitors[other].mutex);
            }
            pthread_cond_wait(&condition, &monitors[0].mutex);
            for (size_t other = 1; other < count; other++) {
                pthread_mutex_lock(&monitors[other].mutex);
            }
        }
        monitors[0].entries++;
    }
    *took = now() - from;
    leave(count);
    return NULL;
}

static void* signaller(void* part) {
    double* took = part;
    while (!atomic_load(&begun)) {
        sched_yield();
    }
    double from = now();
    for (uint64_t rounds = 0; rounds < n;) {
        enter(count);
        bool found = monitors[0].waiting;
        if (found) {
            monitors[0].waiting = false;
            pthread_cond_signal(&condition);
            rounds++;
        }
        leave(count);
        if (!found) {
            sched_yield();
        }
    }
    *took = now() - from;
    return NULL;
}

static double schedint(bool signalled) {
    double took[2] = {0, 0};
    pthread_t threads[2] = {start(waiter, &took[0]), start(signaller, &took[1])};
    join(threads[0], NULL);
    join(threads[1], NULL);
    check(monitors[0].entries == n, "rounds are missing");
    return took[signalled];
}

// Creation and join.

static void* empty(void* part) {
    return part;
}

static double creation(void) {
    uintptr_t sum = 0;
    double from = now();
    for (uint64_t i = 0; i < n; i++) {
        void* result = NULL;
        join(start(empty, (void*)(uintptr_t)1), &result);
        sum += (uintptr_t)result;
    }
    double took = now() - from;
    check(sum == n, "threads are missing");
    return took;
}

static uint64_t number(const char* text, uint64_t most) {
    char* end = NULL;
    uint64_t value = strtoull(text, &end, 10);
    if (end == text || *end != '\0' || text[0] == '-' || value > most) {
        fail(2, "not a number that makes sense: ", text);
    }
    return value;
}

int main(int arguments, char** values) {
    if (arguments != 5) {
        fail(2, "usage: evenkeel-peer BENCH VARIANT MONITORS N", "");
    }
    const char *bench = values[1], *variant = values[2];
    count = number(values[3], MOST_MONITORS);
    n = number(values[4], UINT64_MAX);
    for (size_t i = 0; i < MOST_MONITORS; i++) {
        must(pthread_mutex_init(&monitors[i].mutex, NULL), "cannot make a mutex: ");
    }
    bool monitored = count > 0;
    double seconds = 0;
    if (strcmp(bench, "ctxswitch") == 0 && strcmp(variant, "task") == 0) {
        seconds = ctxswitch(1);
    } else if (strcmp(bench, "ctxswitch") == 0 && strcmp(variant, "two-tasks") == 0) {
        seconds = ctxswitch(2);
    } else if (strcmp(bench, "mutex") == 0 && monitored) {
        seconds = mutex();
    } else if (strcmp(bench, "schedint") == 0 && strcmp(variant, "waiter") == 0 && monitored) {
        seconds = schedint(false);
    } else if (strcmp(bench, "schedint") == 0 && strcmp(variant, "signaller") == 0 && monitored) {
        seconds = schedint(true);
    } else if (strcmp(bench, "creation") == 0 && strcmp(variant, "task") == 0) {
        seconds = creation();
    } else {
        fail(2, "no such experiment: ", bench);
    }
    printf("{\"seconds\":%.9f}\n", seconds);
    return 0;
}
