import { localKey } from "../../../../adapters/local-ledger/genesis/local-keys.ts";

/** The rules of a test: one forecast, at most a second late, below a ceiling. */
export const RULES = {
  version: 1,
  spending_ceiling: { per_escrow: "5.00", per_day: "2.00" },
  rules: [
    {
      name: "forecast",
      template: "api-delivered-v1",
      merchant: localKey("merchant/forecast").address as string,
      method: "GET",
      url: "https://api.example.com/v1/forecast",
      status: [200],
      latency_ms: 1000,
      json_schema: {
        type: "object",
        required: ["celsius"],
        properties: { celsius: { type: "number" } },
      },
      fields: {
        request_url: { from: "url" },
        status_code: { from: "status" },
        content_sha256: { from: "content_sha256" },
        delivered_at: { from: "delivered_at" },
        merchant_statement: { value: "judged by rule" },
      },
    },
  ],
};

/** An exchange of that rule, as a record. */
export const exchangeOf = (escrow: string, nonce: string) => ({
  escrow,
  nonce,
  request: { method: "GET", url: "https://api.example.com/v1/forecast?city=Bern" },
  response: { status: 200, body_base64: btoa('{"celsius":7}') },
  latency_ms: 120,
  delivered_at: "2026-11-22T08:00:00Z",
});
