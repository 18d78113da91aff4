//! Addresses, and names of hosts.

use super::place::no_runtime;
use crate::budget;
use crate::processor::current;
use crate::task::{AbortHandle, spawn_blocking};
use std::future::Future;
use std::io::{Error, ErrorKind, Result};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::vec;

/// What can be resolved to socket addresses: addresses, pairs of a host and a port, and texts such
/// as `"localhost:8080"`.
///
/// Addresses, also as text, resolve at once. Names of hosts are looked up by the system on a
/// blocking thread.
///
/// # Examples
/// ```
/// use evenkeel::net::Addresses;
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     assert_eq!("127.0.0.1:80".resolve().await.unwrap().len(), 1);
///     assert!("localhost:80".resolve().await.is_ok());
///     let addresses = [80, 8_080].map(|port| std::net::SocketAddr::from(([127, 0, 0, 1], port)));
///     assert_eq!(addresses.resolve().await.unwrap(), addresses);
///     assert!("no port".resolve().await.is_err());
/// });
/// ```
pub trait Addresses: Send {
    /// Returns the addresses.
    ///
    /// # Errors
    /// Fails if the text has no port, the system cannot resolve the name, or a name is to be looked
    /// up outside of any runtime or in a deterministic run.
    fn resolve(self) -> impl Future<Output = Result<Vec<SocketAddr>>> + Send;
}

macro_rules! at_once {
    ($($type:ty),*) => {$(
        impl Addresses for $type {
            async fn resolve(self) -> Result<Vec<SocketAddr>> {
                Ok(self.to_socket_addrs()?.collect())
            }
        }
    )*};
}

macro_rules! lists {
    ($($type:ty),*) => {$(
        impl Addresses for $type {
            async fn resolve(self) -> Result<Vec<SocketAddr>> {
                Ok(self.into())
            }
        }
    )*};
}

at_once!(
    SocketAddr,
    &SocketAddr,
    std::net::SocketAddrV4,
    std::net::SocketAddrV6,
    (IpAddr, u16),
    (Ipv4Addr, u16),
    (Ipv6Addr, u16)
);

lists!(&[SocketAddr], Vec<SocketAddr>);

impl Addresses for &Vec<SocketAddr> {
    async fn resolve(self) -> Result<Vec<SocketAddr>> {
        Ok(self.clone())
    }
}

impl<const N: usize> Addresses for [SocketAddr; N] {
    async fn resolve(self) -> Result<Vec<SocketAddr>> {
        Ok(self.to_vec())
    }
}

impl<const N: usize> Addresses for &[SocketAddr; N] {
    async fn resolve(self) -> Result<Vec<SocketAddr>> {
        Ok(self.to_vec())
    }
}

impl Addresses for &str {
    async fn resolve(self) -> Result<Vec<SocketAddr>> {
        match self.parse::<SocketAddr>() {
            Ok(address) => Ok(vec![address]),
            Err(_) if !has_port(self) => Err(Error::new(
                ErrorKind::InvalidInput,
                format!(
                    "\"{self}\" ends with no port of 0 to 65535: write one, as in \"localhost:80\""
                ),
            )),
            Err(_) => look_up(self.to_owned()).await,
        }
    }
}

impl Addresses for String {
    async fn resolve(self) -> Result<Vec<SocketAddr>> {
        self.as_str().resolve().await
    }
}

impl Addresses for &String {
    async fn resolve(self) -> Result<Vec<SocketAddr>> {
        self.as_str().resolve().await
    }
}

impl Addresses for (&str, u16) {
    async fn resolve(self) -> Result<Vec<SocketAddr>> {
        match self.0.parse::<IpAddr>() {
            Ok(address) => Ok(vec![SocketAddr::new(address, self.1)]),
            Err(_) => look_up((self.0.to_owned(), self.1)).await,
        }
    }
}

impl Addresses for (String, u16) {
    async fn resolve(self) -> Result<Vec<SocketAddr>> {
        (self.0.as_str(), self.1).resolve().await
    }
}

fn has_port(host: &str) -> bool {
    host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok())
}

async fn look_up(name: impl ToSocketAddrs + Send + 'static) -> Result<Vec<SocketAddr>> {
    let shared = current::shared().ok_or_else(no_runtime)?;
    if shared.hooks.deterministic {
        return Err(Error::other(
            "a deterministic run looks up no names, which resolve to what is not its own: give addresses",
        ));
    }
    /// A look-up that has not begun when its caller gives up is not made: others would wait for it.
    struct Ends(AbortHandle);

    impl Drop for Ends {
        fn drop(&mut self) {
            self.0.abort();
        }
    }

    let found = spawn_blocking(move || name.to_socket_addrs().map(Iterator::collect));
    let _ends = Ends(found.abort_handle());
    found.await?
}

/// Looks up the addresses of a host.
///
/// # Cancel safety
/// A call that is dropped has changed nothing. The system goes on with a look-up that it has begun,
/// on a thread of [`spawn_blocking`]; one that waits for a thread is not made.
///
/// # Errors
/// Those of [`Addresses::resolve`].
///
/// # Examples
/// ```
/// let runtime = evenkeel::Runtime::new().unwrap();
/// let mut addresses = runtime.block_on(evenkeel::net::lookup_host("127.0.0.1:80")).unwrap();
/// assert_eq!(addresses.next().unwrap().port(), 80);
/// ```
pub async fn lookup_host(host: impl Addresses) -> Result<vec::IntoIter<SocketAddr>> {
    budget::consume().await;
    Ok(host.resolve().await?.into_iter())
}

/// Calls `open` with each address until one succeeds, and returns the last error otherwise.
pub(super) async fn first<T, F: Future<Output = Result<T>>>(
    addresses: impl Addresses,
    mut open: impl FnMut(SocketAddr) -> F,
) -> Result<T> {
    // A socket that is made or connected at once waits nowhere else.
    budget::consume().await;
    let mut failed = None;
    for address in addresses.resolve().await? {
        match open(address).await {
            Ok(socket) => return Ok(socket),
            Err(error) => failed = Some(error),
        }
    }
    Err(failed.unwrap_or_else(|| {
        let words =
            "there is no address to try: the list is empty, or the name of the host has none";
        Error::new(ErrorKind::InvalidInput, words)
    }))
}
