//! Embeds where this build comes from: commit, tree, compiler, flags, and the versions of the crates under test.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

fn main() {
    let fact = |name: &str, value: &str| println!("cargo::rustc-env=VOTEBENCH_{name}={value}");
    let checkout = is_own_checkout();
    let commit = checkout.then(|| git(&["rev-parse", "--short=12", "HEAD"])).flatten();
    fact("COMMIT", &commit.map_or_else(|| "0".repeat(12), |commit| commit.chars().take(12).collect()));
    fact("DIRTY", if checkout && is_dirty() { "true" } else { "false" });
    fact("RUSTC", &compiler().unwrap_or_else(|| "unknown".to_owned()));
    for (name, variable) in [("PROFILE", "PROFILE"), ("TARGET", "TARGET")] {
        fact(name, &env::var(variable).unwrap_or_default());
    }
    fact("RUSTFLAGS", &env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default().replace('\u{1f}', " "));
    fact("CRATES", &crates(&fs::read_to_string("Cargo.lock").unwrap_or_default()));
    watch(checkout);
}

/// Whether this is a checkout of votebench itself, and not its sources unpacked within somebody else's repository, whose
/// commit would say nothing.
fn is_own_checkout() -> bool {
    let here = env::var_os("CARGO_MANIFEST_DIR").and_then(|path| fs::canonicalize(path).ok());
    let top = git(&["rev-parse", "--show-toplevel"]).and_then(|path| fs::canonicalize(path).ok());
    here.is_some() && here == top
}

/// What git says, where this is a checkout and git is there. It writes nothing, not even a fresher index.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("--no-optional-locks").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// Whether a tracked file outside `results/` differs from the commit.
fn is_dirty() -> bool {
    let changed = git(&["status", "--porcelain", "--untracked-files=no", "--", ".", ":(exclude)results"]);
    changed.is_some_and(|changed| !changed.is_empty())
}

/// The compiler's version, as `1.95.0`.
fn compiler() -> Option<String> {
    let rustc = env::var_os("RUSTC")?;
    let output = Command::new(rustc).arg("--version").output().ok()?;
    String::from_utf8(output.stdout).ok()?.split(' ').nth(1).map(str::to_owned)
}

/// `name=version` of every direct dependency, separated by commas, out of the lock file.
fn crates(lock: &str) -> String {
    let packages: Vec<(&str, &str, &str)> = lock.split("[[package]]").filter_map(package).collect();
    let own = packages.iter().find(|(name, _, _)| *name == "votebench");
    let wanted: Vec<&str> = own.map_or_else(Vec::new, |(_, _, body)| quoted(body, "dependencies = ["));
    let versions = wanted.iter().filter_map(|dependency| {
        // A name stands with its version only where the lock file holds several.
        let mut words = dependency.split(' ');
        let name = words.next()?;
        let version = words.next();
        let (_, locked, _) = packages.iter().find(|(other, _, _)| *other == name)?;
        Some(format!("{name}={}", version.unwrap_or(locked)))
    });
    versions.collect::<Vec<_>>().join(",")
}

fn package(body: &str) -> Option<(&str, &str, &str)> {
    let value = |key: &str| {
        let line = body.lines().find_map(|line| line.strip_prefix(key))?;
        line.trim().strip_prefix('"')?.strip_suffix('"')
    };
    Some((value("name = ")?, value("version = ")?, body))
}

fn quoted<'a>(body: &'a str, after: &str) -> Vec<&'a str> {
    let list = body.split(after).nth(1).and_then(|rest| rest.split(']').next()).unwrap_or_default();
    list.lines().filter_map(|line| line.trim().trim_end_matches(',').strip_prefix('"')?.strip_suffix('"')).collect()
}

/// Run again when the commit changes, or a tracked file outside `results/`: a new run must not cost a new build.
fn watch(checkout: bool) {
    let own = ["build.rs", "Cargo.toml", "Cargo.lock", "src", "benches"];
    let mut paths: BTreeSet<String> = own.into_iter().map(str::to_owned).collect();
    if checkout {
        let tracked = git(&["ls-files"]).unwrap_or_default();
        paths.extend(tracked.lines().map(|file| file.split('/').next().unwrap_or(file).to_owned()));
        paths.remove("results");
        // What HEAD names moves with a commit; the log alone would do, but it can be turned off. In a worktree these lie
        // in two folders, which git knows.
        let head = git(&["symbolic-ref", "--quiet", "HEAD"]);
        let names = ["HEAD", "logs/HEAD", "packed-refs", "index"];
        for name in names.into_iter().chain(head.as_deref()) {
            paths.extend(git(&["rev-parse", "--git-path", name]));
        }
    }
    // A path that is not there would make every build run this anew.
    for path in paths.iter().filter(|path| Path::new(path).exists()) {
        println!("cargo::rerun-if-changed={path}");
    }
}
