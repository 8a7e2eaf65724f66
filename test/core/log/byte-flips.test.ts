import { expect, test } from "bun:test";
import fc from "fast-check";
import { printTlogProof } from "../../../core/log/checkpoint/tlog-proof.ts";
import {
  parseSignatures,
  parseSignedNote,
  printSignatures,
  printSignedNote,
} from "../../../core/log/notes/signed-note.ts";
import { verifyNote } from "../../../core/log/notes/verify-note.ts";
import { judgeCheckpoint } from "../../../core/log/policy/judge-checkpoint.ts";
import { judgeProof } from "./support/judge-proof.ts";
import type { LogPolicy } from "../../../core/log/policy/log-policy.ts";
import { inclusionProof } from "../../../core/log/tree/tree-proofs.ts";
import { runs } from "../../arbitraries/runs.ts";
import { referenceRoot, referenceSource, someLeaves } from "./support/reference-tree.ts";
import { cosigned, signatureOf, signedCheckpoint, testKey } from "./support/test-signer.ts";

const ORIGIN = "example.com/log/0123456789abcdef/0";
const log = testKey(ORIGIN, "ed25519", 1);
const witness = testKey("witness.example", "cosignature", 2);
const policy: LogPolicy = {
  logs: [{ key: log.key, url: null }],
  witnesses: [{ name: "witness", key: witness.key, url: null }],
  groups: [],
  quorum: "witness",
};

const SIZE = 1000;
const INDEX = 777;
const LEAVES = someLeaves(SIZE);
const LEAF = LEAVES[INDEX] ?? new Uint8Array();
const checkpoint = signedCheckpoint(
  { origin: ORIGIN, size: SIZE, root: referenceRoot(LEAVES) },
  log,
  [witness],
);
const proof = printTlogProof({
  index: INDEX,
  proof: inclusionProof(INDEX, SIZE, referenceSource(LEAVES)),
  checkpoint,
});
const TEXT = "some text\n\nof another kind\n";

/** What is flipped, and whether the flipped text verifies. */
const KINDS: Readonly<Record<string, readonly [string, (text: string) => boolean]>> = {
  proof: [
    proof,
    (text) => {
      const judged = judgeProof(policy, text, LEAF);
      return "value" in judged && judged.value.quorum.isMet;
    },
  ],
  checkpoint: [
    checkpoint,
    (text) => {
      const judged = judgeCheckpoint(policy, text);
      return "value" in judged && judged.value.quorum.isMet;
    },
  ],
  note: [
    printSignedNote({ text: TEXT, signatures: [signatureOf(log, TEXT)] }),
    (text) => {
      const note = parseSignedNote(text);
      return "value" in note && "value" in verifyNote(note.value, [log.key]);
    },
  ],
  cosignature: [
    printSignatures([cosigned(witness, TEXT, 1_700_000_000n)]),
    (text) => {
      const signatures = parseSignatures(text);
      if ("fault" in signatures) return false;
      return "value" in verifyNote({ text: TEXT, signatures: signatures.value }, [witness.key]);
    },
  ],
};

test.each(Object.entries(KINDS))("the %s verifies as it was made", (_, [text, verifies]) => {
  expect(verifies(text)).toBe(true);
});

test("a proof, checkpoint, note or cosignature with one changed byte verifies never", () => {
  const flip = fc.record({
    kind: fc.constantFrom(...Object.values(KINDS)),
    place: fc.noBias(fc.nat(1_000_000)),
    turned: fc.noBias(fc.integer({ min: 1, max: 255 })),
  });
  fc.assert(
    fc.property(flip, ({ kind: [text, verifies], place, turned }) => {
      const bytes = new TextEncoder().encode(text);
      const at = place % bytes.length;
      bytes[at] = (bytes[at] ?? 0) ^ turned;
      // Bytes that are no UTF-8 become U+FFFD, as they do for whoever reads a body as text.
      expect(verifies(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes))).toBe(false);
    }),
    runs(500),
  );
});
