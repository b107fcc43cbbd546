//! Threads that keep cores out of their idle states: a core that sleeps has to be woken before a message is handled, and on a
//! virtual machine that costs more than the message. They spin at idle priority, so that whatever else has work runs at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use thread_priority::{
    NormalThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};

use super::pinning;

/// Spins between two looks whether it is over.
const SPINS: u32 = 1_000;

/// Cores that are kept awake for as long as this lives.
#[derive(Debug)]
pub struct KeptAwake {
    over: Arc<AtomicBool>,
    spinners: Vec<JoinHandle<()>>,
}

impl KeptAwake {
    /// Keeps `cores` awake from now on.
    ///
    /// # Errors
    /// A sentence, where the system does not let threads be pinned or their priority be lowered.
    pub fn on(cores: &[usize]) -> Result<Self, String> {
        let mut kept = Self { over: Arc::default(), spinners: Vec::new() };
        for &core in cores {
            let (over, (ready, started)) = (Arc::clone(&kept.over), mpsc::channel());
            let spin = move || {
                let lowered = pinning::pin(core).map_err(|error| error.to_string()).and_then(|()| lower());
                let ok = lowered.is_ok();
                // Whoever asked is waiting for it.
                let _ = ready.send(lowered);
                while ok && !over.load(Ordering::Relaxed) {
                    (0..SPINS).for_each(|_| std::hint::spin_loop());
                }
            };
            let spinner = thread::Builder::new().name(format!("awake-{core}")).spawn(spin);
            kept.spinners.push(spinner.map_err(|error| error.to_string())?);
            started.recv().map_err(|error| error.to_string())??;
        }
        Ok(kept)
    }
}

impl Drop for KeptAwake {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for spinner in self.spinners.drain(..) {
            // It has nothing to say.
            let _ = spinner.join();
        }
    }
}

/// Gives the calling thread the idle policy: it runs only where nothing else wants to.
fn lower() -> Result<(), String> {
    let idle = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
    set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, idle)
        .map_err(|error| format!("no thread of idle priority: {error:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use procfs::process::Process;

    #[test]
    fn spins_at_idle_priority_until_it_is_dropped() {
        let core = pinning::allowed().unwrap()[0];
        let spinners = || {
            let tasks = Process::myself().unwrap().tasks().unwrap().flatten();
            let stats: Vec<_> = tasks.filter_map(|task| task.stat().ok()).collect();
            stats.into_iter().filter(|stat| stat.comm == format!("awake-{core}")).collect::<Vec<_>>()
        };
        let kept = KeptAwake::on(&[core]).unwrap();
        let seen = spinners();
        assert_eq!(seen.len(), 1);
        // SCHED_IDLE.
        assert_eq!(seen[0].policy, Some(5));
        drop(kept);
        assert!(spinners().is_empty());
    }
}
