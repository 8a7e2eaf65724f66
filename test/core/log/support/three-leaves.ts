import { bytesToHex } from "@noble/hashes/utils.js";
import { checkpointText } from "../../../../core/log/checkpoint/checkpoint.ts";
import { printLogOrigin } from "../../../../core/log/checkpoint/log-origin.ts";
import { printTlogProof } from "../../../../core/log/checkpoint/tlog-proof.ts";
import { leavesOfEscrow } from "../../../../core/log/leaf/escrow-leaves.ts";
import { eventsIn } from "../../../../core/log/tree/frontier.ts";
import { TreeEdge } from "../../../../core/log/tree/tree-edge.ts";
import { networkIdOf, networkLeaf } from "../../../../core/log/leaf/event-leaf.ts";
import { printVerifierKey } from "../../../../core/log/notes/verifier-key.ts";
import { TileBuilder } from "../../../../core/log/tiles/tile-builder.ts";
import { tilePath } from "../../../../core/log/tiles/tile-path.ts";
import { consistencyProof, inclusionProof } from "../../../../core/log/tree/tree-proofs.ts";
import { leafHash, nodeHash } from "../../../../core/log/tree/tree-hash.ts";
import { rootAt } from "../../../../core/log/tree/subtree.ts";
import { printAddCheckpoint } from "../../../../core/log/witness/add-checkpoint.ts";
import {
  encodeEscrowAccount,
  pendingEscrowBytes,
} from "../../../../core/protocol/accounts/escrow-account.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { walletOf, worldEscrow } from "../../../simulation/world-escrow.ts";
import { referenceSource } from "./reference-tree.ts";
import { signedCheckpoint, testKey } from "./test-signer.ts";

const GENESIS_HASH = walletOf("genesis");
const escrow = { ...worldEscrow(1), createdSeq: 1n, settledSeq: 2n };
const account = encodeEscrowAccount(escrow);
const leaf0 = networkLeaf(GENESIS_HASH, LOCAL_DEPLOYMENT.custodyProgram);
const events = leavesOfEscrow(escrow, account).map(({ leaf }) => leaf);
const leaves = [leaf0, ...events];
const source = referenceSource(leaves);
const frontierAt = (size: number): Uint8Array => {
  const edge = new TreeEdge();
  for (const leaf of leaves.slice(0, size)) edge.append(leafHash(leaf));
  return eventsIn(edge).frontier;
};
const hex = (all: ReadonlyArray<Uint8Array>): ReadonlyArray<string> => all.map(bytesToHex);

const origin = printLogOrigin({
  name: "example.com/settlement",
  networkId: networkIdOf(leaf0),
  generation: 0,
});
const log = testKey(origin, "ed25519", 1);
const witness = testKey("witness.example", "cosignature", 2);
const head = { origin, size: 3, root: rootAt(3, source) };
// The witness cosigns at 1000 seconds after the epoch.
const checkpoint = signedCheckpoint(head, log, [witness]);

const tiles = (): Readonly<Record<string, string>> => {
  const written: Record<string, string> = {};
  const builder = new TileBuilder((tile, bytes) => {
    written[tilePath(tile)] = bytesToHex(bytes);
  });
  for (const leaf of leaves) builder.append(leaf);
  builder.writePartials();
  return written;
};

/** The worked example of docs/log.md: a log of three leaves, with everything that is made on the way to a proof. */
export const threeLeaves = () => ({
  network: {
    genesis_hash: GENESIS_HASH,
    custody_program: LOCAL_DEPLOYMENT.custodyProgram,
  },
  escrow: escrow.address,
  account_pending_hex: bytesToHex(pendingEscrowBytes(account)),
  account_settled_hex: bytesToHex(account),
  leaves_hex: hex(leaves),
  /**
   * The frontier in the configuration: after no event, after event 1 and after event 2. Its nodes at bits of the size
   * that are not set mean nothing.
   */
  frontiers_hex: hex([1, 2, 3].map(frontierAt)),
  leaf_hashes_hex: hex(leaves.map(leafHash)),
  node_0_1_hex: bytesToHex(nodeHash(leafHash(leaf0), leafHash(leaves[1] ?? leaf0))),
  /** Of the trees of 1, 2 and 3 leaves. */
  roots_hex: hex([1, 2, 3].map((size) => rootAt(size, source))),
  tiles_hex: tiles(),
  /** Of each leaf in the tree of 3. */
  inclusion_proofs_hex: [0, 1, 2].map((index) => hex(inclusionProof(index, 3, source))),
  /** From the trees of 1, 2 and 3 leaves to that of 3. */
  consistency_proofs_hex: [1, 2, 3].map((old) => hex(consistencyProof(old, 3, source))),
  network_id: networkIdOf(leaf0),
  origin,
  log_seed_hex: bytesToHex(log.secret),
  log_key: printVerifierKey(log.key),
  witness_seed_hex: bytesToHex(witness.secret),
  witness_key: printVerifierKey(witness.key),
  witness_time: 1000,
  signed_text: checkpointText(head),
  cosigned_text: `cosignature/v1\ntime 1000\n${checkpointText(head)}`,
  checkpoint,
  proof_of_leaf_2: printTlogProof({ index: 2, proof: inclusionProof(2, 3, source), checkpoint }),
  policy: `log ${printVerifierKey(log.key)}\nwitness w ${printVerifierKey(witness.key)}\nquorum w\n`,
  add_checkpoint_after_2: printAddCheckpoint({
    oldSize: 2,
    proof: consistencyProof(2, 3, source),
    checkpoint,
  }),
});

// Run by itself, it writes the worked example of docs/log.md. three-leaves.test.ts compares the stored file with it.
if (import.meta.main)
  await Bun.write(
    new URL("../../../vectors/log/three-leaves.json", import.meta.url),
    `${JSON.stringify(threeLeaves(), null, 2)}\n`,
  );
