import { createHash } from "node:crypto";
import { Effect } from "effect";
import { addressFromBytes } from "../../../../core/domain/address.ts";
import { jwkThumbprint } from "../../../../core/domain/evidence/evidence-signature.ts";
import {
  type LedgerSignature,
  ledgerSignatureFromBytes,
} from "../../../../core/domain/ledger/signature.ts";
import type { Merchant } from "../../../../core/domain/merchant/merchant.ts";
import { eventsOf, type IndexedEvent } from "../../../../core/domain/index/settlement-event.ts";
import { hash32FromBytes } from "../../../../core/domain/hash32.ts";
import { merchantAddress } from "../../../../core/protocol/addresses/addresses.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { encodeMerchantAccount } from "../../../../core/protocol/accounts/merchant-account.ts";
import {
  ArchivedEscrows,
  makeArchivedEscrows,
} from "../../../../core/use-cases/escrow/archived-escrows.ts";
import { buildEvidence } from "../../../../core/use-cases/evidence/build-evidence.ts";
import {
  makeSettledEvidence,
  SettledEvidence,
} from "../../../../core/use-cases/evidence/settled-evidence.ts";
import type { EvidencePacket } from "../../../../core/use-cases/evidence/stored-packet.ts";
import { type LogProof, LogProofs } from "../../../../core/use-cases/log/serving/read-log.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import { StoreUnavailable } from "../../../../ports/index/store-refusal.ts";
import { EvidenceSigner } from "../../../../ports/evidence-signer.ts";
import { Instance } from "../../../../ports/instance.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { ATTESTOR_KEY, SERVICE_KEY, NETWORK } from "../../../arbitraries/evidence.ts";
import { type GOLDEN_ESCROWS, GOLDEN_MERCHANT } from "../escrow/golden-escrows.ts";
import { accountOf, clockAccount } from "../../../doubles/accounts.ts";
import { NO_PACKETS, SettledPackets } from "../../../../ports/settled-packets.ts";
import { testInstance } from "../test-instance.ts";
import type { LedgerAccount } from "../../../../core/domain/ledger/account.ts";
import type { UnixSeconds } from "../../../../core/domain/unix-time.ts";
import { ledgerPort } from "../../../world/ledger-port.ts";

/** A ledger at one slot and time that holds just these accounts. Any other question dies. */
export const ledgerOfAccounts = (
  accounts: ReadonlyArray<LedgerAccount>,
  at: { readonly slot: bigint; readonly ledgerTime: UnixSeconds },
) => {
  const held = [...accounts, clockAccount(at.ledgerTime)];
  return ledgerPort({
    genesisHash: NETWORK.genesisHash,
    slot: () => at.slot,
    accountAt: () => (address) => held.find((each) => each.address === address) ?? null,
  });
};

/** One escrow of a golden packet. */
export type Golden = (typeof GOLDEN_ESCROWS)[number];

/** The slot at which the golden packets' ledger is read. */
const SLOT = 412_345_678n;

/** The registered merchant of the golden packets. */
export const GOLDEN_MERCHANT_ACCOUNT: Merchant = {
  ...merchantAddress(LOCAL_DEPLOYMENT, GOLDEN_MERCHANT),
  wallet: GOLDEN_MERCHANT,
  name: "Example Quotes",
  status: "Active",
  attestor: addressFromBytes(ATTESTOR_KEY.publicKey),
  previousAttestor: null,
  attestorSince: 1n,
  registeredAt: 1n,
  updatedAt: 1n,
  reputation: 3,
  slashes: 0,
  deliveries: 3n,
  partialDeliveries: 0n,
  volume: 9n,
  revokedSeq: 0n,
};

const signer = EvidenceSigner.of({
  current: {
    keyId: jwkThumbprint(SERVICE_KEY.publicKey),
    publicKey: SERVICE_KEY.publicKey,
    status: "current",
    endedAtMs: null,
  },
  former: [],
  sign: (message) => Effect.succeed(SERVICE_KEY.sign(message)),
});

const signatureOf = (id: string): LedgerSignature =>
  ledgerSignatureFromBytes(new Uint8Array(createHash("sha512").update(id).digest()));

const indexed = ({ escrow }: Golden): ReadonlyArray<IndexedEvent> =>
  eventsOf(escrow).map((event, i) => ({
    event,
    position: BigInt(i + 1),
    leafHash: hash32FromBytes(new Uint8Array(32)),
    signature: signatureOf(event.id),
    slot: SLOT - 100n + BigInt(i),
  }));

/** An index without rows that answers one question; null means that it does not answer. */
const indexOf = (events: ReadonlyArray<IndexedEvent> | null) => {
  const unexpected = () => Effect.die("not expected");
  const refusal = new StoreUnavailable({ retryable: true, cause: "test" });
  const summary = {
    escrows: 0,
    unseen: 0,
    merchants: 0,
    mark: null,
    snapshotAtMs: null,
    revision: null,
  };
  return IndexReader.of({
    escrows: unexpected,
    escrowsAt: () => Effect.succeed({ escrows: [], unseen: [] }),
    escrowsOfHash: unexpected,
    merchants: unexpected,
    sameNames: unexpected,
    summary: Effect.succeed(summary),
    events: () => (events === null ? Effect.fail(refusal) : Effect.succeed(events)),
  });
};

/** The packet of a golden escrow, built by the use case. The options replace what surrounds it. */
export const goldenPacket = (
  golden: Golden,
  options: {
    readonly slot?: bigint;
    readonly signed?: boolean;
    readonly merchant?: Merchant | null;
    /** What the index knows; null means that it does not answer. */
    readonly events?: ReadonlyArray<IndexedEvent> | null;
    readonly log?: LogProof | null;
  } = {},
): EvidencePacket => {
  const { escrow, ledgerTime } = golden;
  const { custodyProgram, attestorProgram } = LOCAL_DEPLOYMENT;
  const {
    slot = SLOT,
    merchant = GOLDEN_MERCHANT_ACCOUNT,
    events = indexed(golden),
    log = null,
  } = options;
  const accounts = [
    accountOf(escrow.address, custodyProgram, encodeEscrowAccount(escrow)),
    ...(merchant === null
      ? []
      : [accountOf(merchant.address, attestorProgram, encodeMerchantAccount(merchant))]),
  ];
  return Effect.runSync(
    buildEvidence(escrow.address).pipe(
      Effect.provideServiceEffect(SettledEvidence, makeSettledEvidence),
      Effect.provideServiceEffect(ArchivedEscrows, makeArchivedEscrows),
      Effect.provideService(SettledPackets, NO_PACKETS),
      Effect.scoped,
      Effect.provideService(Ledger, ledgerOfAccounts(accounts, { slot, ledgerTime })),
      Effect.provideService(Instance, testInstance()),
      Effect.provideService(LogProofs, LogProofs.of({ ofEscrow: () => Effect.succeed(log) })),
      Effect.provideService(IndexReader, indexOf(events)),
      Effect.provideService(
        EvidenceSigner,
        options.signed === false ? EvidenceSigner.of({ ...signer, current: null }) : signer,
      ),
    ),
  );
};
