import { timedSignatureOf } from "../notes/cosignature.ts";
import type { SignedNote } from "../notes/signed-note.ts";
import type { LogPolicy } from "./log-policy.ts";

/** A witness of a policy whose cosignature a note has, and the Unix second that it states. */
export type NotedCosignature = { readonly name: string; readonly time: bigint };

/**
 * The witnesses of a policy whose lines a note has, each with its latest time. Nothing is verified: it is for notes
 * that this log has made of verified cosignatures.
 */
export const notedCosignatures = (
  { signatures }: SignedNote,
  { witnesses }: LogPolicy,
): ReadonlyArray<NotedCosignature> =>
  witnesses.flatMap(({ name, key }) => {
    const times = signatures.flatMap((line) => {
      const isItsLine = line.name === key.name && line.id === key.id;
      return (isItsLine ? timedSignatureOf(line.signature)?.time : undefined) ?? [];
    });
    const [first, ...more] = times;
    return first === undefined
      ? []
      : [{ name, time: more.reduce((a, b) => (a > b ? a : b), first) }];
  });
