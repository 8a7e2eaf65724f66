import { parseStrictJson } from "../../core/domain/encoding/strict-json.ts";
import { type DeliveryPayload, payloadFault } from "../pay/delivery.ts";
import { SettlementError } from "../settlement-error.ts";

const invalid = (detail: string): SettlementError =>
  new SettlementError(
    "invalid_payload",
    detail,
    'Give one JSON object that can be read in one way only, such as {"status_code":200}.',
  );

/** The text of bytes that are UTF-8. @throws SettlementError `invalid_payload` for others */
const utf8In = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalid("The payload is no UTF-8.");
  }
};

/**
 * The delivery payload in a text or in its bytes: one JSON object that every reader takes for the same. @throws SettlementError `invalid_payload` for anything else
 */
export const payloadIn = (file: string | Uint8Array): DeliveryPayload => {
  const parsed = parseStrictJson(typeof file === "string" ? file : utf8In(file));
  if ("fault" in parsed)
    throw invalid(`The payload is no JSON that can be hashed: it ${parsed.fault}.`);
  const { value } = parsed;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalid("The payload is no JSON object.");
  const payload = value as DeliveryPayload;
  const fault = payloadFault(payload);
  if (fault !== null) throw invalid(`The payload is no JSON that can be hashed: ${fault}.`);
  return payload;
};
