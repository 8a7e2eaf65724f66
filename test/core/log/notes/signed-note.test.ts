import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  cosignatureMessage,
  cosignatureOf,
  timedSignatureOf,
} from "../../../../core/log/notes/cosignature.ts";
import {
  MAX_SIGNATURES,
  parseSignatures,
  parseSignedNote,
  printSignatures,
  printSignedNote,
  type SignedNote,
} from "../../../../core/log/notes/signed-note.ts";
import {
  isKeyName,
  parseVerifierKey,
  printVerifierKey,
  verifierKey,
} from "../../../../core/log/notes/verifier-key.ts";
import { noteMessage, verifyNote } from "../../../../core/log/notes/verify-note.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { cosigned, signatureOf, testKey } from "../support/test-signer.ts";
import { ed25519Key } from "../../../../adapters/signer/ed25519-key.ts";

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

/** The example of C2SP signed-note, "Verifier keys". */
const EXAMPLE = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";

test("the specification's example is read and printed", () => {
  const parsed = parseVerifierKey(EXAMPLE);
  if ("fault" in parsed) throw new Error(parsed.fault);
  expect(parsed.value).toMatchObject({ name: "example.com/foo", id: "530d903a", use: "ed25519" });
  expect(printVerifierKey(parsed.value)).toBe(EXAMPLE);
  expect(verifierKey("example.com/foo", "ed25519", parsed.value.publicKey)).toEqual(parsed.value);
});

test("print and parse are inverse, and the two uses of a key have two ids", () => {
  const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }).filter(isKeyName);
  fc.assert(
    fc.property(name, fc.integer({ min: 1, max: 255 }), (name, seed) => {
      const [log, witness] = [testKey(name, "ed25519", seed), testKey(name, "cosignature", seed)];
      expect(parseVerifierKey(printVerifierKey(log.key))).toEqual({ value: log.key });
      expect(parseVerifierKey(printVerifierKey(witness.key))).toEqual({ value: witness.key });
      expect(log.key.id).not.toBe(witness.key.id);
    }),
    runs(30),
  );
});

test("no text with another character is a key", () => {
  fc.assert(
    fc.property(
      fc.nat(EXAMPLE.length - 1),
      fc.constantFrom("A", "0", "+", " ", "", "\n"),
      (at, by) => {
        const other = EXAMPLE.slice(0, at) + by + EXAMPLE.slice(at + 1);
        expect("fault" in parseVerifierKey(other)).toBe(other !== EXAMPLE);
      },
    ),
    runs(200),
  );
});

test.each([
  ["nothing", ""],
  ["an upper-case id", EXAMPLE.replace("530d903a", "530D903A")],
  ["no name", EXAMPLE.slice("example.com/foo".length)],
  ["another name", `x${EXAMPLE}`],
  ["a short key", `a+530d903a+${Buffer.alloc(32, 1).toString("base64")}`],
  ["an unknown type", `a+530d903a+${Buffer.alloc(33, 6).toString("base64")}`],
  [
    "a point of small order",
    `a+530d903a+${Buffer.from([1, 1, ...new Uint8Array(31)]).toString("base64")}`,
  ],
])("%s is no key", (_, text) => {
  expect(parseVerifierKey(text)).toHaveProperty("fault");
});

test.each([
  "",
  " ",
  "a b",
  "a+b",
  "a\u00a0b",
  "a\u2028b",
  "a\u0085b",
  "a\nb",
  "a\u0000",
  "\ud800",
  "a".repeat(257),
])("%j names no key", (name) => {
  expect(isKeyName(name)).toBe(false);
  expect(() => verifierKey(name, "ed25519", new Uint8Array(32))).toThrow(RangeError);
});

describe("verify note", () => {
  const TEXT =
    "log.example/log/e4fcafed17647573/0\n1\nfY7xsRt0ud3PoqljHlBBSg6nAx1xobLXS61nlNjEyi0=\n";

  const log = ed25519Key(new Uint8Array(32).fill(1));

  const logKey = verifierKey("log.example", "ed25519", log.publicKey);

  const witness = ed25519Key(new Uint8Array(32).fill(2));

  const witnessKey = verifierKey("witness.example", "cosignature", witness.publicKey);

  const logLine = { name: logKey.name, id: logKey.id, signature: log.sign(noteMessage(TEXT)) };

  const witnessLine = (time: bigint) =>
    cosignatureOf(witnessKey, time, witness.sign(cosignatureMessage(TEXT, time)));

  const verified = (signatures: ReadonlyArray<typeof logLine>) =>
    verifyNote({ text: TEXT, signatures }, [logKey, witnessKey]);

  test("a line that is repeated as often as a note may have lines is verified once", () => {
    const repeated = Array.from({ length: MAX_SIGNATURES }, () => logLine);
    expect(verified(repeated)).toEqual({ value: [{ key: logKey, time: null }] });
  });

  test("a witness's lines of different times are different ones", () => {
    const lines = [witnessLine(7n), witnessLine(9n), witnessLine(7n), logLine];
    expect(verified(lines)).toEqual({
      value: [
        { key: witnessKey, time: 7n },
        { key: witnessKey, time: 9n },
        { key: logKey, time: null },
      ],
    });
  });

  test("a wrong line of a known key spoils the note, also behind a good one", () => {
    const wrong = {
      ...logLine,
      signature: logLine.signature.with(0, (logLine.signature[0] ?? 0) ^ 1),
    };
    expect(verified([logLine, logLine, wrong])).toHaveProperty("fault");
  });
});
