import { ed25519Key } from "../../../../adapters/signer/ed25519-key.ts";
import { addressToBytes } from "../../../../core/domain/address.ts";
import { encodeBase58 } from "../../../../core/domain/encoding/base58.ts";
import { encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { walletAccount } from "../../../doubles/accounts.ts";
import { PAYER } from "../support/parties.ts";
import { checkedClient, makeService } from "../support/service.ts";

/** A legacy transaction of one instruction without accounts, signed by its payer alone; `n` tells them apart. */
export const transaction = (
  program = LOCAL_DEPLOYMENT.attestorProgram,
  n = 3,
  key = ed25519Key(new Uint8Array(32).fill(9)),
): Uint8Array => {
  const header = [1, 0, 1, 2];
  const call = [1, 1, 0, 1, 255];
  const message = Uint8Array.from([
    ...header,
    ...key.publicKey,
    ...addressToBytes(program),
    ...new Uint8Array(32).fill(n),
    ...call,
  ]);
  return Uint8Array.from([1, ...key.sign(message), ...message]);
};

/** The signature of a transaction in base58. */
export const signatureOf = (bytes: Uint8Array): string => encodeBase58(bytes.subarray(1, 65));

/** A service, and a client that relays transactions there. */
export const makeRelayClient = async () => {
  const service = await makeService();
  const client = await checkedClient(service);
  const relay = (
    bytes: Uint8Array | string,
    more: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ) =>
    client.postJson(
      "/v1/relay",
      { signed_transaction: typeof bytes === "string" ? bytes : encodeBase64(bytes), ...more },
      headers,
    );
  /** Makes the node work again, and its payer able to pay. */
  const reset = (): void => {
    service.ledger.reset();
    service.ledger.put(walletAccount(PAYER, 1_000_000n));
  };
  return { service, send: client.send, relay, reset };
};
