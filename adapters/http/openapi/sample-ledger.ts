import { ledgerDomain } from "../../../core/protocol/accounts/settings-accounts.ts";
import { Effect, Stream } from "effect";
import { type Address, addressFromBytes } from "../../../core/domain/address.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import { NO_PINS } from "../../../core/domain/ledger/deployment.ts";
import type { UnixSeconds } from "../../../core/domain/unix-time.ts";
import { fieldWriter } from "../../../core/protocol/accounts/byte-fields.ts";
import {
  decodeEscrowAccount,
  encodeEscrowAccount,
  pendingEscrowBytes,
} from "../../../core/protocol/accounts/escrow-account.ts";
import { encodeMerchantAccount } from "../../../core/protocol/accounts/merchant-account.ts";
import {
  associatedTokenAddress,
  custodyConfigAddress,
  registryAddress,
} from "../../../core/protocol/addresses/addresses.ts";
import {
  CLOCK_SYSVAR,
  RENT_SYSVAR,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";
import {
  ATTESTOR_ACCOUNTS,
  ATTESTOR_CONSTANTS,
} from "../../../core/protocol/generated/attestor.ts";
import { CUSTODY_ACCOUNTS, CUSTODY_CONSTANTS } from "../../../core/protocol/generated/custody.ts";
import { ArchivedEscrows } from "../../../core/use-cases/escrow/archived-escrows.ts";
import { prepareEscrow } from "../../../core/use-cases/escrow/prepare/prepare-escrow.ts";
import { TransactionTerms } from "../../../core/use-cases/service/transaction-terms.ts";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import { SAMPLE, sampleEscrow, sampleMerchant, sampleParties } from "./sample-values.ts";

/** The instance that the documentation's examples come from. */
export const sampleInstance = () =>
  Instance.of({
    deployment: SAMPLE.deployment,
    programPins: NO_PINS,
    cluster: "localnet",
    runsLedger: false,
    networkAddress: "http://127.0.0.1:8899",
    supportedMints: [{ address: sampleParties().mint, decimals: 6, symbol: "USDC" }],
    enforceBetaLimits: false,
    version: "1.0.0-devnet",
    revision: null,
    startedAtMs: Number(SAMPLE.createdAt) * 1000,
    syncsByItself: true,
    confirmTimeoutMs: 30_000,
  });

const account = (
  address: Address,
  owner: Address,
  data: Uint8Array,
  lamports = 10_000_000n,
): LedgerAccount => ({ address, owner, lamports, executable: false, data });

/** Lamports per byte-year, exemption threshold in years, burn percent (Agave `rent.rs`). */
const rentData = (): Uint8Array => {
  const data = new Uint8Array(17);
  const view = new DataView(data.buffer);
  view.setBigUint64(0, 3480n, true);
  view.setFloat64(8, 2, true);
  view.setUint8(16, 50);
  return data;
};

const tokens = (owner: Address, mint: Address): LedgerAccount =>
  account(
    associatedTokenAddress(owner, mint),
    TOKEN_PROGRAM,
    fieldWriter(165).address(mint).address(owner).u64(SAMPLE.amount).skip(36).u8(1).skip(56).done(),
    TOKEN_RENT,
  );

/** The configuration account of each program. */
const setUp = (): ReadonlyArray<LedgerAccount> => {
  const { deployment } = SAMPLE;
  const config = custodyConfigAddress(deployment);
  const registry = registryAddress(deployment);
  const { merchant, mint } = sampleParties();
  return [
    account(
      config.address,
      deployment.custodyProgram,
      fieldWriter(CUSTODY_ACCOUNTS.CustodyConfig.length)
        .bytes(Uint8Array.from(CUSTODY_ACCOUNTS.CustodyConfig.discriminator))
        .u8(CUSTODY_CONSTANTS.ACCOUNT_VERSION)
        .u8(config.bump)
        .skip(6)
        .address(deployment.attestorProgram)
        .bytes(ledgerDomain(SAMPLE.genesisHash, deployment.custodyProgram))
        .u64(43n)
        .bytes(new Uint8Array(1280).fill(1))
        .done(),
    ),
    account(
      registry.address,
      deployment.attestorProgram,
      fieldWriter(ATTESTOR_ACCOUNTS.Registry.length)
        .bytes(Uint8Array.from(ATTESTOR_ACCOUNTS.Registry.discriminator))
        .u8(ATTESTOR_CONSTANTS.ACCOUNT_VERSION)
        .u8(registry.bump)
        .skip(6)
        .address(merchant)
        .address(deployment.custodyProgram)
        .address(mint)
        .skip(32)
        .done(),
    ),
  ];
};

/** The sample escrow as it was before its release. */
export const samplePendingEscrow = (): Escrow => {
  const settled = sampleEscrow();
  const decoded = decodeEscrowAccount(
    {
      address: settled.address,
      owner: SAMPLE.deployment.custodyProgram,
      data: pendingEscrowBytes(encodeEscrowAccount(settled)),
    },
    SAMPLE.deployment,
  );
  if ("fault" in decoded) throw new Error(decoded.fault);
  return decoded.value;
};

const none = () => Effect.succeed([]);
const INDEX_WITHOUT_ROWS = IndexReader.of({
  escrows: none,
  escrowsAt: () => Effect.succeed({ escrows: [], unseen: [] }),
  escrowsOfHash: none,
  events: none,
  merchants: none,
  sameNames: () => Effect.succeed(0),
  summary: Effect.succeed({
    escrows: 0,
    unseen: 0,
    merchants: 0,
    mark: null,
    snapshotAtMs: null,
    revision: null,
  }),
});

/** What a use case of the documentation's examples may ask. */
type SampleServices = Ledger | IndexReader | Instance | TransactionTerms | ArchivedEscrows;

/** A scene: an escrow at a ledger time, by default among registered parties. */
type Scene = {
  readonly escrow: Escrow;
  readonly ledgerTime: UnixSeconds;
  readonly isRegistered?: boolean;
  /** Whether the escrow's account holds the closed vault's rent. */
  readonly isVaultClosed?: boolean;
};

/** The least balance of an escrow's account and of a token account at the sample's rent, lamports. */
const [ESCROW_RENT, TOKEN_RENT] = [3_786_240n, 2_039_280n];

/** Runs a use case on a ledger that holds a scene and returns its result, for the documentation's examples. */
export const onSampleLedger = <A, E>(
  { escrow, ledgerTime, isRegistered = true, isVaultClosed = false }: Scene,
  useCase: Effect.Effect<A, E, SampleServices>,
): A => {
  const { deployment } = SAMPLE;
  const { agent, merchant, mint } = sampleParties();
  const registered = sampleMerchant();
  const held = [
    account(
      escrow.address,
      deployment.custodyProgram,
      encodeEscrowAccount(escrow),
      isVaultClosed ? ESCROW_RENT + TOKEN_RENT : ESCROW_RENT,
    ),
    ...(isVaultClosed ? [] : [tokens(escrow.address, mint)]),
    tokens(agent, mint),
    tokens(merchant, mint),
    ...(isRegistered
      ? [account(registered.address, deployment.attestorProgram, encodeMerchantAccount(registered))]
      : []),
    ...setUp(),
    account(agent, SYSTEM_PROGRAM, new Uint8Array(), 1_000_000_000n),
    account(merchant, SYSTEM_PROGRAM, new Uint8Array(), 1_000_000_000n),
    account(CLOCK_SYSVAR, SYSTEM_PROGRAM, fieldWriter(40).skip(32).i64(ledgerTime).done()),
    account(RENT_SYSVAR, SYSTEM_PROGRAM, rentData()),
  ];
  const ledger = Ledger.of({
    genesisHash: Effect.succeed(SAMPLE.genesisHash),
    confirmIdentity: Effect.void,
    tip: () => Effect.succeed({ slot: SAMPLE.slot, blockHeight: SAMPLE.slot }),
    readAccounts: (addresses) =>
      Effect.succeed({
        slot: SAMPLE.slot,
        value: addresses.map((address) => held.find((each) => each.address === address) ?? null),
      }),
    programAccounts: () => Stream.empty,
    history: () => Effect.succeed({ entries: [], keptFrom: null }),
    transaction: () => Effect.succeed(null),
  });
  const terms = TransactionTerms.of({
    read: Effect.succeed({
      blockhash: addressFromBytes(new Uint8Array(32).fill(7)),
      lastValidBlockHeight: SAMPLE.slot + 150n,
      slot: SAMPLE.slot,
      usualPrice: 0n,
      urgentPrice: 0n,
    }),
  });
  return Effect.runSync(
    useCase.pipe(
      Effect.provideService(Ledger, ledger),
      Effect.provideService(IndexReader, INDEX_WITHOUT_ROWS),
      Effect.provideService(Instance, sampleInstance()),
      Effect.provideService(TransactionTerms, terms),
      Effect.provideService(ArchivedEscrows, { find: () => Effect.succeed(null) }),
    ),
  );
};

/** As `onSampleLedger`, at the time of the escrow's creation, with the merchant registered or not. */
export const onSampleRegistry = <A, E>(
  isRegistered: boolean,
  useCase: Effect.Effect<A, E, SampleServices>,
): A =>
  onSampleLedger(
    { escrow: sampleEscrow(), ledgerTime: SAMPLE.createdAt + 30n, isRegistered },
    useCase,
  );

/** The sample escrow as it is prepared. */
export const samplePreparedEscrow = () => {
  const { agent, merchant, mint } = sampleParties();
  const prepared = prepareEscrow({
    agentOwner: agent,
    merchant,
    mint,
    amount: SAMPLE.amount.toString(),
    ttlSeconds: SAMPLE.ttlSeconds,
    taskIntent: SAMPLE.intent,
    nonce: SAMPLE.nonce,
  });
  return Effect.runSync(Effect.provideService(prepared, Instance, sampleInstance()));
};
