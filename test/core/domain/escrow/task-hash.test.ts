import { createHash } from "node:crypto";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  MAX_NONCE_BYTES,
  MAX_TASK_INTENT_BYTES,
  taskHash,
  taskTextFault,
} from "../../../../core/domain/escrow/task-hash.ts";
import { anyCharacter } from "../../../arbitraries/any-character.ts";
import { runs } from "../../../arbitraries/runs.ts";
import vectors from "../../../vectors/task-hash.json" with { type: "json" };

const text = fc
  .string({ unit: anyCharacter, minLength: 1, maxLength: 30 })
  .filter((candidate) => taskTextFault(candidate, MAX_NONCE_BYTES) === undefined);

const preimage = (intent: string, nonce: string | undefined): string =>
  nonce === undefined ? intent : `${intent}\0${nonce}`;

describe("task hash", () => {
  test("the published examples hold", () => {
    for (const { task_intent, nonce, task_hash } of vectors.cases) {
      expect(taskHash(task_intent, nonce ?? undefined) as string).toBe(task_hash);
    }
  });

  test("it is SHA-256 of the UTF-8 of intent, or of intent, U+0000 and nonce", () => {
    fc.assert(
      fc.property(text, fc.option(text, { nil: undefined }), (intent, nonce) => {
        const reference = createHash("sha256")
          .update(preimage(intent, nonce), "utf8")
          .digest("hex");
        expect(taskHash(intent, nonce) as string).toBe(reference);
      }),
      runs(300),
    );
  });

  // Pairs that a careless encoding would confuse: one text cut in two places, or not at all.
  test("different tasks have different hashes, however intent and nonce are cut", () => {
    fc.assert(
      fc.property(
        fc.array(text, { minLength: 1, maxLength: 4 }),
        fc.nat(),
        fc.nat(),
        (parts, i, j) => {
          const whole = parts.join("");
          const cut = (at: number): readonly [string, string | undefined] => {
            const characters = Array.from(whole);
            const index = at % characters.length;
            const head = characters.slice(0, index).join("");
            return index === 0 ? [whole, undefined] : [head, characters.slice(index).join("")];
          };
          const [a, b] = [cut(i), cut(j)];
          const same = a[0] === b[0] && a[1] === b[1];
          expect(taskHash(...a) === taskHash(...b)).toBe(same);
          expect(taskHash(whole)).not.toBe(taskHash(whole, whole));
        },
      ),
      runs(300),
    );
  });

  test("U+0000, the only character that could make two tasks equal, is refused in both texts", () => {
    expect(taskHash("a\0b")).toBe(taskHash("a", "b"));
    for (const bad of ["\0", "a\0b", "a\0", "\0a"]) {
      expect(taskTextFault(bad, 100)).toBe("must not contain U+0000");
    }
  });

  test.skipIf(Bun.which("sha256sum") === null)("a shell's sha256sum agrees", () => {
    const tasks = fc.sample(fc.tuple(text, text), { numRuns: 25, seed: 7 });
    const script = `while [ $# -gt 0 ]; do
      printf '%s' "$1" | sha256sum; printf '%s\\0%s' "$1" "$2" | sha256sum; shift 2
    done`;
    const { stdout, success } = Bun.spawnSync(["sh", "-c", script, "sh", ...tasks.flat()]);
    expect(success).toBe(true);
    const hashes = stdout
      .toString()
      .trim()
      .split("\n")
      .map((line) => line.slice(0, 64));
    const ours = tasks.flatMap(([intent, nonce]) => [taskHash(intent), taskHash(intent, nonce)]);
    expect(hashes).toEqual(ours);
  });

  test("a text is valid exactly when it has 1 to the maximum of UTF-8 bytes without U+0000 and lone surrogates", () => {
    const unit = fc.constantFrom("a", "\u00e9", "\u20ac", "\u{1f338}", "\ud83c", "\udf38", "\0");
    const limit = fc.integer({ min: 1, max: 40 });
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 14 }), limit, (candidate, maxBytes) => {
        // Buffer writes U+FFFD for a lone surrogate, so only a well-formed text survives the round trip.
        const wellFormed = Buffer.from(candidate, "utf8").toString("utf8") === candidate;
        const bytes = Buffer.byteLength(candidate, "utf8");
        const fit = wellFormed && bytes >= 1 && bytes <= maxBytes && candidate.indexOf("\0") === -1;
        expect(taskTextFault(candidate, maxBytes) === undefined).toBe(fit);
      }),
      runs(1000),
    );
  });

  test("limits count bytes, not characters", () => {
    expect(taskTextFault("\u20ac".repeat(1365) + "a", MAX_TASK_INTENT_BYTES)).toBeUndefined();
    expect(taskTextFault("\u20ac".repeat(1366), MAX_TASK_INTENT_BYTES)).toContain("4096 bytes");
    expect(taskTextFault("\u{1f338}".repeat(32), MAX_NONCE_BYTES)).toBeUndefined();
    expect(taskTextFault("a".repeat(129), MAX_NONCE_BYTES)).toContain("128 bytes");
    expect(taskTextFault("", MAX_NONCE_BYTES)).toBe("must not be empty");
    expect(taskTextFault("\ud83c", MAX_NONCE_BYTES)).toBe("must not contain a lone surrogate");
  });
});
