import fc from "fast-check";
import { isSmallOrderAddress } from "../../core/protocol/crypto/curve-point.ts";
import { anyAddress, anyHash32, anyU64 } from "./ledger-values.ts";

const text = (maxLength: number) =>
  fc.string({ unit: "grapheme", minLength: 1, maxLength }).filter((each) => !each.includes("\0"));

const anyParty = anyAddress.filter((address) => !isSmallOrderAddress(address));

/** Any valid request of `POST /v1/escrows/prepare`, with the use case's field names. */
export const anyPrepareRequest = fc
  .record({
    agentOwner: anyParty,
    merchant: anyParty,
    mint: anyAddress,
    amount: anyU64.filter((amount) => amount > 0n).map(String),
    ttlSeconds: fc.integer({ min: 1, max: 604_800 }),
    taskHash: fc.option(anyHash32, { nil: undefined }),
    taskIntent: fc.option(text(60), { nil: undefined }),
    nonce: fc.option(text(6), { nil: undefined }),
  })
  .filter(({ taskHash, taskIntent }) => taskHash !== undefined || taskIntent !== undefined);
