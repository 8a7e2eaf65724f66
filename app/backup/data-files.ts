import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { Redacted } from "effect";
import { LOCAL_LEDGER_FOLDER } from "../../adapters/local-ledger/options.ts";
import { GENERATED_KEY_FILE } from "../../adapters/signer/evidence-signer.ts";
import { keyOfText } from "../../adapters/signer/key-text.ts";
import { generatedKeyPath, logKeyFiles } from "../../adapters/signer/log-signer.ts";
import { STANDING_FILE } from "../../adapters/sqlite/log/standing-file.ts";
import {
  backfillPath,
  logFolder,
  packetsPath,
  storePath,
  webhooksPath,
} from "../lifecycle/started-instance.ts";
import { JOINED_KEY_FILE } from "../log/join-log.ts";
import { filesBelow, linksBelow } from "./manifest.ts";

/** Paths below a data directory, as a service names them below its own. */
const inData = (path: string): string => path.slice("./".length);

/** The generated log key with the files beside it, by their names. */
const LOG_KEY = logKeyFiles(basename(generatedKeyPath(".")));

export const INDEX_FILE = inData(storePath(".", "index"));
export const STANDING_PATH = `${inData(logFolder("."))}/${STANDING_FILE}`;
const PACKETS_FILE = inData(packetsPath("."));
const RELAY_FILE = inData(storePath(".", "relay"));
/** The webhooks, whose secrets are in it: it goes with the keys. */
export const WEBHOOKS_FILE = inData(webhooksPath("."));
/** The embedded ledger's own file: its process holds it for itself. */
export const LOCAL_LEDGER_FILE = `${LOCAL_LEDGER_FOLDER}/ledger.sqlite`;

/** What SQLite copies. */
export const STORE_FILES: ReadonlySet<string> = new Set([
  PACKETS_FILE,
  RELAY_FILE,
  STANDING_PATH,
  INDEX_FILE,
  LOCAL_LEDGER_FILE,
  WEBHOOKS_FILE,
]);

/**
 * The order of copying, by what a path begins with. What refers to something is copied before it, so that no copy knows
 * more than those after it: a served packet names a checkpoint, a relay's outcome a slot that the index reaches, the
 * memory beside the log's key a size that stands in the log, the standing tiles and leaves, all of them the ledger. The
 * service itself writes in the opposite order. Everything else refers to nothing, and comes first.
 */
const ORDER: ReadonlyArray<string> = [
  PACKETS_FILE,
  RELAY_FILE,
  inData(backfillPath(".")),
  LOG_KEY.memory,
  STANDING_PATH,
  inData(logFolder(".")),
  INDEX_FILE,
  LOCAL_LEDGER_FILE,
];

/** How many rounds `filesOfRound` has. */
export const ROUNDS = ORDER.length + 1;

/** In which round a path is copied, 0 for one that nothing orders. A whole path goes before a folder's. */
const roundOf = (path: string): number => {
  const exact = ORDER.indexOf(path);
  return 1 + (exact >= 0 ? exact : ORDER.findIndex((folder) => path.startsWith(`${folder}/`)));
};

/**
 * What is made anew: locks, drafts, what SQLite and a first snapshot keep while they work, and the client's package. A
 * store's copy has what was in its write-ahead log.
 */
const LEFT_OUT =
  /(\.lock|\.new|-wal|-shm|-journal)$|^snapshot\.spool|^index\.sqlite-build\/|^client-package\//;

/** Whether a path below a data directory is of what no backup has. */
export const isLeftOut = (path: string): boolean => LEFT_OUT.test(path);

/** The files below a data directory that a round copies, as they are now. */
export const filesOfRound = async (
  dataDir: string,
  round: number,
): Promise<ReadonlyArray<string>> =>
  (await filesBelow(dataDir)).filter((path) => !isLeftOut(path) && roundOf(path) === round);

/** The symbolic links below a data directory at places that would be copied. */
export const linksIn = async (dataDir: string): Promise<ReadonlyArray<string>> =>
  (await linksBelow(dataDir)).filter((path) => !isLeftOut(path));

/** What a setting's key brings with it, whose place in the data may be taken: what it has signed, and its end. */
export const BESIDE_LOG_KEY: ReadonlySet<string> = new Set([LOG_KEY.memory, LOG_KEY.end]);

/** The names of files with keys or secrets that the service, a witness and their commands make. */
const KEY_NAMES: ReadonlySet<string> = new Set([
  WEBHOOKS_FILE,
  GENERATED_KEY_FILE,
  LOG_KEY.key,
  LOG_KEY.next,
  JOINED_KEY_FILE,
]);

/** Key files are far shorter, in bytes. */
const LONGEST_KEY = 4096;

/** How a private key in PEM begins (RFC 7468, section 10), and one of OpenSSH, such as an agent is given. */
const PEM_KEY = /^-----BEGIN ([A-Z]+ )*PRIVATE KEY-----/m;

/** Whether the service would take a file for a key or for its webhooks, by its name alone. */
export const isNamedAsKey = (path: string): boolean => KEY_NAMES.has(basename(path));

/** Whether a file is a key or says who holds one, under its own or any other name. */
export const isKey = async (path: string): Promise<boolean> => {
  if (isNamedAsKey(path)) return true;
  const size = (await stat(path).catch(() => null))?.size ?? 0;
  if (size === 0 || size > LONGEST_KEY) return false;
  const text = await readFile(path, "utf8").catch(() => "");
  return PEM_KEY.test(text) || keyOfText(Redacted.make(text)) !== undefined;
};

/**
 * The keys that settings name, each with the name that it has in a data directory, and those beside them: of a log's
 * key the second one, what was signed last, and the order to end, which need not be there.
 */
export const namedKeys = (
  env: Readonly<Record<string, string | undefined>>,
): ReadonlyArray<{ readonly from: string; readonly to: string; readonly isKey: boolean }> => {
  const named = (setting: string): string => env[setting]?.trim() ?? "";
  const [evidence, log, witness] = [
    "EVIDENCE_SIGNING_KEY_FILE",
    "LOG_SIGNING_KEY_FILE",
    "WITNESS_KEY_FILE",
  ].map(named);
  const ofLog = Object.entries(logKeyFiles(log ?? "")).map(([which, from]) => ({
    from: log === "" ? "" : from,
    to: LOG_KEY[which as keyof typeof LOG_KEY],
    isKey: which === "key",
  }));
  return [
    { from: evidence ?? "", to: GENERATED_KEY_FILE, isKey: true },
    ...ofLog,
    { from: witness ?? "", to: JOINED_KEY_FILE, isKey: true },
  ].filter(({ from }) => from !== "");
};
