import { Account as VmAccount, FailedTransactionMetadata, Rent } from "litesvm/dist/internal.js";
import { type Address, addressFromBytes, addressToBytes } from "../../../core/domain/address.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import { deployedProgramAccounts } from "../../../core/protocol/accounts/loader-v3.ts";
import { decodeTokenAccount } from "../../../core/protocol/accounts/token.ts";
import {
  ED25519_PROGRAM,
  INSTRUCTIONS_SYSVAR,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";
import { binaryPath, type ProgramName } from "../../../programs/compile.ts";
import { TestLedger } from "../fixture/test-ledger.ts";
import { wallet } from "../fixture/wallet.ts";
import { type Account, programBytes, RATE, tokenBytes } from "./account.ts";
import type { Refusal, Sent } from "./call.ts";
import { accountAt, PROGRAMS, type World } from "./world.ts";
import { unsignedTransaction } from "./wire.ts";

/** Pays every fee and does nothing else, so that all other lamports move by the programs' rules alone. */
export const FEES = wallet("fees").address;
/** Upgrade authority of both programs at the start. */
export const AUTHORITY = wallet("upgrade authority").address;

/** The binaries that are tested; a mutant replaces one of them. */
export type Binaries = Readonly<Record<ProgramName, Uint8Array>>;

/** The committed ones. */
export const committedBinaries = async (): Promise<Binaries> => ({
  custody: await Bun.file(binaryPath("custody")).bytes(),
  attestor: await Bun.file(binaryPath("attestor")).bytes(),
});

/** The ledger's result of a transaction. */
export type Outcome =
  | { readonly accepted: true }
  | {
      readonly accepted: false;
      /** -1 where no instruction ran */
      readonly index: number;
      readonly refusal: Refusal;
      readonly text: () => string;
    };

const outcomeOf = (failed: FailedTransactionMetadata, sent: Sent): Outcome => {
  const error = failed.err();
  // Logs are off, because writing them takes longer than running the programs, and only a difference is printed.
  const text = () => failed.toString().slice(0, 2000);
  if (typeof error === "number" || !("err" in error))
    return { accepted: false, index: -1, refusal: "runtime", text };
  const cause = error.err();
  const { index } = error;
  if (sent[index]?.kind === "ed25519")
    return { accepted: false, index, refusal: "precompile", text };
  return typeof cause === "number" || !("code" in cause)
    ? { accepted: false, index, refusal: "runtime", text }
    : { accepted: false, index, refusal: cause.code, text };
};

const ownerOf = ({ content }: Account): Address => {
  switch (content.kind) {
    case "token":
    case "mint":
      return TOKEN_PROGRAM;
    case "escrow":
    case "tombstone":
    case "config":
      return PROGRAMS.custodyProgram;
    case "merchant":
    case "registry":
      return PROGRAMS.attestorProgram;
    case "foreign":
      return FEES;
    case "wallet":
    case "program":
    case "programData":
      return SYSTEM_PROGRAM;
  }
};

const MINT = new Uint8Array(82).fill(0xff, 36, 44).with(44, 6).with(45, 1);

const zeroed = new Map<number, Uint8Array>();
/** That many zero bytes, made once for each length. */
export const zeros = (length: number): Uint8Array => {
  const bytes = zeroed.get(length) ?? new Uint8Array(length);
  zeroed.set(length, bytes);
  return bytes;
};

const dataOf = ({ content }: Account): Uint8Array => {
  if (content.kind === "token") return tokenBytes(content);
  if (content.kind === "mint") return MINT;
  if (content.kind === "foreign") return content.data;
  if (content.kind === "wallet") return zeros(content.size ?? 0);
  return programBytes(content) ?? new Uint8Array();
};

/** The account as the ledger would keep it. */
export const encoded = (account: Account): VmAccount =>
  new VmAccount(account.lamports, dataOf(account), addressToBytes(ownerOf(account)), false, 0n);

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** How an account of the ledger differs from the model's, in words; undefined when it does not. */
export const difference = (found: LedgerAccount, expected: Account): string | undefined => {
  const { content, lamports } = expected;
  const named = `${found.address} (${content.kind})`;
  if (content.kind === "program" || content.kind === "programData") return undefined;
  if (found.lamports !== lamports)
    return `${named} has ${found.lamports} lamports and should have ${lamports}`;
  // What has no lamports is gone after the transaction, whatever it held.
  if (lamports === 0n) return undefined;
  if (found.owner !== ownerOf(expected)) return `${named} belongs to ${found.owner}`;
  if (content.kind === "token") {
    const token = decodeTokenAccount(found);
    const { mint, holder, amount, delegate, closeAuthority, frozen } = content;
    const same =
      token !== undefined &&
      token.mint === mint &&
      token.owner === holder &&
      token.amount === amount &&
      token.delegate === delegate &&
      token.closeAuthority === closeAuthority &&
      token.frozen === frozen;
    const print = (value: unknown) =>
      JSON.stringify(value, (_, each: unknown) => (typeof each === "bigint" ? `${each}` : each));
    return same ? undefined : `${named} is ${print(token)} and should be ${print(content)}`;
  }
  const data = dataOf(expected);
  return Buffer.compare(found.data, data) === 0
    ? undefined
    : `${named} holds ${hex(found.data)} and should hold ${hex(data)}`;
};

/** The two programs on a ledger that can be put into any state of the model. */
export class Machine {
  readonly ledger = new TestLedger();
  #rate = RATE;

  constructor(binaries: Binaries) {
    const { svm } = this.ledger;
    svm.setSigverify(false);
    svm.setBlockhashCheck(false);
    svm.setTransactionHistory(0n);
    this.ledger.fund(FEES, 100_000_000_000_000n);
    for (const [program, elf] of [
      [PROGRAMS.custodyProgram, binaries.custody],
      [PROGRAMS.attestorProgram, binaries.attestor],
    ] as const)
      for (const account of deployedProgramAccounts(
        program,
        { slot: 0n, upgradeAuthority: AUTHORITY, elf },
        (bytes) => this.ledger.rentExempt(bytes),
      ))
        this.ledger.set(account);
  }

  /** Puts the model's account on the ledger; programs stay as they were deployed. */
  set(address: Address, account: Account): void {
    const { kind } = account.content;
    if (kind === "program" || kind === "programData" || address === INSTRUCTIONS_SYSVAR) return;
    this.ledger.svm.setAccount(addressToBytes(address), encoded(account));
  }

  /** Puts the ledger into a world's state, and empties every address of `also` that the world does not have. */
  load(world: World, also: Iterable<Address> = []): void {
    for (const address of also)
      if (!world.accounts.has(address)) this.set(address, accountAt(world, address));
    for (const [address, account] of world.accounts) this.set(address, account);
    this.ledger.time = world.time;
    this.rate = world.rate;
  }

  /** Lamports of rent a byte. */
  set rate(rate: bigint) {
    if (rate === this.#rate) return;
    this.#rate = rate;
    this.ledger.svm.setRent(new Rent(rate / 2n, 2, 50));
  }

  /** The bytes that are sent. */
  bytesOf(sent: Sent): Uint8Array {
    return unsignedTransaction(
      FEES,
      sent.map((each) => each.sent),
    );
  }

  /** Executes a transaction; `bytes` are those of `bytesOf`. */
  send(sent: Sent, bytes = this.bytesOf(sent)): Outcome {
    const result = this.ledger.svm.sendVersionedTransaction(bytes);
    return result instanceof FailedTransactionMetadata
      ? outcomeOf(result, sent)
      : { accepted: true };
  }

  /** Executes a transaction and restores the ledger. Returns the accounts after it. */
  simulate(
    sent: Sent,
    bytes: Uint8Array,
  ): Exclude<Outcome, { readonly accepted: true }> | ReadonlyArray<LedgerAccount> {
    const result = this.ledger.svm.simulateVersionedTransaction(bytes);
    if (result instanceof FailedTransactionMetadata)
      return outcomeOf(result, sent) as Exclude<Outcome, { readonly accepted: true }>;
    return result.postAccounts().map((each) => {
      const account = each.account();
      return {
        address: addressFromBytes(each.address),
        owner: addressFromBytes(account.owner()),
        lamports: account.lamports(),
        executable: account.executable(),
        data: new Uint8Array(account.data()),
      };
    });
  }

  /** Where the ledger differs from a world at these addresses. */
  differences(world: World, addresses: Iterable<Address>): ReadonlyArray<string> {
    return [...addresses].flatMap((address) => {
      if (address === ED25519_PROGRAM || address === FEES) return [];
      return difference(this.ledger.account(address), accountAt(world, address)) ?? [];
    });
  }
}
