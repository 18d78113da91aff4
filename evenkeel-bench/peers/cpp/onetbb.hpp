// oneTBB. Of its ways to fork, `parallel_invoke` in a context that all forks share is the fastest: 50 ns
// for a fork of fib on one worker, where contexts of their own take 69 and task groups 53 to 86.
#pragma once

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

class Runtime {
public:
    explicit Runtime(int workers)
        : control(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(workers)),
          arena(workers) {}

    // The calling thread is one of the workers.
    template <class F>
    void run(F&& f) {
        arena.execute([&] { f(); });
    }

    template <class A, class B>
    [[gnu::always_inline]] static void join(A&& a, B&& b) {
        tbb::parallel_invoke(a, b, context);
    }

private:
    inline static tbb::task_group_context context{tbb::task_group_context::isolated};
    tbb::global_control control;
    tbb::task_arena arena;
};
