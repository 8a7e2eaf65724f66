import { Layer, Logger } from "effect";
import { LOCAL_FAUCET } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { ledgerSolanaRpc } from "../../adapters/solana-rpc/ledger-solana-rpc.ts";
import { nodePool } from "../../adapters/solana-rpc/pool/node-pool.ts";
import { Blockspace } from "../../ports/ledger/blockspace.ts";
import { Broadcaster } from "../../ports/ledger/broadcaster.ts";
import { Ledger } from "../../ports/ledger/ledger.ts";
import { configOver } from "../adapters/solana-rpc/ledger-under-test.ts";
import { blockspaceContract } from "../contracts/blockspace.ts";
import { broadcasterContract } from "../contracts/broadcaster.ts";
import type { LedgerWorld } from "../contracts/ledger-world.ts";
import { ledgerContract } from "../contracts/ledger.ts";
import { PLANTED, plantedParts } from "../contracts/planted-accounts.ts";
import { walletAccount } from "../doubles/accounts.ts";
import { serveNode } from "../simulation/serve-node.ts";
import { walletOf } from "../simulation/world-escrow.ts";
import { chainBroadcaster } from "./chain-broadcaster.ts";
import { ChainNode } from "./chain-node.ts";
import { Chain } from "./chain.ts";
import { ledgerPort, partsOf } from "./ledger-port.ts";

/** A chain that finalizes after two slots, with a face of it as the Ledger. */
const worldOf = (
  face: (chain: Chain) => { readonly ledger: Layer.Layer<Ledger>; readonly close: () => void },
): LedgerWorld => {
  const chain = new Chain(walletOf("genesis"), () => 0n);
  for (const account of PLANTED) chain.put(account);
  chain.put(walletAccount(LOCAL_FAUCET.address, 10n ** 15n));
  chain.slot += 2n;
  chain.finality = 2n;
  const { blockhash, broadcaster, blockspace } = chainBroadcaster(chain);
  const { ledger, close } = face(chain);
  return {
    ...plantedParts(),
    layer: Layer.mergeAll(
      ledger,
      Layer.succeed(Broadcaster, broadcaster),
      Layer.succeed(Blockspace, blockspace),
    ),
    genesisHash: chain.genesisHash,
    blockhash,
    finalize: () => {
      chain.slot += 2n;
    },
    close: async () => close(),
  };
};

const asPort = () =>
  worldOf((chain) => ({
    ledger: Layer.succeed(Ledger, ledgerPort(partsOf(chain))),
    close: () => undefined,
  }));

const asNode = () =>
  worldOf((chain) => {
    const server = serveNode(new ChainNode(chain).answer);
    const pool = nodePool(configOver([new URL(server.url)]));
    const ledger = ledgerSolanaRpc.pipe(Layer.provide(pool), Layer.provide(Logger.layer([])));
    return { ledger, close: () => server[Symbol.dispose]() };
  });

ledgerContract("the simulated chain's port", asPort);
ledgerContract("solana-rpc over the simulated chain's node", asNode);
broadcasterContract("the simulated chain", asPort);
blockspaceContract("the simulated chain", asPort);
