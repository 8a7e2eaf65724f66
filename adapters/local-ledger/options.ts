import { parseArgs } from "node:util";

/** The folder of a data directory in which the ledger keeps its database. */
export const LOCAL_LEDGER_FOLDER = "local-ledger";

/** The most slots between `confirmed` and `finalized`. */
export const MAX_FINALITY_SLOTS = 150;

/** The options of a ledger process. */
export type LocalLedgerOptions = {
  readonly dataDirectory: string;
  readonly port: number;
  readonly webSocketPort: number | undefined;
  readonly demo: boolean;
  /** A new ledger begins without programs and mint, so that they can be deployed to it. */
  readonly empty: boolean;
  /** Days by which the ledger's time moves ahead at this start, [0, 365]. */
  readonly skipDays: number;
  /** Slots between `confirmed` and `finalized`, [0, 150]. */
  readonly finalitySlots: number;
  /** Ends when standard input closes, so that it cannot outlive its parent process. */
  readonly supervised: boolean;
};

/** The help text of `bun run cli local-ledger`. */
export const LOCAL_LEDGER_HELP = `Runs a Solana ledger on this machine, with the custody and attestor programs, a mock USDC and a faucet.

usage: bun run cli local-ledger [options]

  --data-dir DIR   where its state is kept, in DIR/local-ledger   (DATA_DIR, ./data)
  --port N         HTTP port, 0 for any free one                  (LOCAL_LEDGER_PORT, 8899)
  --ws-port N      WebSocket port                                 (the one after the HTTP port)
  --no-demo        no demo merchants, agents and escrows          (LOCAL_LEDGER_DEMO, true)
  --empty          a new ledger begins without programs and mint, for bun run deploy
  --skip-days N    its clock moves N days ahead at this start and stays there, 0 to 365   (0)
  --finality-slots N  slots from confirmed to finalized, 0 to 150; a cluster takes 32
                                                                  (LOCAL_LEDGER_FINALITY_SLOTS, 0)
  --supervised     ends when its standard input closes
  --help           this text

It listens on 127.0.0.1 and prints one line of JSON when it is ready. The demo data is made on the first
start only; a new DIR is a new ledger. Besides Solana's JSON-RPC it answers
requestTokenAirdrop(owner, amount), which mints mock USDC in base units to the owner's associated token account.
`;

const upTo = (most: number, what: string) => {
  const digits = new RegExp(`^[0-9]{1,${String(most).length}}$`);
  return (text: string, name: string): number => {
    if (digits.test(text) && Number(text) <= most) return Number(text);
    throw new Error(`${name} must be a ${what} from 0 to ${most}`);
  };
};
const portOf = upTo(65_535, "port number");
const daysOf = upTo(365, "number of days");
const finalityOf = upTo(MAX_FINALITY_SLOTS, "number of slots");

const flagOf = (text: string, name: string): boolean => {
  if (text !== "true" && text !== "false") throw new Error(`${name} must be true or false`);
  return text === "true";
};

/**
 * Options from arguments, then from the environment; undefined when help is asked for. @throws Error that names the
 * wrong option.
 */
export const readOptions = (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string | undefined>>,
): LocalLedgerOptions | undefined => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      "data-dir": { type: "string" },
      port: { type: "string" },
      "ws-port": { type: "string" },
      "no-demo": { type: "boolean" },
      empty: { type: "boolean" },
      "skip-days": { type: "string" },
      "finality-slots": { type: "string" },
      supervised: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help === true) return undefined;
  const port =
    values.port === undefined
      ? portOf(env["LOCAL_LEDGER_PORT"] ?? "8899", "LOCAL_LEDGER_PORT")
      : portOf(values.port, "--port");
  return {
    dataDirectory: values["data-dir"] ?? env["DATA_DIR"] ?? "./data",
    port,
    webSocketPort:
      values["ws-port"] === undefined ? undefined : portOf(values["ws-port"], "--ws-port"),
    demo:
      values["no-demo"] !== true && flagOf(env["LOCAL_LEDGER_DEMO"] ?? "true", "LOCAL_LEDGER_DEMO"),
    empty: values.empty === true,
    skipDays: daysOf(values["skip-days"] ?? "0", "--skip-days"),
    finalitySlots:
      values["finality-slots"] === undefined
        ? finalityOf(env["LOCAL_LEDGER_FINALITY_SLOTS"] ?? "0", "LOCAL_LEDGER_FINALITY_SLOTS")
        : finalityOf(values["finality-slots"], "--finality-slots"),
    supervised: values.supervised === true,
  };
};
