import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { Cause, Effect, Exit, Redacted } from "effect";
import { projectCommand } from "../../core/domain/project-command.ts";
import { isHeldKey } from "../../adapters/signer/key-text.ts";
import {
  createLogKey,
  generatedKeyPath,
  logKeyFiles,
  logKeyOfFile,
  orderLogEnd,
  retireLogKey,
} from "../../adapters/signer/log-signer.ts";
import type { CommandIo } from "../../client/command-line/command-io.ts";
import { type Hash32, hash32FromBytes } from "../../core/domain/hash32.ts";
import { printVerifierKey, verifierKey } from "../../core/log/notes/verifier-key.ts";
import type { LogStanding } from "../../core/use-cases/log/log-standing.ts";
import { faultOfKeys, standingBesideKey } from "../../core/use-cases/log/signing/open-log.ts";
import {
  EX_NOINPUT,
  EX_USAGE,
  endWith,
  parseCommandLine,
  runAsProcess,
} from "../command-line/command-line.ts";

const HELP = `Adds a witness to a service's log or removes one, rotates its key, or ends it. The service may run meanwhile: it looks every two seconds.

usage: bun run cli log ACTION [options]

  add-witness LINE has the running service ask one more witness; it says more with --help
  remove-witness NAME
                   has it ask one no more; it says more with --help
  rotate-key       makes a second key, which signs beside the first from then on: the overlap begins. With --next
                   agent:ADDRESS or --next 'command:ADDRESS COMMAND' somebody else holds it
  retire-key       puts the second key in the place of the first, which signs no more: the overlap ends
  end [ORIGIN]     ends the log ORIGIN for good: its last checkpoint says so, and it signs nothing after it.
                   Without ORIGIN it only says which log it is.

  --key-file FILE the log's key        ($LOG_SIGNING_KEY_FILE, otherwise DIR/log-signing-key)
  --data-dir DIR  the service's DATA_DIR                 ($DATA_DIR, otherwise ./data)
  --help          this text

The second key is in FILE.next, mode 0600, and the order to end in FILE.end. Replicas with a file of their own each need
a copy of FILE.next, and the same action, each. docs/log.md, "Rotating the log's key" and "The end of a log", says when.

Ends with 0 when it is done, 1 when nothing was done, 64 for a wrong command line, 66 when the key cannot be read.
`;

/** What an effect gives; ends the command with the message of its failure. */
const done = async <A, E extends Error>(work: Effect.Effect<A, E>, code = 1): Promise<A> => {
  const exit = await Effect.runPromiseExit(work);
  if (Exit.isSuccess(exit)) return exit.value;
  const failure = exit.cause.reasons.find(Cause.isFailReason)?.error;
  if (failure === undefined) throw Cause.squash(exit.cause);
  return endWith(code, failure.message.replace(/\.$/, ""));
};

/** A log's key on this machine, and how its log stands by the file beside it. */
type Keyed = {
  readonly path: string;
  readonly standing: LogStanding;
  /** The public keys of the files: of the key, and of the second one where it is there. */
  readonly publicKeys: readonly [Uint8Array, ...ReadonlyArray<Uint8Array>];
};

const read = async (path: string): Promise<Keyed> => {
  const key = logKeyOfFile(path);
  const [first, ...others] = await done(key.keys, EX_NOINPUT);
  const known = await done(standingBesideKey(key));
  if (known === null)
    return endWith(1, "The log has signed nothing yet. Start the service with this key first");
  const publicKeys = [first.publicKey, ...others.map(({ publicKey }) => publicKey)] as const;
  return { path, standing: known.standing, publicKeys };
};

const refuseEnded = ({ signed, ended }: LogStanding): void => {
  if (ended === null) return;
  endWith(1, `The log ${signed.origin} has ended at ${signed.size} leaves: ${ended}`);
};

const vkeyOf = ({ signed }: LogStanding, publicKey: Uint8Array): string =>
  printVerifierKey(verifierKey(signed.origin, "ed25519", publicKey));

