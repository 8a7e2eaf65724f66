import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import type { LogPolicy, PolicyGroup } from "../../../../core/log/policy/log-policy.ts";
import { judgeQuorum } from "../../../../core/log/policy/quorum.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { signedCheckpoint, testKey } from "../support/test-signer.ts";
import { printTlogProof } from "../../../../core/log/checkpoint/tlog-proof.ts";
import { parseSignedNote, printSignedNote } from "../../../../core/log/notes/signed-note.ts";
import { judgeCheckpoint } from "../../../../core/log/policy/judge-checkpoint.ts";
import { judgeProof } from "../support/judge-proof.ts";
import { inclusionProof } from "../../../../core/log/tree/tree-proofs.ts";
import { referenceRoot, referenceSource, someLeaves } from "../support/reference-tree.ts";
import { printVerifierKey, verifierKey } from "../../../../core/log/notes/verifier-key.ts";
import { parseLogPolicy } from "../../../../core/log/policy/parse-log-policy.ts";

const NAMES = ["a", "b", "c", "d", "e"];

const witnesses = NAMES.map((name, i) => ({
  name,
  key: testKey(name, "cosignature", i + 1).key,
  url: null,
}));

const policy = (quorum: string | null, ...groups: ReadonlyArray<PolicyGroup>): LogPolicy => ({
  logs: [],
  witnesses,
  groups,
  quorum,
});

test("the reason names who is wanted and who signed", () => {
  const two = policy("X", { name: "X", threshold: 2, members: ["a", "b", "c"] });
  expect(judgeQuorum(two, ["a"])).toEqual({
    isMet: false,
    signed: ["a"],
    missing: ["b", "c"],
    reason: "quorum X wants 2 of [a, b, c]; signed: a",
  });
  expect(judgeQuorum(two, ["c", "a"])).toMatchObject({
    isMet: true,
    reason: "quorum X wants 2 of [a, b, c]; signed: a, c",
  });
  expect(judgeQuorum(two, [])).toMatchObject({
    isMet: false,
    reason: "quorum X wants 2 of [a, b, c]; signed: none",
  });
  expect(judgeQuorum(policy("a"), ["b"])).toMatchObject({
    isMet: false,
    reason: "quorum a wants 1 of [a]; signed: none",
  });
  expect(judgeQuorum(policy(null), [])).toMatchObject({ isMet: true });
});

test("names that are no witness of the policy count for nothing, not even a group's", () => {
  const inner = { name: "g", threshold: 1, members: ["a"] };
  const outer = { name: "X", threshold: 1, members: ["g", "b"] };
  expect(judgeQuorum(policy("X", inner, outer), ["g", "X", "z"]).isMet).toBe(false);
  expect(judgeQuorum(policy("X", inner, outer), ["a"])).toMatchObject({
    isMet: true,
    signed: ["g"],
  });
});

test("groups of groups are met as a recursive count says", () => {
  fc.assert(
    fc.property(
      fc.tuple(...NAMES.map(() => fc.nat(1))),
      fc.tuple(...NAMES.map(() => fc.nat(1))),
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 2 }),
      (side, signed, k, m, outer) => {
        const left = NAMES.filter((_, i) => side[i] === 0);
        const right = NAMES.filter((_, i) => side[i] === 1);
        fc.pre(left.length > 0 && right.length > 0);
        const [p, q] = [Math.min(k, left.length), Math.min(m, right.length)];
        const signers = NAMES.filter((_, i) => signed[i] === 1);
        const count = (names: ReadonlyArray<string>) =>
          names.filter((name) => signers.includes(name)).length;
        const met = Number(count(left) >= p) + Number(count(right) >= q) >= outer;
        const verdict = judgeQuorum(
          policy(
            "top",
            { name: "left", threshold: p, members: left },
            { name: "right", threshold: q, members: right },
            { name: "top", threshold: outer, members: ["left", "right"] },
          ),
          signers,
        );
        expect(verdict.isMet).toBe(met);
        expect([...verdict.signed, ...verdict.missing].sort()).toEqual(["left", "right"]);
      },
    ),
    runs(200),
  );
});

