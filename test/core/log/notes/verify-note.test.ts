import { expect, test } from "bun:test";
import { ed25519Key } from "../../../../adapters/signer/ed25519-key.ts";
import { cosignatureMessage, cosignatureOf } from "../../../../core/log/notes/cosignature.ts";
import { MAX_SIGNATURES } from "../../../../core/log/notes/signed-note.ts";
import { verifierKey } from "../../../../core/log/notes/verifier-key.ts";
import { noteMessage, verifyNote } from "../../../../core/log/notes/verify-note.ts";

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
