import { afterAll, expect, test } from "bun:test";
import { checkpointText } from "../../core/log/checkpoint/checkpoint.ts";
import { printSignedNote, type SignedNote } from "../../core/log/notes/signed-note.ts";
import { printVerifierKey } from "../../core/log/notes/verifier-key.ts";
import { verifyNote } from "../../core/log/notes/verify-note.ts";
import { judgeCheckpoint } from "../../core/log/policy/judge-checkpoint.ts";
import { parseLogPolicy } from "../../core/log/policy/parse-log-policy.ts";
import { seededRandom } from "../arbitraries/seeded-random.ts";
import {
  cosigned,
  signatureOf,
  signedCheckpoint,
  testKey,
} from "../core/log/support/test-signer.ts";
import { fromRun, startOracle } from "./oracle.ts";

const NOTES = fromRun("LOG_NOTES");
const oracle = startOracle();
afterAll(oracle.stop);

const ORIGINS = ["example.com/log/0123456789abcdef/0", "a", "é.example/日本", "x".repeat(256)];

/** Checkpoints of random content, and the keys that sign them: a log's, then those of up to three witnesses. */
const drawn = () => {
  const random = seededRandom(fromRun("LOG_SEED"));
  const below = (limit: number) => Math.floor(random() * limit);
  return Array.from({ length: NOTES }, () => {
    const origin = ORIGINS[below(ORIGINS.length)] ?? "a";
    const root = Uint8Array.from({ length: 32 }, () => below(256));
    const checkpoint = { origin, size: Math.floor(random() * 2 ** 53), root };
    const log = testKey(origin, "ed25519", below(256));
    const witnesses = Array.from({ length: below(4) }, (_, i) =>
      testKey(`witness${i}.example`, "cosignature", below(256)),
    );
    return { checkpoint, log, witnesses };
  });
};

test(`${NOTES} checkpoints signed and cosigned here open in Go with the keys printed here`, async () => {
  const cases = drawn();
  const answers = await oracle.ask(
    cases.map(({ checkpoint, log, witnesses }) => ({
      op: "open",
      note: signedCheckpoint(checkpoint, log, witnesses),
      keys: [log, ...witnesses].map(({ key }) => printVerifierKey(key)),
    })),
  );
  expect(answers).toEqual(
    cases.map(({ checkpoint, log, witnesses }) => ({
      verifies: true,
      text: checkpointText(checkpoint),
      names: [log, ...witnesses].map(({ key }) => key.name),
    })),
  );
});

test(`${NOTES} checkpoints signed and cosigned in Go verify here under the keys that Go prints`, async () => {
  const cases = drawn();
  const answers = await oracle.ask(
    cases.map(({ checkpoint, log, witnesses }) => ({
      op: "sign",
      name: checkpoint.origin,
      text: checkpointText(checkpoint),
      secrets: [log, ...witnesses].map(({ secret }) => Buffer.from(secret).toString("base64")),
      times: witnesses.map((_, i) => 1000 + i),
    })),
  );
  for (const [i, { checkpoint, log, witnesses }] of cases.entries()) {
    const { note = "", keys = [] } = answers[i] ?? {};
    expect(keys).toEqual([log, ...witnesses].map(({ key }) => printVerifierKey(key)));
    // Ed25519 signatures have one form: Go's are the ones made here.
    expect(note).toBe(signedCheckpoint(checkpoint, log, witnesses));
    const distinct = new Set([log, ...witnesses].map(({ secret }) => secret[0])).size;
    const names = witnesses.map((_, at) => `w${at}`);
    const policy = parseLogPolicy(
      [
        `log ${keys[0]}`,
        ...names.map((name, at) => `witness ${name} ${keys[at + 1]}`),
        ...(names.length === 0 ? [] : [`group all all ${names.join(" ")}`]),
        `quorum ${names.length === 0 ? "none" : "all"}`,
        "",
      ].join("\n"),
    );
    if ("fault" in policy) {
      // Two of the drawn keys are the same: a policy refuses that.
      expect(distinct).toBeLessThan(1 + witnesses.length);
      continue;
    }
    expect(judgeCheckpoint(policy.value, note)).toMatchObject({
      value: { checkpoint, quorum: { isMet: true, signed: names } },
    });
  }
});

test("a signature that fails makes the note a fault, here and in Go", async () => {
  const text = "a\n1\nAAAA\n";
  const log = testKey("a", "ed25519", 1);
  const witness = testKey("w", "cosignature", 2);
  const keys = [log.key, witness.key];
  const bad = [
    signatureOf({ ...log, secret: witness.secret }, text),
    cosigned(witness, "b\n", 1n),
    { ...cosigned(witness, text, 1n), name: "a", id: log.key.id },
  ];
  for (const signature of bad) {
    const note: SignedNote = { text, signatures: [signature] };
    const [answer] = await oracle.ask([
      { op: "open", note: printSignedNote(note), keys: keys.map(printVerifierKey) },
    ]);
    expect(answer?.fault).toContain("invalid signature");
    expect(verifyNote(note, keys)).toEqual({
      fault: `the signature of ${signature.name} does not verify`,
    });
  }
});
