//! `votebench list`: every codec, transport and protocol with what it is made of, as tables or as JSON.

use std::collections::BTreeMap;

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

use super::{Outcome, print};
use crate::codec::{self, Codec};
#[cfg(feature = "net")]
use crate::protocol::{self, Protocol};
use crate::result::source::Source;
#[cfg(feature = "net")]
use crate::transport::{self, Info, Payload};
use crate::vote::Vote;

/// Print every codec, transport and protocol, with what each is made of.
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
    let list = List {
        codecs: entries.collect::<Result<_, _>>()?,
        #[cfg(feature = "net")]
        transports: transport::all().into_iter().map(|info| TransportEntry::of(info, &versions)).collect(),
        #[cfg(feature = "net")]
        protocols: protocol::rows().iter().map(ProtocolEntry::of).collect(),
    };
    print(&if args.json { serde_json::to_string_pretty(&list)? } else { list.tables() })
}

#[derive(Serialize)]
struct List {
    codecs: Vec<Entry>,
    #[cfg(feature = "net")]
    transports: Vec<TransportEntry>,
    #[cfg(feature = "net")]
    protocols: Vec<ProtocolEntry>,
}

impl List {
    #[cfg(not(feature = "net"))]
    fn tables(&self) -> String {
        codecs(&self.codecs)
    }

    #[cfg(feature = "net")]
    fn tables(&self) -> String {
        [codecs(&self.codecs), transports(&self.transports), protocols(&self.protocols)].join("\n\n")
    }
}

/// One transport.
#[cfg(feature = "net")]
#[derive(Serialize)]
struct TransportEntry {
    name: &'static str,
    /// How it parts messages.
    delimiter: &'static str,
    /// The one codec that it carries; null where it carries any.
    codec: Option<&'static str>,
    crates: BTreeMap<&'static str, String>,
    summary: &'static str,
    settings: BTreeMap<&'static str, &'static str>,
    /// Whether its server shows a certificate.
    secure: bool,
}

#[cfg(feature = "net")]
impl TransportEntry {
    fn of(info: &'static Info, versions: &BTreeMap<String, String>) -> Self {
        Self {
            name: info.name,
            delimiter: info.delimiter.name(),
            codec: info.codec,
            crates: with_versions(info.crates, versions),
            summary: info.summary,
            settings: info.settings.iter().copied().collect(),
            secure: info.secure,
        }
    }
}

/// One row of the network suites.
#[cfg(feature = "net")]
#[derive(Serialize)]
struct ProtocolEntry {
    name: String,
    class: protocol::Class,
    /// The codec; null for the floors, whose bytes nobody reads.
    codec: Option<String>,
    transport: String,
}

#[cfg(feature = "net")]
impl ProtocolEntry {
    fn of(protocol: &Protocol) -> Self {
        let codec = match &protocol.payload {
            Payload::Codec(codec) => Some(codec.clone()),
            Payload::Opaque => None,
        };
        Self { name: protocol.name.clone(), class: protocol.class, codec, transport: protocol.transport.clone() }
    }
}

fn with_versions(
    crates: &'static [&'static str],
    versions: &BTreeMap<String, String>,
) -> BTreeMap<&'static str, String> {
    crates.iter().map(|name| (*name, versions.get(*name).cloned().unwrap_or_default())).collect()
}

fn in_words(crates: &BTreeMap<&'static str, String>) -> String {
    let words: Vec<_> = crates.iter().map(|(name, version)| format!("{name} {version}")).collect();
    words.join(", ")
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
            crates: with_versions(info.crates, versions),
            wire_bytes,
            lead: info.lead,
            summary: info.summary,
            lacks: info.lacks.iter().map(|(model, reason)| Lack { model: model.name(), reason }).collect(),
        })
    }
}

fn codecs(list: &[Entry]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["codec", "class", "bytes", "crates", "what it is", "lacks"]);
    for entry in list {
        let lacks: Vec<_> = entry.lacks.iter().map(|lack| lack.model).collect();
        table.add_row([
            entry.name.to_owned(),
            entry.class.to_owned(),
            entry.wire_bytes.to_string(),
            in_words(&entry.crates),
            entry.summary.to_owned(),
            lacks.join(", "),
        ]);
    }
    if let Some(bytes) = table.column_mut(2) {
        bytes.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}

#[cfg(feature = "net")]
fn transports(list: &[TransportEntry]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header([
        "transport",
        "parts messages by",
        "carries",
        "crates",
        "what it is",
    ]);
    for entry in list {
        let codec = entry.codec.unwrap_or("any codec").to_owned();
        let (delimiter, summary) = (entry.delimiter.to_owned(), entry.summary.to_owned());
        table.add_row([entry.name.to_owned(), delimiter, codec, in_words(&entry.crates), summary]);
    }
    table.trim_fmt()
}

#[cfg(feature = "net")]
fn protocols(list: &[ProtocolEntry]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["protocol", "class", "codec", "transport"]);
    for entry in list {
        let codec = entry.codec.as_deref().unwrap_or("161 bytes, echoed unread");
        table.add_row([&entry.name, entry.class.name(), codec, &entry.transport]);
    }
    table.trim_fmt()
}
