import { expect, test } from "bun:test";
import { Effect, Layer, ManagedRuntime } from "effect";
import { TestClock } from "effect/testing";
import { indexMemory } from "../../adapters/memory/index-store.ts";
import { ed25519Key } from "../../adapters/signer/ed25519-key.ts";
import type { Escrow } from "../../core/domain/escrow/escrow.ts";
import { jwkThumbprint } from "../../core/domain/evidence/jwk.ts";
import {
  ArchivedEscrows,
  makeArchivedEscrows,
} from "../../core/use-cases/escrow/archived-escrows.ts";
import { LogProofs } from "../../core/use-cases/log/serving/log-proofs.ts";
import { buildEvidence } from "../../core/use-cases/evidence/build-evidence.ts";
import {
  makeSettledEvidence,
  SettledEvidence,
} from "../../core/use-cases/evidence/settled-evidence.ts";
import { IndexWriter } from "../../ports/index/index-writer.ts";
import { EvidenceSigner } from "../../ports/evidence-signer.ts";
import { Instance } from "../../ports/instance.ts";
import { makeLedgerDouble } from "../adapters/http/support/ledger-double.ts";
import { CREATED_AT, escrow, merchant } from "../adapters/http/support/parties.ts";
import { seedInto } from "../adapters/http/support/service.ts";
import { changesOf, indexedOf } from "../arbitraries/index-history.ts";
import { testInstance } from "../core/use-cases/test-instance.ts";

const settled = escrow("remembered", "Fulfilled");
const signer = (() => {
  const { publicKey, sign } = ed25519Key(new Uint8Array(32).fill(7));
  return EvidenceSigner.of({
    current: { keyId: jwkThumbprint(publicKey), publicKey, status: "current", endedAtMs: null },
    former: [],
    sign: (message) => Effect.succeed(sign(message)),
  });
})();
const worldWith = (shown: Escrow) => {
  const { double: ledger, layer } = makeLedgerDouble(
    "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY",
  );
  ledger.setClock(CREATED_AT + 60n);
  seedInto(ledger)({ escrows: [shown], merchants: [merchant()] });
  const runtime = ManagedRuntime.make(
    Layer.mergeAll(
      Layer.effect(SettledEvidence, makeSettledEvidence),
      Layer.succeed(LogProofs, { ofEscrow: () => Effect.succeed(null) }),
      Layer.effect(ArchivedEscrows, makeArchivedEscrows),
    ).pipe(
      Layer.provideMerge(
        Layer.mergeAll(
          layer,
          Layer.succeed(Instance, testInstance()),
          Layer.succeed(EvidenceSigner, signer),
          indexMemory(),
          TestClock.layer(),
        ),
      ),
    ),
  );
  return runtime;
};
/** Signs what a node shows, while the index (complete, chained) has the truth. */
const signedWhile = async (truth: Escrow, shown: Escrow) => {
  const runtime = worldWith(shown);
  await runtime.runPromise(
    IndexWriter.use((index) => index.apply(changesOf({ escrows: [indexedOf(truth)] }))),
  );
  const exit = await runtime.runPromise(Effect.result(buildEvidence(truth.address)));
  if (exit._tag === "Failure") expect(exit.failure._tag).toBe("LedgerUnavailable");
  return exit._tag === "Success" ? exit.success.data.escrow : null;
};

test("a forged amount of an escrow that the chained index holds is not signed", async () => {
  const forged: Escrow = {
    ...settled,
    amount: settled.amount * 10n,
    released: settled.released * 10n,
  };
  const signed = await signedWhile(settled, forged);
  expect(signed).toBeNull();
});

test("an old Pending account of an escrow that the index holds as Fulfilled is not signed as Pending", async () => {
  const pending = escrow("remembered", "Pending");
  expect(pending.address).toBe(settled.address);
  const signed = await signedWhile(settled, pending);
  expect(signed).toBeNull();
});

