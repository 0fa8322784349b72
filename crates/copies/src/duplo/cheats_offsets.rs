//! A garbler that changes to another Δ_ot between two cut-and-chooses under one set-up: between the
//! windows of a pool or of a program, and between the parts of a reactive computation. Within one
//! cut-and-choose everything that it commits to and opens is made for the same Δ_ot.

use symbolon_cutchoose::checks::OPENING;
use symbolon_engine::OutputBits;
use symbolon_primitives::{Block, Prg};
use symbolon_transport::adversary::{FnAdversary, Rate, assert_noticed, fresh};
use symbolon_transport::{Error, Result};

use super::checks;
use super::pool_tests::{cheats, components, fill};
use super::program::{EVALUATOR, GARBLER, Program, Task};
use super::tests::{Scene, TINY};
use super::windows::Windows;

/// What a garbler does about transfers that it made under the first Δ_ot.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Transfers {
    /// Commits to them as they are: they fit the other Δ_ot where the evaluator chose 0.
    AsTheyAre,
    /// Guesses each choice, and commits to what fits the other Δ_ot if the guess is right.
    Guessed,
}

const TRANSFERS: [Transfers; 2] = [Transfers::AsTheyAre, Transfers::Guessed];

/// Differences that leave the last bit: one in any other place is refused by a check of its own.
const DIFFERENCES: [u128; 3] = [2, 1 << 127, u128::MAX - 1];

/// Commits to another Δ_ot in one cut-and-choose, and goes on although the sums of the evaluator
/// do not fit.
fn another_offset(
    window: usize,
    difference: u128,
    transfers: Transfers,
    seed: u128,
) -> FnAdversary {
    let mut prg = Prg::from_seed(Block(fresh(seed)));
    let mut windows = 0;
    FnAdversary::new().on_state(move |at, data| match at {
        "duplo: transfer keys" if windows == window && transfers == Transfers::Guessed => {
            for key in data.chunks_exact_mut(16) {
                add(key, Block(difference).select(prg.bool()));
            }
        }
        "duplo: common offset" => {
            if windows == window {
                add(data, Block(difference));
            }
            windows += 1;
        }
        "duplo: verdict on transfers" => data[0] = 1,
        _ => {}
    })
}

fn add(to: &mut [u8], block: Block) {
    to.iter_mut().zip(block.to_bytes()).for_each(|(byte, other)| *byte ^= other);
}

/// The pool of two runs takes several windows.
fn several_windows(seed: u64) -> (Scene, usize) {
    let scene = Scene { most: Some(1), ..Scene::new(Some(TINY), 1, seed) };
    let windows = Windows::of_pool(&components(&scene, 2), scene.games()).unwrap();
    assert!(windows.number() > 2);
    let number = windows.number();
    (scene, number)
}

/// A pool keeps the commitment to Δ_ot of its first window. In every window Δ_ot is tied to the
/// transfers, which are all made under the Δ of the set-up: another one is found in its own window.
/// Cheat: G | filling a pool, a later window | another Δ_ot, for which the whole window is made;
/// the evaluator's choices guessed | `commitment opening` | 1 − 2^-ρ
#[test]
fn another_offset_in_a_later_window_of_a_pool_is_caught() {
    for (seed, transfers) in (0..).zip(TRANSFERS) {
        let (scene, windows) = several_windows(seed);
        for (window, difference) in [1, windows - 1].into_iter().zip(DIFFERENCES) {
            let adversary = another_offset(window, difference, transfers, seed.into());
            let ended = fill(&scene, 2, cheats(GARBLER, adversary));
            assert_noticed(&ended[usize::from(EVALUATOR)], GARBLER, OPENING);
        }
        // Beyond the last window there is no cheat.
        let honest = another_offset(windows, 2, transfers, seed.into());
        let ended = fill(&scene, 2, cheats(GARBLER, honest));
        assert!(ended.iter().all(Result::is_ok));
    }
}

/// The same if the difference ends in 1.
/// Cheat: G | filling a pool, a later window | another Δ_ot that ends in 0 | `offset difference`,
/// or `commitment opening` | always
#[test]
fn an_even_offset_in_a_later_window_is_caught() {
    let (scene, _) = several_windows(3);
    for transfers in TRANSFERS {
        let adversary = another_offset(1, 1, transfers, 3);
        let ended = fill(&scene, 2, cheats(GARBLER, adversary));
        let evaluator = &ended[usize::from(EVALUATOR)];
        let even = matches!(
            evaluator,
            Err(Error::PeerMisbehaved { check, .. }) if *check == checks::DIFFERENCE
        );
        assert_noticed(evaluator, GARBLER, if even { checks::DIFFERENCE } else { OPENING });
    }
}

