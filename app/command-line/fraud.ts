import type { CommandIo } from "../../client/command-line/command-io.ts";
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
import { tilesOfLog } from "./ask-log.ts";
import { EX_USAGE, endWith } from "./command-line.ts";

/** What `verify --fraud` is given. */
export type FraudCommand = {
  readonly trust: TrustPolicy | null;
  /** The log whose tiles may be asked, null for none. */
  readonly log: URL | null;
  readonly isJson: boolean;
};

const verdictLines = ({ verdict, kind, reason, unproven }: FraudVerdict): string => {
  const open = unproven.length === 0 ? "" : `Not shown here: ${unproven.join(", ")}.\n`;
  return `${kind ?? "no fraud is shown"}: ${reason}\n${open}\n${verdict}\n`;
};

/** Says what a file of evidence of fraud shows. */
export const judgeFraud = (
  document: Uint8Array,
  { trust, isJson }: FraudCommand,
  io: Pick<CommandIo, "stdout">,
): FraudVerdict["verdict"] => {
  const result = verifyFraud(document, trust);
  io.stdout.write(isJson ? `${foreignJson(result, 2)}\n` : foreignLines(verdictLines(result)));
  return result.verdict;
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
export const isRefusedAnswer = (document: Uint8Array): boolean =>
  inputsIn(document).checkpoints.length > 0 &&
  new TextDecoder().decode(document).trimStart().startsWith("{");

/** Makes a file of evidence out of documents, and prints it on standard output. Ends the command where it cannot. */
export const writeFraud = async (
  documents: ReadonlyArray<Uint8Array>,
  { trust, log }: FraudCommand,
  io: Pick<CommandIo, "stdout" | "stderr">,
): Promise<FraudVerdict["verdict"]> => {
  if (trust === null)
    return endWith(EX_USAGE, "--fraud: give a trust document with --trust that names the log");
  const inputs = documents.map(inputsIn);
  const checkpoints = inputs.flatMap((each) => each.checkpoints);
  const accounts = inputs.flatMap((each) => each.accounts);
  const offline = makeFraud({ checkpoints, accounts, tiles: new Map() }, trust);
  const file =
    offline ??
    (log === null
      ? null
      : makeFraud(
          { checkpoints, accounts, tiles: await tilesOfLog(log, fraudTiles(checkpoints, trust)) },
          trust,
        ));
  if (file === null)
    return endWith(
      1,
      `No fraud is shown by ${checkpoints.length} checkpoints and ${accounts.length} accounts under this trust document`,
    );
  const text = `${JSON.stringify(file, null, 2)}\n`;
  io.stdout.write(text);
  const result = verifyFraud(text, trust);
  io.stderr.write(foreignLines(verdictLines(result)));
  return result.verdict;
};
