//! Files and folders, on 1, 2 and 8 workers.

use common::until::until;
use common::watchdog::watchdog;
use evenkeel::fs::{self, File, OpenOptions};
use evenkeel::{Builder, Runtime, Shutdown, block_on};
use evenkeel_policy::random::Random;
use futures::poll;
use std::future::Future;
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::mpsc::{self, Sender};

mod common {
    pub(crate) mod until;
    pub(crate) mod watchdog;
}

/// A folder of a test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("evenkeel-fs-{}-{test}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs `test` in runtimes with 1, 2 and 8 workers, each with an empty folder.
fn on_workers<F: Future<Output = ()>>(name: &str, test: impl Fn(Folder) -> F) {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        let runtime = Builder::new().workers(workers).build().unwrap();
        runtime.block_on(test(Folder::new(&format!("{name}-{workers}"))));
    }
}

/// A runtime with one blocking thread, which is busy until the sender is dropped.
fn busy() -> (Runtime, Sender<()>) {
    let runtime = Builder::new().workers(1).blocking_threads(1).build().unwrap();
    let release = occupy(&runtime);
    (runtime, release)
}

/// Keeps a blocking thread busy until the sender is dropped.
fn occupy(runtime: &Runtime) -> Sender<()> {
    let (release, released) = mpsc::channel::<()>();
    let (begin, begun) = mpsc::channel();
    drop(runtime.spawn_blocking(move || {
        begin.send(()).unwrap();
        let _ = released.recv();
    }));
    begun.recv().unwrap();
    release
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn paths_have_the_operations_of_the_standard_library() {
    on_workers("paths", |folder| async move {
        let (log, copy) = (folder.path("log"), folder.path("copy"));
        fs::write(&log, "one").await.unwrap();
        assert_eq!(fs::read(&log).await.unwrap(), b"one");
        assert_eq!(fs::read_to_string(&log).await.unwrap(), "one");
        assert_eq!(fs::copy(&log, &copy).await.unwrap(), 3);
        fs::rename(&copy, folder.path("moved")).await.unwrap();
        assert!(!fs::try_exists(&copy).await.unwrap());
        assert!(fs::try_exists(folder.path("moved")).await.unwrap());
        fs::hard_link(&log, folder.path("second")).await.unwrap();
        fs::write(&log, "other").await.unwrap();
        assert_eq!(text(&folder.path("second")), "other");
        fs::create_dir(folder.path("a")).await.unwrap();
        fs::create_dir_all(folder.path("a/b/c")).await.unwrap();
        assert!(fs::metadata(folder.path("a/b/c")).await.unwrap().is_dir());
        let canonical = fs::canonicalize(folder.path("a/b/../../log")).await.unwrap();
        assert_eq!(canonical, std::fs::canonicalize(&log).unwrap());
        let mut permissions = fs::metadata(&log).await.unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&log, permissions).await.unwrap();
        assert!(fs::metadata(&log).await.unwrap().permissions().readonly());
        fs::remove_dir(folder.path("a/b/c")).await.unwrap();
        fs::remove_dir_all(folder.path("a")).await.unwrap();
        fs::remove_file(folder.path("moved")).await.unwrap();
        assert!(!folder.path("a").exists() && !folder.path("moved").exists());
    });
}

#[cfg(unix)]
#[test]
fn symbolic_links_are_followed_or_not() {
    on_workers("links", |folder| async move {
        let (log, link) = (folder.file("log", "four"), folder.path("link"));
        fs::symlink(&log, &link).await.unwrap();
        assert_eq!(fs::read_link(&link).await.unwrap(), log);
        assert!(fs::metadata(&link).await.unwrap().is_file());
        assert!(fs::symlink_metadata(&link).await.unwrap().is_symlink());
    });
}

