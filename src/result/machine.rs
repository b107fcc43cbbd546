//! Which machine measured. Owns the record and the fingerprint by which two runs are told to be of one kind of machine.

use std::fs;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The machine that measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// A hash over everything else here, memory in whole GiB; equal for machines whose rates may be compared.
    pub fingerprint: String,
    /// The processor, by its own name.
    pub cpu: String,
    /// Logical processors.
    pub cores: usize,
    /// The kernel's release.
    pub kernel: String,
    /// The hypervisor, `none` on bare metal, `unknown` where a virtual machine does not say.
    pub hypervisor: String,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// The kernel's clock source.
    pub clock_source: String,
}

impl Machine {
    /// The machine that this program runs on; what it does not tell is `unknown`.
    #[must_use]
    pub fn here() -> Self {
        let processors = read("/proc/cpuinfo");
        let memory = read("/proc/meminfo");
        let mut machine = Self {
            fingerprint: String::new(),
            cpu: field(&processors, "model name").unwrap_or("unknown").to_owned(),
            cores: processors.lines().filter(|line| line.starts_with("processor")).count().max(1),
            kernel: known(&read("/proc/sys/kernel/osrelease")),
            hypervisor: hypervisor(&processors),
            memory_bytes: field(&memory, "MemTotal")
                .and_then(|value| value.split(' ').next()?.parse::<u64>().ok())
                .map_or(0, |kibibytes| kibibytes * 1_024),
            clock_source: known(&read("/sys/devices/system/clocksource/clocksource0/current_clocksource")),
        };
        machine.fingerprint = machine.fingerprint();
        machine
    }

    fn fingerprint(&self) -> String {
        let gibibytes = (self.memory_bytes + (1 << 29)) >> 30;
        let Self { cpu, cores, kernel, hypervisor, clock_source, .. } = self;
        let text = format!("{cpu}\n{cores}\n{kernel}\n{hypervisor}\n{gibibytes}\n{clock_source}");
        format!("{:016x}", fnv_1a(text.as_bytes()))
    }
}

/// The 64-bit FNV-1a hash: short, stable across builds, and no secret depends on it.
fn fnv_1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

fn hypervisor(processors: &str) -> String {
    let is_virtual = field(processors, "flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    if !is_virtual {
        return "none".to_owned();
    }
    let maker = read("/sys/class/dmi/id/sys_vendor");
    let kind = read("/sys/hypervisor/type");
    match (kind.trim(), maker.trim()) {
        ("", "") => "unknown".to_owned(),
        ("", maker) => maker.to_owned(),
        (kind, _) => kind.to_owned(),
    }
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, value) = text.lines().find(|line| line.starts_with(name))?.split_once(':')?;
    Some(value.trim())
}

fn known(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() { "unknown".to_owned() } else { text.to_owned() }
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_as_published() {
        assert_eq!(fnv_1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv_1a(b"a"), 0xaf63_dc4c_8601_ec8c);
    }

    #[test]
    fn is_the_same_machine_twice_and_another_with_more_cores() {
        let here = Machine::here();
        assert_eq!(here, Machine::here());
        let other = Machine { cores: here.cores + 1, ..here.clone() };
        assert_ne!(other.fingerprint(), here.fingerprint);
        let more = Machine { memory_bytes: here.memory_bytes + 4_096, ..here.clone() };
        assert_eq!(more.fingerprint(), here.fingerprint, "a page more or less is no other machine");
    }
}
