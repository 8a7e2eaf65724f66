import { expect, test } from "bun:test";
import { Effect, Stream } from "effect";
import { ZERO_ADDRESS } from "../../core/domain/address.ts";
import { ledgerSignatureFromBytes } from "../../core/domain/ledger/signature.ts";
import { indexedKinds } from "../../core/protocol/accounts/program-account.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { LedgerUnavailable } from "../../ports/ledger/ledger.ts";
import { type LedgerParts, ledgerPort } from "./ledger-port.ts";

const [kind] = indexedKinds(LOCAL_DEPLOYMENT);
if (kind === undefined) throw new Error("no kind");
const SIGNATURE = ledgerSignatureFromBytes(new Uint8Array(64));

/** Every call of the port, each with its result as text. */
const outcomes = (parts: LedgerParts) => {
  const ledger = ledgerPort(parts);
  const told = <A, E>(call: Effect.Effect<A, E>): Promise<string> =>
    Effect.runPromiseExit(call).then((exit) => exit._tag);
  return Promise.all([
    told(ledger.genesisHash),
    told(ledger.tip("confirmed")),
    told(ledger.readAccounts([ZERO_ADDRESS], "confirmed")),
    told(Stream.runDrain(ledger.programAccounts(kind))),
    told(ledger.history(ZERO_ADDRESS, null)),
    told(ledger.transaction(SIGNATURE)),
  ]);
};

test("a call that the test does not describe dies, and a described one is answered", async () => {
  expect(new Set(await outcomes({ slot: () => 1n }))).toEqual(new Set(["Failure"]));
  const whole: LedgerParts = {
    genesisHash: "genesis",
    slot: () => 1n,
    tip: () => ({ slot: 1n, blockHeight: 1n }),
    accountAt: () => () => null,
    accounts: () => [],
    history: () => ({ entries: [], keptFrom: 0n }),
    transaction: () => null,
  };
  expect(new Set(await outcomes(whole))).toEqual(new Set(["Success"]));
  const down = new LedgerUnavailable({ retryable: true, cause: "test" });
  const failing = await outcomes({ ...whole, answer: () => Effect.fail(down) });
  expect(new Set(failing)).toEqual(new Set(["Failure"]));
});