#[test]
fn errors_have_the_kinds_of_the_standard_library() {
    on_workers("errors", |folder| async move {
        let nowhere = folder.path("nowhere");
        let not_found = [
            fs::read(&nowhere).await.unwrap_err(),
            fs::remove_file(&nowhere).await.unwrap_err(),
            fs::metadata(&nowhere).await.unwrap_err(),
            fs::read_dir(&nowhere).await.unwrap_err(),
            File::open(&nowhere).await.unwrap_err(),
            fs::create_dir(nowhere.join("below")).await.unwrap_err(),
        ];
        for error in not_found {
            assert_eq!(error.kind(), ErrorKind::NotFound);
        }
        let log = folder.file("log", [0xff]);
        let error = fs::read_to_string(&log).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        let mut kept = String::from("kept");
        let error = File::open(&log).await.unwrap().read_to_string(&mut kept).await.unwrap_err();
        assert_eq!((error.kind(), &*kept), (ErrorKind::InvalidData, "kept"));
        let error = File::create_new(&log).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        let error = fs::remove_dir(&folder.0).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DirectoryNotEmpty);
        let error = OpenOptions::new().open(&log).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let mut file = File::open(&log).await.unwrap();
        let error = file.read_exact(&mut [0; 2]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
        let error = file.seek(SeekFrom::Current(-2)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(file.seek(SeekFrom::Current(i64::MIN)).await.is_err());
        assert_eq!(file.stream_position().await.unwrap(), 1, "it has not moved");
    });
}

#[test]
fn outside_of_a_runtime_nothing_is_done() {
    let folder = Folder::new("outside");
    let log = folder.path("log");
    let error = block_on(fs::write(&log, "no")).unwrap_err();
    assert!(error.to_string().contains("needs a runtime"), "{error}");
    assert!(!log.exists());
    let mut file = File::from_std(std::fs::File::create(&log).unwrap());
    let error = block_on(file.write(b"no")).unwrap_err();
    assert!(error.to_string().contains("needs a runtime"), "{error}");
    assert!(block_on(file.seek(SeekFrom::Start(1))).is_err());
    assert!(block_on(file.metadata()).is_err());
    // Nothing is under way, and nothing has been accepted.
    block_on(file.flush()).unwrap();
    let std = block_on(file.into_std()).unwrap();
    assert_eq!(std.metadata().unwrap().len(), 0);
    // A walk goes on inside.
    (0..99).for_each(|n| std::fs::write(folder.path(&format!("{n}")), "").unwrap());
    let runtime = Runtime::new().unwrap();
    let mut entries = runtime.block_on(fs::read_dir(&folder.0)).unwrap();
    let mut count = 0;
    while block_on(entries.next_entry()).is_ok_and(|entry| entry.is_some()) {
        count += 1;
    }
    assert!((1..100).contains(&count), "the others are not read yet: {count}");
    while runtime.block_on(entries.next_entry()).unwrap().is_some() {
        count += 1;
    }
    assert_eq!(count, 100);
}

#[test]
fn a_deterministic_run_has_files() {
    let folder = Folder::new("deterministic");
    let log = folder.path("log");
    let read = evenkeel::deterministic::run(1, async move {
        let mut file = File::create(&log).await.unwrap();
        file.write_all(b"calm").await.unwrap();
        file.sync_all().await.unwrap();
        fs::read(&log).await.unwrap()
    });
    assert_eq!(read, b"calm");
}

#[test]
fn a_large_file_is_written_and_read_in_parts() {
    on_workers("large", |folder| async move {
        let log = folder.path("log");
        let bytes: Vec<u8> = (0..5_000_000_u32).map(|n| (n % 251) as u8).collect();
        let mut file = File::create(&log).await.unwrap();
        file.write_all(&bytes).await.unwrap();
        file.sync_data().await.unwrap();
        assert_eq!(file.metadata().await.unwrap().len(), bytes.len() as u64);
        let (mut file, mut read) = (File::open(&log).await.unwrap(), vec![7]);
        assert_eq!(file.read_to_end(&mut read).await.unwrap(), bytes.len());
        assert!(read[0] == 7 && read[1..] == bytes);
        assert_eq!(file.read(&mut [0; 8]).await.unwrap(), 0);
        file.rewind().await.unwrap();
        let mut part = vec![0; 3_000_000];
        file.read_exact(&mut part).await.unwrap();
        assert!(part == bytes[..3_000_000]);
    });
}

#[test]
fn many_tasks_have_files_of_their_own() {
    on_workers("tasks", |folder| async move {
        let tasks: Vec<_> = (0..100_u32)
            .map(|n| {
                let log = folder.path(&n.to_string());
                evenkeel::spawn(async move {
                    let mut file = File::create_new(&log).await?;
                    for line in 0..n {
                        file.write_all(format!("{line}\n").as_bytes()).await?;
                    }
                    file.rewind().await?;
                    let mut text = String::new();
                    file.read_to_string(&mut text).await?;
                    fs::remove_file(&log).await?;
                    std::io::Result::Ok(text)
                })
            })
            .collect();
        for (n, task) in tasks.into_iter().enumerate() {
            let text = task.await.unwrap().unwrap();
            assert!(text.lines().eq((0..n).map(|line| line.to_string())), "{n}: {text}");
        }
        assert!(fs::read_dir(&folder.0).await.unwrap().next_entry().await.unwrap().is_none());
    });
}

#[test]
fn the_error_of_a_write_is_that_of_the_next_operation_once() {
    on_workers("late", |folder| async move {
        let log = folder.file("log", "calm");
        let mut file = File::open(&log).await.unwrap();
        assert_eq!(file.write(b"storm").await.unwrap(), 5, "it is accepted");
        assert!(file.flush().await.is_err());
        file.flush().await.unwrap();
        file.write_all(b"storm").await.unwrap();
        assert!(file.read(&mut [0; 4]).await.is_err());
        let mut word = [0; 4];
        assert_eq!(file.read_exact(&mut word).await.unwrap(), word.len());
        assert_eq!(&word, b"calm");
        file.write_all(b"storm").await.unwrap();
        assert!(file.sync_all().await.is_err());
        file.write_all(b"storm").await.unwrap();
        assert!(file.into_std().await.is_err());
        assert_eq!(text(&log), "calm");
    });
}

#[test]
fn a_read_that_is_dropped_loses_no_byte() {
    let _watchdog = watchdog();
    let folder = Folder::new("dropped-read");
    let log = folder.file("log", "abcdefghij");
    let open = || std::fs::OpenOptions::new().read(true).write(true).open(&log).unwrap();
    let after = |next: fn(File) -> futures::future::BoxFuture<'static, File>| {
        let (runtime, release) = busy();
        let mut file = File::from_std(open());
        runtime.block_on(async {
            assert!(poll!(pin!(file.read(&mut [0; 4]))).is_pending());
            drop(release);
            next(file).await
        })
    };
    after(|mut file| {
        Box::pin(async move {
            let mut two = [0; 2];
            file.read_exact(&mut two).await.unwrap();
            assert_eq!(&two, b"ab");
            assert_eq!(file.stream_position().await.unwrap(), 2);
            file
        })
    });
    after(|mut file| {
        Box::pin(async move {
            assert_eq!(file.seek(SeekFrom::Current(3)).await.unwrap(), 3);
            file
        })
    });
    after(|mut file| {
        Box::pin(async move {
            let mut clone = file.try_clone().await.unwrap();
            assert_eq!(clone.stream_position().await.unwrap(), 0);
            file
        })
    });
    after(|file| {
        Box::pin(async move {
            let mut std = file.into_std().await.unwrap();
            assert_eq!(std.stream_position().unwrap(), 0);
            File::from_std(std)
        })
    });
    after(|mut file| {
        Box::pin(async move {
            file.set_len(6).await.unwrap();
            let mut rest = String::new();
            file.read_to_string(&mut rest).await.unwrap();
            assert_eq!(rest, "abcdef");
            file
        })
    });
    after(|mut file| {
        Box::pin(async move {
            file.write_all(b"XY").await.unwrap();
            file.flush().await.unwrap();
            file
        })
    });
    assert_eq!(text(&log), "XYcdef");
}

