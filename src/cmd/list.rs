//! `votebench list`: every codec with what it is made of, as a table or as JSON.

use std::collections::BTreeMap;

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

use super::{Outcome, print};
use crate::codec::{self, Codec};
use crate::result::source::Source;
use crate::vote::Vote;

/// Print every codec and row, with what each is made of.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print JSON instead of a table.
    #[arg(long)]
    pub json: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// Where stdout cannot be written.
pub fn run(args: &Args) -> Outcome {
    let versions = Source::of_this_build().crates;
    let mut codecs = codec::all();
    let entries = codecs.iter_mut().map(|codec| Entry::of(codec.as_mut(), &versions));
    let list = List { codecs: entries.collect::<Result<_, _>>()? };
    print(&if args.json { serde_json::to_string_pretty(&list)? } else { table(&list) })
}

#[derive(Serialize)]
struct List {
    codecs: Vec<Entry>,
}

/// One codec.
#[derive(Serialize)]
struct Entry {
    name: &'static str,
    class: &'static str,
    /// The crates under test, each with the version that this build has.
    crates: BTreeMap<&'static str, String>,
    /// Bytes of the canonical vote.
    wire_bytes: usize,
    /// Bytes behind an 8-byte boundary at which its stack delivers a message.
    lead: usize,
    summary: &'static str,
    /// Models that it does not have.
    lacks: Vec<Lack>,
}

#[derive(Serialize)]
struct Lack {
    model: &'static str,
    reason: &'static str,
}

impl Entry {
    fn of(codec: &mut dyn Codec, versions: &BTreeMap<String, String>) -> Result<Self, codec::CodecError> {
        let wire_bytes = codec.encode(&Vote::canonical())?.len();
        let info = codec.info();
        Ok(Self {
            name: info.name,
            class: info.class.name(),
            crates: info.crates.iter().map(|name| (*name, versions.get(*name).cloned().unwrap_or_default())).collect(),
            wire_bytes,
            lead: info.lead,
            summary: info.summary,
            lacks: info.lacks.iter().map(|(model, reason)| Lack { model: model.name(), reason }).collect(),
        })
    }
}

fn table(list: &List) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["codec", "class", "bytes", "crates", "what it is", "lacks"]);
    for entry in &list.codecs {
        let lacks: Vec<_> = entry.lacks.iter().map(|lack| lack.model).collect();
        let crates: Vec<_> = entry.crates.iter().map(|(name, version)| format!("{name} {version}")).collect();
        table.add_row([
            entry.name.to_owned(),
            entry.class.to_owned(),
            entry.wire_bytes.to_string(),
            crates.join(", "),
            entry.summary.to_owned(),
            lacks.join(", "),
        ]);
    }
    if let Some(bytes) = table.column_mut(2) {
        bytes.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}
