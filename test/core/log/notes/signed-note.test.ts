import { expect, test } from "bun:test";
import fc from "fast-check";
import { cosignatureOf, timedSignatureOf } from "../../../../core/log/notes/cosignature.ts";
import {
  MAX_SIGNATURES,
  parseSignatures,
  parseSignedNote,
  printSignatures,
  printSignedNote,
  type SignedNote,
} from "../../../../core/log/notes/signed-note.ts";
import { parseVerifierKey } from "../../../../core/log/notes/verifier-key.ts";
import { verifyNote } from "../../../../core/log/notes/verify-note.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { cosigned, signatureOf, testKey } from "../support/test-signer.ts";

/** The example of C2SP signed-note, "Verifier keys". */
const NOTE = `This is an example message.

— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
`;
const KEY = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";

const parsed = (text: string): SignedNote => {
  const note = parseSignedNote(text);
  if ("fault" in note) throw new Error(note.fault);
  return note.value;
};
const exampleKey = () => {
  const key = parseVerifierKey(KEY);
  if ("fault" in key) throw new Error(key.fault);
  return key.value;
};

test("the specification's example verifies", () => {
  const note = parsed(NOTE);
  expect(note.text).toBe("This is an example message.\n");
  expect(verifyNote(note, [exampleKey()])).toEqual({ value: [{ key: exampleKey(), time: null }] });
  expect(printSignedNote(note)).toBe(NOTE);
});

const TEXT = "origin\n\na line — and another\n";
const log = testKey("origin", "ed25519", 1);
const witness = testKey("witness", "cosignature", 2);
const other = testKey("origin", "ed25519", 3);
const note: SignedNote = {
  text: TEXT,
  signatures: [signatureOf(log, TEXT), cosigned(witness, TEXT, 77n), signatureOf(other, TEXT)],
};

test("the last empty line separates the signatures, and those of unknown keys are passed over", () => {
  const read = parsed(printSignedNote(note));
  expect(read).toEqual(note);
  expect(verifyNote(read, [log.key, witness.key])).toEqual({
    value: [
      { key: log.key, time: null },
      { key: witness.key, time: 77n },
    ],
  });
  expect(verifyNote(read, [])).toEqual({ fault: "no known key signed the note" });
});

test("a failed signature of a known key makes the note a fault, whoever else signed it", () => {
  const [mine, theirs] = note.signatures;
  if (mine === undefined || theirs === undefined) throw new Error("no signatures");
  const swapped = { ...note, signatures: [{ ...mine, signature: new Uint8Array(64) }, theirs] };
  expect(verifyNote(swapped, [log.key, witness.key])).toEqual({
    fault: "the signature of origin does not verify",
  });
  // A cosignature is one of the text and the time that it states.
  const timed = timedSignatureOf(theirs.signature);
  if (timed === undefined) throw new Error("no time");
  const later = cosignatureOf(witness.key, 78n, timed.signature);
  expect(verifyNote({ ...note, signatures: [mine, later] }, [log.key, witness.key])).toEqual({
    fault: "the signature of witness does not verify",
  });
});

test("a flipped bit anywhere in a signed note is a fault, or touches an unknown key's line alone", () => {
  const bytes = new TextEncoder().encode(
    printSignedNote({ ...note, signatures: note.signatures.slice(0, 2) }),
  );
  fc.assert(
    fc.property(fc.nat(bytes.length * 8 - 1), (bit) => {
      const flipped = bytes.slice();
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      let text: string;
      try {
        text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(flipped);
      } catch {
        return;
      }
      const read = parseSignedNote(text);
      if ("fault" in read) return;
      const verified = verifyNote(read.value, [log.key, witness.key]);
      // Name or id of a line turned into an unknown key's: the other one still stands, over the same text.
      if ("fault" in verified) return;
      expect(verified.value.length).toBe(1);
      expect(read.value.text).toBe(TEXT);
    }),
    runs(1000),
  );
});

test("print and parse are inverse", () => {
  const line = fc.record({
    name: fc.constantFrom("a", "example.com/log", "é", "oid/1.2.3"),
    id: fc.uint8Array({ minLength: 4, maxLength: 4 }).map((id) => Buffer.from(id).toString("hex")),
    signature: fc.uint8Array({ minLength: 1, maxLength: 90 }),
  });
  const anyText = fc
    .string({ unit: "grapheme", maxLength: 60 })
    .map((text) => `${text.replaceAll(/[^\P{Cc}\n]/gu, "")}\n`);
  fc.assert(
    fc.property(anyText, fc.array(line, { minLength: 1, maxLength: 5 }), (text, signatures) => {
      expect(parseSignedNote(printSignedNote({ text, signatures }))).toEqual({
        value: { text, signatures },
      });
      expect(parseSignatures(printSignatures(signatures))).toEqual({ value: signatures });
    }),
    runs(100),
  );
});

const LINE = printSignatures(note.signatures.slice(0, 1));
test.each([
  ["no signature", `${TEXT}\n`],
  ["no empty line", `text\n${LINE}`],
  ["no newline at the end", `${TEXT}\n${LINE}`.slice(0, -1)],
  ["a hyphen instead of a dash", `${TEXT}\n${LINE.replace("—", "-")}`],
  ["two spaces", `${TEXT}\n${LINE.replace("— ", "—  ")}`],
  ["a space at the end", `${TEXT}\n${LINE.replace("\n", " \n")}`],
  ["a carriage return", `${TEXT}\n${LINE.replace("\n", "\r\n")}`],
  ["a tab in the text", `\t${TEXT}\n${LINE}`],
  ["a zero byte in the text", `\u0000${TEXT}\n${LINE}`],
  ["half a surrogate pair", `\ud800${TEXT}\n${LINE}`],
  ["base64 with stray bits", `${TEXT}\n— a AAAAAAB=\n`],
  ["base64 without padding", `${TEXT}\n${LINE.replaceAll("=", "")}`],
  ["a signature of four bytes", `${TEXT}\n— a AAAAAA==\n`],
  ["a plus in the name", `${TEXT}\n${LINE.replace("origin", "ori+gin")}`],
  ["too many signatures", `${TEXT}\n${LINE.repeat(MAX_SIGNATURES + 1)}`],
])("%s is no note", (_, text) => {
  expect(parseSignedNote(text)).toHaveProperty("fault");
});

test("sixteen signatures of 5,000 bytes are read, and a hundred", () => {
  const long = { name: "a", id: "00000001", signature: new Uint8Array(5000) };
  const many = { text: TEXT, signatures: Array.from({ length: 16 }, () => long) };
  expect(parseSignedNote(printSignedNote(many))).toEqual({ value: many });
  expect(parseSignedNote(`${TEXT}\n${LINE.repeat(MAX_SIGNATURES)}`)).toHaveProperty("value");
});

test("a cosignature has a time from 1 to 2^63 - 1", () => {
  const signature = new Uint8Array(64).fill(9);
  for (const time of [1n, 2n ** 63n - 1n])
    expect(timedSignatureOf(cosignatureOf(witness.key, time, signature).signature)).toEqual({
      time,
      signature,
    });
  for (const time of [0n, 2n ** 63n, -1n])
    expect(() => cosignatureOf(witness.key, time, signature)).toThrow(RangeError);
  const bytes = cosignatureOf(witness.key, 1n, signature).signature;
  expect(timedSignatureOf(bytes.slice(1))).toBeUndefined();
  expect(timedSignatureOf(bytes.with(0, 0x80))).toBeUndefined();
  expect(timedSignatureOf(bytes.with(7, 0))).toBeUndefined();
});