#[test]
fn a_write_that_is_dropped_has_accepted_nothing() {
    let _watchdog = watchdog();
    let folder = Folder::new("dropped-write");
    let log = folder.path("log");
    let (runtime, release) = busy();
    let mut file = File::from_std(std::fs::File::create(&log).unwrap());
    runtime.block_on(async {
        assert_eq!(file.write(b"one").await.unwrap(), 3);
        assert!(poll!(pin!(file.write(b"two"))).is_pending(), "the first one is under way");
        assert!(poll!(pin!(file.flush())).is_pending());
        drop(release);
        file.write_all(b"three").await.unwrap();
        file.flush().await.unwrap();
    });
    assert_eq!(text(&log), "onethree");
}

#[test]
fn an_operation_whose_future_is_dropped_is_done() {
    let _watchdog = watchdog();
    let folder = Folder::new("dropped");
    let log = folder.path("log");
    let (runtime, release) = busy();
    runtime.block_on(async {
        // One that is not polled has not begun.
        drop(fs::write(folder.path("never"), "no"));
        assert!(poll!(pin!(fs::write(&log, "done"))).is_pending());
        drop(release);
        until(|| text(&log) == "done");
        // The thread does one after the other.
        assert_eq!(fs::read_to_string(&log).await.unwrap(), "done");
    });
    assert!(!folder.path("never").exists());
}

