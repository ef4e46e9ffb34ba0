//! Configurations of topics, brokers and groups.

use super::super::schema::{Api, Fields, array, boolean, int8, int8s, int16, string, strings};
use super::{ERROR_MESSAGE, THROTTLE_TIME_MS};

/// RPC 32.
pub static DESCRIBE_CONFIGS: Api = Api {
    key: 32,
    name: "DescribeConfigs",
    versions: 1..=4,
    flexible_since: 4,
    request: &[
        array(
            "resources",
            &[
                int8("resourceType"),
                string("resourceName"),
                strings("configurationKeys").nullable(),
            ],
        ),
        boolean("includeSynonyms").or_zero(),
        boolean("includeDocumentation").since(3).or_zero(),
    ],
    response: &[
        THROTTLE_TIME_MS,
        array(
            "results",
            &[
                int16("errorCode"),
                ERROR_MESSAGE,
                int8("resourceType"),
                string("resourceName"),
                array(
                    "configs",
                    &[
                        string("name"),
                        string("value").nullable(),
                        boolean("readOnly"),
                        int8("configSource").or(-1),
                        boolean("isSensitive"),
                        array(
                            "synonyms",
                            &[string("name"), string("value").nullable(), int8("source")],
                        )
                        .or_zero(),
                        int8("configType").since(3).or_zero(),
                        string("documentation").since(3).nullable().or_null(),
                    ],
                ),
            ],
        ),
    ],
};

/// RPC 33: like IncrementalAlterConfigs, but a resource has what is named afterwards, and nothing else.
pub static ALTER_CONFIGS: Api = Api {
    key: 33,
    name: "AlterConfigs",
    versions: 0..=2,
    flexible_since: 2,
    request: &[
        array(
            "resources",
            &[
                int8("resourceType"),
                string("resourceName"),
                array("configs", &[string("name"), string("value").nullable()]),
            ],
        ),
        boolean("validateOnly").or_zero(),
    ],
    response: ALTERED,
};

/// RPC 44.
pub static INCREMENTAL_ALTER_CONFIGS: Api = Api {
    key: 44,
    name: "IncrementalAlterConfigs",
    versions: 0..=1,
    flexible_since: 1,
    request: &[
        array(
            "resources",
            &[
                int8("resourceType"),
                string("resourceName"),
                array(
                    "configs",
                    &[
                        string("name"),
                        int8("configOperation"),
                        string("value").nullable(),
                    ],
                ),
            ],
        ),
        boolean("validateOnly").or_zero(),
    ],
    response: ALTERED,
};

/// The answer about resources that were altered.
const ALTERED: Fields = &[
    THROTTLE_TIME_MS,
    array(
        "responses",
        &[
            int16("errorCode"),
            ERROR_MESSAGE,
            int8("resourceType"),
            string("resourceName"),
        ],
    ),
];

/// RPC 74. Version 0 asks for client metrics only.
pub static LIST_CONFIG_RESOURCES: Api = Api {
    key: 74,
    name: "ListConfigResources",
    versions: 0..=1,
    flexible_since: 0,
    request: &[int8s("resourceTypes").since(1)],
    response: &[
        THROTTLE_TIME_MS,
        int16("errorCode"),
        array(
            "configResources",
            &[string("resourceName"), int8("resourceType").since(1).or(16)],
        ),
    ],
};