describe("judge proof", () => {
  const ORIGIN = "example.com/log/0123456789abcdef/0";

  const log = testKey(ORIGIN, "ed25519", 1);

  const otherLog = testKey("example.com/log/0123456789abcdef/1", "ed25519", 2);

  const [a, b, stranger] = [3, 4, 5].map((seed) =>
    testKey(`w${seed}.example`, "cosignature", seed),
  );

  if (a === undefined || b === undefined || stranger === undefined) throw new Error("no keys");

  const policy: LogPolicy = {
    logs: [log, otherLog].map(({ key }) => ({ key, url: null })),
    witnesses: [
      { name: "a", key: a.key, url: null },
      { name: "b", key: b.key, url: null },
    ],
    groups: [{ name: "both", threshold: 2, members: ["a", "b"] }],
    quorum: "both",
  };

  const SIZE = 13;

  const LEAVES = someLeaves(SIZE);

  const head = { origin: ORIGIN, size: SIZE, root: referenceRoot(LEAVES) };

  const note = signedCheckpoint(head, log, [a, b, stranger]);

  const leafAt = (index: number) => LEAVES[index] ?? new Uint8Array();

  const proofOf = (index: number, checkpoint = note): string =>
    printTlogProof({
      index,
      proof: inclusionProof(index, SIZE, referenceSource(LEAVES)),
      checkpoint,
    });

  test("a checkpoint shows its log, its witnesses with their times, and the quorum", () => {
    expect(judgeCheckpoint(policy, note)).toMatchObject({
      value: {
        checkpoint: head,
        log: { key: log.key },
        cosignatures: [
          { witness: { name: "a" }, time: 1000n },
          { witness: { name: "b" }, time: 1001n },
        ],
        quorum: { isMet: true },
      },
    });
    expect(judgeCheckpoint(policy, signedCheckpoint(head, log, [b]))).toMatchObject({
      value: { quorum: { isMet: false, reason: "quorum both wants 2 of [a, b]; signed: b" } },
    });
  });

  test("a witness that cosigned twice counts once, at its later time", () => {
    const twice = signedCheckpoint(head, log, [a, a]);
    expect(judgeCheckpoint(policy, twice)).toMatchObject({
      value: { cosignatures: [{ time: 1001n }], quorum: { isMet: false } },
    });
  });

  test("the newest cosignatures that meet the quorum are counted, and none that it does not need", () => {
    const witnesses = [...policy.witnesses, { name: "c", key: stranger.key, url: null }];
    const groups = [
      { name: "one", threshold: 1, members: ["a", "b"] },
      { name: "q", threshold: 2, members: ["one", "c"] },
    ];
    const countedOf = (signers: ReadonlyArray<typeof a>, quorum: string | null) => {
      const judged = judgeCheckpoint(
        { ...policy, witnesses, groups, quorum },
        signedCheckpoint(head, log, signers),
      );
      if ("fault" in judged) throw new Error(judged.fault);
      return judged.value.counted.map(({ witness, time }) => [witness.name, time]);
    };
    const c = stranger;
    expect(countedOf([a, b, c], "one")).toEqual([["b", 1001n]]);
    expect(countedOf([c, a, b], "q")).toEqual([
      ["b", 1002n],
      ["c", 1000n],
    ]);
    expect(countedOf([a, c, b, c], "q")).toEqual([
      ["c", 1003n],
      ["b", 1002n],
    ]);
    expect(countedOf([a, b], "q")).toEqual([]);
    expect(countedOf([a, b, c], null)).toEqual([]);
  });

  test("a key of ML-DSA-44 is never counted, whatever stands under its name, and the reason says so", () => {
    const key = verifierKey("pq.example", "ml-dsa-44", new Uint8Array(1312).fill(3));
    const witnesses = [...policy.witnesses, { name: "pq", key, url: null }];
    const groups = [{ name: "q", threshold: 2, members: ["a", "pq"] }];
    const parsed = parseSignedNote(signedCheckpoint(head, log, [a]));
    if ("fault" in parsed) throw new Error(parsed.fault);
    const line = { name: key.name, id: key.id, signature: new Uint8Array(72).fill(1) };
    const signatures = [...parsed.value.signatures, line];
    const judged = judgeCheckpoint(
      { ...policy, witnesses, groups, quorum: "q" },
      printSignedNote({ ...parsed.value, signatures }),
    );
    expect(judged).toMatchObject({
      value: {
        quorum: {
          isMet: false,
          reason: "quorum q wants 2 of [a, pq]; signed: a; not counted: pq (ML-DSA-44)",
        },
        counted: [],
      },
    });
    expect(judgeQuorum({ ...policy, witnesses, groups, quorum: "q" }, ["a", "pq"]).isMet).toBe(
      false,
    );
    const asLog = verifierKey(ORIGIN, "ml-dsa-44", new Uint8Array(1312).fill(3));
    expect(judgeCheckpoint({ ...policy, logs: [{ key: asLog, url: null }] }, note)).toEqual({
      fault: `${ORIGIN} did not sign the checkpoint`,
    });
  });

  test("only the log of the origin vouches for a checkpoint", () => {
    expect(judgeCheckpoint(policy, signedCheckpoint(head, otherLog, [a, b]))).toEqual({
      fault: `${ORIGIN} did not sign the checkpoint`,
    });
    const elsewhere = { ...head, origin: "elsewhere.example" };
    expect(judgeCheckpoint(policy, signedCheckpoint(elsewhere, log, [a, b]))).toEqual({
      fault: "the policy has no log elsewhere.example",
    });
    // The log's key under another type and id: a cosignature by the log is no signature of the log.
    const asWitness = testKey(ORIGIN, "cosignature", 1);
    expect(judgeCheckpoint(policy, signedCheckpoint(head, asWitness, []))).toHaveProperty("fault");
  });

  test("every leaf has its proof, and another leaf has none of them", () => {
    for (let index = 0; index < SIZE; index++) {
      expect(judgeProof(policy, proofOf(index), leafAt(index))).toMatchObject({
        value: { index, quorum: { isMet: true } },
      });
      expect(judgeProof(policy, proofOf(index), leafAt((index + 1) % SIZE))).toHaveProperty(
        "fault",
      );
    }
  });

  test("a flipped bit makes a proof a fault, or only costs it a signature", () => {
    const bytes = new TextEncoder().encode(proofOf(9));
    fc.assert(
      fc.property(fc.nat(bytes.length * 8 - 1), (bit) => {
        const flipped = bytes.slice();
        flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(flipped);
        const judged = judgeProof(policy, text, leafAt(9));
        if ("fault" in judged) return;
        // Where a cosignature's name or id became a stranger's, or where a stranger's line was touched.
        expect(judged.value.checkpoint).toEqual(head);
        expect(judged.value.index).toBe(9);
        const whose = new TextDecoder().decode(bytes.subarray(0, bit >> 3)).split("\n").length;
        const line = text.split("\n")[whose - 1] ?? "";
        expect(line.startsWith("— ") && !line.includes(ORIGIN)).toBe(true);
        const isStrangers = proofOf(9).split("\n")[whose - 1]?.includes("w5.example") === true;
        expect(judged.value.quorum.isMet).toBe(isStrangers);
      }),
      runs(300),
    );
  });
});

const PAGE = readFileSync(new URL("../../../../docs/verify-evidence.md", import.meta.url), "utf8");

const KEYS: Readonly<Record<string, string>> = {
  vkey: printVerifierKey(testKey("example.com/log/0123456789abcdef/0", "ed25519", 1).key),
  witness: printVerifierKey(testKey("w.example", "cosignature", 2).key),
};

/** What jq makes of the texts that the page's commands put into `log_on_ledger`. */
const texts = Array.from(PAGE.matchAll(/'\.log_on_ledger = "(.*)"'/g), ([, text = ""]) =>
  text.replaceAll(/\\\(\$(\w+)\)/g, (_, name: string) => KEYS[name] ?? "").replaceAll("\\n", "\n"),
);

test("the page's commands make policies: of a log alone, and of a log with a witness", () => {
  expect(texts.map((text) => parseLogPolicy(text))).toMatchObject([
    { value: { logs: [{}], witnesses: [], quorum: null } },
    { value: { logs: [{}], witnesses: [{ name: "one" }], quorum: "one" } },
  ]);
});
