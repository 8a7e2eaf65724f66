import { createHash } from "node:crypto";
import { Effect } from "effect";
import fc from "fast-check";
import { leavesOfEscrow } from "../../core/log/leaf/escrow-leaves.ts";
import { rootOf } from "../../core/log/tree/frontier.ts";
import { encodeEscrowAccount } from "../../core/protocol/accounts/escrow-account.ts";
import { nextActions } from "../../core/protocol/instructions/next-actions.ts";
import { prepareEscrow } from "../../core/use-cases/escrow/prepare/prepare-escrow.ts";
import { Instance } from "../../ports/instance.ts";
import { anyAttestedEscrow, NETWORK, packetText } from "../arbitraries/evidence.ts";
import { loggedOf } from "../arbitraries/index-history.ts";
import { anyPrepareRequest } from "../arbitraries/prepare-request.ts";
import { testInstance } from "./use-cases/test-instance.ts";

const jsonOf = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) => (typeof each === "bigint" ? each.toString() : each));

/**
 * Digests, one per line, of the core's results for fixed input: prepared escrows, evidence packets, next actions and
 * the root of events. Prints them when run as a script, so that processes can be compared.
 */
export const determinismProbe = (): string => {
  const requests = fc.sample(anyPrepareRequest, { numRuns: 50, seed: 1 });
  const escrows = fc.sample(anyAttestedEscrow, { numRuns: 30, seed: 2 });
  const prepared = requests.map((request) =>
    Effect.runSync(prepareEscrow(request).pipe(Effect.provideService(Instance, testInstance()))),
  );
  const packets = escrows.map((escrow) => packetText(escrow));
  const actions = escrows.map((escrow) => nextActions(escrow, escrow.expiresAt, NETWORK));
  const leaves = escrows.flatMap((escrow) => leavesOfEscrow(escrow, encodeEscrowAccount(escrow)));
  const root = rootOf(loggedOf(leaves.map(({ leaf }) => leaf)));
  return [prepared, packets, actions, root]
    .map((part) => createHash("sha256").update(jsonOf(part)).digest("hex"))
    .join("\n");
};

if (import.meta.main) process.stdout.write(determinismProbe());