#[test]
fn what_a_file_has_accepted_is_written_though_the_runtime_ends() {
    let _watchdog = watchdog();
    let folder = Folder::new("ends");
    let (log, other) = (folder.path("log"), folder.path("other"));
    let (runtime, release) = busy();
    let mut file = File::from_std(std::fs::File::create(&log).unwrap());
    let mut write = Box::pin(fs::write(&other, "no"));
    runtime.block_on(async {
        file.write_all(b"accepted").await.unwrap();
        assert!(poll!(&mut write).is_pending());
    });
    let ends = std::thread::spawn(move || drop(runtime));
    until(|| text(&log) == "accepted");
    drop(release);
    ends.join().unwrap();
    let error = block_on(write).unwrap_err();
    assert!(error.to_string().contains("before"), "{error}");
    assert!(!other.exists());
    // The thread that has ended the runtime has written.
    block_on(file.flush()).unwrap();
    let error = block_on(file.write(b"more")).unwrap_err();
    assert!(error.to_string().contains("there is none"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_pipe_gets_what_it_takes_at_once_though_the_runtime_ends() {
    let _watchdog = watchdog();
    for (accepted, written) in [(3, 3), (1 << 20, 512)] {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let mut pipe = File::from_std(of_pipe(writer));
        let (runtime, release) = busy();
        let bytes: Vec<u8> = (0..accepted).map(|number| number as u8).collect();
        runtime.block_on(pipe.write_all(&bytes)).unwrap();
        let ends = std::thread::spawn(move || drop(runtime));
        let mut read = vec![0];
        reader.read_exact(&mut read).unwrap();
        drop(release);
        ends.join().unwrap();
        let flushed = block_on(pipe.flush());
        drop(pipe);
        reader.read_to_end(&mut read).unwrap();
        assert!(read.len() >= written && bytes.starts_with(&read), "{}", read.len());
        if accepted == written {
            flushed.unwrap();
        } else {
            let error = flushed.unwrap_err().to_string();
            assert!(error.contains(&format!("{} of {accepted} bytes", read.len())), "{error}");
        }
    }
}

/// The writes of a thread inside `block_on` while another one ends the runtime.
#[test]
fn a_write_beside_the_end_is_not_denied_once_it_is_made() {
    let _watchdog = watchdog();
    let folder = Folder::new("beside");
    let log = folder.path("log");
    let runtime = Builder::new().workers(1).build().unwrap();
    let handle = runtime.handle().clone();
    let mut file = File::from_std(std::fs::File::create(&log).unwrap());
    let accepted = handle.block_on(async {
        let ends = std::thread::spawn(move || drop(runtime));
        let mut accepted = 0;
        while file.write_all(b"x").await.is_ok() && file.flush().await.is_ok() {
            accepted += 1;
            if ends.is_finished() {
                break;
            }
        }
        ends.join().unwrap();
        accepted
    });
    drop(file);
    assert_eq!(text(&log).len(), accepted);
}

#[test]
fn what_follows_a_change_of_length_that_was_dropped_comes_after_it() {
    let _watchdog = watchdog();
    let folder = Folder::new("cut");
    let log = folder.path("log");
    std::fs::write(&log, "before").unwrap();
    // One thread, which is busy: a change that is on its way has not begun.
    let (runtime, release) = busy();
    runtime.block_on(async {
        let options = std::fs::OpenOptions::new().write(true).open(&log);
        let mut file = File::from_std(options.unwrap());
        assert!(poll!(pin!(file.set_len(0))).is_pending());
        let write = async {
            file.write_all(b"header").await.unwrap();
            file.flush().await.unwrap();
        };
        let mut write = Box::pin(write);
        assert!(poll!(&mut write).is_pending());
        drop(release);
        write.await;
    });
    assert_eq!(text(&log), "header");
}

/// Has a read of four bytes given up, once they are in the file's buffer, and takes two of them.
async fn read_two_of_four(file: &mut File, release: Sender<()>) {
    assert!(poll!(pin!(file.read(&mut [0; 4]))).is_pending());
    drop(release);
    let mut two = [0; 2];
    file.read_exact(&mut two).await.unwrap();
    assert_eq!(&two, b"ab");
}

#[test]
fn an_operation_that_an_ended_runtime_refuses_loses_no_byte_that_was_read() {
    type Refused = fn(&mut File) -> futures::future::BoxFuture<'_, std::io::Result<()>>;
    let operations: [Refused; 4] = [
        |file| Box::pin(file.sync_all()),
        |file| Box::pin(file.sync_data()),
        |file| Box::pin(file.set_len(3)),
        |file| Box::pin(async { file.seek(SeekFrom::Start(9)).await.map(drop) }),
    ];
    let _watchdog = watchdog();
    let folder = Folder::new("refused");
    let log = folder.file("log", "abcdefghij");
    let another = Builder::new().workers(1).build().unwrap();
    for operation in operations {
        let open =
            || File::from_std(std::fs::File::options().read(true).write(true).open(&log).unwrap());
        // The runtime is over when the operation begins.
        let (runtime, release) = busy();
        let (over, mut file) = (runtime.handle(), open());
        runtime.block_on(read_two_of_four(&mut file, release));
        drop(runtime);
        let error = over.block_on(operation(&mut file)).unwrap_err();
        assert!(error.to_string().contains("before"), "{error}");
        let mut rest = String::new();
        another.block_on(file.read_to_string(&mut rest)).unwrap();
        assert_eq!(rest, "cdefghij");
        // It ends while the operation waits for a thread.
        let (runtime, release) = busy();
        let mut file = open();
        runtime.block_on(read_two_of_four(&mut file, release));
        let release = occupy(&runtime);
        runtime.block_on(async { assert!(poll!(operation(&mut file)).is_pending()) });
        let ends = std::thread::spawn(move || drop(runtime));
        let error = block_on(file.flush()).unwrap_err();
        assert!(error.to_string().contains("before"), "{error}");
        drop(release);
        ends.join().unwrap();
        assert_eq!(another.block_on(file.stream_position()).unwrap(), 2);
    }
}

/// A pipe that is open in both directions has no position to give back.
#[cfg(target_os = "linux")]
#[test]
fn a_write_that_no_thread_begins_loses_no_byte_that_was_read_from_its_pipe() {
    let _watchdog = watchdog();
    let (reader, _writer) = std::io::pipe().unwrap();
    let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reader));
    let both = std::fs::File::options().read(true).write(true).open(path).unwrap();
    (&both).write_all(b"abcd").unwrap();
    let mut pipe = File::from_std(both);
    let (runtime, release) = busy();
    let over = runtime.handle();
    runtime.block_on(read_two_of_four(&mut pipe, release));
    drop(runtime);
    over.block_on(async {
        assert_eq!(pipe.write(b"efgh").await.unwrap(), 4);
        pipe.flush().await.unwrap();
    });
    let mut rest = [0; 8];
    let another = Builder::new().workers(1).build().unwrap();
    let n = another.block_on(pipe.read(&mut rest)).unwrap();
    assert_eq!(&rest[..n], b"cd", "the first write comes before the second");
}

#[cfg(unix)]
#[test]
fn a_pipe_with_bytes_that_were_read_and_not_taken_is_not_given_back_without_them() {
    on_workers("untaken", |_folder| async move {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let mut pipe = File::from_std(of_pipe(reader));
        assert!(poll!(pin!(pipe.read(&mut [0; 4]))).is_pending());
        writer.write_all(b"tide").unwrap();
        let error = pipe.into_std().await.unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::NotSeekable, "{error}");
    });
}

