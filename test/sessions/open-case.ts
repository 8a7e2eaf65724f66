import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { localKey } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { address } from "../../core/domain/address.ts";
import { parseReceiptHeader } from "../../core/protocol/calls/call-receipt.ts";
import { parseVoucherHeader } from "../../core/protocol/calls/call-voucher.ts";
import { contradictionOf } from "../../core/protocol/calls/equivocation.ts";
import { type CommandProcess, startCommand } from "../pays-once/command-process.ts";
import { MERCHANT, MINT, type Stand } from "../pays-once/stand.ts";
import {
  type Exchange,
  type Kill,
  type ProxyHands,
  type SellerProxy,
  startSellerProxy,
} from "./seller-proxy.ts";

/** Who plays, and where. */
export type Battery = {
  /** Tells its agents from those of another battery with the same seed. */
  readonly name: string;
  readonly stand: Stand;
  /** Shell commands, after docs/sessions.md. */
  readonly seller: string;
  readonly buyer: string;
  /**
   * The same buyer as one process for many runs: `JOURNALS` has the journal of each, a line each, `SELLER_URL` is followed by
   * the journal's name, and a run ends with the line `exit CODE`. Without it each run is a process.
   */
  readonly buyers?: string;
  readonly folder: string;
  readonly trustFile: string;
  readonly seed: number;
  /** A PostgreSQL server for stores of sellers; without it they are in folders alone. */
  readonly postgres?: string;
};

/** What a case is played with. */
export type CaseOptions = {
  readonly calls: number;
  readonly price?: string;
  readonly budget?: string;
  readonly ttl?: number;
  /** Processes of the seller behind one address. */
  readonly processes?: number;
  readonly kills?: ReadonlyArray<Kill>;
  readonly instead?: ProxyHands["instead"];
  /** A PostgreSQL database for the seller's store, instead of a folder. */
  readonly database?: string;
  /** Another case whose seller this agent calls as well. */
  readonly sold?: { readonly proxy: SellerProxy };
};

/** The attestor of the merchant, and who pays the fees of captures. */
export const ATTESTOR = localKey("attestor/forecast");
const PAYER = localKey("agent/trader");
const UNITS = 1_000_000;
const TRY_AGAIN = 75;
const MOST_RUNS = 10;
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

let places = 0;

/** What an agent says that it was given: numbers, base units. */
export type Told = {
  readonly escrow: string | null;
  /** Calls by their numbers: what each cost. */
  readonly calls: ReadonlyMap<number, bigint>;
  readonly refused: ReadonlyArray<string>;
  readonly ended: {
    readonly outcome: string;
    readonly used: bigint;
    readonly calls: number;
  } | null;
};

const told = (lines: ReadonlyArray<string>, faults: Array<string>): Told => {
  const calls = new Map<number, bigint>();
  const escrows = new Set<string>();
  const refused: Array<string> = [];
  let ended: Told["ended"] = null;
  for (const line of lines) {
    const [word, ...rest] = line.split(" ");
    if (word === "opened") escrows.add(rest[0] ?? "");
    if (word === "refused") refused.push(rest[0] ?? "");
    if (word === "ended")
      ended = { outcome: rest[0] ?? "", used: BigInt(rest[1] ?? 0), calls: Number(rest[2]) };
    if (word !== "called") continue;
    const [count, price, body] = [Number(rest[0]), BigInt(rest[1] ?? 0), rest[2]];
    if (calls.has(count)) faults.push(`call ${count} was given twice`);
    if (body !== createHash("sha256").update(`quote /quotes/${count}`).digest("hex"))
      faults.push(`the body of call ${count} is another`);
    calls.set(count, price);
  }
  if (escrows.size > 1) faults.push(`sessions ${[...escrows].join(", ")} were opened, not one`);
  const [escrow = null] = escrows;
  return { escrow, calls, refused, ended };
};

