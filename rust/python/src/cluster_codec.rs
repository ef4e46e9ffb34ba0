//! The messages by which a client finds its share coordinator, as plain dicts: see [`crate::codec`].

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use share_state_wire::messages::cluster::{
    ApiVersion, ApiVersionsRequest, ApiVersionsResponse, Bytes, ClusterMessage, Coordinator,
    FindCoordinatorRequest, FindCoordinatorResponse, MetadataBroker, MetadataPartition,
    MetadataRequest, MetadataRequestTopic, MetadataResponse, MetadataTopic,
    SaslAuthenticateRequest, SaslAuthenticateResponse, SaslHandshakeRequest, SaslHandshakeResponse,
};

use crate::errors;
use crate::guarded::caught;
use crate::plain::{Plain, plain_struct};

impl Plain for bool {
    fn out<'py>(&self, py: Python<'py>, _version: i16) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.into_pyobject(py)?.to_owned().into_any())
    }

    fn take(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        value.extract()
    }
}

impl Plain for Bytes {
    fn out<'py>(&self, py: Python<'py>, _version: i16) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyBytes::new(py, &self.0).into_any())
    }

    fn take(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let bytes: &[u8] = value.extract().map_err(PyErr::from)?;
        Ok(Self(bytes.to_vec()))
    }
}

impl<T: Plain> Plain for Option<Vec<T>> {
    fn out<'py>(&self, py: Python<'py>, version: i16) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Some(items) => items.out(py, version),
            None => Ok(py.None().into_bound(py)),
        }
    }

    fn take(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        if value.is_none() {
            return Ok(None);
        }
        Vec::take(value).map(Some)
    }
}

plain_struct!(ApiVersionsRequest {
    client_software_name,
    client_software_version,
});
plain_struct!(ApiVersion {
    api_key,
    min_version,
    max_version,
});
plain_struct!(ApiVersionsResponse {
    error_code,
    api_keys,
    throttle_time_ms,
});
plain_struct!(FindCoordinatorRequest {
    key_type,
    coordinator_keys,
});
plain_struct!(Coordinator {
    key,
    node_id,
    host,
    port,
    error_code,
    error_message,
});
plain_struct!(FindCoordinatorResponse {
    throttle_time_ms,
    coordinators,
});
plain_struct!(MetadataRequestTopic { topic_id, name });
plain_struct!(MetadataRequest {
    topics,
    allow_auto_topic_creation,
    include_topic_authorized_operations,
});
plain_struct!(MetadataBroker {
    node_id,
    host,
    port,
    rack,
});
plain_struct!(MetadataPartition {
    error_code,
    partition_index,
    leader_id,
    leader_epoch,
    replica_nodes,
    isr_nodes,
    offline_replicas,
});
plain_struct!(MetadataTopic {
    error_code,
    name,
    topic_id,
    is_internal,
    partitions,
    topic_authorized_operations,
});
plain_struct!(MetadataResponse {
    throttle_time_ms,
    brokers,
    cluster_id,
    controller_id,
    topics,
    error_code since 13 or 0,
});
plain_struct!(SaslHandshakeRequest { mechanism });
plain_struct!(SaslHandshakeResponse {
    error_code,
    mechanisms,
});
plain_struct!(SaslAuthenticateRequest { auth_bytes });
plain_struct!(SaslAuthenticateResponse {
    error_code,
    error_message,
    auth_bytes,
    session_lifetime_ms,
});

fn read<'py, M: ClusterMessage + Plain>(
    py: Python<'py>,
    version: i16,
    data: &[u8],
) -> PyResult<Bound<'py, PyDict>> {
    let message = caught(|| M::decode(data, version))
        .map_err(|panic| errors::bug(py, "decode_message", &panic))?
        .map_err(|error| errors::wire(py, &error))?;
    Ok(message.out(py, version)?.cast_into()?)
}

fn written<M: ClusterMessage + Plain>(
    message: &Bound<'_, PyDict>,
    version: i16,
) -> PyResult<Vec<u8>> {
    M::take(message.as_any())?
        .encode(version)
        .map_err(|error| errors::wire(message.py(), &error))
}

macro_rules! messages {
    ($($request:ident -> $response:ident,)*) => {
        /// Reads a message; `None` when the RPC is not of these.
        pub fn decode<'py>(
            py: Python<'py>,
            (api_key, version): (i16, i16),
            data: &[u8],
            response: bool,
        ) -> Option<PyResult<Bound<'py, PyDict>>> {
            match (api_key, response) {
                $(
                    (<$request as ClusterMessage>::KEY, false) => Some(read::<$request>(py, version, data)),
                    (<$response as ClusterMessage>::KEY, true) => Some(read::<$response>(py, version, data)),
                )*
                _ => None,
            }
        }

        /// The bytes of a message; `None` when the RPC is not of these.
        pub fn encode(
            (api_key, version): (i16, i16),
            message: &Bound<'_, PyDict>,
            response: bool,
        ) -> Option<PyResult<Vec<u8>>> {
            match (api_key, response) {
                $(
                    (<$request as ClusterMessage>::KEY, false) => Some(written::<$request>(message, version)),
                    (<$response as ClusterMessage>::KEY, true) => Some(written::<$response>(message, version)),
                )*
                _ => None,
            }
        }
    };
}

messages! {
    MetadataRequest -> MetadataResponse,
    FindCoordinatorRequest -> FindCoordinatorResponse,
    SaslHandshakeRequest -> SaslHandshakeResponse,
    ApiVersionsRequest -> ApiVersionsResponse,
    SaslAuthenticateRequest -> SaslAuthenticateResponse,
}