#[cfg(unix)]
#[test]
fn an_operation_that_a_shutdown_leaves_behind_says_so() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).build().unwrap();
    let (reader, mut writer) = std::io::pipe().unwrap();
    let mut pipe = File::from_std(of_pipe(reader));
    runtime.block_on(async {
        assert!(poll!(pin!(pipe.read(&mut [0; 4]))).is_pending());
        // The thread that has taken it waits for bytes in the pipe.
        until(|| runtime.metrics().blocking_waiting == 0);
    });
    runtime.shutdown(Shutdown::Deadline(std::time::Duration::from_millis(5)));
    let error = block_on(pipe.read(&mut [0; 4])).unwrap_err();
    assert!(error.to_string().contains("may or may not"), "{error}");
    writer.write_all(b"end").unwrap();
}

#[cfg(unix)]
fn of_pipe(end: impl Into<std::os::fd::OwnedFd>) -> std::fs::File {
    std::fs::File::from(end.into())
}

#[cfg(unix)]
#[test]
fn a_pipe_keeps_what_a_dropped_read_has_taken() {
    on_workers("pipe", |_folder| async move {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let mut file = File::from_std(of_pipe(reader));
        assert!(poll!(pin!(file.read(&mut [0; 4]))).is_pending());
        writer.write_all(b"abcd").unwrap();
        let error = file.seek(SeekFrom::Start(0)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotSeekable);
        // Its write fails: it is the end that reads. What was read stays.
        file.write_all(b"x").await.unwrap();
        assert!(file.flush().await.is_err());
        let mut read = [0; 4];
        file.read_exact(&mut read).await.unwrap();
        assert_eq!(&read, b"abcd");
        drop(writer);
        assert_eq!(file.read(&mut read).await.unwrap(), 0);
    });
}

