import { base58 } from "@scure/base";
import { expect, test } from "bun:test";
import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";
import { join } from "node:path";
import { judgeProof } from "./support/judge-proof.ts";
import { parseLogPolicy } from "../../../core/log/policy/parse-log-policy.ts";
import { threeLeaves } from "./support/three-leaves.ts";

const file = Bun.file(join(import.meta.dir, "../../vectors/log/three-leaves.json"));
const stored: ReturnType<typeof threeLeaves> = await file.json();

const bytes = (hex = ""): Buffer => Buffer.from(hex, "hex");
const sha256 = (...parts: ReadonlyArray<string | Uint8Array>): Buffer => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};
const hashOfLeaf = (leaf: Uint8Array) => sha256(Uint8Array.of(0), leaf);
const node = (left: Uint8Array, right: Uint8Array) => sha256(Uint8Array.of(1), left, right);
const hexes = (...all: ReadonlyArray<Buffer>) => all.map((each) => each.toString("hex"));

/** A key from its seed by node:crypto, in DER as RFC 8410 has it. */
const keyOf = (name: string, type: number, seed: string) => {
  const der = bytes(`302e020100300506032b657004220420${seed}`);
  const secret = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const spki = createPublicKey(secret).export({ format: "der", type: "spki" });
  const material = Buffer.concat([Uint8Array.of(type), spki.subarray(-32)]);
  const id = sha256(`${name}\n`, material).subarray(0, 4);
  return { secret, id, text: `${name}+${id.toString("hex")}+${material.toString("base64")}` };
};

test("the worked example is what the log makes", () => {
  expect(stored).toEqual(threeLeaves());
});

const leaves = stored.leaves_hex.map(bytes);
const [leaf0 = bytes(), leaf1 = bytes(), leaf2 = bytes()] = leaves;
const [hash0, hash1, hash2] = [leaf0, leaf1, leaf2].map(hashOfLeaf);
if (hash0 === undefined || hash1 === undefined || hash2 === undefined) throw new Error("3 leaves");
const root2 = node(hash0, hash1);
const root3 = node(root2, hash2);

test("its leaves follow from the accounts and the network, by hand", () => {
  const { genesis_hash, custody_program } = stored.network;
  const domain = sha256(
    "settlement-evidence 3\0",
    base58.decode(genesis_hash),
    base58.decode(custody_program),
  );
  expect(leaf0).toEqual(Buffer.concat([Uint8Array.of(0), domain]));
  const address = leaf1.subarray(2, 34);
  expect(leaf1).toEqual(
    Buffer.concat([bytes("0100"), address, sha256(bytes(stored.account_pending_hex))]),
  );
  expect(leaf2).toEqual(
    Buffer.concat([bytes("0101"), address, sha256(bytes(stored.account_settled_hex))]),
  );
});

test("its tree, tiles and proofs follow from the leaves, by hand", () => {
  expect(stored.leaf_hashes_hex).toEqual(hexes(hash0, hash1, hash2));
  expect(stored.node_0_1_hex).toBe(root2.toString("hex"));
  expect(stored.roots_hex).toEqual(hexes(hash0, root2, root3));
  const none = Buffer.alloc(32);
  const nodes = [[hash0], [none, root2], [hash2, root2]];
  expect(stored.frontiers_hex).toEqual(
    nodes.map((some) => Buffer.concat([...some], 1280).toString("hex")),
  );
  expect(stored.inclusion_proofs_hex).toEqual([
    hexes(hash1, hash2),
    hexes(hash0, hash2),
    hexes(root2),
  ]);
  expect(stored.consistency_proofs_hex).toEqual([hexes(hash1, hash2), hexes(hash2), []]);
  const lengthOf = (leaf: Buffer) => Uint8Array.of(leaf.length >> 8, leaf.length & 0xff);
  expect(stored.tiles_hex).toEqual({
    "tile/entries/000.p/3": Buffer.concat(
      leaves.flatMap((leaf) => [lengthOf(leaf), leaf]),
    ).toString("hex"),
    "tile/0/000.p/3": Buffer.concat([hash0, hash1, hash2]).toString("hex"),
  });
});

test("its keys, checkpoint and proof follow from the seeds and the root, by hand", () => {
  expect(stored.network_id).toBe(sha256(leaf0).toString("hex").slice(0, 16));
  expect(stored.origin).toBe(`example.com/settlement/log/${stored.network_id}/0`);
  const log = keyOf(stored.origin, 0x01, stored.log_seed_hex);
  const witness = keyOf("witness.example", 0x04, stored.witness_seed_hex);
  expect([stored.log_key, stored.witness_key]).toEqual([log.text, witness.text]);
  const text = `${stored.origin}\n3\n${root3.toString("base64")}\n`;
  expect(stored.signed_text).toBe(text);
  const cosigned = `cosignature/v1\ntime 1000\n${text}`;
  expect(stored.cosigned_text).toBe(cosigned);
  const lines = [
    [stored.origin, log.id, sign(null, Buffer.from(text), log.secret)],
    [
      "witness.example",
      witness.id,
      bytes("00000000000003e8"),
      sign(null, Buffer.from(cosigned), witness.secret),
    ],
  ] as const;
  const signatures = lines.map(
    ([name, ...parts]) => `— ${name} ${Buffer.concat(parts).toString("base64")}\n`,
  );
  const checkpoint = `${text}\n${signatures.join("")}`;
  expect(stored.checkpoint).toBe(checkpoint);
  expect(stored.proof_of_leaf_2).toBe(
    `c2sp.org/tlog-proof@v1\nindex 2\n${root2.toString("base64")}\n\n${checkpoint}`,
  );
  expect(stored.add_checkpoint_after_2).toBe(`old 2\n${hash2.toString("base64")}\n\n${checkpoint}`);
});

test("its proof verifies under its policy", () => {
  const policy = parseLogPolicy(stored.policy);
  if ("fault" in policy) throw new Error(policy.fault);
  expect(judgeProof(policy.value, stored.proof_of_leaf_2, leaf2)).toMatchObject({
    value: { index: 2, quorum: { isMet: true, signed: ["w"] } },
  });
});

test("docs/log.md shows its values", async () => {
  const page = await Bun.file(join(import.meta.dir, "../../../docs/log.md")).text();
  const indented = (text: string): string =>
    text.replaceAll(/^(?=.)/gm, "    ").replace(/\n+$/, "");
  const shown = [...stored.leaves_hex.slice(1), ...stored.leaf_hashes_hex, ...stored.roots_hex].map(
    (hex) => `\`${hex.slice(0, 8)}…\``,
  );
  const texts = [stored.origin, stored.network_id, `${leaf0.length} bytes`].concat(
    [stored.log_key, stored.witness_key].map((key) => key.split("+")[1] ?? ""),
    indented(stored.checkpoint),
    indented(stored.proof_of_leaf_2.slice(0, stored.proof_of_leaf_2.indexOf("\n\n"))),
  );
  expect([...shown, ...texts].filter((text) => !page.includes(text))).toEqual([]);
});
