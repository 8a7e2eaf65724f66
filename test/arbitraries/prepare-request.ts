import fc from "fast-check";
import { taskHash } from "../../core/domain/escrow/task-hash.ts";
import type { Hash32 } from "../../core/domain/hash32.ts";
import { isSmallOrderAddress } from "../../core/protocol/addresses/curve-point.ts";
import { anyAddress, anyHash32, anyU64 } from "./ledger-values.ts";

const text = (maxLength: number) =>
  fc.string({ unit: "grapheme", minLength: 1, maxLength }).filter((each) => !each.includes("\0"));

const anyParty = anyAddress.filter((address) => !isSmallOrderAddress(address));

/** A hash beside an intent is the hash of the intent and the nonce. */
const consistent = <
  R extends {
    taskHash?: Hash32 | undefined;
    taskIntent?: string | undefined;
    nonce?: string | undefined;
  },
>(
  request: R,
): R =>
  request.taskHash === undefined || request.taskIntent === undefined
    ? request
    : { ...request, taskHash: taskHash(request.taskIntent, request.nonce) };

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
  .filter(({ taskHash, taskIntent }) => taskHash !== undefined || taskIntent !== undefined)
  .map(consistent);
