//! A connection that the system makes with the first write.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "no safe function sets the options of TCP Fast Open")]

use super::on_workers;
use evenkeel::net::{TcpListener, TcpSocket};
use std::io::{Error, Result};
use std::os::fd::AsRawFd;

/// Sets an option of TCP to 1.
fn set(socket: &TcpSocket, option: libc::c_int) -> Result<()> {
    let (one, size) = (1, size_of::<libc::c_int>() as libc::socklen_t);
    let value = (&raw const one).cast();
    let fd = socket.as_raw_fd();
    // SAFETY: the system reads `size` bytes at `value`, which live until the call returns.
    let result = unsafe { libc::setsockopt(fd, libc::IPPROTO_TCP, option, value, size) };
    if result == 0 { Ok(()) } else { Err(Error::last_os_error()) }
}

#[test]
fn a_connection_that_waits_for_its_first_write_is_returned() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let socket = TcpSocket::new_v4().unwrap();
            let options = [libc::TCP_FASTOPEN_CONNECT, libc::TCP_FASTOPEN_NO_COOKIE];
            if let Err(error) = options.iter().try_for_each(|&option| set(&socket, option)) {
                eprintln!("not tested: the system refuses TCP Fast Open: {error}");
                return;
            }
            let client = socket.connect(listener.local_addr().unwrap()).await.unwrap();
            client.write_all(b"ping").await.unwrap();
            let (server, _) = listener.accept().await.unwrap();
            let mut word = [0; 4];
            server.read_exact(&mut word).await.unwrap();
            assert_eq!(&word, b"ping");
            server.write_all(b"pong").await.unwrap();
            client.read_exact(&mut word).await.unwrap();
            assert_eq!(&word, b"pong");
        });
    });
}
