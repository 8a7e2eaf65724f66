import { parseStrictJson } from "../../core/domain/encoding/strict-json.ts";
import { readInput } from "../node/input.ts";
import { type DeliveryPayload, payloadFault } from "../pay/delivery.ts";
import { SettlementError } from "../settlement-error.ts";

const invalid = (detail: string): SettlementError =>
  new SettlementError(
    "invalid_payload",
    detail,
    'Give one JSON object that can be read in one way only, such as {"status_code":200}.',
  );

/**
 * The delivery payload in a file, or on standard input for `-`: one JSON object that every reader takes for the same. @throws SettlementError `unreadable` for a
 * file that cannot be read, has more than `mostBytes` or is no UTF-8, `invalid_payload` for another text
 */
export const readPayload = async (path: string, mostBytes: number): Promise<DeliveryPayload> => {
  const parsed = parseStrictJson(await readInput(path, "the payload", mostBytes));
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
