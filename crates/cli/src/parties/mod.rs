//! The parties of a run: in this process, in processes on this machine, and on others.

pub mod agreement;
pub mod batch;
pub mod child;
pub mod child_message;
pub mod connect;
pub mod dealer;
pub mod execute;
pub mod exhaustion;
pub mod local_runner;
pub mod remote;
pub mod store;
