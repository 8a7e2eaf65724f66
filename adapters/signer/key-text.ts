import { Duration, Effect, Redacted, Semaphore } from "effect";
import { unattendedSigner } from "../../client/node/command-signer.ts";
import { sshAgentSigner } from "../../client/node/ssh-agent-signer.ts";
import type { MessageSigner } from "../../client/signing/sign-transaction.ts";
import { type Address, addressToBytes, parseAddress } from "../../core/domain/address.ts";
import { verifyEd25519 } from "../../core/protocol/crypto/strict-ed25519.ts";
import { KeyUnavailable } from "../../ports/evidence-signer.ts";
import type { SigningKey } from "../../ports/log/log-signer.ts";
import { ed25519Key, parseSeedText, SEED_TEXT_FORMS } from "./ed25519-key.ts";

/** The forms that `keyOfText` reads; completes the sentence "it must be ...". */
export const KEY_TEXT_FORMS = `${SEED_TEXT_FORMS}, or agent:ADDRESS [SOCKET] for a key that an ssh-agent holds, or command:ADDRESS COMMAND for one that a command signs with`;

/** How long a signature may take, with the wait for its turn. A person who must touch a key is too slow for a service. */
const ANSWER = Duration.seconds(10);
/** Signatures that one key is asked for at the same time. */
const AT_ONCE = 4;

/** Who signs for a key that this process does not hold. */
type Holder = {
  /** In messages. */
  readonly source: string;
  readonly address: Address;
  readonly signer: () => Promise<MessageSigner>;
};

const reasonOf = (cause: unknown): string => {
  const { message, cure } = cause as { readonly message?: unknown; readonly cure?: unknown };
  return [message, cure].filter((each) => typeof each === "string").join(" ");
};

/** What a command printed last on its standard error. */
const saidIn = (cause: unknown): string | null =>
  cause instanceof Error && typeof cause.cause === "string" ? cause.cause : null;

/**
 * A key that somebody else holds. An answer counts once it verifies under the public key: another key's signature, and
 * one of other bytes, are failures, and so is one that is late.
 */
const heldKey = ({ source, address, signer }: Holder): SigningKey => {
  const publicKey = addressToBytes(address);
  const turns = Semaphore.makeUnsafe(AT_ONCE);
  const unavailable = (reason: string, said: string | null = null) =>
    new KeyUnavailable({ source, reason, said });
  let lastReason: string | null = null;
  /** Logs a failure once until its reason is another one, or over. */
  const tell = (failure: KeyUnavailable | null): Effect.Effect<void> =>
    Effect.suspend(() => {
      const reason = failure?.reason ?? null;
      if (reason === lastReason) return Effect.void;
      lastReason = reason;
      if (failure === null) return Effect.logInfo(`The key of ${source} signs again`);
      const { message, said } = failure;
      return said === null ? Effect.logWarning(message) : Effect.logWarning(message, { said });
    });
  const ask = Effect.fnUntraced(function* (message: Uint8Array) {
    const signature = yield* Effect.tryPromise({
      try: async () => (await signer()).sign(message),
      catch: (cause) => unavailable(reasonOf(cause), saidIn(cause)),
    });
    return verifyEd25519(signature, message, publicKey)
      ? signature
      : yield* unavailable(
          "its answer is no signature of this message under that key. Nothing was signed. Check which key it signs with.",
        );
  });
  return {
    publicKey,
    sign: (message) =>
      turns.withPermit(ask(message)).pipe(
        Effect.timeoutOrElse({
          duration: ANSWER,
          orElse: () => Effect.fail(unavailable(`no answer in ${Duration.toSeconds(ANSWER)} s`)),
        }),
        Effect.tapError(tell),
        Effect.tap(() => tell(null)),
      ),
  };
};

/** The holder that a text names. The rest of its line is the command, for the shell, or the agent's socket. */
const holderIn = (text: string): Holder | undefined => {
  const [, by, name = "", rest] = /^(agent|command):(\S+)(?:[ \t]+(\S[^\n]*))?$/.exec(text) ?? [];
  const address = parseAddress(name);
  if (address === undefined || (by === "command" && rest === undefined)) return undefined;
  const answerMs = Duration.toMillis(ANSWER);
  return by === "agent"
    ? {
        source: `the ssh-agent, ${address},`,
        address,
        // Asked each time: an agent that was started again, or got the key meanwhile, is good again.
        signer: () => sshAgentSigner(address, rest, answerMs),
      }
    : {
        source: `the signing command, ${address},`,
        address,
        signer: () => Promise.resolve(unattendedSigner(rest ?? "", address, answerMs)),
      };
};

/** Whether a text says who holds a key: it has no key in it. */
export const isHeldKey = (text: string): boolean => holderIn(text.trim()) !== undefined;

/**
 * The key of a text in one of the forms of `KEY_TEXT_FORMS`, undefined for any other text. White space around it is
 * ignored. A key that somebody else holds is not asked for anything yet.
 */
export const keyOfText = (given: Redacted.Redacted): SigningKey | undefined => {
  const text = Redacted.value(given).trim();
  const holder = holderIn(text);
  if (holder !== undefined) return heldKey(holder);
  const seed = parseSeedText(text);
  if (seed === undefined) return undefined;
  const { publicKey, sign } = ed25519Key(seed);
  return { publicKey, sign: (message) => Effect.sync(() => sign(message)) };
};
