//! How nodes start, and the settings that they refuse.

use crate::world::{Message, Sum, id, runtime};
use evenkeel_actor::System;
use evenkeel_actor::node::in_process::{Faults, network};
use evenkeel_actor::node::policy::Packing;
use evenkeel_actor::remote::{Hosting, Limits, Node, RemoteError, StartError};

#[test]
fn what_a_node_cannot_start_with_is_a_typed_error() {
    let (_control, mut ends) = network(1, Faults::default());
    let end = ends.remove(0);
    let error = evenkeel::block_on(Node::builder().start(|| Ok::<_, String>(end))).unwrap_err();
    assert!(matches!(error, StartError::NoRuntime), "{error}");
    for workers in [1, 2] {
        let runtime = runtime(workers);
        let fails = || Err::<evenkeel_actor::node::in_process::InProcess, _>("no cable");
        let error = runtime.block_on(Node::builder().start(fails)).unwrap_err();
        assert_eq!(error.to_string(), "the transport has not started: no cable");
        for name in [String::new(), "n".repeat(300)] {
            let error = runtime.block_on(Node::builder().name(name).start(fails)).unwrap_err();
            assert!(matches!(error, StartError::Name { of: "node", most: 255 }), "{error}");
        }
        let error = runtime.block_on(Node::builder().job("").start(fails)).unwrap_err();
        assert!(matches!(error, StartError::Name { of: "job", .. }), "{error}");
    }
}

#[test]
fn a_host_can_be_a_thread_or_a_task() {
    for hosting in [Hosting::Thread, Hosting::Task] {
        let (_control, ends) = network(2, Faults::default());
        let runtime = runtime(1);
        runtime.block_on(async {
            let mut nodes = Vec::new();
            for end in ends {
                let builder = Node::builder().system(System::new()).hosting(hosting);
                let node = builder.start(|| Ok::<_, String>(end)).await.unwrap();
                assert!(node.register_script("sum", Sum::new));
                nodes.push(node);
            }
            let sum = nodes[0].spawn_on::<Message, _>(id(1), "sum", &5_u64).await.unwrap();
            assert_eq!(sum.ask(Message::Get).await, Ok(5));
            assert!(nodes[0].metrics().packing() >= 1.0);
            for node in nodes {
                node.leave().await;
            }
        });
    }
}

#[test]
fn a_host_that_is_a_task_needs_one_worker() {
    let (_control, mut ends) = network(1, Faults::default());
    let end = ends.remove(0);
    let builder = Node::builder().system(System::new()).hosting(Hosting::Task);
    let error = runtime(3).block_on(builder.start(|| Ok::<_, String>(end))).unwrap_err();
    assert!(matches!(error, StartError::Workers { workers: 3 }), "{error}");
}

#[test]
fn a_host_that_is_a_task_needs_a_runtime_without_reliefs() {
    let (_control, mut ends) = network(1, Faults::default());
    let end = ends.remove(0);
    let runtime = evenkeel::Builder::new().workers(1).reliefs(2).build().unwrap();
    let builder = Node::builder().system(System::new()).hosting(Hosting::Task);
    let error = runtime.block_on(builder.start(|| Ok::<_, String>(end))).unwrap_err();
    assert!(matches!(error, StartError::Reliefs { reliefs: 2 }), "{error}");
    assert!(error.to_string().contains("Builder::reliefs(0)"), "{error}");
}

/// What a thread inside `block_on` begins, another one goes on with.
#[test]
fn the_host_of_a_current_thread_runtime_is_a_thread() {
    let runtime = evenkeel::Builder::new_current_thread().build().unwrap();
    let (_control, ends) = network(2, Faults::default());
    let nodes = runtime.block_on(async {
        let mut nodes = Vec::new();
        for end in ends {
            let builder = Node::builder().system(System::new()).script("sum", Sum::new);
            nodes.push(builder.start(|| Ok::<_, String>(end)).await.unwrap());
        }
        nodes[0].ready().await.unwrap();
        nodes
    });
    let by_another_thread = || {
        runtime.block_on(async {
            let sum = nodes[0].spawn_on::<Message, _>(id(1), "sum", &5_u64).await.unwrap();
            assert_eq!(sum.ask(Message::Get).await, Ok(5));
            for node in &nodes {
                node.leave().await;
            }
        });
    };
    std::thread::scope(|scope| scope.spawn(by_another_thread).join()).unwrap();
}