const rotate = async (
  { path, standing, publicKeys }: Keyed,
  held: string | undefined,
): Promise<string> => {
  refuseEnded(standing);
  const { next } = logKeyFiles(path);
  if (standing.nextKey !== null)
    return endWith(
      1,
      `Both keys sign already. End the overlap with: ${projectCommand("cli log retire-key")}`,
    );
  const isThere = existsSync(next);
  if (isThere && held !== undefined)
    return endWith(1, `${next} is there already; remove it, or leave --next out`);
  if (!isThere) await done(createLogKey(next, held === undefined ? null : Redacted.make(held)));
  const [old, second] = isThere ? publicKeys : (await read(path)).publicKeys;
  if (second === undefined) return endWith(1, `${next} has the same key as ${path}; remove it`);
  if (standing.retiredKeys.includes(hash32FromBytes(second)))
    return endWith(1, `${next} has a key of this log that is retired; remove it`);
  const fault = faultOfKeys(standing.signed.origin, [old, second]);
  if (fault !== null) return endWith(1, `${next} cannot be used: ${fault}`);
  return `The log ${standing.signed.origin} is signed by

  ${vkeyOf(standing, old)}

and, from its next checkpoint on, by a second key as well, which is in ${next}:

  ${vkeyOf(standing, second)}

Give this line to whoever names the log: witnesses (WITNESS_LOGS) and verifiers (trust documents). Once they have it:
${projectCommand("cli log retire-key")}
`;
};

const isOf = (key: Uint8Array | undefined, of: Hash32 | null): boolean =>
  key !== undefined && of === hash32FromBytes(key);

const retire = async ({ path, standing, publicKeys }: Keyed): Promise<string> => {
  const { next } = logKeyFiles(path);
  const [old, second] = publicKeys;
  if (isOf(old, standing.nextKey)) return "The old key is gone from this machine already.\n";
  if (second === undefined)
    return endWith(1, `There is one key. Begin with: ${projectCommand("cli log rotate-key")}`);
  // Another replica may have ended the overlap already: the second key then signs alone.
  if (!isOf(second, standing.nextKey) && !isOf(second, standing.publicKey))
    return endWith(
      1,
      "The service has not signed with the second key yet. Wait until /v1/status shows it as next_vkey",
    );
  await done(retireLogKey(path));
  return `From its next checkpoint on the log ${standing.signed.origin} is signed by this key alone, which is in ${path}:

  ${vkeyOf(standing, second)}

${next} is gone, and so is the private key of

  ${vkeyOf(standing, old)}
`;
};

const end = async ({ path, standing }: Keyed, origin: string | undefined): Promise<string> => {
  refuseEnded(standing);
  const { signed } = standing;
  if (origin === undefined)
    return endWith(
      1,
      `Nothing is ended. The log ${signed.origin} has signed ${signed.size} leaves. Its end cannot be taken back; to end it: ${projectCommand(`cli log end ${signed.origin}`)}`,
    );
  if (origin !== signed.origin)
    return endWith(EX_USAGE, `The log of this key is ${signed.origin}, not ${origin}`);
  await done(orderLogEnd(path, origin));
  return `The service ends the log ${origin} once its witnesses have cosigned what it signed last.
/v1/status says so ("ended"). Another key begins the next log.
`;
};

/** Runs the command. */
export const main = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  if (args[0] === "add-witness")
    return (await import("./log/add-witness.ts")).main(args.slice(1), io);
  if (args[0] === "remove-witness")
    return (await import("./log/remove-witness.ts")).main(args.slice(1), io);
  const { values, positionals } = parseCommandLine(
    args,
    HELP,
    {
      "key-file": { type: "string" },
      next: { type: "string" },
      "data-dir": { type: "string", default: io.env["DATA_DIR"] ?? "./data" },
    },
    ["ACTION", "[ORIGIN...]"],
  );
  const [action, ...operands] = positionals;
  const named = values["key-file"] ?? io.env["LOG_SIGNING_KEY_FILE"];
  const generated = generatedKeyPath(resolve(values["data-dir"]));
  if (named === undefined && io.env["LOG_SIGNING_KEY"] !== undefined)
    return endWith(
      EX_USAGE,
      `The key is in LOG_SIGNING_KEY, where no command can change it. Write it into ${generated} (chmod 600), set LOG_SIGNING_KEY_FILE to that path in its place, and start the service again`,
    );
  const isWell = action === "end" ? operands.length <= 1 : operands.length === 0;
  if (!isWell || !["rotate-key", "retire-key", "end"].includes(action ?? ""))
    return endWith(
      EX_USAGE,
      "expected add-witness LINE, remove-witness NAME, rotate-key, retire-key or end [ORIGIN]; see --help",
    );
  const { next } = values;
  if (next !== undefined && (action !== "rotate-key" || !isHeldKey(next)))
    return endWith(
      EX_USAGE,
      "--next goes with rotate-key, and is agent:ADDRESS or command:ADDRESS COMMAND; a key itself never stands on a command line",
    );
  const keyed = await read(resolve(named ?? generated));
  const text =
    action === "end"
      ? await end(keyed, operands[0])
      : await (action === "rotate-key" ? rotate(keyed, next) : retire(keyed));
  io.stdout.write(text);
  return 0;
};

if (import.meta.main) await runAsProcess(main);
