import { signedTransaction } from "../../../adapters/local-ledger/genesis/signed-transaction.ts";
import type { LocalKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";

/** JSON-RPC of the ledger that the service at `url` embeds. */
export const embeddedLedger = async (url: string) => {
  const descriptor = await fetch(`${url}/.well-known/settlement-evidence.json`);
  const { network } = (await descriptor.json()) as { network: string };
  const call = async <A>(method: string, ...params: ReadonlyArray<unknown>): Promise<A> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const response = await fetch(network, { method: "POST", body });
    return ((await response.json()) as { result: A }).result;
  };
  return {
    call,
    latestBlockhash: async (): Promise<string> =>
      (await call<{ value: { blockhash: string } }>("getLatestBlockhash")).value.blockhash,
    /** A transaction of one instruction, in base64. */
    signed: (payer: LocalKey, instruction: Instruction, blockhash: string): string =>
      encodeBase64(signedTransaction({ payer, instructions: [instruction], blockhash })),
  };
};
