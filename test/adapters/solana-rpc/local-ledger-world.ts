import { Layer, Logger } from "effect";
import { localGenesis } from "../../../adapters/local-ledger/genesis/genesis.ts";
import { transferLamports } from "../../../adapters/local-ledger/genesis/funding-instructions.ts";
import { LOCAL_FAUCET } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { manualTime } from "../../../adapters/local-ledger/runtime/time/ledger-time.ts";
import { SLOT_MS } from "../../../adapters/local-ledger/runtime/time/slot-clock.ts";
import { signedTransaction } from "../../../adapters/local-ledger/genesis/signed-transaction.ts";
import { blockspaceSolanaRpc } from "../../../adapters/solana-rpc/broadcast/blockspace-solana-rpc.ts";
import { broadcasterSolanaRpc } from "../../../adapters/solana-rpc/broadcast/broadcaster-solana-rpc.ts";
import { ledgerSolanaRpc } from "../../../adapters/solana-rpc/ledger-solana-rpc.ts";
import { nodePool } from "../../../adapters/solana-rpc/pool/node-pool.ts";
import type { SolanaRpcConfig } from "../../../adapters/solana-rpc/pool/solana-rpc-config.ts";
import type { AccountKind } from "../../../core/domain/ledger/account-kind.ts";
import { addressFromBytes } from "../../../core/domain/address.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import { ledgerSignatureFromBytes } from "../../../core/domain/ledger/signature.ts";
import type { LedgerWorld } from "../../contracts/ledger-world.ts";
import { startLedger } from "../local-ledger/ledger-fixture.ts";

/** Before the message are the signature count (one byte) and one signature. */
const MESSAGE_AT = 1 + 64;
const RENT_EXEMPT_EPOCH = 2n ** 64n - 1n;

const numbered = (kind: number, n: number) => {
  const bytes = new Uint8Array(32).fill(kind);
  new DataView(bytes.buffer).setUint32(8, n);
  return addressFromBytes(bytes);
};
const PROGRAM = numbered(101, 0);

const KIND: AccountKind = {
  program: PROGRAM,
  length: 150,
  discriminator: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8),
};
const planted = (n: number, data: Uint8Array): LedgerAccount => ({
  address: numbered(102, n),
  owner: PROGRAM,
  lamports: 10_000_000n + BigInt(n),
  executable: false,
  data,
});
const ofKind = (n: number): Uint8Array => {
  const data = new Uint8Array(KIND.length).fill(n);
  data.set(KIND.discriminator);
  return data;
};
const KNOWN: LedgerAccount = {
  address: numbered(103, 0),
  owner: numbered(103, 1),
  lamports: 2n ** 53n + 1n,
  executable: false,
  data: Uint8Array.of(1, 2, 3),
};
const LONG: LedgerAccount = {
  address: numbered(103, 2),
  owner: numbered(103, 1),
  lamports: 1_000_000_000n,
  executable: false,
  data: new Uint8Array(20_000).fill(9),
};
const OWNED = Array.from({ length: 1234 }, (_, n) => planted(n, ofKind(n)));
const OTHERS = [
  new Uint8Array(KIND.length),
  ofKind(5).with(3, 0),
  ofKind(6).slice(0, KIND.length - 1),
  Uint8Array.of(...ofKind(7), 0),
  KIND.discriminator,
  ...Array.from({ length: 200 }, (_, length) => new Uint8Array(length)),
].map((data, n) => planted(2000 + n, data));

/** A local ledger whose time stands still until `finalize`, read through the nodes at the given addresses. */
export const localLedgerWorld = (config: (ledgerUrl: URL) => SolanaRpcConfig): LedgerWorld => {
  const time = manualTime(Date.now());
  const genesis = localGenesis({ demo: false });
  const { ledger, url, stop } = startLedger({
    time,
    genesis: {
      ageMs: genesis.ageMs,
      fill: (opened, advance) => {
        genesis.fill(opened, advance);
        for (const { address, ...state } of [KNOWN, LONG, ...OWNED, ...OTHERS]) {
          opened.plant(address, { ...state, rentEpoch: RENT_EXEMPT_EPOCH });
        }
      },
    },
  });
  let unused = 0;
  return {
    layer: Layer.mergeAll(ledgerSolanaRpc, broadcasterSolanaRpc, blockspaceSolanaRpc).pipe(
      Layer.provide(nodePool(config(new URL(url)))),
      Layer.provideMerge(Logger.layer([])),
    ),
    genesisHash: ledger.genesisHash,
    known: KNOWN,
    long: LONG,
    program: { kind: KIND, accounts: OWNED, others: OTHERS },
    idleProgram: numbered(104, 0),
    unused: () => numbered(105, unused++),
    transfer: ({ to, lamports, blockhash }) => {
      const transaction = signedTransaction({
        payer: LOCAL_FAUCET,
        instructions: [transferLamports(LOCAL_FAUCET.address, to, lamports)],
        blockhash,
      });
      return {
        transaction,
        message: transaction.slice(MESSAGE_AT),
        signature: ledgerSignatureFromBytes(transaction.slice(1, MESSAGE_AT)),
      };
    },
    blockhash: () => ledger.latestBlockhash().blockhash,
    finalize: () => time.advance(SLOT_MS),
    close: stop,
  };
};
