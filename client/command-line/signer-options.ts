import { commandSigner } from "../node/command-signer.ts";
import { readInput } from "../node/input.ts";
import { KEY_FORMS, keySigner, parseKeyText, readKeyFile } from "../node/key-file.ts";
import { sshAgentSigner } from "../node/ssh-agent-signer.ts";
import { SettlementError } from "../settlement-error.ts";
import type { MessageSigner } from "../signing/sign-transaction.ts";
import type { CommandIo } from "./command-io.ts";
import { usageError } from "./command-line.ts";

/** The options that name the signer, and the payer when that is somebody else. */
export const SIGNER_OPTIONS = {
  key: { type: "string" },
  "ssh-agent": { type: "string" },
  "signer-command": { type: "string" },
  signer: { type: "string" },
  "payer-key": { type: "string" },
  "payer-ssh-agent": { type: "string" },
  "payer-command": { type: "string" },
  payer: { type: "string" },
} as const;

/** The help text of these options. */
export const SIGNER_HELP = `  --key FILE               the signing key: mode 0600, as solana-keygen writes it, or base64; - reads standard input
  --ssh-agent ADDRESS      or the key with this address in the ssh-agent (SSH_AUTH_SOCK)
  --signer-command CMD     or any command: the message on its standard input, 64 bytes on its standard output
  --signer ADDRESS         the public key of that command's signer
  --payer-key, --payer-ssh-agent, --payer-command with --payer: the same for who pays the fees, where that is another one
`;

/** The values of these options. */
export type SignerValues = { readonly [K in keyof typeof SIGNER_OPTIONS]?: string | undefined };

/** Bytes of a key's text; real ones have 250 at most. */
const MOST_KEY_BYTES = 4096;

const ofFile = async (path: string): Promise<MessageSigner> => {
  const { address, signMessage } = await readKeyFile(path);
  return { publicKey: address, sign: signMessage };
};

const ofStdin = async ({ stdin }: CommandIo): Promise<MessageSigner> => {
  const seed = parseKeyText(await readInput("-", "a key", MOST_KEY_BYTES, stdin));
  if (seed === undefined)
    throw new SettlementError("key_unusable", "Standard input holds no key.", `Give ${KEY_FORMS}.`);
  const { address, signMessage } = keySigner(seed);
  return { publicKey: address, sign: signMessage };
};

type Named = {
  readonly file: string | undefined;
  readonly agent: string | undefined;
  readonly command: string | undefined;
  readonly address: string | undefined;
};

const signerOf = async (
  { file, agent, command, address }: Named,
  prefix: "" | "payer-",
  io: CommandIo,
): Promise<MessageSigner | null> => {
  const commandOption = prefix === "" ? "--signer-command" : "--payer-command";
  const addressOption = prefix === "" ? "--signer" : "--payer";
  const options = `--${prefix}key, --${prefix}ssh-agent or ${commandOption}`;
  const given = [file, agent, command].filter((each) => each !== undefined);
  if (given.length > 1) throw usageError("Two signers are named.", `Give one of ${options}.`);
  if (command !== undefined) {
    if (address === undefined)
      throw usageError(
        `${addressOption} is missing.`,
        `Give the public key of the signer that ${commandOption} runs.`,
      );
    return commandSigner(command, address);
  }
  if (given.length === 0 && address !== undefined)
    throw usageError(`${addressOption} names a key, and nothing signs with it.`, `Add ${options}.`);
  const signer =
    file === "-"
      ? await ofStdin(io)
      : file === undefined
        ? agent === undefined
          ? null
          : await sshAgentSigner(agent)
        : await ofFile(file);
  if (signer !== null && address !== undefined && signer.publicKey !== address)
    throw usageError(
      `The signer's key is ${signer.publicKey}, not ${address}.`,
      `Correct ${addressOption}, or name another signer.`,
    );
  return signer;
};

/** The signer, and the payer; null when the signer pays. @throws SettlementError for a wrong or missing signer. */
export const readSigners = async (
  values: SignerValues,
  io: CommandIo,
): Promise<{ readonly signer: MessageSigner; readonly payer: MessageSigner | null }> => {
  if (values.key === "-" && values["payer-key"] === "-")
    throw usageError("Two keys are read from standard input.", "Put one of them into a file.");
  const signer = await signerOf(
    {
      file: values.key,
      agent: values["ssh-agent"],
      command: values["signer-command"],
      address: values.signer,
    },
    "",
    io,
  );
  if (signer === null)
    throw usageError("No signer is named.", "Give --key, --ssh-agent or --signer-command.");
  const payer = await signerOf(
    {
      file: values["payer-key"],
      agent: values["payer-ssh-agent"],
      command: values["payer-command"],
      address: values.payer,
    },
    "payer-",
    io,
  );
  return { signer, payer };
};