#[test]
fn a_host_that_is_a_task_needs_a_runtime_with_a_worker_thread() {
    let (_control, mut ends) = network(1, Faults::default());
    let end = ends.remove(0);
    let runtime = evenkeel::Builder::new_current_thread().build().unwrap();
    let builder = Node::builder().system(System::new()).hosting(Hosting::Task);
    let error = runtime.block_on(builder.start(|| Ok::<_, String>(end))).unwrap_err();
    assert!(error.to_string().contains("Builder::workers(1)"), "{error}");
}

#[test]
fn a_node_does_not_start_if_its_own_senders_can_fill_the_backlog() {
    let (_control, mut ends) = network(1, Faults::default());
    let end = ends.remove(0);
    let limits = Limits { backlog: 8 << 20, ..Limits::default() };
    let builder = Node::builder().system(System::new()).limits(limits);
    let error = runtime(1).block_on(builder.start(|| Ok::<_, String>(end))).unwrap_err();
    assert!(error.to_string().contains("Limits::backlog"), "{error}");
}

#[test]
fn a_node_does_not_start_if_more_may_wait_than_others_can_park_of_it() {
    let (_control, mut ends) = network(1, Faults::default());
    let end = ends.remove(0);
    let limits = Limits { parked: 8 << 20, ..Limits::default() };
    let builder = Node::builder().system(System::new()).limits(limits);
    let error = runtime(1).block_on(builder.start(|| Ok::<_, String>(end))).unwrap_err();
    let (waiting, parked) = (4 << 20, 8 << 20);
    let is_told = matches!(error, StartError::Waiting { waiting: w, parked: p } if (w, p) == (waiting, parked));
    assert!(is_told, "{error}");
}

#[test]
fn a_node_whose_handles_are_gone_leaves() {
    let (_control, mut ends) = network(2, Faults::default());
    let (end, other) = (ends.remove(0), ends.remove(0));
    let runtime = runtime(2);
    runtime.block_on(async {
        let start = |end| Node::builder().system(System::new()).start(|| Ok::<_, String>(end));
        let node = start(end).await.unwrap();
        let mut events = node.events();
        let other = start(other).await.unwrap();
        node.ready().await.unwrap();
        drop(other);
        while !events.next().await.unwrap().is_loss() {}
        node.leave().await;
        assert_eq!(events.next().await, None);
    });
}

#[test]
fn a_node_does_not_start_with_messages_too_short_for_what_nodes_say() {
    let runtime = runtime(2);
    runtime.block_on(async {
        for (longest_message, is_enough) in [(20, false), (554, false), (555, true)] {
            let (_control, ends) = network(2, Faults::default());
            let packing = Packing { longest_message, ..Packing::default() };
            let mut nodes = Vec::new();
            for (end, letter) in ends.into_iter().zip(["a", "b"]) {
                // The longest allowed names.
                let builder = Node::builder().system(System::new()).packing(packing);
                let builder = builder.job("j".repeat(255)).name(letter.repeat(255));
                let started = builder.start(|| Ok::<_, String>(end)).await;
                match started {
                    Ok(node) => nodes.push(node),
                    Err(error) => {
                        let StartError::ShortMessages { longest, least: 555 } = error else {
                            panic!("{error}");
                        };
                        assert_eq!((longest, is_enough), (longest_message, false));
                        assert!(error.to_string().ends_with("allow at least 555"), "{error}");
                    }
                }
            }
            assert_eq!(nodes.len(), if is_enough { 2 } else { 0 });
            for node in &nodes {
                node.ready().await.unwrap();
            }
            if let [node, _] = &nodes[..] {
                let error = node.spawn_on::<Message, _>(id(1), "none", &()).await.unwrap_err();
                assert!(matches!(error, RemoteError::NoSuchScript { .. }), "{error}");
            }
            for node in nodes {
                node.leave().await;
            }
        }
    });
}

#[test]
fn a_script_of_the_builder_is_there_for_the_first_request() {
    let (_control, ends) = network(3, Faults::default());
    let runtime = runtime(2);
    runtime.block_on(async {
        // One builder for several nodes.
        let builder =
            Node::builder().script("sum", Sum::new).script("sum", |n: u64| Sum::new(n + 1));
        assert!(format!("{builder:?}").contains("sum"));
        let mut nodes = Vec::new();
        for end in ends {
            let builder = builder.clone().system(System::new());
            let node = builder.start(|| Ok::<_, String>(end)).await.unwrap();
            assert!(!node.register_script("sum", Sum::new), "it stays");
            nodes.push(node);
        }
        for node in &nodes {
            for on in 0..3 {
                let sum = node.spawn_on::<Message, _>(id(on), "sum", &5_u64).await.unwrap();
                assert_eq!(sum.ask(Message::Get).await, Ok(5));
            }
        }
        for node in nodes {
            node.leave().await;
        }
    });
}
