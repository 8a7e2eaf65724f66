import { type Address, parseAddress } from "../../core/domain/address.ts";
import { decodeBase64 } from "../../core/domain/encoding/base64.ts";
import { foreignJson, foreignLines } from "../../core/domain/encoding/foreign-text.ts";
import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import {
  type FraudInputs,
  fraudTiles,
  makeFraud,
} from "../../core/protocol/verification/make-fraud.ts";
import { type FraudVerdict, verifyFraud } from "../../core/protocol/verification/verify-fraud.ts";
import type { CommandIo } from "./command-io.ts";
import { EX_USAGE, VERDICT_CODES } from "./command-line.ts";

/** What `verify --fraud` is given. */
type FraudCommand = {
  readonly trust: TrustPolicy | null;
  /** Asks a log for its tiles at these paths, null for no log. */
  readonly tilesAt:
    | ((paths: ReadonlyArray<string>) => Promise<ReadonlyMap<string, Uint8Array>>)
    | null;
  readonly isJson: boolean;
};

const verdictLines = ({ verdict, kind, reason, unproven }: FraudVerdict): string => {
  const open = unproven.length === 0 ? "" : `Not shown here: ${unproven.join(", ")}.\n`;
  return `${kind ?? "no fraud is shown"}: ${reason}\n${open}\n${verdict}\n`;
};

/** Says what a file of evidence of fraud shows. */
const judgeFraud = (
  document: Uint8Array,
  { trust, isJson }: FraudCommand,
  io: Pick<CommandIo, "stdout">,
): number => {
  const result = verifyFraud(document, trust);
  io.stdout.write(isJson ? `${foreignJson(result, 2)}\n` : foreignLines(verdictLines(result)));
  return VERDICT_CODES[result.verdict];
};

type Account = FraudInputs["accounts"][number];

const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? { ...value } : {};

/** The account in an answer of a node or of `solana account --output json`, null without one. */
const accountIn = (value: unknown): Account | null => {
  const members = membersOf(value);
  const { owner, data } = members;
  const [text, encoding] = Array.isArray(data) ? (data as ReadonlyArray<unknown>) : [];
  const bytes = typeof text === "string" && encoding === "base64" ? decodeBase64(text) : undefined;
  const program: Address | undefined = typeof owner === "string" ? parseAddress(owner) : undefined;
  if (bytes !== undefined && program !== undefined) return { owner: program, data: bytes };
  for (const name of ["account", "result", "value"]) {
    const inner = members[name];
    const found = inner === undefined ? null : accountIn(inner);
    if (found !== null) return found;
  }
  return null;
};

/** What a witness's node showed beside a checkpoint that the witness refused, null without it. */
const configIn = (refused: unknown): Account | null => {
  const { owner, data_base64: text } = membersOf(membersOf(refused)["config"]);
  const program = typeof owner === "string" ? parseAddress(owner) : undefined;
  const data = typeof text === "string" ? decodeBase64(text) : undefined;
  return program === undefined || data === undefined ? null : { owner: program, data };
};

/** The checkpoints and the accounts of one operand: a note, what a witness answers, or an account as JSON. */
const inputsIn = (document: Uint8Array): Pick<FraudInputs, "checkpoints" | "accounts"> => {
  const text = new TextDecoder().decode(document);
  if (!text.trimStart().startsWith("{")) return { checkpoints: [text], accounts: [] };
  try {
    const value: unknown = JSON.parse(text);
    const { refused } = membersOf(value);
    const account = accountIn(value);
    const entries: ReadonlyArray<unknown> = Array.isArray(refused) ? refused : [];
    const checkpoints = entries.flatMap((each) => {
      const { checkpoint } = membersOf(each);
      return typeof checkpoint === "string" ? [checkpoint] : [];
    });
    const accounts = [account, ...entries.map(configIn)].filter((each) => each !== null);
    return { checkpoints, accounts };
  } catch {
    return { checkpoints: [], accounts: [] };
  }
};

/** Whether a document is a witness's answer, which can be evidence by itself: it holds what the witness's node showed. */
const isRefusedAnswer = (document: Uint8Array): boolean =>
  inputsIn(document).checkpoints.length > 0 &&
  new TextDecoder().decode(document).trimStart().startsWith("{");

/** Makes a file of evidence out of documents, and prints it on standard output. */
const writeFraud = async (
  documents: ReadonlyArray<Uint8Array>,
  { trust, tilesAt }: FraudCommand,
  io: Pick<CommandIo, "stdout" | "stderr">,
): Promise<number> => {
  if (trust === null) {
    io.stderr.write("--fraud: give a trust document with --trust that names the log\n");
    return EX_USAGE;
  }
  const inputs = documents.map(inputsIn);
  const checkpoints = inputs.flatMap((each) => each.checkpoints);
  const accounts = inputs.flatMap((each) => each.accounts);
  const makeWith = (tiles: ReadonlyMap<string, Uint8Array>) =>
    makeFraud({ checkpoints, accounts, tiles }, trust);
  const offline = makeWith(new Map());
  const file =
    offline ?? (tilesAt === null ? null : makeWith(await tilesAt(fraudTiles(checkpoints, trust))));
  if (file === null) {
    const given = `${checkpoints.length} checkpoints and ${accounts.length} accounts`;
    io.stderr.write(`No fraud is shown by ${given} under this trust document\n`);
    return 1;
  }
  const text = `${JSON.stringify(file, null, 2)}\n`;
  io.stdout.write(text);
  const result = verifyFraud(text, trust);
  io.stderr.write(foreignLines(verdictLines(result)));
  return VERDICT_CODES[result.verdict];
};

/**
 * `verify --fraud` over one or two documents: judges a file of evidence of fraud, or makes one out of checkpoints,
 * accounts and what witnesses refused. Gives the exit code.
 */
export const runFraud = (
  documents: ReadonlyArray<Uint8Array>,
  given: FraudCommand,
  io: Pick<CommandIo, "stdout" | "stderr">,
): Promise<number> => {
  const [only = new Uint8Array(), other] = documents;
  return other === undefined && !isRefusedAnswer(only)
    ? Promise.resolve(judgeFraud(only, given, io))
    : writeFraud(documents, given, io);
};
