//! Tests of the state that is kept: the merge, the fold, the history, and the coordinator's requests, by laws and by scenarios.

#[cfg(test)]
mod coordinator;
#[cfg(test)]
mod fold_laws;
#[cfg(test)]
mod fold_records;
#[cfg(test)]
mod history_laws;
#[cfg(test)]
mod state_room;
