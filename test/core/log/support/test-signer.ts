import { ed25519 } from "@noble/curves/ed25519.js";
import { type Checkpoint, checkpointText } from "../../../../core/log/checkpoint/checkpoint.ts";
import { cosignatureMessage, cosignatureOf } from "../../../../core/log/notes/cosignature.ts";
import { type NoteSignature, printSignedNote } from "../../../../core/log/notes/signed-note.ts";
import { noteMessage } from "../../../../core/log/notes/verify-note.ts";
import { type KeyUse, verifierKey } from "../../../../core/log/notes/verifier-key.ts";

/** A key pair of the tests, from a number. */
export const testKey = (name: string, use: KeyUse, seed: number) => {
  const secret = new Uint8Array(32).fill(seed);
  return { secret, key: verifierKey(name, use, ed25519.getPublicKey(secret)) };
};

const twin = (number: number) => {
  const secret = new Uint8Array(32);
  new DataView(secret.buffer).setUint32(28, number);
  return {
    secret,
    key: verifierKey("twin.example/w", "cosignature", ed25519.getPublicKey(secret)),
  };
};

/** Two keys of one name and of the id 4ccc44d7, found by trying. */
export const TWINS = [twin(10_581), twin(73_073)] as const;

type TestKey = ReturnType<typeof testKey>;

/** A log's signature under a text. */
export const signatureOf = ({ secret, key }: TestKey, text: string): NoteSignature => ({
  name: key.name,
  id: key.id,
  signature: ed25519.sign(noteMessage(text), secret),
});

/** A witness' cosignature under a text, at a time in Unix seconds. */
export const cosigned = ({ secret, key }: TestKey, text: string, time: bigint): NoteSignature =>
  cosignatureOf(key, time, ed25519.sign(cosignatureMessage(text, time), secret));

/** A checkpoint signed by a log, then cosigned by witnesses at the times 1000, 1001 and so on. */
export const signedCheckpoint = (
  checkpoint: Checkpoint,
  log: TestKey,
  witnesses: ReadonlyArray<TestKey>,
): string => {
  const text = checkpointText(checkpoint);
  return printSignedNote({
    text,
    signatures: [
      signatureOf(log, text),
      ...witnesses.map((witness, i) => cosigned(witness, text, BigInt(1000 + i))),
    ],
  });
};
