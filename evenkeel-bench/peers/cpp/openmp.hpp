// OpenMP: each fork is a task beside a call, without a cut-off.
#pragma once

#include <omp.h>

class Runtime {
public:
    explicit Runtime(int workers) : workers(workers) { omp_set_dynamic(0); }

    // The calling thread is one of the workers; the others run tasks while they wait at the end.
    template <class F>
    void run(F&& f) {
#pragma omp parallel num_threads(workers)
#pragma omp single
        f();
    }

    template <class A, class B>
    [[gnu::always_inline]] static void join(A&& a, B&& b) {
#pragma omp task shared(b)
        b();
        a();
#pragma omp taskwait
    }

private:
    int workers;
};
