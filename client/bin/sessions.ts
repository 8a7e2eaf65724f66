import { foreignJson } from "../../core/domain/encoding/foreign-text.ts";
import { connect } from "../connect.ts";
import { fileSession } from "../node/file-session.ts";
import { readKeyFile } from "../node/key-file.ts";
import { sessionFolder } from "../node/session-folder.ts";
import type { SessionJournal } from "../sessions/agent/session-journal.ts";
import type { AcceptedSigner } from "../signing/sign-transaction.ts";
import { SettlementError } from "../settlement-error.ts";
import type { CommandIo } from "../command-line/command-io.ts";
import {
  EX_TEMPFAIL,
  interrupted,
  readArguments,
  required,
  usageError,
} from "../command-line/command-line.ts";
import { SERVICE_HELP, SERVICE_OPTIONS, serviceNamed } from "../command-line/service-options.ts";

/** What the command says of itself. */
export const HELP = `Lists and closes an agent's sessions, which are files in a folder, and makes the evidence of one call.

usage: npx --no-install settlement-evidence sessions list FOLDER
       npx --no-install settlement-evidence sessions close FOLDER --service URL --trust FILE --key FILE
       npx --no-install settlement-evidence sessions evidence FILE COUNT --service URL --trust FILE

  list                     prints a line of JSON for each session; needs neither key nor network
  close                    closes each with its seller or else on the ledger, and prints a line of JSON with what it cost
  evidence                 prints the call.json of call COUNT, from 1 on, for verify
${SERVICE_HELP}
  --key FILE               the agent's key, mode 0600, as keygen makes it
  --rpc URL                a node of the ledger, chosen by you; may be repeated

Ends with 0 when it is done, 1 when a session could not be closed or evidence not made, 64 for a wrong command line, 66 when a file cannot be
read, 69 when the service does not answer, 75 when it was interrupted, or a session still closes: run the same again after its closesAt.
`;

const OPTIONS = {
  ...SERVICE_OPTIONS,
  key: { type: "string" },
  rpc: { type: "string", multiple: true },
} as const;

/** Does something with a session, which is held meanwhile. */
const withSession = async <A>(
  taking: Promise<SessionJournal>,
  work: (journal: SessionJournal) => Promise<A>,
): Promise<A> => {
  const journal = await taking;
  try {
    return await work(journal);
  } finally {
    await journal.release();
  }
};

const standingOf = async (journal: SessionJournal): Promise<object> => {
  const { opening, head, closing, stopped } = await journal.state();
  const used = head?.receipt.delivery.totalAfter ?? 0n;
  return opening === null
    ? { opened: false }
    : {
        opened: opening.account !== null,
        escrow: head?.voucher.escrow ?? null,
        merchant: opening.merchant,
        budget: opening.budget,
        used: used.toString(),
        left: (BigInt(opening.budget) - used).toString(),
        calls: head?.voucher.count ?? 0,
        closed: closing !== null,
        stopped: stopped?.code ?? null,
      };
};

const failureOf = (cause: unknown): object => {
  if (cause instanceof SettlementError)
    return { failure: cause.code, detail: cause.message, cure: cause.cure };
  throw cause;
};

const list = async (folder: string, io: CommandIo): Promise<number> => {
  const { names, take } = sessionFolder(folder);
  for (const file of await names()) {
    const shown = await withSession(take(file), standingOf).catch(failureOf);
    io.stdout.write(`${foreignJson({ file, ...shown })}\n`);
  }
  return 0;
};

type Values = ReturnType<typeof readArguments<typeof OPTIONS>>["values"];

const clientOf = async (values: Values, io: CommandIo) => {
  const { url, trust } = await serviceNamed(values, io);
  return connect(url, { trust, ...(values.rpc === undefined ? {} : { rpc: values.rpc }) });
};

const close = async (folder: string, values: Values, io: CommandIo): Promise<number> => {
  const key = required(values.key, "--key", "the file of the agent's key");
  const client = await clientOf(values, io);
  const signer = await readKeyFile(key);
  const signal = interrupted(io);
  let code = 0;
  const { names, take } = sessionFolder(folder);
  for (const file of await names()) {
    const closed = withSession(take(file), async (journal) => {
      if ((await journal.state()).opening === null) return { opened: false };
      const session = await client.session({ signer, journal, signal });
      const ended = await session.close({ signal });
      if (ended.outcome === "closing" && code === 0) code = EX_TEMPFAIL;
      return ended;
    });
    const shown = await closed.catch((cause: unknown) => {
      signal.throwIfAborted();
      code = 1;
      return failureOf(cause);
    });
    io.stdout.write(`${foreignJson({ file, ...shown })}\n`);
  }
  return code;
};

/** Stands for a wallet where nothing is signed. */
const nobody = (address: string): AcceptedSigner => ({
  address,
  signTransactions: () =>
    Promise.reject(
      new SettlementError(
        "nothing_opened",
        "The session was not opened to its end.",
        "Close it first: sessions close.",
      ),
    ),
});

const evidence = async (
  file: string,
  count: string,
  values: Values,
  io: CommandIo,
): Promise<number> => {
  if (!/^[1-9][0-9]{0,9}$/.test(count))
    throw usageError(`${count} is no call.`, "Give its number, from 1 on.");
  const client = await clientOf(values, io);
  const text = await withSession(fileSession(file), async (journal) => {
    const { opening } = await journal.state();
    const session = await client.session({ signer: nobody(opening?.agent ?? ""), journal });
    return session.evidence(Number(count));
  });
  io.stdout.write(`${text}\n`);
  return 0;
};

/** Runs the command. @throws SettlementError */
export const run = async (
  [part, ...args]: ReadonlyArray<string>,
  io: CommandIo,
): Promise<number> => {
  if (part === "list") return list(readArguments(args, {}, ["FOLDER"]).positionals[0] ?? "", io);
  if (part === "close") {
    const { values, positionals } = readArguments(args, OPTIONS, ["FOLDER"]);
    return close(positionals[0] ?? "", values, io);
  }
  if (part === "evidence") {
    const { values, positionals } = readArguments(args, OPTIONS, ["FILE", "COUNT"]);
    const [file = "", count = ""] = positionals;
    return evidence(file, count, values, io);
  }
  throw usageError("There is no such part of sessions.", "Give list, close or evidence.");
};
