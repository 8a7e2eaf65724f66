import { type Address, addressFromBytes, addressToBytes } from "../../../core/domain/address.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import type { Account as VmAccount } from "litesvm/dist/internal.js";
import { breathe } from "./breathe.ts";
import { ABSENT, type Account, lengthOf } from "./account.ts";
import { type Binaries, difference, encoded, Machine } from "./machine.ts";
import { exploredWorld } from "./explored.ts";
import { OPERATIONS } from "./explored-operations.ts";
import type { Operation } from "./operations.ts";
import { brokenPromises } from "./promises.ts";
import { judge } from "./transaction.ts";
import { accountAt, associatedOf, type World } from "./world.ts";

/** The counts of an exploration. */
export type Explored = {
  /** Sequences of operations up to the depth: each is a path of the explored graph. */
  readonly operations: number;
  readonly depth: number;
  /** Different states, the first among them. */
  readonly states: number;
  /** Pairs of a state and an operation. */
  readonly transitions: number;
  /**
   * Transactions that the binaries executed: one for each transaction, clock and content of the accounts that it names.
   */
  readonly executions: number;
  readonly taken: number;
};

/** A difference between ledger and model, or a broken promise, with the operations that lead there. */
export class Contradiction extends Error {
  readonly path: ReadonlyArray<string>;

  constructor(what: string, path: ReadonlyArray<string>) {
    super(`${what}\nafter ${path.join("; ")}`);
    this.path = path;
  }
}

/** Executions between two collections of memory. */
const BETWEEN_BREATHS = 10_000;

/** Bytes from which an account is large. */
const LARGE = 4096;

/** Gives equal accounts equal numbers. */
class Numbered {
  readonly accounts: Array<Account> = [];
  readonly #encoded: Array<VmAccount> = [];
  readonly #numbers = new Map<string, number>();

  of(account: Account): number {
    const key = JSON.stringify(account, (_, value: unknown) =>
      typeof value === "bigint"
        ? `${value}n`
        : value instanceof Uint8Array
          ? Buffer.from(value).toString("base64")
          : value,
    );
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.accounts.length;
    this.#numbers.set(key, number);
    this.accounts.push(account);
    return number;
  }

  /**
   * The account as the ledger would keep it; large ones are made each time, because all of them would fill the memory.
   */
  encoded(number: number): VmAccount | undefined {
    const known = this.#encoded[number];
    if (known !== undefined) return known;
    const account = this.accounts[number];
    if (account === undefined) return undefined;
    const made = encoded(account);
    if (lengthOf(account.content) <= LARGE) this.#encoded[number] = made;
    return made;
  }
}

type State = {
  readonly time: bigint;
  readonly rate: bigint;
  /** By place, the number of the account there. */
  readonly accounts: Uint32Array;
  readonly from: State | undefined;
  readonly by: number;
};

/** A state's digest: two of a million are the same once in 10^26. */
const keyOf = ({ time, rate, accounts }: State): string =>
  new Bun.CryptoHasher("sha1").update(`${time} ${rate} `).update(accounts).digest("base64");

const ledgerAccount = (address: Address, account: VmAccount): LedgerAccount => ({
  address,
  owner: addressFromBytes(account.owner()),
  lamports: account.lamports(),
  executable: account.executable(),
  data: new Uint8Array(account.data()),
});

/** The new accounts by place after an operation, undefined when it is refused or changes nothing. */
type Effect = ReadonlyArray<readonly [place: number, number: number]> | undefined;

/** States between two lines of progress. */
const PROGRESS = 5000;

/** Explores every sequence of operations up to a depth, each state once. */
export class Exploration {
  readonly #machine: Machine;
  readonly #numbered = new Numbered();
  readonly #places: ReadonlyArray<Address>;
  readonly #placeOf: ReadonlyMap<Address, number>;
  /** The accounts on the machine, by place. */
  readonly #loaded: Array<number>;
  readonly #effects = new Map<string, Effect>();
  readonly #first: State;
  #time: bigint;
  #executions = 0;
  #taken = 0;

  constructor(binaries: Binaries) {
    this.#machine = new Machine(binaries);
    const world = exploredWorld();
    const touched = OPERATIONS.flatMap((each) =>
      each.kind === "send" ? each.touches : each.kind === "change" ? [each.address] : [],
    );
    this.#places = [...new Set([...world.accounts.keys(), ...touched])];
    this.#placeOf = new Map(this.#places.map((address, place) => [address, place]));
    const accounts = Uint32Array.from(this.#places, (address) =>
      this.#numbered.of(accountAt(world, address)),
    );
    const { time, rate } = world;
    this.#first = { time, rate, accounts, from: undefined, by: -1 };
    this.#machine.load(world, this.#places);
    this.#loaded = [...accounts];
    this.#time = world.time;
  }

