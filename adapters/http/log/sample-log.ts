import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { checkpointText } from "../../../core/log/checkpoint/checkpoint.ts";
import { printLogOrigin } from "../../../core/log/checkpoint/log-origin.ts";
import { printTlogProof } from "../../../core/log/checkpoint/tlog-proof.ts";
import { networkIdOf, networkLeaf } from "../../../core/log/leaf/network-leaf.ts";
import { printSignedNote } from "../../../core/log/notes/signed-note.ts";
import { printVerifierKey, verifierKey } from "../../../core/log/notes/verifier-key.ts";
import { leafHash, nodeHash } from "../../../core/log/tree/tree-hash.ts";
import { SAMPLE } from "../openapi/sample-values.ts";

/** A log of leaf 0 and one event, as the document's examples show it. Its signature is made up. */
export const sampleLog = () => {
  const leaf = networkLeaf(SAMPLE.genesisHash, SAMPLE.deployment);
  const origin = printLogOrigin({
    name: "evidence.example.com",
    networkId: networkIdOf(leaf),
    generation: 0,
  });
  const first = leafHash(leaf);
  const root = nodeHash(first, leafHash(new Uint8Array(66).fill(1)));
  const key = verifierKey(origin, "ed25519", new Uint8Array(32).fill(9));
  const checkpoint = printSignedNote({
    text: checkpointText({ origin, size: 2, root }),
    signatures: [{ name: origin, id: key.id, signature: new Uint8Array(64).fill(3) }],
  });
  return {
    origin,
    vkey: printVerifierKey(key),
    size: 2,
    root: encodeBase64(root),
    checkpoint,
    proof: printTlogProof({ index: 1, proof: [first], checkpoint }),
  };
};
