//! A request or answer whose RPC is known only when it arrives.

use super::{Api, Delete, Initialize, Read, ReadSummary, Request, Response, Write};
use crate::error::{WireError, WireErrorKind};

macro_rules! any {
    ($(#[$doc:meta])* $any:ident of $message:ident { $($(#[$variant_doc:meta])* $api:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum $any {
            $($(#[$variant_doc])* $api($message<$api>),)*
        }

        impl $any {
            /// Reads the message of this RPC and version that fills `buf`.
            ///
            /// # Errors
            /// The RPC or its version is unknown, or the bytes do not follow the format.
            pub fn decode(api_key: i16, version: i16, buf: &[u8]) -> Result<Self, WireError> {
                Self::decode_within(api_key, version, buf, usize::MAX)
            }

            /// Reads a message as [`Self::decode`] does. Its arrays have at most `elements` elements altogether.
            ///
            /// # Errors
            /// The RPC or its version is unknown, the bytes do not follow the format, or there are more elements.
            pub fn decode_within(
                api_key: i16,
                version: i16,
                buf: &[u8],
                elements: usize,
            ) -> Result<Self, WireError> {
                match api_key {
                    $($api::KEY => $message::decode_within(buf, version, elements).map(Self::$api),)*
                    _ => Err(WireError::new(0, WireErrorKind::UnsupportedApi { api_key })),
                }
            }

            /// The bytes of the message, without its header.
            ///
            /// # Errors
            /// The version is unknown, or a string is longer than 32,767 bytes.
            pub fn encode(&self, version: i16) -> Result<Vec<u8>, WireError> {
                match self { $(Self::$api(message) => message.encode(version),)* }
            }

            /// Key of the RPC.
            #[must_use]
            pub const fn api_key(&self) -> i16 {
                match self { $(Self::$api(_) => $api::KEY,)* }
            }
        }
    };
}

any! {
    /// A request of any of the five RPCs.
    AnyRequest of Request {
        /// RPC 83.
        Initialize,
        /// RPC 84.
        Read,
        /// RPC 85.
        Write,
        /// RPC 86.
        Delete,
        /// RPC 87.
        ReadSummary,
    }
}

any! {
    /// An answer of any of the five RPCs.
    AnyResponse of Response {
        /// RPC 83.
        Initialize,
        /// RPC 84.
        Read,
        /// RPC 85.
        Write,
        /// RPC 86.
        Delete,
        /// RPC 87.
        ReadSummary,
    }
}
