import { type Address, addressToBytes } from "../../../core/domain/address.ts";
import { type Hash32, hash32FromBytes, hash32ToBytes } from "../../../core/domain/hash32.ts";
import {
  associatedToken,
  custodyConfigAddress,
  escrowAddress,
  merchantAddress,
  programDataAddress,
  registryAddress,
} from "../../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import {
  ABSENT,
  type Account,
  type Config,
  digest,
  type Escrow,
  escrowBytes,
  rent,
  ZERO_HASH,
} from "./account.ts";

type Derived = { readonly address: Address; readonly bump: number };

const once = <Args extends ReadonlyArray<string>>(derive: (...args: Args) => Derived) => {
  const known = new Map<string, Derived>();
  return (...args: Args): Derived => {
    const key = args.join();
    const found = known.get(key) ?? derive(...args);
    known.set(key, found);
    return found;
  };
};

/** Both programs' addresses. */
export const PROGRAMS = LOCAL_DEPLOYMENT;
/** What `initialize_custody` is told of the ledger. */
export const GENESIS_HASH = hash32FromBytes(digest(new TextEncoder().encode("genesis")));
/** What the configuration keeps of a ledger: docs/protocol.md, "Attestation". */
export const domainOf = (genesisHash: Hash32): Hash32 =>
  hash32FromBytes(
    digest(
      new TextEncoder().encode("settlement-evidence 3\0"),
      hash32ToBytes(genesisHash),
      addressToBytes(PROGRAMS.custodyProgram),
    ),
  );
export const DOMAIN = domainOf(GENESIS_HASH);
export const CONFIG = custodyConfigAddress(PROGRAMS);
export const REGISTRY = registryAddress(PROGRAMS);
export const CUSTODY_DATA = programDataAddress(PROGRAMS.custodyProgram);
export const ATTESTOR_DATA = programDataAddress(PROGRAMS.attestorProgram);
/** Derived addresses, each computed once, because the same few are needed a million times. */
export const escrowOf = once((agent: Address, task: Hash32) =>
  escrowAddress(PROGRAMS, agent, task),
);
export const merchantOf = once((wallet: Address) => merchantAddress(PROGRAMS, wallet));
export const associatedOf = once((wallet: Address, mint: Address) => associatedToken(wallet, mint));

/** The model's ledger: the clock and every account that is not absent. */
export type World = {
  /** Unix seconds. */
  readonly time: bigint;
  /** Lamports of rent a byte: the ledger's rent can fall (SIMD-0437). */
  readonly rate: bigint;
  readonly accounts: ReadonlyMap<Address, Account>;
};

/** The account at an address, absent if there is none. */
export const accountAt = ({ accounts }: World, address: Address): Account =>
  accounts.get(address) ?? ABSENT;

/** A world with other accounts at some addresses. */
export const changed = (world: World, changes: ReadonlyMap<Address, Account>): World => {
  const accounts = new Map(world.accounts);
  for (const [address, account] of changes) {
    if (account.lamports === 0n) accounts.delete(address);
    else accounts.set(address, account);
  }
  return { ...world, accounts };
};

/** The changes of one transaction, before it is accepted or refused as a whole. */
export class Draft {
  readonly changes = new Map<Address, Account>();
  readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  get time(): bigint {
    return this.world.time;
  }

  /** Lamports that exempt an account of this length. */
  rent(bytes: number): bigint {
    return rent(bytes, this.world.rate);
  }

  at(address: Address): Account {
    return this.changes.get(address) ?? accountAt(this.world, address);
  }

  put(address: Address, account: Account): void {
    this.changes.set(address, account);
  }

  /** Gives lamports, or takes them when the number is negative. */
  pay(address: Address, lamports: bigint): void {
    const account = this.at(address);
    this.put(address, { ...account, lamports: account.lamports + lamports });
  }

  /** Keeps the escrow as the next event leaves it, and logs that event: docs/protocol.md, "Numbered events". */
  number(address: Address, escrow: Escrow, member: "createdSeq" | "settledSeq"): void {
    const config = this.at(CONFIG.address);
    if (config.content.kind !== "config") throw new Error("nothing is numbered without a config");
    const numbered = { ...escrow, [member]: config.content.count };
    this.put(address, { ...this.at(address), content: numbered });
    const leaf = [
      Uint8Array.of(1, numbered.state),
      addressToBytes(address),
      digest(escrowBytes(numbered)),
    ];
    this.put(CONFIG.address, { ...config, content: logged(config.content, leaf) });
  }
}

/** The configuration after a leaf, by its parts: RFC 6962's tree, of which the perfect subtrees are kept. */
export const logged = (config: Config, leaf: ReadonlyArray<Uint8Array>): Config => {
  const frontier = [...config.frontier];
  let hash = digest(Uint8Array.of(0), ...leaf);
  let level = 0;
  for (let left = config.count; left % 2n === 1n; left /= 2n, level++)
    hash = digest(Uint8Array.of(1), hash32ToBytes(frontier[level] ?? ZERO_HASH), hash);
  frontier[level] = hash32FromBytes(hash);
  return { ...config, count: config.count + 1n, frontier };
};