/** An agent of its own, a seller of its own, and what passes between them. */
export const openCase = async (battery: Battery, name: string, options: CaseOptions) => {
  const { stand, folder, trustFile, seed } = battery;
  const { calls, price = "0.01", budget = "1.00", ttl = 3600, processes = 1 } = options;
  const place = join(folder, `${++places}`);
  const [store, journal] = [join(place, "store"), join(place, "journal")];
  await mkdir(store, { recursive: true });
  await mkdir(journal, { recursive: true });
  const agent = localKey(`sessions/${battery.name}/${seed}/${name}`);
  await stand.fund(agent.address);
  const before = await stand.holdings(agent.address);
  const limit = BigInt(Math.round(Number(price) * UNITS));
  const faults: Array<string> = [];
  const said: Array<string> = [];
  const lines: Array<string> = [];
  const running = new Set<CommandProcess>();
  const sellers: Array<{ url: string; process: CommandProcess } | null> = [];
  let isLast: (exchange: Exchange) => boolean = () => false;
  let starting: Promise<unknown> = Promise.resolve();
  const common = () => ({
    SERVICE_URL: stand.url(),
    RPC_URL: stand.rpc(),
    TRUST_FILE: trustFile,
    MERCHANT: MERCHANT.address,
    MINT,
    PRICE: price,
    PRICE_UNITS: `${limit}`,
    CLOCK_AHEAD: "0",
  });

  const startSeller = async (
    index: number,
    env: Readonly<Record<string, string>> = {},
    prefix = "",
  ): Promise<void> => {
    const process = startCommand(`${prefix}${battery.seller}`, {
      ...common(),
      ATTESTOR_KEY: hex(ATTESTOR.seed),
      PAYER_KEY: hex(PAYER.seed),
      STORE: store,
      SHARED: processes > 1 ? "1" : "0",
      ORIGIN: own.url,
      ...(options.database === undefined ? {} : { DATABASE_URL: options.database }),
      ...env,
    });
    sellers[index] = { url: await process.firstLine, process };
  };
  const killSeller = (index: number) => {
    sellers[index]?.process.kill();
    const before = starting;
    const startAgain = async (): Promise<void> => {
      await before;
      // Another kill may have had it started again meanwhile, and the case may have stopped it.
      const struck = sellers[index] ?? null;
      if (struck === null) return;
      struck.process.kill();
      await struck.process.ended;
      await startSeller(index);
    };
    starting = startAgain().catch((cause: unknown) =>
      faults.push(`the seller does not start again: ${String(cause)}`),
    );
  };
  const own = await startSellerProxy(
    {
      sellers: () => sellers.map((each) => each?.url ?? ""),
      killAgent: () => running.forEach((each) => each.kill()),
      killSeller,
      answered: (exchange) => {
        if (isLast(exchange)) running.forEach((each) => each.kill());
      },
      ...(options.instead === undefined ? {} : { instead: options.instead }),
    },
    options.kills,
  );
  const proxy = options.sold?.proxy ?? own;

  /** Ends the sellers: asked to, or killed. */
  const stopSellers = async (how: "asked" | "killed" = "asked"): Promise<void> => {
    await starting;
    for (const each of sellers.splice(0)) {
      if (each === null) continue;
      if (how === "asked") each.process.terminate();
      else each.process.kill();
      const { code, complaint } = await each.process.ended;
      said.push(`seller ended with ${code ?? "a signal"}: ${complaint}`);
      if (how === "asked" && code !== 0) faults.push(`the seller ended with ${code}: ${complaint}`);
    }
  };

  return {
    name,
    agent,
    store,
    journal,
    limit,
    proxy,
    faults,
    said,
    /** What the buyer printed in all its runs. */
    told: (): Told => told(lines, faults),
    stopSellers,
    /** The address of the seller's first process. */
    sellerUrl: () => sellers[0]?.url ?? "",
    /** Kills the buyer at an answer, which it does not get. */
    killBuyerAt: (answer: (exchange: Exchange) => boolean) => {
      isLast = answer;
    },
    startSellers: async (
      env: Readonly<Record<string, string>> = {},
      prefix = "",
    ): Promise<void> => {
      for (let index = 0; index < processes; index++) await startSeller(index, env, prefix);
    },
    /** Runs the buyer once. Gives its exit code, null when it was killed. */
    runOnce: async (
      env: Readonly<Record<string, string>> = {},
      prefix = "",
    ): Promise<number | null> => {
      const process = startCommand(`${prefix}${battery.buyer}`, {
        ...common(),
        AGENT_KEY: hex(agent.seed),
        SELLER_URL: proxy.url,
        BUDGET: budget,
        TTL: `${ttl}`,
        CALLS: `${calls}`,
        CLOSE: "1",
        JOURNAL: journal,
        ...env,
      });
      running.add(process);
      const { code, complaint } = await process.ended;
      running.delete(process);
      lines.push(...process.lines());
      said.push(`buyer ended with ${code ?? "a signal"}: ${complaint}`, ...process.lines());
      return code;
    },
    /** Runs the buyer until it has ended with 0. */
    async run(env: Readonly<Record<string, string>> = {}): Promise<void> {
      for (let runs = 0; runs < MOST_RUNS; runs++) {
        const code = await this.runOnce(env);
        await starting;
        if (code === 0) return;
        if (code !== null && code !== TRY_AGAIN)
          return void faults.push(`the buyer ended with ${code}: ${said.at(-1)}`);
      }
      faults.push(`the buyer is not done after ${MOST_RUNS} runs`);
    },
    /**
     * Compares what the ledger did with what both sides said. `lost` is the most that the agent may have paid for
     * nothing, base units, and `owed` whether the merchant must have all that it attested.
     */
    judge: async ({ lost = 0n, owed = true } = {}): Promise<ReadonlyArray<string>> => {
      const { escrow, calls: given, ended } = told(lines, faults);
      const after = await stand.holdings(agent.address);
      if (after.escrows.length !== 1 || after.escrows[0] !== escrow)
        faults.push(`the agent has ${after.escrows.join(", ") || "no escrow"}, not ${escrow}`);
      if (escrow === null) return faults;
      const account = await stand.escrow(address(escrow));
      for (const { target, status, code } of proxy.exchanges)
        if (status >= 400 && code === null) faults.push(`${target} was refused without a name`);
      const receipts = proxy.exchanges.flatMap(({ receipt, voucher }) => {
        const read = receipt === null ? undefined : parseReceiptHeader(receipt);
        const asked = parseVoucherHeader(voucher ?? "");
        return read === undefined || asked?.escrow !== escrow ? [] : [read.attestation];
      });
      const byCount = receipts.toSorted((one, two) => one.count - two.count);
      for (const [at, one] of byCount.entries()) {
        const next = byCount[at + 1];
        const contradiction = next && contradictionOf(one, next);
        if (contradiction !== undefined)
          faults.push(`the attestor signed ${contradiction} at count ${one.count}`);
      }
      const attested = byCount.at(-1)?.total ?? 0n;
      // A call that the agent was killed over may be in its journal alone.
      const paidFor =
        ended === null ? [...given.values()].reduce((sum, each) => sum + each, 0n) : 0n;
      const known = ended === null ? paidFor : limit * BigInt(ended.calls);
      if (account.released > known + lost)
        faults.push(`${account.released} were taken for ${known} of calls`);
      if (owed && account.released < attested)
        faults.push(`${account.released} of the ${attested} that were attested were taken`);
      if (ended?.outcome === "settled") {
        if (before.units - after.units !== account.released)
          faults.push(
            `${before.units - after.units} left the agent, ${account.released} were taken`,
          );
        if (ended.used !== account.released)
          faults.push(`the agent says ${ended.used}, the ledger ${account.released}`);
      }
      return [...new Set(faults)];
    },
    stop: async (): Promise<void> => {
      running.forEach((each) => each.kill());
      await stopSellers("killed").catch(() => undefined);
      await own.stop();
    },
  };
};

export type OpenCase = Awaited<ReturnType<typeof openCase>>;
