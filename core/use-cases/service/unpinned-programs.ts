import { Context, Effect } from "effect";
import { deployedHash } from "../../protocol/accounts/loader-v3.ts";
import { programDataAddress } from "../../protocol/addresses/addresses.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger, type LedgerFailure, LedgerUnavailable } from "../../../ports/ledger/ledger.ts";
import type { ProgramName } from "./program-status.ts";
import { sharedReading } from "../single-flight.ts";

/** Maximum age of a reading, milliseconds: whole programs are read, and anonymous callers ask for it. */
const FRESH_MS = 1_000;

/** What the operator can do about a program that is not the pinned one. */
export const NOT_PINNED_CURE =
  "The operator compares both hashes in `/v1/status`; where the upgrade is wanted, its hash goes into CUSTODY_PROGRAM_SHA256 or ATTESTOR_PROGRAM_SHA256.";

/** The pinned programs whose bytes on the confirmed ledger have another hash. By default none is pinned. */
export const UnpinnedPrograms = Context.Reference<
  Effect.Effect<ReadonlyArray<ProgramName>, LedgerFailure>
>("settlement-evidence/core/use-cases/UnpinnedPrograms", {
  defaultValue: () => Effect.succeed([]),
});

/** The process's one reading of `UnpinnedPrograms`. It asks the ledger only where something is pinned. */
export const makeUnpinnedPrograms = Effect.gen(function* () {
  const ledger = yield* Ledger;
  const { deployment, programPins } = yield* Instance;
  const pinned = [
    { name: "custody", program: deployment.custodyProgram, pins: programPins.custody },
    { name: "attestor", program: deployment.attestorProgram, pins: programPins.attestor },
  ] as const;
  const withPins = pinned.filter(({ pins }) => pins.length > 0);
  if (withPins.length === 0) return Effect.succeed([]);
  let logged = "";
  /** Logs each change, once. */
  const tell = (names: ReadonlyArray<ProgramName>) =>
    Effect.suspend(() => {
      const now = names.join(" and ");
      if (now === logged) return Effect.void;
      logged = now;
      return now === ""
        ? Effect.logInfo("the programs on the ledger are the pinned ones again")
        : Effect.logError(
            `the bytes of ${now} on the ledger are not the pinned ones: ${NOT_PINNED_CURE}`,
          );
    });
  const read = Effect.map(
    ledger.readAccounts(
      withPins.map(({ program }) => programDataAddress(program)),
      "confirmed",
      // The whole ELF is needed for its hash.
      Number.POSITIVE_INFINITY,
    ),
    ({ value }) =>
      withPins.flatMap(({ name, pins }, at) => {
        const hash = deployedHash(value[at] ?? null);
        return hash !== null && pins.includes(hash) ? [] : [name];
      }),
  );
  return sharedReading(yield* Effect.scope, FRESH_MS, Effect.tap(read, tell));
});

/**
 * Fails with a `LedgerUnavailable` that says so when a program is not what this service pins, and as a read of the
 * ledger does.
 */
export const requirePinned = Effect.flatMap(Effect.flatten(UnpinnedPrograms), (unpinned) => {
  if (unpinned.length === 0) return Effect.void;
  const names = unpinned.join(" and ");
  const failure = new LedgerUnavailable({
    retryable: false,
    cause: `${names} is not the pinned program`,
    fault: {
      node: null,
      method: "getMultipleAccounts",
      kind: "program_not_pinned",
      httpStatus: null,
      rpcCode: null,
      retryAfterMs: null,
      cure: `The bytes of ${names} on the ledger are not those that this service accepts. Sign nothing for it. ${NOT_PINNED_CURE}`,
    },
  });
  return Effect.fail(failure);
});