  /** @throws Contradiction at the first difference or broken promise. */
  async explore(
    depth: number,
    limit = Number.POSITIVE_INFINITY,
    onProgress?: (line: string) => void,
  ): Promise<Explored> {
    const met = new Set([keyOf(this.#first)]);
    let frontier: ReadonlyArray<State> = [this.#first];
    let transitions = 0;
    let reached = 0;
    let breath = 0;
    for (; reached < depth && transitions < limit; reached++) {
      const next: Array<State> = [];
      for (const [done, state] of frontier.entries()) {
        if (transitions >= limit) break;
        if (done % PROGRESS === PROGRESS - 1)
          onProgress?.(`${transitions} transitions, ${met.size} states, depth ${reached + 1}`);
        if (this.#executions > breath + BETWEEN_BREATHS) {
          await breathe();
          breath = this.#executions;
        }
        for (const [by, operation] of OPERATIONS.entries()) {
          transitions++;
          const after = this.#after(state, operation, by);
          if (after === undefined) continue;
          const key = keyOf(after);
          if (met.has(key)) continue;
          met.add(key);
          next.push(after);
        }
      }
      frontier = next;
    }
    const operations = OPERATIONS.length;
    const [executions, taken] = [this.#executions, this.#taken];
    return { operations, depth: reached, states: met.size, transitions, executions, taken };
  }

  #after(state: State, operation: Operation, by: number): State | undefined {
    if (operation.kind === "wait")
      return operation.until > state.time
        ? { ...state, time: operation.until, from: state, by }
        : undefined;
    if (operation.kind === "rate")
      return operation.rate < state.rate
        ? { ...state, rate: operation.rate, from: state, by }
        : undefined;
    const effect =
      operation.kind === "change"
        ? this.#changed(state, operation)
        : this.#effectOf(state, operation, by);
    if (effect === undefined) return undefined;
    const accounts = state.accounts.slice();
    for (const [place, number] of effect) accounts[place] = number;
    return { ...state, accounts, from: state, by };
  }

  #changed(state: State, operation: Extract<Operation, { kind: "change" }>): Effect {
    const place = this.#placeOf.get(operation.address) ?? 0;
    const present = this.#numbered.accounts[state.accounts[place] ?? 0] ?? ABSENT;
    const changed = operation.change(present);
    return changed && [[place, this.#numbered.of(changed)]];
  }

  /**
   * A transaction's effect follows from its bytes, the clock and the accounts that it names: each such class runs once.
   */
  #effectOf(state: State, operation: Extract<Operation, { kind: "send" }>, by: number): Effect {
    const places = operation.touches.map((address) => this.#placeOf.get(address) ?? 0);
    const key = `${by} ${state.time} ${state.rate} ${places.map((place) => state.accounts[place]).join()}`;
    if (this.#effects.has(key)) return this.#effects.get(key);
    const effect = this.#execute(state, operation, by);
    this.#effects.set(key, effect);
    return effect;
  }

  #worldOf({ time, rate, accounts }: State): World {
    return {
      time,
      rate,
      accounts: new Map(
        this.#places.map((address, place) => [
          address,
          this.#numbered.accounts[accounts[place] ?? 0] ?? ABSENT,
        ]),
      ),
    };
  }

  #load({ time, rate, accounts }: State): void {
    this.#machine.rate = rate;
    for (const [place, address] of this.#places.entries()) {
      const number = accounts[place] ?? 0;
      if (this.#loaded[place] === number) continue;
      const { kind } = this.#numbered.accounts[number]?.content ?? ABSENT.content;
      const account = this.#numbered.encoded(number);
      if (account !== undefined && kind !== "program" && kind !== "programData")
        this.#machine.ledger.svm.setAccount(addressToBytes(address), account);
      this.#loaded[place] = number;
    }
    if (this.#time !== time) this.#machine.ledger.time = time;
    this.#time = time;
  }

  #execute(state: State, operation: Extract<Operation, { kind: "send" }>, by: number): Effect {
    const world = this.#worldOf(state);
    const sent = operation.sentIn(world);
    this.#load(state);
    this.#executions++;
    const result = this.#machine.simulate(sent, this.#machine.bytesOf(sent));
    const expected = judge(world, sent);
    const fail = (what: string): never => {
      throw new Contradiction(what, this.#pathTo(state, by));
    };
    if ("accepted" in result) {
      if (expected.accepted)
        return fail(
          `the ledger refuses with ${result.refusal} what the model takes\n${result.text()}`,
        );
      if (expected.index !== result.index || !expected.refusals.has(result.refusal))
        return fail(
          `instruction ${result.index} ends with ${result.refusal}, not ${expected.index} with ${[...expected.refusals].join(" or ")}`,
        );
      return undefined;
    }
    this.#taken++;
    const after = new Map(
      result
        .filter(({ address }) => this.#placeOf.has(address))
        .map((each) => [each.address, each]),
    );
    const before = new Map(
      [...after.keys()].flatMap((address) => {
        const account = this.#numbered.encoded(
          state.accounts[this.#placeOf.get(address) ?? 0] ?? 0,
        );
        return account === undefined ? [] : [[address, ledgerAccount(address, account)] as const];
      }),
    );
    const associated = (wallet: Address, mint: Address) => associatedOf(wallet, mint).address;
    const { time, rate } = state;
    const broken = brokenPromises({ before, after, sent, time, rate, associatedOf: associated });
    if (broken.length > 0) return fail(broken.join("\n"));
    if (!expected.accepted)
      return fail(`the ledger takes what the model refuses with ${[...expected.refusals].join()}`);
    const differences = [...after.values()].flatMap(
      (account) => difference(account, accountAt(expected.after, account.address)) ?? [],
    );
    if (differences.length > 0) return fail(differences.join("\n"));
    return [...expected.draft.changes.keys()].map((address) => {
      const place = this.#placeOf.get(address);
      if (place === undefined) throw new Error(`${address} has no place`);
      return [place, this.#numbered.of(accountAt(expected.after, address))] as const;
    });
  }

  #pathTo(state: State, by: number): ReadonlyArray<string> {
    const path = [OPERATIONS[by]?.name ?? "?"];
    for (let at: State | undefined = state; at?.from !== undefined; at = at.from)
      path.unshift(OPERATIONS[at.by]?.name ?? "?");
    return path;
  }
}
