//! Pictures: the plots of runs as SVG files in a folder, and whether a folder has what the runs give.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::Context;

use super::super::{BadInput, write_whole};
use crate::report::plot::{self, svg};
use crate::result::Loaded;

/// Writes a file for each plot.
///
/// # Errors
/// [`BadInput`] where the runs have nothing to plot; where a file cannot be written.
pub(super) fn write(runs: &[Loaded], folder: &Path) -> anyhow::Result<()> {
    let figures = plot::of(runs);
    if figures.is_empty() {
        return Err(BadInput(format!("{}: the runs have no figures to plot", folder.display())).into());
    }
    fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    for figure in figures {
        let file = folder.join(format!("{}.svg", figure.name));
        write_whole(&file, &svg::standalone(&figure))
            .with_context(|| format!("{} cannot be written", file.display()))?;
    }
    Ok(())
}

/// Holds a folder against what the runs give, byte for byte; a picture that they do not give is one too many.
///
/// # Errors
/// [`BadInput`] with the first file that differs.
pub(super) fn check(runs: &[Loaded], folder: &Path) -> anyhow::Result<()> {
    let wrong = |name: &str, what: &str| {
        BadInput(format!("{}: {what}; `votebench report RUN... --readme --svg` writes it", folder.join(name).display()))
    };
    let mut expected = Vec::new();
    for figure in plot::of(runs) {
        let name = format!("{}.svg", figure.name);
        match fs::read_to_string(folder.join(&name)) {
            Ok(there) if there == svg::standalone(&figure) => {}
            Ok(_) => return Err(wrong(&name, "is not what the runs give").into()),
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(wrong(&name, "is missing").into()),
            Err(error) => return Err(wrong(&name, &error.to_string()).into()),
        }
        expected.push(name);
    }
    for entry in fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".svg") && !expected.contains(&name) {
            return Err(wrong(&name, "is of no plot of the runs").into());
        }
    }
    Ok(())
}
