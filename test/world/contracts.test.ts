import { Layer, Logger } from "effect";
import { ledgerSolanaRpc } from "../../adapters/solana-rpc/ledger-solana-rpc.ts";
import { nodePool } from "../../adapters/solana-rpc/pool/node-pool.ts";
import { Ledger } from "../../ports/ledger/ledger.ts";
import { configOver } from "../adapters/solana-rpc/ledger-under-test.ts";
import type { LedgerWorld } from "../contracts/ledger-world.ts";
import { ledgerContract } from "../contracts/ledger.ts";
import { PLANTED, plantedParts } from "../contracts/planted-accounts.ts";
import { serveNode } from "../simulation/serve-node.ts";
import { walletOf } from "../simulation/world-escrow.ts";
import { ChainNode } from "./chain-node.ts";
import { ledgerPort, partsOf } from "./ledger-port.ts";
import { inBlock, ScriptedChain } from "./scripted-chain.ts";
import { walletAccount } from "../doubles/accounts.ts";

/** Puts a transfer of lamports into the present slot, and what it leaves to who gets them. */
const landIn =
  (chain: ScriptedChain): ScriptedChain["onSend"] =>
  (sent) => {
    const landed = inBlock(sent, chain.slot);
    chain.record(landed);
    const [transfer] = landed.instructions;
    const [, to] = transfer?.accounts ?? [];
    if (!transfer?.data || to === undefined) throw new Error("not a transfer");
    // The System program's Transfer, number 2, and the amount, both little-endian.
    const lamports = Buffer.from(transfer.data).readBigUInt64LE(4);
    chain.put(walletAccount(to, lamports), chain.slot);
  };

/** A chain that finalizes after two slots, with a face of it as the Ledger. */
const worldOf = (
  face: (chain: ScriptedChain) => {
    readonly ledger: Layer.Layer<Ledger>;
    readonly close: () => void;
  },
): LedgerWorld => {
  const chain = new ScriptedChain();
  for (const account of PLANTED) chain.put(account);
  chain.finality = 2n;
  chain.onSend = landIn(chain);
  const { ledger, close } = face(chain);
  return {
    ...plantedParts(),
    layer: Layer.merge(chain.portsWith(), ledger),
    genesisHash: chain.genesisHash,
    blockhash: () => walletOf("blockhash"),
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
