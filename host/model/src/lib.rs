//! Neutral data of Sectile: messages, requests, names and digests.
