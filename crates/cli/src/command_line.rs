//! The command line: every command with its arguments.

use clap::{Parser, Subcommand};

use crate::args::RunArgs;
use crate::args::options::EXIT_CODES;
use crate::commands::about::{CompletionsArgs, ManArgs, version};
use crate::commands::cache::CacheArgs;
use crate::commands::calibrate::CalibrateArgs;
use crate::commands::circuit::args::{CircuitArgs, EvalArgs};
use crate::commands::cost::CostArgs;
use crate::commands::dealer::args::DealerArgs;
use crate::commands::demo::DemoArgs;
use crate::commands::identity::{FingerprintArgs, KeygenArgs};
use crate::commands::lang::{CheckArgs, FmtArgs, LspArgs, TestArgs};
use crate::commands::local::args::LocalArgs;
use crate::commands::offline::args::{PrepareArgs, PreprocessArgs};
use crate::commands::paper::args::PaperArgs;
use crate::commands::parts::args::{PartsArgs, of_parts};
use crate::commands::plan::PlanArgs;
use crate::commands::store::args::StoreCommandArgs;
use crate::measure::args::BenchArgs;

const MAIN_HELP: &str = "\
EXAMPLES
  Try it, both parties on this machine:
    symbolon demo

  Two machines. Each side makes a key and tells the other its fingerprint (by telephone, in person):
    symbolon keygen --out my.key
  Then, on the first machine and on the second:
    symbolon run millionaires --party 0 --listen 0.0.0.0:7000 --key my.key \\
        --peer-fingerprint 90ac… --input 0=@wealth.txt
    symbolon run millionaires --party 1 --connect first.example:7000 --key my.key \\
        --peer-fingerprint 5d1f… --input 1=@wealth.txt";

/// Parties who do not trust each other compute a function of their private inputs.
///
/// Nothing but the result is learned, even if all other parties cheat together: a cheat is caught
/// before anything is released, or it has no effect. Results go to standard output, everything else
/// to standard error.
#[derive(Parser, Debug)]
#[command(name = "symbolon", version, long_version = version(), max_term_width = 100)]
#[command(args_override_self = true)]
#[command(after_long_help = main_help(), subcommand_required = true, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

fn main_help() -> String {
    format!("{MAIN_HELP}\n\n{EXIT_CODES}")
}

/// What can be done.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Try it on this machine: two parties encrypt a block with AES-128 and merge two lists,
    /// or several hold an auction
    Demo(DemoArgs),
    /// Run one party of a computation between machines
    Run(Box<RunArgs>),
    /// Prepare material ahead of time for any circuit: fill the pools in the parties' stores
    #[command(mut_arg("batch", |batch| batch.hide(true)))]
    Preprocess(Box<PreprocessArgs>),
    /// Prepare one circuit ahead of time: put prepared circuits into the parties' stores
    Prepare(Box<PrepareArgs>),
    /// Run a computation in parts: outputs of one part are inputs of the next without being opened
    #[command(mut_args(of_parts))]
    Parts(Box<PartsArgs>),
    /// List, check, clean and encrypt a store of material
    Store(StoreCommandArgs),
    /// Run a dealer: make preprocessing material for parties that trust it. The dealer can learn
    /// all inputs
    Dealer(Box<DealerArgs>),
    /// Serve calls by name with parties on other machines: keep sessions open and executions
    /// prepared
    #[cfg(feature = "service")]
    Serve(crate::commands::serve::ServeArgs),
    /// Give this party's inputs for a call to its node, and print what it learns
    #[cfg(feature = "service")]
    Call(crate::commands::call::CallArgs),
    /// Give values for a call as a client who is no party, and print what this client learns
    #[cfg(feature = "service")]
    Submit(crate::commands::submit::SubmitArgs),
    /// Run all parties on this machine, as separate processes over loopback
    Local(Box<LocalArgs>),
    /// Measure how fast triples and circuits are on this machine
    Bench(Box<BenchArgs>),
    /// Run what the tables of a paper measured, and show our figures next to the paper's
    Paper(PaperArgs),
    /// Compare the ways of running a circuit over a link: time, bytes, rounds, memory
    ///
    /// Bytes are those of a run on one thread, without the handshake. Times and memory are
    /// estimates: of this machine if `calibrate` measured it, of a typical one otherwise.
    Plan(PlanArgs),
    /// Measure how fast this machine works, for the times of `plan`
    ///
    /// Takes some seconds, in which the machine should do nothing else. The result is kept in the
    /// user's cache folder.
    Calibrate(CalibrateArgs),
    /// List, describe, evaluate and export circuits
    Circuit(CircuitArgs),
    /// List and remove the compiled `.sym` programs that commands kept
    Cache(CacheArgs),
    /// Check a `.sym` program and show all its errors
    Check(CheckArgs),
    /// Format `.sym` programs
    Fmt(FmtArgs),
    /// Show what a `.sym` program costs, by function and line
    Cost(CostArgs),
    /// Run the tests of a `.sym` program, interpreted and as a circuit
    Test(TestArgs),
    /// Evaluate a `.sym` program or a circuit in the clear, as `circuit eval`
    Eval(EvalArgs),
    /// Serve an editor: the language server for `.sym` programs
    Lsp(LspArgs),
    /// Make an identity file: a private key and a certificate
    Keygen(KeygenArgs),
    /// Print the fingerprint of an identity file
    Fingerprint(FingerprintArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or write those of all commands
    Man(ManArgs),
    /// One party of `local`; reads its orders from standard input
    #[command(hide = true)]
    Party,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    /// Scripts append to a command line what is to be different.
    #[test]
    fn an_option_that_is_given_twice_counts_the_last_time() {
        use clap::{ArgAction, CommandFactory};
        let mut cli = Cli::command();
        cli.build();
        let mut seen = 0;
        for command in cli.get_subcommands() {
            for arg in command.get_arguments().filter(|arg| arg.get_long().is_some()) {
                let single = matches!(arg.get_action(), ArgAction::Set | ArgAction::SetTrue);
                let name = arg.get_long().unwrap_or_default();
                if !single || name == "help" || name == "version" {
                    continue;
                }
                seen += 1;
                // A valid value does not matter: only the number of times is looked at here.
                let value = matches!(arg.get_action(), ArgAction::Set).then_some("=1");
                let word = format!("--{name}{}", value.unwrap_or_default());
                let words = ["symbolon", command.get_name(), &word, &word];
                let error = Cli::try_parse_from(words).err();
                let text = error.map(|error| error.to_string()).unwrap_or_default();
                assert!(!text.contains("multiple times"), "{words:?}: {text}");
            }
        }
        assert!(seen > 100, "{seen}");
        let words = ["symbolon", "run", "--timeout", "5", "--timeout", "7", "--json", "--json"];
        let Command::Run(args) = Cli::try_parse_from(words).unwrap().command else {
            unreachable!("the command is `run`")
        };
        assert_eq!((args.meet.tuning.timeout, args.json), (Some(7.0), true));
    }
}
