//! Tests of share groups, their sessions and their assignor, by laws and by scenarios.

#[cfg(test)]
mod assignor_laws;
#[cfg(test)]
mod share_group;
#[cfg(test)]
mod share_session;
