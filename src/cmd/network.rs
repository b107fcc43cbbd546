//! Flags that the network suites have in common, made into what their drivers take.

use std::path::Path;

use anyhow::Context;

use super::BadInput;
use crate::measure::pinning;
use crate::protocol::Protocol;
use crate::transport::{Address, Wait};

/// The cores of client and server: those that are named, or the last and the first that this process may run on, which are
/// one where there is but one.
///
/// # Errors
/// [`BadInput`], where they are not two, or this process may not run there.
pub(super) fn cores_of(named: &[usize]) -> anyhow::Result<Option<(usize, usize)>> {
    let allowed = pinning::allowed().context("cannot find out which cores there are")?;
    if let Some(core) = named.iter().find(|core| !allowed.contains(core)) {
        return Err(BadInput(format!("--cores: this process may not run on core {core}; it may on {allowed:?}")).into());
    }
    match named {
        [] => Ok(allowed.last().copied().zip(allowed.first().copied())),
        [client, server] => Ok(Some((*client, *server))),
        _ => Err(BadInput("--cores: two cores are wanted, CLIENT,SERVER".to_owned()).into()),
    }
}

/// Waits by their names, each once.
///
/// # Errors
/// [`BadInput`], where a name is none.
pub(super) fn waits(names: &[String]) -> anyhow::Result<Vec<Wait>> {
    let mut waits = Vec::new();
    for name in names {
        let wait = Wait::ALL.into_iter().find(|wait| wait.name() == name);
        let wait = wait.ok_or_else(|| BadInput(format!("--wait: `{name}` is neither block nor poll")))?;
        if !waits.contains(&wait) {
            waits.push(wait);
        }
    }
    Ok(waits)
}

/// A server that is there already, and the certificate that it must show.
///
/// # Errors
/// [`BadInput`], where several protocols are named, or the address or the certificate makes no sense.
pub(super) fn connect(
    address: Option<&str>,
    authority: Option<&Path>,
    protocols: &[Protocol],
) -> anyhow::Result<Option<(Address, Option<String>)>> {
    let Some(text) = address else { return Ok(None) };
    if protocols.len() != 1 {
        return Err(BadInput("--connect: one --protocol is wanted, which the server there speaks".to_owned()).into());
    }
    let address = text.parse().map_err(|error| BadInput(format!("--connect: {error}")))?;
    let authority = match authority {
        Some(path) => {
            let pem = std::fs::read_to_string(path);
            Some(pem.map_err(|error| BadInput(format!("--ca: {}: {error}", path.display())))?)
        }
        None => None,
    };
    Ok(Some((address, authority)))
}
