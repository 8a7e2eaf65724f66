import { localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { decodeBase64, encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { withDemoLedger } from "../../app/support/demo-ledger.ts";
import {
  quietEnvironment,
  runService,
  temporaryDirectory,
  until,
} from "../../app/support/running-service.ts";

/** The parties of the demo data. */
export const AGENT = localKey("agent/planner");
export const PASSER_BY = localKey("agent/trader");
export const MERCHANT = localKey("merchant/forecast");
export const ATTESTOR = localKey("attestor/forecast");
const KEYS = [AGENT, PASSER_BY, MERCHANT];

const bytesOf = (base64: string): Uint8Array => decodeBase64(base64) ?? new Uint8Array();

/** A prepared transaction with the signatures of everyone whom it needs. */
export const signed = (base64: string, signers: ReadonlyArray<string>): string => {
  const bytes = bytesOf(base64);
  const message = bytes.slice(1 + 64 * signers.length);
  for (const [i, signer] of signers.entries()) {
    const key = KEYS.find(({ address }) => address === signer);
    if (key === undefined) throw new Error(`nobody signs for ${signer}`);
    bytes.set(key.sign(message), 1 + 64 * i);
  }
  return encodeBase64(bytes);
};

/** The attestor's signature of a message, both as base64. */
export const attested = (message: string): string => encodeBase64(ATTESTOR.sign(bytesOf(message)));

/** A service on the embedded ledger with the demo data, ready, and what removes it. */
export const startMcpService = async (env: Readonly<Record<string, string>> = {}) => {
  const directory = await temporaryDirectory();
  const service = await runService({ ...quietEnvironment(withDemoLedger(directory.path)), ...env });
  await until(
    "the service is ready",
    () => fetch(`${service.url}/ready`).then(({ status }) => status),
    (status) => status === 200,
  );
  const stop = async (): Promise<void> => {
    await service.stop();
    await directory.remove();
  };
  return { url: service.url, stop };
};