#[test]
fn a_walk_finds_each_entry_once() {
    on_workers("walk", |folder| async move {
        for n in 0..100 {
            std::fs::write(folder.path(&format!("{n:03}")), vec![0; n]).unwrap();
        }
        std::fs::create_dir(folder.path("below")).unwrap();
        let mut entries = fs::read_dir(&folder.0).await.unwrap();
        let mut names = Vec::new();
        loop {
            // Dropped, whether or not it is ready: an entry that it returns counts.
            let polled = poll!(pin!(entries.next_entry()));
            let entry = match polled {
                std::task::Poll::Ready(entry) => entry.unwrap(),
                std::task::Poll::Pending => entries.next_entry().await.unwrap(),
            };
            let Some(entry) = entry else { break };
            let (file_type, metadata) =
                (entry.file_type().await.unwrap(), entry.metadata().await.unwrap());
            assert_eq!(file_type.is_dir(), entry.file_name() == "below");
            assert_eq!(entry.path(), folder.0.join(entry.file_name()));
            let name = entry.file_name().into_string().unwrap();
            if let Ok(n) = name.parse::<u64>() {
                assert_eq!(metadata.len(), n);
            }
            names.push(name);
        }
        assert!(entries.next_entry().await.unwrap().is_none(), "it stays at the end");
        #[cfg(feature = "stream")]
        {
            use futures::StreamExt;
            let entries = fs::read_dir(&folder.0).await.unwrap();
            assert_eq!(entries.map(Result::unwrap).count().await, 101);
        }
        names.sort();
        let mut expected: Vec<String> = (0..100).map(|n| format!("{n:03}")).collect();
        expected.push("below".to_owned());
        assert_eq!(names, expected);
    });
}

/// The same operations on a file of the standard library, which has no buffers.
#[test]
fn random_operations_do_what_the_standard_library_does() {
    on_workers("random", |folder| async move {
        let (here, there) = (folder.file("here", ""), folder.file("there", ""));
        let mut options = std::fs::OpenOptions::new();
        options.read(true).write(true);
        let mut file = File::from_std(options.open(&here).unwrap());
        let mut std = options.open(&there).unwrap();
        let mut random = Random::new(3);
        for step in 0..1_000_u32 {
            let n = random.below(40) as usize;
            match random.below(8) {
                0 | 1 => {
                    let bytes = vec![step as u8; n];
                    file.write_all(&bytes).await.unwrap();
                    std.write_all(&bytes).unwrap();
                }
                2 | 3 => {
                    let (mut one, mut other) = (vec![0; n], vec![0; n]);
                    let expected = std.read(&mut other).unwrap();
                    let mut filled = file.read(&mut one).await.unwrap();
                    // A part may come from the buffer.
                    while filled < expected {
                        filled += file.read(&mut one[filled..expected]).await.unwrap();
                    }
                    assert_eq!((filled, one), (expected, other), "{step}");
                }
                4 => {
                    let to = match random.below(3) {
                        0 => SeekFrom::Start(n as u64),
                        1 => SeekFrom::Current(n as i64 - 20),
                        _ => SeekFrom::End(-(n as i64)),
                    };
                    assert_eq!(file.seek(to).await.ok(), std.seek(to).ok(), "{step}");
                }
                5 => {
                    file.set_len(n as u64 * 20).await.unwrap();
                    std.set_len(n as u64 * 20).unwrap();
                }
                6 => {
                    if let std::task::Poll::Ready(read) = poll!(pin!(file.read(&mut [0; 16]))) {
                        // It has found bytes in the buffer.
                        std.seek(SeekFrom::Current(read.unwrap() as i64)).unwrap();
                    }
                }
                _ => {
                    let mut clone = file.try_clone().await.unwrap();
                    let position = std.stream_position().unwrap();
                    assert_eq!(clone.stream_position().await.unwrap(), position, "{step}");
                }
            }
        }
        file.flush().await.unwrap();
        assert_eq!(std::fs::read(here).unwrap(), std::fs::read(there).unwrap());
    });
}