/// A large program that is made in windows of its components.
/// Cheat: G | a large program in windows | another Δ_ot in the second window | `commitment opening`
/// | 1 − 2^-ρ
#[test]
fn another_offset_in_a_later_window_of_a_program_is_caught() {
    for (seed, transfers) in (0..).zip(TRANSFERS) {
        let scene = Scene { most: Some(1), ..Scene::new(Some(TINY), 1, seed) };
        let task = Task {
            executions: 1,
            preparations: 1,
            games: scene.games(),
            components: &scene.components,
            linked: &[],
        };
        let program = Program::new(&scene.circuit, task).unwrap();
        let windows = Windows::of_program(&program, scene.games()).unwrap();
        assert!(windows.as_pool(&program, &scene.components).unwrap().is_some());
        for difference in DIFFERENCES {
            let adversary = another_offset(1, difference, transfers, seed.into());
            let ended = scene.run(cheats(GARBLER, adversary));
            assert_noticed(&ended[usize::from(EVALUATOR)], GARBLER, OPENING);
        }
    }
}

/// Parts that follow have a cut-and-choose of their own, which is linked to the keys of earlier
/// parts by differences to Δ_ot.
/// Cheat: G | a later part of a reactive computation | another Δ_ot, for which the whole part is
/// made; the evaluator's choices guessed | `commitment opening` | 1 − 2^-ρ
#[test]
fn another_offset_in_a_later_part_is_caught() {
    for (seed, transfers) in (0..).zip(TRANSFERS) {
        let scene = Scene::new(Some(TINY), 1, seed);
        for part in [1, 2] {
            for difference in DIFFERENCES {
                let adversary = another_offset(part, difference, transfers, seed.into());
                let ended = scene.run_parts(cheats(GARBLER, adversary));
                assert_noticed(&ended[usize::from(EVALUATOR)], GARBLER, OPENING);
            }
        }
    }
}

/// Asserts that another Δ_ot goes unnoticed with probability 2^-ρ.
#[track_caller]
fn assert_as_predicted(rho: u32, runs: u128, unnoticed: impl Fn(FnAdversary) -> bool, what: &str) {
    for transfers in TRANSFERS {
        let run = |seed| unnoticed(another_offset(1, 1 << 77, transfers, seed << 8));
        let rate: Rate = (0..runs).map(run).collect();
        let predicted = 0.5f64.powi(rho as i32);
        rate.assert_predicted(predicted, &format!("{what}, ρ = {rho}, {transfers:?}: unnoticed"));
        rate.assert_tells(predicted, 1.0);
    }
}

/// Fills a pool at a small ρ and returns whether the evaluator has noticed nothing.
fn unnoticed_in_a_pool(rho: u32, adversary: FnAdversary) -> bool {
    let scene = Scene { rho, ..several_windows(1).0 };
    let [_, evaluator] = fill(&scene, 2, cheats(GARBLER, adversary));
    if evaluator.is_err() {
        assert_noticed(&evaluator, GARBLER, OPENING);
    }
    evaluator.is_ok()
}

/// Runs three parts at a small ρ, and returns whether the cut-and-choose of the second one has
/// passed. Keys of the first part then do not fit the second: this is noticed where they are used,
/// and whatever is learnt is right.
fn unnoticed_in_parts(rho: u32, adversary: FnAdversary) -> bool {
    let scene = Scene { rho, ..Scene::new(Some(TINY), 1, 1) };
    let [_, evaluator]: [Result<[OutputBits; 2]>; 2] = scene.run_parts(cheats(GARBLER, adversary));
    match &evaluator {
        Ok(learnt) => {
            let expected = scene.expected_of_parts();
            assert_eq!(*learnt, [expected.clone(), expected]);
            true
        }
        Err(Error::PeerMisbehaved { check, .. }) if *check != OPENING => {
            assert_noticed(&evaluator, GARBLER, checks::INPUT_KEY);
            true
        }
        _ => {
            assert_noticed(&evaluator, GARBLER, OPENING);
            false
        }
    }
}

/// With ρ sacrificed transfers, another Δ_ot passes with probability 2^-ρ: if the sums of the
/// evaluator's choices, or of the guesses of them, are right in all ρ checks.
/// Cheat: G | a later window of a pool, a later part | another Δ_ot, at ρ = 1 and 2 | `commitment
/// opening`; `input key` if a part passes; never a wrong output | 1 − 2^-ρ
#[test]
fn another_offset_passes_as_often_as_predicted() {
    for (rho, runs) in [(1, 40), (2, 40)] {
        let in_pool = |adversary| unnoticed_in_a_pool(rho, adversary);
        assert_as_predicted(rho, runs, in_pool, "a later window");
        let in_parts = |adversary| unnoticed_in_parts(rho, adversary);
        assert_as_predicted(rho, runs, in_parts, "a later part");
    }
}

/// The same in many runs.
/// Cheat: G | a later window of a pool, a later part | another Δ_ot, at ρ = 1 to 4, many times |
/// `commitment opening`; `input key` if a part passes; never a wrong output | 1 − 2^-ρ
#[test]
#[ignore = "minutes"]
fn many_other_offsets() {
    for rho in 1..=4 {
        let runs = 100 << rho;
        let in_pool = |adversary| unnoticed_in_a_pool(rho, adversary);
        assert_as_predicted(rho, runs, in_pool, "a later window");
        let in_parts = |adversary| unnoticed_in_parts(rho, adversary);
        assert_as_predicted(rho, runs, in_parts, "a later part");
    }
}
