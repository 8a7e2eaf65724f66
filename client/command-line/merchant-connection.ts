import { connectMerchant, type MerchantClient } from "../merchant/connect-merchant.ts";
import { readInput } from "../node/input.ts";
import { required } from "./command-line.ts";

/** The options that name a service and what is believed of it. */
export const CONNECTION_OPTIONS = {
  url: { type: "string" },
  trust: { type: "string" },
} as const;

/** Their part of a help text. */
export const CONNECTION_HELP = `  --url URL                the service, such as http://127.0.0.1:3000
  --trust FILE             its trust document (/.well-known/evidence-trust.json), fetched and checked beforehand
`;

/** The most that a trust document has, in bytes. */
const MOST_TRUST_BYTES = 1_048_576;

/** The client of the service that the options name. @throws SettlementError */
export const merchantConnection = async (values: {
  readonly url?: string | undefined;
  readonly trust?: string | undefined;
}): Promise<MerchantClient> => {
  const url = required(values.url, "--url", "the service's address, such as http://127.0.0.1:3000");
  const path = required(values.trust, "--trust", "a file with the service's trust document");
  return connectMerchant(url, {
    trust: await readInput(path, "the trust document", MOST_TRUST_BYTES),
  });
};