#[cfg(feature = "tokio-io")]
#[test]
fn the_traits_of_tokio_are_there() {
    use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncSeekExt, AsyncWriteExt, BufReader};
    on_workers("tokio", |folder| async move {
        let log = folder.path("log");
        let mut file =
            File::options().read(true).write(true).create(true).open(&log).await.unwrap();
        AsyncWriteExt::write_all(&mut file, b"one\ntwo\nthree").await.unwrap();
        // A seek waits for the write.
        assert_eq!(AsyncSeekExt::seek(&mut file, SeekFrom::Start(4)).await.unwrap(), 4);
        let mut lines = BufReader::new(&mut file).lines();
        assert_eq!(lines.next_line().await.unwrap().unwrap(), "two");
        assert_eq!(lines.next_line().await.unwrap().unwrap(), "three");
        assert!(lines.next_line().await.unwrap().is_none());
        assert_eq!(AsyncSeekExt::seek(&mut file, SeekFrom::Current(-5)).await.unwrap(), 8);
        let mut rest = String::new();
        AsyncReadExt::read_to_string(&mut file, &mut rest).await.unwrap();
        assert_eq!(rest, "three");
        AsyncWriteExt::write_all(&mut file, b"!").await.unwrap();
        AsyncWriteExt::shutdown(&mut file).await.unwrap();
        assert_eq!(text(&log), "one\ntwo\nthree!");
        let mut other = File::create(folder.path("other")).await.unwrap();
        file.rewind().await.unwrap();
        assert_eq!(tokio::io::copy(&mut file, &mut other).await.unwrap(), 14);
        assert_eq!(text(&folder.path("other")), "one\ntwo\nthree!");
    });
}

#[cfg(feature = "futures-io")]
#[test]
fn the_traits_of_futures_are_there() {
    use futures::io::{AsyncRead, AsyncSeek, AsyncWrite};
    use std::future::poll_fn;
    use std::pin::Pin;
    on_workers("futures", |folder| async move {
        let log = folder.path("log");
        let mut file = File::create_new(&log).await.unwrap();
        let mut file = Pin::new(&mut file);
        let write = poll_fn(|cx| AsyncWrite::poll_write(file.as_mut(), cx, b"one two"));
        assert_eq!(write.await.unwrap(), 7);
        let to = SeekFrom::Start(4);
        // A dropped seek is taken up again by the same one.
        let dropped = poll_fn(|cx| AsyncSeek::poll_seek(file.as_mut(), cx, to));
        let _ = poll!(pin!(dropped));
        let seek = poll_fn(|cx| AsyncSeek::poll_seek(file.as_mut(), cx, to));
        assert_eq!(seek.await.unwrap(), 4);
        let mut word = [0; 8];
        let read = poll_fn(|cx| AsyncRead::poll_read(file.as_mut(), cx, &mut word));
        assert_eq!(read.await.unwrap(), 3);
        assert_eq!(&word[..3], b"two");
        let write = poll_fn(|cx| AsyncWrite::poll_write(file.as_mut(), cx, b"!"));
        assert_eq!(write.await.unwrap(), 1);
        poll_fn(|cx| AsyncWrite::poll_close(file.as_mut(), cx)).await.unwrap();
        assert_eq!(text(&log), "one two!");
    });
}
