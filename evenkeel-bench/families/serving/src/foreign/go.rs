//! Go.

use std::process::Command;

use crate::server::Service;
use suite::kit::go;
use suite::kit::served::Served;
use suite::kit::toolchain::Workshop;

/// The program's files, as they lie under `peers/go/serving`.
const SOURCES: [(&str, &str); 7] = [
    ("block_linux.go", include_str!("../../../../peers/go/serving/block_linux.go")),
    ("block_other.go", include_str!("../../../../peers/go/serving/block_other.go")),
    ("echo.go", include_str!("../../../../peers/go/serving/echo.go")),
    ("go.mod", include_str!("../../../../peers/go/serving/go.mod")),
    ("main.go", include_str!("../../../../peers/go/serving/main.go")),
    ("pages.go", include_str!("../../../../peers/go/serving/pages.go")),
    ("used.go", include_str!("../../../../peers/go/serving/used.go")),
];

/// The program's name within its folder.
const PROGRAM: &str = "evenkeel-peer-serving";

/// The program in Go.
pub(crate) struct Go(Workshop);

impl Go {
    /// Builds it.
    pub(crate) fn build() -> anyhow::Result<Self> {
        go::build(&SOURCES, PROGRAM).map(Self)
    }

    /// Starts it. It raises its limit of descriptors itself.
    pub(crate) fn start(
        &self,
        service: Service,
        workers: usize,
        buffer: usize,
    ) -> anyhow::Result<Served> {
        let [workers, buffer] = [workers, buffer].map(|number| number.to_string());
        let arguments = ["--service", service.name(), "--workers", &workers, "--buffer", &buffer];
        Served::start(Command::new(self.0.path(PROGRAM)).args(arguments), Default::default())
    }
}
