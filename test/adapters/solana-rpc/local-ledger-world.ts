import { Layer, Logger } from "effect";
import { localGenesis } from "../../../adapters/local-ledger/genesis/genesis.ts";
import { manualTime, SLOT_MS } from "../../../adapters/local-ledger/runtime/time/slots.ts";
import { blockspaceSolanaRpc } from "../../../adapters/solana-rpc/broadcast/blockspace-solana-rpc.ts";
import { broadcasterSolanaRpc } from "../../../adapters/solana-rpc/broadcast/broadcaster-solana-rpc.ts";
import { ledgerSolanaRpc } from "../../../adapters/solana-rpc/ledger-solana-rpc.ts";
import { nodePool } from "../../../adapters/solana-rpc/pool/node-pool.ts";
import type { SolanaRpcConfig } from "../../../adapters/solana-rpc/pool/pool-config.ts";
import { PLANTED, plantedParts } from "../../contracts/planted-accounts.ts";
import type { LedgerWorld } from "../../contracts/ledger-world.ts";
import { startLedger } from "../local-ledger/ledger-fixture.ts";

const RENT_EXEMPT_EPOCH = 2n ** 64n - 1n;

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
        for (const { address, ...state } of PLANTED) {
          opened.plant(address, { ...state, rentEpoch: RENT_EXEMPT_EPOCH });
        }
      },
    },
  });
  return {
    layer: Layer.mergeAll(ledgerSolanaRpc, broadcasterSolanaRpc, blockspaceSolanaRpc).pipe(
      Layer.provide(nodePool(config(new URL(url)))),
      Layer.provideMerge(Logger.layer([])),
    ),
    genesisHash: ledger.genesisHash,
    ...plantedParts(),
    blockhash: () => ledger.latestBlockhash().blockhash,
    finalize: () => time.advance(SLOT_MS),
    close: stop,
  };
};
