//! Groups of any type.

use super::super::schema::{Api, array, boolean, bytes, int16, int32, string, strings};
use super::{ERROR_MESSAGE, NOT_ASKED, THROTTLE_TIME_MS};

/// RPC 15.
pub static DESCRIBE_GROUPS: Api = Api {
    key: 15,
    name: "DescribeGroups",
    versions: 0..=6,
    flexible_since: 5,
    request: &[
        strings("groups"),
        boolean("includeAuthorizedOperations").since(3).or_zero(),
    ],
    response: &[
        THROTTLE_TIME_MS.since(1),
        array(
            "groups",
            &[
                int16("errorCode"),
                ERROR_MESSAGE.since(6),
                string("groupId"),
                string("groupState"),
                string("protocolType"),
                string("protocolData"),
                array(
                    "members",
                    &[
                        string("memberId"),
                        string("groupInstanceId").since(4).nullable().or_null(),
                        string("clientId"),
                        string("clientHost"),
                        bytes("memberMetadata"),
                        bytes("memberAssignment"),
                    ],
                ),
                int32("authorizedOperations").since(3).or(NOT_ASKED),
            ],
        ),
    ],
};

/// RPC 16.
pub static LIST_GROUPS: Api = Api {
    key: 16,
    name: "ListGroups",
    versions: 0..=5,
    flexible_since: 3,
    request: &[
        strings("statesFilter").since(4).or_zero(),
        strings("typesFilter").since(5).or_zero(),
    ],
    response: &[
        THROTTLE_TIME_MS.since(1),
        int16("errorCode"),
        array(
            "groups",
            &[
                string("groupId"),
                string("protocolType"),
                string("groupState").since(4),
                string("groupType").since(5),
            ],
        ),
    ],
};

/// RPC 42.
pub static DELETE_GROUPS: Api = Api {
    key: 42,
    name: "DeleteGroups",
    versions: 0..=3,
    flexible_since: 2,
    request: &[strings("groupsNames")],
    response: &[
        THROTTLE_TIME_MS,
        array(
            "results",
            &[
                string("groupId"),
                int16("errorCode"),
                ERROR_MESSAGE.since(3),
            ],
        ),
    ],
};
