/** The service's name, on every surface. */
export const SERVICE_NAME = "Settlement Evidence API";

/** The version of the HTTP contract, as `/v1` and the OpenAPI document state it. */
export const CONTRACT_VERSION = "1.0.0-devnet";
