//! A block of README.md that a command writes from runs: the line by which it says which they are, and the check that nobody typed
//! there. What stands in a block is its own command's.

use std::fs;
use std::path::{Path, PathBuf};

use super::BadInput;
use crate::report::readme::{self, BlockError};

/// The line by which a block says what it is from.
const FROM: &str = "<!-- from ";

/// A Markdown file with blocks.
pub(super) struct File<'a> {
    path: &'a Path,
    /// As it stands there.
    pub(super) text: String,
}

impl<'a> File<'a> {
    /// Reads it.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub(super) fn read(path: &'a Path) -> Result<Self, BadInput> {
        let text = fs::read_to_string(path).map_err(|error| BadInput(format!("{}: {error}", path.display())))?;
        Ok(Self { path, text })
    }

    /// `text`, which is this file's or a newer one, with the block `name` from `source`.
    ///
    /// # Errors
    /// Where the block's markers are not there.
    pub(super) fn filled(&self, text: &str, name: &str, source: &str, content: &str) -> Result<String, BadInput> {
        let content = format!("{FROM}{source} -->\n\n{content}");
        readme::replace(text, name, &content).map_err(|error| self.wrong(&error))
    }

    /// What the block `name` says that it is from; `None` where there is no such block, or nothing in it.
    ///
    /// # Errors
    /// Where its markers are wrong, or it does not say it.
    pub(super) fn source(&self, name: &str) -> Result<Option<&str>, BadInput> {
        let content = match readme::block(&self.text, name) {
            Ok("") | Err(BlockError::NoOpening(_)) => return Ok(None),
            Ok(content) => content,
            Err(error) => return Err(self.wrong(&error)),
        };
        let named = content.lines().next().and_then(|line| line.strip_prefix(FROM)?.strip_suffix(" -->"));
        named.map(Some).ok_or_else(|| self.silent(name))
    }

    /// The block `name` does not say what it is from.
    pub(super) fn silent(&self, name: &str) -> BadInput {
        BadInput(format!("{}: its block {name} does not say which runs it is from", self.name()))
    }

    /// Its path, in words.
    pub(super) fn name(&self) -> std::path::Display<'_> {
        self.path.display()
    }

    /// Paths in it count from its own folder.
    pub(super) fn beside(&self, path: &str) -> PathBuf {
        self.folder().join(path)
    }

    /// Its own folder.
    pub(super) fn folder(&self) -> &'a Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// That it is what `command` would make of it.
    ///
    /// # Errors
    /// Where it is not.
    pub(super) fn unchanged(&self, new: &str, command: &str) -> Result<(), BadInput> {
        if new == self.text {
            return Ok(());
        }
        let name = self.name();
        Err(BadInput(format!("{name}: its tables are not those of the runs; write them with `votebench {command}`")))
    }

    fn wrong(&self, error: &BlockError) -> BadInput {
        BadInput(format!("{}: {error}", self.name()))
    }
}
