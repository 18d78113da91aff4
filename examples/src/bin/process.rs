//! Child processes: those of Tokio, in tasks of evenkeel, by `evenkeel-compat`.

use evenkeel::task::JoinSet;
use evenkeel::time::timeout;
use evenkeel_compat::CompatExt;
use evenkeel_examples::Fault;
use std::io::{Read, pipe};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;

const CHILDREN: usize = 10;
const LINES: usize = 20;

/// Has a child return each line that it gets, and waits for its end.
async fn echo(child: usize) -> Result<usize, Fault> {
    let mut cat = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut input = cat.stdin.take().ok_or("its input is a pipe")?;
    let mut output = BufReader::new(cat.stdout.take().ok_or("its output is a pipe")?).lines();
    for line in 0..LINES {
        let sent = format!("line {line} for child {child}");
        input.write_all(format!("{sent}\n").as_bytes()).await?;
        assert_eq!(output.next_line().await?, Some(sent));
    }
    drop(input);
    assert_eq!(output.next_line().await?, None);
    assert!(cat.wait().await?.success());
    Ok(LINES)
}

#[evenkeel::main(workers = 2)]
async fn main() -> Result<(), Fault> {
    let greeting = async { Command::new("echo").arg("aye").output().await };
    let greeting = greeting.compat().await?;
    assert!(greeting.status.success() && greeting.stdout == b"aye\n");

    let mut children = JoinSet::new();
    for child in 0..CHILDREN {
        // All that has to do with the child is inside, its drop too.
        children.spawn(echo(child).compat());
    }
    let mut lines = 0;
    while let Some(echoed) = children.join_next().await {
        lines += echoed??;
    }
    assert_eq!(lines, CHILDREN * LINES);

    // A limit by evenkeel's timer drops the wait, and with it the child, which is killed then.
    let (mut reader, writer) = pipe()?;
    let sleeps =
        async { Command::new("sleep").arg("600").stdout(writer).kill_on_drop(true).status().await };
    assert!(timeout(Duration::from_millis(50), sleeps.compat()).await.is_err());
    // The pipe ends with the child, which has its other end alone.
    let read = evenkeel::spawn_blocking(move || reader.read(&mut [0]));
    assert_eq!(read.await??, 0);

    println!("process: {CHILDREN} children returned {lines} lines, and one was killed");
    Ok(())
}
