// Plain calls: what the other two are compared with.
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
