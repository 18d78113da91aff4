//! nginx, which answers without a program: a process for each worker, and one above them.

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::pages::Page;
use crate::told::Time;
use suite::kit::installer::Package;
use suite::kit::places::{PATH, Places};
use suite::kit::toolchain::Workshop;

/// The time from one look at whether it listens to the next.
const LOOK: Duration = Duration::from_millis(5);

/// The most looks: five seconds of them.
const LOOKS: u32 = 1_000;

/// What installs it.
const INSTALL: Package = Package {
    apt: "nginx-light",
    dnf: "nginx",
    brew: "nginx",
    otherwise: "install nginx (https://nginx.org) and put it on PATH",
};

/// Returns the program. Systems keep it where only administrators look.
fn program() -> Result<PathBuf, String> {
    let found = Places::here().tools("nginx", &[PATH, "/usr/sbin", "/usr/local/sbin"]);
    found.into_iter().next().ok_or_else(|| INSTALL.line())
}

/// Returns the version, or what installs the program.
pub(super) fn version() -> Result<String, String> {
    let output = Command::new(program()?).arg("-v").output().map_err(|why| why.to_string())?;
    // It prints this as an error.
    let text = String::from_utf8_lossy(&output.stderr);
    Ok(text.trim().trim_start_matches("nginx version: ").to_owned())
}

/// A running nginx. Dropping it ends all its processes.
pub(crate) struct Nginx {
    child: Child,
    port: u16,
    workers: usize,
    _folder: Workshop,
}

impl Nginx {
    /// Starts one that answers the requests of [`Page::Light`].
    pub(crate) fn start(workers: usize, connections: usize) -> anyhow::Result<Self> {
        let program = program().map_err(|install| anyhow!("nginx was not found: {install}"))?;
        // It cannot say which port the system chose, so one that was free a moment ago must do.
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let settings = settings(workers, connections, port);
        let folder = Workshop::with("nginx", &[("nginx.conf", &settings)])?;
        let child = Command::new(program)
            .arg("-p")
            .arg(folder.folder())
            .args(["-c", "nginx.conf"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start nginx")?;
        let mut nginx = Self { child, port, workers, _folder: folder };
        nginx.wait()?;
        Ok(nginx)
    }

    /// Waits until it listens and has its workers.
    fn wait(&mut self) -> anyhow::Result<()> {
        for _ in 0..LOOKS {
            let is_there = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok();
            if is_there && self.processes()?.len() == self.workers {
                return Ok(());
            }
            if let Some(status) = self.child.try_wait()? {
                let log = self._folder.folder().join("error.log");
                let log = fs::read_to_string(log).unwrap_or_default();
                bail!("nginx has ended ({status}): {}", log.trim());
            }
            thread::sleep(LOOK);
        }
        bail!("nginx does not listen after {:?}", LOOK * LOOKS)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns what its workers have used up to now.
    pub(crate) fn time(&self) -> anyhow::Result<Time> {
        // A worker has one thread, so its time is the first number here, in nanoseconds.
        let of = |process| number(&format!("/proc/{process}/schedstat"), 0);
        let all = self.processes()?.into_iter().map(of).sum::<anyhow::Result<u64>>();
        all.map(|cpu_ns| Time { cpu_ns })
    }

    /// Returns its workers.
    fn processes(&self) -> anyhow::Result<Vec<u32>> {
        let above = self.child.id();
        let path = format!("/proc/{above}/task/{above}/children");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
        Ok(text.split_whitespace().filter_map(|process| process.parse().ok()).collect())
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // The process above ends its workers, if it is told to end in this way. One that has ended
        // cannot be told, which is no error.
        if let Some(process) = Pid::from_raw(self.child.id() as i32) {
            let _ = kill_process(process, Signal::TERM);
        }
        let _ = self.child.wait();
    }
}

/// Returns a number in a file of numbers.
fn number(path: &str, place: usize) -> anyhow::Result<u64> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
    let number = text.split_whitespace().nth(place).and_then(|number| number.parse().ok());
    number.with_context(|| format!("{path} has no number {place}: `{}`", text.trim()))
}

/// Returns settings in which it writes no line per request, keeps connections, and gives each
/// worker a listening socket of its own.
fn settings(workers: usize, connections: usize, port: u16) -> String {
    let path = Page::Light.name();
    // A worker's share of the connections is by chance.
    let most = connections + 64;
    format!(
        "daemon off;
worker_processes {workers};
worker_rlimit_nofile {most};
pid nginx.pid;
error_log error.log;
events {{ worker_connections {most}; }}
http {{
    access_log off;
    default_type text/plain;
    keepalive_requests 1000000000;
    keepalive_timeout 1h;
    tcp_nodelay on;
    client_body_temp_path temp;
    proxy_temp_path temp;
    fastcgi_temp_path temp;
    uwsgi_temp_path temp;
    scgi_temp_path temp;
    server {{
        listen 127.0.0.1:{port} reuseport backlog=16384;
        location = {path} {{ return 200 \"hello $args\"; }}
    }}
}}
"
    )
}
