/** The limits the relay enforces; `GET /v1/relay` states them from here. */
export const RELAY_POLICY = {
  encodings: ["base64"],
  transactionVersions: ["legacy", "0"],
  /** How often an outcome is looked for while `confirm` waits, milliseconds. */
  confirmPollMs: 200,
} as const;
