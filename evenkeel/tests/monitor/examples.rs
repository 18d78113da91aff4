//! The worked examples run, and check their own results.

use crate::common::watchdog::watchdog;

macro_rules! examples {
    ($($name:ident $test:ident $path:literal;)+) => {$(
        #[path = $path]
        mod $name;

        #[test]
        fn $test() {
            let _watchdog = watchdog();
            $name::main();
        }
    )+};
}

examples! {
    barrier barrier_runs "../../examples/barrier.rs";
    buffer_external buffer_external_runs "../../examples/buffer_external.rs";
    buffer_internal buffer_internal_runs "../../examples/buffer_internal.rs";
    dating_service dating_service_runs "../../examples/dating_service.rs";
    objects objects_runs "../../examples/objects.rs";
    philosophers philosophers_runs "../../examples/philosophers.rs";
    readers_writers readers_writers_runs "../../examples/readers_writers.rs";
    readers_writers_internal readers_writers_internal_runs "../../examples/readers_writers_internal.rs";
    server server_runs "../../examples/server.rs";
}
