//! RPCs that open a connection: the versions that are spoken, and the client's identity.

use super::super::schema::{
    Api, NEVER, array, boolean, bytes, int16, int32, int64, string, strings,
};
use super::{ERROR_MESSAGE, THROTTLE_TIME_MS};

/// RPC 18. Its answer has response header version 0 in every version, so that anybody can read it.
pub static API_VERSIONS: Api = Api {
    key: 18,
    name: "ApiVersions",
    versions: 0..=5,
    flexible_since: 3,
    request: &[
        string("clientSoftwareName").since(3),
        string("clientSoftwareVersion").since(3),
        string("clusterId").since(5).nullable().or_null(),
        int32("nodeId").since(5).or(-1),
    ],
    response: &[
        int16("errorCode"),
        array(
            "apiKeys",
            &[int16("apiKey"), int16("minVersion"), int16("maxVersion")],
        ),
        THROTTLE_TIME_MS.since(1),
        array(
            "supportedFeatures",
            &[string("name"), int16("minVersion"), int16("maxVersion")],
        )
        .since(3)
        .tag(0),
        int64("finalizedFeaturesEpoch").since(3).tag(1),
        array(
            "finalizedFeatures",
            &[
                string("name"),
                int16("maxVersionLevel"),
                int16("minVersionLevel"),
            ],
        )
        .since(3)
        .tag(2),
        boolean("zkMigrationReady").since(3).tag(3),
    ],
};

/// RPC 17. Never flexible, so that it could stay as it was.
pub static SASL_HANDSHAKE: Api = Api {
    key: 17,
    name: "SaslHandshake",
    versions: 0..=1,
    flexible_since: NEVER,
    request: &[string("mechanism")],
    response: &[int16("errorCode"), strings("mechanisms")],
};

/// RPC 36. The bytes may hold a secret.
pub static SASL_AUTHENTICATE: Api = Api {
    key: 36,
    name: "SaslAuthenticate",
    versions: 0..=2,
    flexible_since: 2,
    request: &[bytes("authBytes")],
    response: &[
        int16("errorCode"),
        ERROR_MESSAGE,
        bytes("authBytes"),
        int64("sessionLifetimeMs").since(1).or_zero(),
    ],
};
