import { Context, Effect } from "effect";
import type { Address } from "../../domain/address.ts";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import type { EvidenceSignature } from "../../domain/evidence/evidence-signature.ts";
import { RecentlyUsed } from "../../domain/recently-used.ts";
import type { EvidenceData } from "../../protocol/evidence/evidence-data.ts";
import type { Instance } from "../../../ports/instance.ts";
import type { Ledger } from "../../../ports/ledger.ts";
import type { EvidenceReferences, MerchantStanding } from "./evidence-references.ts";
import { monotonicMs } from "../monotonic-time.ts";
import { readMerchant } from "../merchant/read-merchant.ts";
import { makeSingleFlight } from "../single-flight.ts";

/** One escrow's evidence packet. */
export type EvidencePacket = {
  readonly data: EvidenceData;
  readonly signature: EvidenceSignature;
  readonly references: EvidenceReferences;
};

/** A settled escrow as the ledger showed it at `finalized`, and its latest packet. */
export type KeptEvidence = {
  readonly escrow: Escrow;
  readonly packet: EvidencePacket;
  /** Of the store, when the packet's transactions were looked for. */
  readonly revision: bigint | null;
};

/** Between so many packets and twice as many are kept: at 12 KB each with their text, 50 MB at most. */
const PACKETS = 2000;
/** The same of merchants, at less than 1 KB each. */
const MERCHANTS = 2000;
/** What a packet says of the merchant was asked at most so long ago, milliseconds. */
export const STANDING_FRESH_MS = 5000;

/**
 * What the process remembers of settled escrows. Nothing can change a settled escrow, and an Ed25519 signature of
 * the same bytes is the same again, so that `data` and `signature` are built once. Only what was read at `finalized`
 * is kept, never what the index holds: nobody who can write to the store gets anything signed.
 */
export class SettledEvidence extends Context.Service<
  SettledEvidence,
  {
    /** What is known of a settled escrow, undefined when nothing is kept. */
    readonly find: (escrow: string) => KeptEvidence | undefined;
    readonly keep: (known: KeptEvidence) => void;
    /**
     * How a merchant stands on the ledger, asked at most `STANDING_FRESH_MS` ago; null when its account could not
     * be read. While it stands the same it is the same object.
     */
    readonly standingOf: (wallet: Address) => Effect.Effect<MerchantStanding | null>;
  }
>()("settlement-evidence/core/use-cases/SettledEvidence") {}

type Asked = { readonly standing: MerchantStanding | null; readonly atMs: number };

const isSame = (one: MerchantStanding | null, other: MerchantStanding | null): boolean =>
  one?.name === other?.name &&
  one?.status === other?.status &&
  one?.currentAttestor === other?.currentAttestor;

/** How a merchant stands on the ledger now, null when its account could not be read. */
export const readStanding = (wallet: Address) =>
  readMerchant(wallet, "finalized").pipe(
    Effect.map(({ merchant: { name, status, attestor } }): MerchantStanding | null => ({
      name,
      status,
      currentAttestor: attestor,
    })),
    Effect.orElseSucceed(() => null),
  );

/** The process's one `SettledEvidence`; what it asks of the ledger ends with the scope. */
export const makeSettledEvidence = Effect.gen(function* () {
  const scope = yield* Effect.scope;
  const context = yield* Effect.context<Ledger | Instance>();
  const packets = new RecentlyUsed<string, KeptEvidence>(PACKETS);
  const merchants = new RecentlyUsed<Address, Asked>(MERCHANTS);
  const once = makeSingleFlight<MerchantStanding | null, never>(scope);

  const ask = Effect.fnUntraced(function* (wallet: Address, before: MerchantStanding | null) {
    const atMs = yield* monotonicMs;
    const found = yield* readStanding(wallet);
    const standing = isSame(found, before) ? before : found;
    merchants.set(wallet, { standing, atMs });
    return standing;
  }, Effect.provide(context));

  return SettledEvidence.of({
    find: (escrow) => packets.get(escrow),
    keep: (known) => packets.set(known.escrow.address, known),
    standingOf: Effect.fnUntraced(function* (wallet) {
      const asked = merchants.get(wallet);
      const nowMs = yield* monotonicMs;
      if (asked !== undefined && nowMs - asked.atMs < STANDING_FRESH_MS) return asked.standing;
      return yield* once(wallet, ask(wallet, asked?.standing ?? null));
    }),
  });
});
