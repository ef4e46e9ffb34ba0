//! Share groups: what Kafka's group coordinator answers and writes, requests that must be refused, and the laws that hold
//! over any sequence of requests.

#[cfg(test)]
mod admin;
#[cfg(test)]
mod bad_requests;
#[cfg(test)]
mod heartbeats;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod support;
#[cfg(test)]
mod topics;
