import { Cause, Effect, Exit, Layer, ManagedRuntime } from "effect";
import { TestClock } from "effect/testing";
import { indexMemory } from "../../../../adapters/memory/index-store.ts";
import { ed25519Key } from "../../../../adapters/signer/ed25519-key.ts";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import { jwkThumbprint } from "../../../../core/domain/evidence/evidence-signature.ts";
import {
  ArchivedEscrows,
  makeArchivedEscrows,
} from "../../../../core/use-cases/escrow/archived-escrows.ts";
import { type LogProof, LogProofs } from "../../../../core/use-cases/log/serving/read-log.ts";
import { buildEvidence } from "../../../../core/use-cases/evidence/build-evidence.ts";
import {
  makeSettledEvidence,
  SettledEvidence,
} from "../../../../core/use-cases/evidence/settled-evidence.ts";
import { type IndexChanges, IndexWriter } from "../../../../ports/index/index-writer.ts";
import { EvidenceSigner } from "../../../../ports/evidence-signer.ts";
import { Instance } from "../../../../ports/instance.ts";
import { LedgerRecord } from "../../../../ports/ledger/ledger-record.ts";
import { escrow, merchant } from "../../../adapters/http/support/parties.ts";
import { seedInto, settlementLedger } from "../../../adapters/http/support/settlement-ledger.ts";
import { changesOf } from "../../../arbitraries/index-history.ts";
import { NO_PACKETS, SettledPackets } from "../../../../ports/settled-packets.ts";
import { testInstance } from "../test-instance.ts";
import { patientClock } from "../../../doubles/patient-clock.ts";

const GENESIS = "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY";
/** The escrow that the ledger of a world holds at first. */
export const settled = escrow("remembered", "Fulfilled");

/** A signer whose key is made of one byte; without one it has no key. */
export const signerOf = (seed: number | null) => {
  const key = seed === null ? null : ed25519Key(new Uint8Array(32).fill(seed));
  return EvidenceSigner.of({
    current: key && {
      keyId: jwkThumbprint(key.publicKey),
      publicKey: key.publicKey,
      status: "current",
      endedAtMs: null,
    },
    former: [],
    sign: (message) => (key === null ? Effect.die("no key") : Effect.succeed(key.sign(message))),
  });
};

/** What a world differs in: the signer's byte, the ledger, every escrow's proof of the log, and who keeps packets. */
export type WorldOptions = {
  readonly key?: number | null;
  readonly genesis?: string;
  readonly proof?: LogProof | null;
  readonly packets?: SettledPackets["Service"];
};

/** A ledger, an empty index and a key, with one process's kept evidence. */
export const makeWorld = ({
  key = 7,
  genesis = GENESIS,
  proof = null,
  packets = NO_PACKETS,
}: WorldOptions = {}) => {
  const ledger = settlementLedger(genesis);
  const seed = seedInto(ledger);
  seed({ escrows: [settled], merchants: [merchant()] });
  const ports = Layer.mergeAll(
    ledger.portsWith(),
    Layer.succeed(Instance, testInstance()),
    Layer.succeed(EvidenceSigner, signerOf(key)),
    Layer.succeed(LedgerRecord, {
      adopt: Effect.succeed,
      state: Effect.succeed({ genesisHash: genesis, standing: "recorded" as const }),
    }),
    indexMemory(),
    Layer.succeed(SettledPackets, packets),
    patientClock(),
  );
  const runtime = ManagedRuntime.make(
    Layer.mergeAll(
      Layer.effect(SettledEvidence, makeSettledEvidence),
      Layer.succeed(LogProofs, { ofEscrow: () => Effect.succeed(proof) }),
      Layer.effect(ArchivedEscrows, makeArchivedEscrows),
    ).pipe(Layer.provideMerge(ports)),
  );
  return {
    ledger,
    seed,
    run: runtime.runPromise,
    packet: (of: Escrow = settled) => runtime.runPromise(buildEvidence(of.address)),
    failure: async (of: Escrow) => {
      const exit = await runtime.runPromiseExit(buildEvidence(of.address));
      return Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "none";
    },
    pass: (ms: number) => runtime.runPromise(TestClock.adjust(ms)),
    apply: (changes: Partial<IndexChanges>) =>
      runtime.runPromise(IndexWriter.use((index) => index.apply(changesOf(changes)))),
  };
};
