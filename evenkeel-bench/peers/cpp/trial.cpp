// The full interface of a runtime: it needs all that the programs need to compile, to link and to
// run.

#include PEER

int main() {
    int a = 0, b = 0;
    Runtime runtime(2);
    runtime.run([&] { Runtime::join([&] { a = 1; }, [&] { b = 1; }); });
    return a + b == 2 ? 0 : 1;
}
