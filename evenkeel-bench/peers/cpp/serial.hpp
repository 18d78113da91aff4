// Plain calls, the base of the comparison with the other two.
#pragma once

struct Runtime {
    explicit Runtime(int) {}

    template <class F>
    void run(F&& f) {
        f();
    }

    template <class A, class B>
    [[gnu::always_inline]] static void join(A&& a, B&& b) {
        a();
        b();
    }
};
