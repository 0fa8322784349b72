//! Work that takes longer than a keystroke, on a thread of its own: the gates of each function, and
//! the errors that only show when gates are written.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_channel::{Receiver, Sender};
use lsp_types::Uri;

use super::files::Modules;
use crate::cost::Totals;
use crate::diag::{Diagnostic, Diagnostics};
use crate::source::{Sources, Span};
use crate::{Checked, Options, check, lower_entry, one_call};

/// A document to be counted.
pub struct Job {
    /// The document.
    pub uri: Uri,
    /// The change after which this was requested; a later one makes the job void.
    pub change: u64,
    /// The file's name.
    pub name: String,
    /// Its text.
    pub text: Arc<str>,
    /// Its modules.
    pub modules: Modules,
    /// The options of its compilation.
    pub options: Options,
}

/// The gates of a function.
#[derive(Clone, Debug)]
pub struct Count {
    /// Where the function's name is.
    pub span: Span,
    /// Its name with its arguments.
    pub name: String,
    /// The gates of one call, with those of the functions that it calls.
    pub gates: Totals,
}

/// What a job found.
pub struct Counted {
    /// The document.
    pub uri: Uri,
    /// The change that it is about.
    pub change: u64,
    /// The functions of the document.
    pub counts: Vec<Count>,
    /// Errors of lowering.
    pub errors: Vec<Diagnostic>,
    /// The texts that they are about.
    pub sources: Sources,
}

/// Does jobs until nobody can send any more.
pub fn work(jobs: &Receiver<Job>, done: &Sender<Counted>, latest: &AtomicU64) {
    while let Ok(job) = jobs.recv() {
        let is_void = || latest.load(Ordering::Relaxed) > job.change;
        if is_void() {
            continue;
        }
        if let Some(counted) = count(&job, &is_void)
            && done.send(counted).is_err()
        {
            return;
        }
    }
}

/// Counts the gates; returns `None` when the job became void meanwhile, or the program has errors.
fn count(job: &Job, is_void: &dyn Fn() -> bool) -> Option<Counted> {
    let Checked { tir, sources, errors, entry, .. } =
        check(&job.name, &job.text, &job.modules, &job.options);
    if errors.errors() > 0 {
        return None;
    }
    let mut counts = Vec::new();
    let mut found = Diagnostics::default();
    if let Some(entry) = &entry
        && let Ok((circuit, _)) = lower_entry(&tir, entry, &mut found, false)
        && let Some(Some(instance)) = tir.instances.get(entry.instance)
    {
        let gates = Totals::of(&circuit);
        counts.push(Count { span: instance.span, name: instance.name.clone(), gates });
    }
    let mut seen = HashSet::new();
    for (place, instance) in tir.instances.iter() {
        let Some(instance) = instance else { continue };
        let is_entry = entry.as_ref().is_some_and(|entry| entry.instance == place);
        let known = !seen.insert((instance.span, instance.name.clone()));
        if instance.span.file != 0 || is_entry || known {
            continue;
        }
        if is_void() {
            return None;
        }
        // Any error here is also one of the entry, or of a function that nothing calls.
        if let Ok(circuit) = one_call(&tir, place, &mut found) {
            let gates = circuit.map_or_else(Totals::default, |circuit| Totals::of(&circuit));
            counts.push(Count { span: instance.span, name: instance.name.clone(), gates });
        }
    }
    let errors = found.list().to_vec();
    Some(Counted { uri: job.uri.clone(), change: job.change, counts, errors, sources })
}
