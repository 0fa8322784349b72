//! Punctured trees: the set-up of a session's correlated OTs without the base OTs, for each block
//! size and with the kernels of each backend. Throughput is in leaves of all trees.
#![allow(missing_docs)]

use std::process::{Command, ExitCode};

use divan::Bencher;
use divan::counter::ItemsCount;
use symbolon_ot::TreeDepth;
use symbolon_ot::cot::SelectiveFailureGuard;
use symbolon_ot::pprf::{TreeParams, build_trees, puncture};
use symbolon_primitives::{Backend, Block, Delta, Prg};

/// The environment variable that names the backend to use.
const CHOICE: &str = "SYMBOLON_BACKEND";

/// Runs each backend in its own process, because a process has one backend; runs a single one if it
/// is named.
fn main() -> ExitCode {
    if std::env::var_os(CHOICE).is_some() {
        divan::main();
        return ExitCode::SUCCESS;
    }
    let own = std::env::current_exe().expect("this program is a file");
    for backend in Backend::available() {
        let name = format!("{backend:?}").to_lowercase();
        eprintln!("{name}:");
        let mut child = Command::new(&own);
        let ended = child.args(std::env::args_os().skip(1)).env(CHOICE, name).status();
        if !ended.is_ok_and(|status| status.success()) {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn tree_params(bits: usize) -> TreeParams<'static> {
    let sizes = [TreeDepth::Two, TreeDepth::Four, TreeDepth::Eight];
    let k = sizes.into_iter().find(|k| k.bits() == bits).expect("one of the three");
    TreeParams { session: &[1; 32], tree_sender: 0.into(), tree_receiver: 1.into(), k }
}

fn leaves(tree_params: TreeParams<'_>) -> ItemsCount {
    ItemsCount::new(tree_params.k.trees() * tree_params.k.leaves())
}

#[divan::bench(consts = [2, 4, 8])]
fn building<const BITS: usize>(bencher: Bencher<'_, '_>) {
    let (tree_params, mut prg) = (tree_params(BITS), Prg::from_seed(Block(5)));
    let pairs = std::array::from_fn(|_| [prg.block(), prg.block()]);
    bencher.counter(leaves(tree_params)).bench_local(|| build_trees(tree_params, &pairs));
}

#[divan::bench(consts = [2, 4, 8])]
fn puncturing<const BITS: usize>(bencher: Bencher<'_, '_>) {
    let (tree_params, mut prg) = (tree_params(BITS), Prg::from_seed(Block(5)));
    let pairs: [[Block; 2]; 128] = std::array::from_fn(|_| [prg.block(), prg.block()]);
    let delta = Delta::new(prg.block());
    let chosen = std::array::from_fn(|i| pairs[i][(delta.0 >> i & 1) as usize]);
    let (_, message) = build_trees(tree_params, &pairs);
    let guard = SelectiveFailureGuard::new();
    bencher.counter(leaves(tree_params)).bench_local(|| {
        puncture(tree_params, &delta, &chosen, &message, &guard)
            .map(drop)
            .expect("an honest tree_sender")
    });
}
