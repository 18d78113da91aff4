//! Checks in a browser that no part of a page is cut off on a phone, on a screen or on paper.

use std::path::PathBuf;
use std::process::Command;

use super::{example, page};

/// The names of browsers that can run without a screen.
const BROWSERS: [&str; 5] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

/// The name of each frame, its width in pixels, and whether the styles for paper apply there.
const FRAMES: [(&str, u32, bool); 5] = [
    ("phone", 360, false),
    ("half a screen", 540, false),
    ("tablet", 768, false),
    ("screen", 1280, false),
    ("paper", 703, true),
];

fn browser() -> Option<PathBuf> {
    let said = std::env::var_os("CHROME").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path);
    let found = folders.find_map(|folder| {
        BROWSERS.map(|name| folder.join(name)).into_iter().find(|b| b.is_file())
    });
    said.or(found)
}

/// Returns a page that has `page` in a frame of each width, and lists the parts that are cut off.
fn framed(page: &str) -> String {
    let frame = |(name, width, is_paper): (&str, u32, bool)| {
        let page = match is_paper {
            true => page.replace("@media print", "@media all").replace(", print {", ", all {"),
            false => page.to_owned(),
        };
        let page = page.replace('&', "&amp;").replace('"', "&quot;");
        format!("<iframe title=\"{name}\" width={width} height=900 srcdoc=\"{page}\"></iframe>")
    };
    let frames: String = FRAMES.map(frame).concat();
    format!("<!doctype html><body>{frames}<script>{}</script></body>", include_str!("fit.js"))
}

#[test]
fn nothing_is_cut_off_on_a_phone_a_screen_or_paper() {
    let Some(browser) = browser() else {
        println!("no browser is found on PATH or by CHROME: the layout of the page is not checked");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("framed.html");
    let page = page::render(&example::session()).unwrap();
    std::fs::write(&file, framed(&page)).unwrap();
    let output = Command::new(&browser)
        .args(["--headless", "--disable-gpu", "--no-sandbox", "--virtual-time-budget=60000"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg("--dump-dom")
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout);
    let said = dom.split("<pre>").nth(1).and_then(|rest| rest.split("</pre>").next());
    let said = said.unwrap_or_else(|| panic!("{} said {dom}", browser.display()));
    assert_eq!(said.trim(), "checked", "cut off:\n{said}");
}