test("one forged read of a settled escrow is not kept and served for good", async () => {
  const truth = escrow("remembered", "Refunded");
  const forged: Escrow = { ...truth, amount: truth.amount * 10n };
  const { double: ledger, layer } = makeLedgerDouble(
    "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY",
  );
  ledger.setClock(CREATED_AT + 60n);
  const seed = seedInto(ledger);
  seed({ escrows: [forged], merchants: [merchant()] });
  const runtime = ManagedRuntime.make(
    Layer.mergeAll(
      Layer.effect(SettledEvidence, makeSettledEvidence),
      Layer.succeed(LogProofs, { ofEscrow: () => Effect.succeed(null) }),
      Layer.effect(ArchivedEscrows, makeArchivedEscrows),
    ).pipe(
      Layer.provideMerge(
        Layer.mergeAll(
          layer,
          Layer.succeed(Instance, testInstance()),
          Layer.succeed(EvidenceSigner, signer),
          indexMemory(),
          TestClock.layer(),
        ),
      ),
    ),
  );
  await runtime.runPromise(
    IndexWriter.use((index) => index.apply(changesOf({ escrows: [indexedOf(truth)] }))),
  );
  const first = await runtime.runPromise(Effect.result(buildEvidence(truth.address)));
  if (first._tag === "Success") {
    // What a buyer who has this packet is told offline, with the service's key in the policy and no log in it.
    const { evidenceRecord } = await import("../../adapters/http/evidence/evidence-contract.ts");
    const { verifyEvidence } = await import("../../core/protocol/evidence/verify-evidence.ts");
    const { verdict, checks } = verifyEvidence(
      JSON.stringify(evidenceRecord(first.success)),
      null as never,
    );
    console.log(
      "offline verdict of the forged packet:",
      verdict,
      checks.filter((c) => c.outcome === "failed").map((c) => c.name),
    );
  }
  seed({ escrows: [truth], merchants: [merchant()] }); // honest from here on, for ever
  await runtime.runPromise(TestClock.adjust("1 hour"));
  const later = await runtime.runPromise(buildEvidence(truth.address));
  expect(JSON.stringify(later.data.escrow)).toContain(`"${truth.amount}"`);
  expect(JSON.stringify(later.data.escrow)).not.toContain(`"${forged.amount}"`);
});

test("an escrow that the chained index holds is not denied because a node does not show its account", async () => {
  const { layer, double: ledger } = makeLedgerDouble(
    "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY",
  );
  ledger.setClock(CREATED_AT + 60n);
  seedInto(ledger)({ escrows: [], merchants: [merchant()] });
  const { readEscrow } = await import("../../core/use-cases/escrow/read-escrow.ts");
  const runtime = ManagedRuntime.make(
    Layer.mergeAll(
      Layer.effect(SettledEvidence, makeSettledEvidence),
      Layer.succeed(LogProofs, { ofEscrow: () => Effect.succeed(null) }),
      Layer.effect(ArchivedEscrows, makeArchivedEscrows),
    ).pipe(
      Layer.provideMerge(
        Layer.mergeAll(
          layer,
          Layer.succeed(Instance, testInstance()),
          Layer.succeed(EvidenceSigner, signer),
          indexMemory(),
          TestClock.layer(),
        ),
      ),
    ),
  );
  await runtime.runPromise(
    IndexWriter.use((index) => index.apply(changesOf({ escrows: [indexedOf(settled)] }))),
  );
  const tagOf = async (exit: Promise<{ _tag: string; failure?: { _tag: string } }>) =>
    (await exit).failure?._tag ?? "Success";
  const packet = await tagOf(
    runtime.runPromise(Effect.result(buildEvidence(settled.address))) as never,
  );
  const live = await tagOf(runtime.runPromise(Effect.result(readEscrow(settled.address))) as never);
  expect([packet, live]).toEqual(["LedgerUnavailable", "LedgerUnavailable"]);
});
