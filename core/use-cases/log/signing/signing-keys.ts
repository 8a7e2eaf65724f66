import { Effect } from "effect";
import type { LogKey, SigningKey } from "../../../../ports/log/log-signer.ts";
import { type Hash32, hash32FromBytes } from "../../../domain/hash32.ts";
import { signingKeysOf } from "../log-standing.ts";
import type { KeptStanding } from "./kept-standing.ts";
import {
  furtherAlong,
  isSameKeys,
  isSameRotation,
  isSignedBy,
  type KeyRotation,
  keysIn,
  rotatedBy,
  rotationIn,
} from "./key-rotation.ts";
import { faultOfKeys } from "./open-log.ts";

/** The keys that sign a log, and what its operator wants of it. */
export class SigningKeys {
  /** The log's keys; null until something is signed. */
  rotation: KeyRotation | null;
  /** Those of this process's keys that sign the log. */
  signers: ReadonlyArray<SigningKey> = [];
  /** Whether its operator wants the log ended, as of the last look. */
  isEndOrdered = false;
  /** The keys that this process had when it last looked. */
  #own: ReadonlyArray<Hash32> = [];
  /** Whether the file beside the key has the same rotation. */
  #isRemembered = false;
  readonly #key: LogKey;
  readonly #kept: KeptStanding;

  constructor(key: LogKey, kept: KeptStanding, rotation: KeyRotation | null) {
    this.#key = key;
    this.#kept = kept;
    this.rotation = rotation && rotationIn(rotation);
  }

  /** Whether a published checkpoint of this log has a line of each key that signs here. Nothing is verified. */
  haveSigned(published: string): boolean {
    const { origin } = this.#kept;
    return keysIn(this.signers).every((key) => isSignedBy(published, origin, key));
  }

  get #endOrdered() {
    return Effect.map(this.#key.endOrdered, (origin) => origin === this.#kept.origin);
  }

  /**
   * Reads the store's standing and the process's keys, and takes part in a rotation of the log's, in the store and
   * beside the key. Says whether the checkpoint is due anew, since other keys sign from now on or the end was ordered,
   * and whether one of the log's keys is missing here: with none, nothing may be signed.
   */
  take(isEnded: boolean) {
    const taken = Effect.gen({ self: this }, function* () {
      const kept = this.#kept;
      const keys = yield* this.#key.keys;
      const [first, ...others] = keys;
      const own = [hash32FromBytes(first.publicKey), ...keysIn(others)] as const;
      const wasEndOrdered = this.isEndOrdered;
      this.isEndOrdered = yield* this.#endOrdered;
      const { text, value } = yield* kept.inStore;
      const furthest = furtherAlong(this.rotation, value && rotationIn(value));
      const isUsable =
        faultOfKeys(
          kept.origin,
          keys.map(({ publicKey }) => publicKey),
        ) === null;
      const isPublished = (key: Hash32): boolean =>
        value === null || value.published === null || isSignedBy(value.published, kept.origin, key);
      const isFixed = isEnded || (value?.ended ?? null) !== null || !isUsable;
      const next = furthest !== null && isFixed ? furthest : rotatedBy(furthest, own, isPublished);
      const standing = value && { ...value, ...next };
      if (!this.#isRemembered || this.rotation === null || !isSameRotation(this.rotation, next)) {
        this.#isRemembered = false;
        const beside = yield* kept.besideKey;
        if (beside.value !== null && !isSameRotation(beside.value, next))
          yield* kept.remember(beside.text, { ...beside.value, ...next });
        this.#isRemembered = true;
      }
      // Behind the file: who sees the status show a key may retire the other one at once, and that command reads the file.
      if (value !== null && standing !== null && !isSameRotation(value, next))
        yield* kept.replace(text, standing);
      this.rotation = next;
      this.#own = own;
      const wanted = signingKeysOf(next);
      const signers = keys.filter(({ publicKey }) => wanted.includes(hash32FromBytes(publicKey)));
      const before = this.signers;
      this.signers = signers;
      const isChanged = before.length > 0 && !isSameKeys(keysIn(before), keysIn(signers));
      return {
        value: standing,
        // Witnesses may have lost since what they cosigned, and cannot cosign an end that their nodes have passed.
        isDueAnew: isChanged || (this.isEndOrdered && !wasEndOrdered),
        lack: signers.length === 0 ? "all" : signers.length < wanted.length ? "one" : null,
      } as const;
    });
    return this.#kept.inTurn(taken);
  }

  /** Whether its operator has begun or ended a rotation, or ordered its end, since this process last looked. */
  readonly hasOrders = Effect.gen({ self: this }, function* () {
    const own = keysIn(yield* this.#key.keys);
    return !isSameKeys(own, this.#own) || ((yield* this.#endOrdered) && !this.isEndOrdered);
  }).pipe(Effect.orElseSucceed(() => false));
}
