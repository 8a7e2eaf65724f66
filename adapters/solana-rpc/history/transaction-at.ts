import { Effect } from "effect";
import type { LedgerSignature } from "../../../core/domain/ledger/signature.ts";
import type { NodePool } from "../pool/node-pool.ts";
import { parseTransaction } from "./ledger-archive-solana-rpc.ts";

/** Transaction versions are u8. Accounts and instructions have the same form in every version. */
const ANY_VERSION = 255;

/** A transaction as a node's history has it at a commitment; null where this node cannot show it. */
export const transactionAt = (
  pool: NodePool["Service"],
  signature: LedgerSignature,
  commitment: "confirmed" | "finalized",
) =>
  pool
    .call({
      method: "getTransaction",
      params: [
        signature,
        { encoding: "json", commitment, maxSupportedTransactionVersion: ANY_VERSION },
      ],
      mayShare: true,
      decode: (result) => {
        const parsed = parseTransaction(signature, result);
        return parsed === undefined ? "malformed" : { value: parsed };
      },
    })
    .pipe(Effect.catchTag("RpcRefusal", () => Effect.succeed(null)));
