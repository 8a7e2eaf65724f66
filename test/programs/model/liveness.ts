import { type Address, ZERO_ADDRESS } from "../../../core/domain/address.ts";
import { type Hash32, hash32FromBytes } from "../../../core/domain/hash32.ts";
import { fieldsOf } from "../../../core/protocol/accounts/byte-fields.ts";
import { escrowAddress } from "../../../core/protocol/addresses/addresses.ts";
import { digest, ESCROW_BYTES, RATE, rent, TOKEN_BYTES, TOMBSTONE_BYTES } from "./account.ts";
import { type Claim, voucherFor } from "./attestation.ts";
import type { Sent } from "./call.ts";
import {
  attesting,
  callOf,
  cancelCall,
  closeCall,
  createCall,
  paymentCall,
  refundCall,
  rentCall,
  type Target,
} from "./calls.ts";
import { breathe } from "./breathe.ts";
import { fallbackOf, PROOFS, START } from "./cast.ts";
import { Dice, changeAll, frontRun, GROWN, meddle, tokenOf } from "./live-adversary.ts";
import { AGENT, KEY_A, MERCHANT, MINT, SESSION_KEY, SPONSOR } from "./explored.ts";
import { type Prepared, prepare, type Purpose, type Rule, seededAddress } from "./live-kit.ts";
import { LiveLedger } from "./live-ledger.ts";
import type { Binaries } from "./machine.ts";
import { associatedOf, DOMAIN, PROGRAMS } from "./world.ts";

const WEEK = 604_800n;
const RICH = 1_000_000_000_000n;
const HOLDERS = [AGENT, MERCHANT, SPONSOR] as const;
/** Seconds that a transaction takes which fails after it was sent. */
const FAILING = 59n;

/** Cases between two collections of memory. */
const BETWEEN_BREATHS = 100;

/** What a case came to. */
export type Lived = { readonly landed: number; readonly tried: number };

/** One escrow's life among honest and dishonest parties. */
class Life {
  readonly #ledger: LiveLedger;
  readonly #dice: Dice;
  readonly #seed: number;
  readonly #without: ReadonlySet<Rule>;
  readonly #honest: ReadonlySet<Address>;
  readonly #target: Target;
  readonly #vault: Address;
  readonly #task: Hash32;
  readonly #session: boolean;
  readonly #amount: bigint;
  #terms: Hash32 | undefined;
  #released = 0n;
  #deliveries = 0;
  #dust = 0n;
  #gifts = 0n;
  #made = 0;
  /** Units that the parties have to begin with, and their lamports. */
  readonly #rentPaid: bigint;
  readonly #did: Array<string> = [];
  readonly lived = { landed: 0, tried: 0 };

  constructor(ledger: LiveLedger, seed: number, without: ReadonlySet<Rule>) {
    this.#ledger = ledger;
    this.#seed = seed;
    this.#without = without;
    const dice = new Dice(seed);
    this.#dice = dice;
    // At least one of the three is honest, and one is not.
    const which = 1 + dice.below(6);
    this.#honest = new Set(HOLDERS.filter((_, i) => (which >> i) & 1));
    const task = new Uint8Array(32);
    new DataView(task.buffer).setUint32(0, seed >>> 0, true);
    task[31] = 1;
    this.#task = hash32FromBytes(task);
    const escrow = escrowAddress(PROGRAMS, AGENT, this.#task).address;
    const rentPayer = dice.of(HOLDERS);
    this.#target = { escrow, agent: AGENT, merchant: MERCHANT, mint: MINT, rentPayer };
    this.#vault = associatedOf(escrow, MINT).address;
    this.#session = dice.below(2) === 0;
    this.#amount = BigInt(1 + dice.below(9));
    this.#rentPaid = rent(ESCROW_BYTES) + rent(TOKEN_BYTES);
    this.#begin();
  }

  /** What happened, for a message. */
  told(what: string): string {
    const honest = [...this.#honest].map((each) => NAMES.get(each)).join(" and ");
    return `case ${this.#seed}: ${what}\n(honest: ${honest}; the rent is the ${NAMES.get(this.#target.rentPayer)}'s; ${this.#session ? "a session" : "a single payment"} of ${this.#amount})\n${this.#did.join("\n")}`;
  }

  #fail(what: string): never {
    throw new Error(this.told(what));
  }

  #begin(): void {
    const ledger = this.#ledger;
    ledger.rate = RATE;
    ledger.time = START;
    for (const holder of HOLDERS) this.#renew(holder, true);
    const call = createCall({
      payer: this.#target.rentPayer,
      agent: AGENT,
      merchant: MERCHANT,
      mint: MINT,
      task: this.#task,
      amount: this.#amount,
      ttlSeconds: 3600,
      sessionKey: this.#session ? SESSION_KEY.address : ZERO_ADDRESS,
    });
    if (!ledger.land([call.sent])) this.#fail(`no escrow: ${ledger.failure}`);
    this.#terms = hash32FromBytes(digest(ledger.account(this.#target.escrow).data));
    for (const holder of HOLDERS) this.#renew(holder, this.#honest.has(holder));
    // A wallet may be large for reasons of its own.
    for (const holder of this.#honest)
      if (this.#dice.below(8) === 0) ledger.setWallet(holder, RICH, GROWN);
  }

  /** A holder's accounts as an honest party has them, mostly with a token account. */
  #renew(holder: Address, whole: boolean): void {
    const ledger = this.#ledger;
    ledger.setWallet(holder, RICH);
    const units = holder === AGENT ? 1000n : 0n;
    ledger.setToken(associatedOf(holder, MINT).address, rent(TOKEN_BYTES), tokenOf(holder, units));
    const other = fallbackOf(holder, MINT);
    if (whole && this.#dice.below(2) === 0)
      ledger.setToken(other, rent(TOKEN_BYTES), tokenOf(holder, 0n));
    else ledger.setWallet(other, 0n);
  }

  #state(): number {
    const { data } = this.#ledger.account(this.#target.escrow);
    return data.length === TOMBSTONE_BYTES ? (data[24] ?? 0) : (data[10] ?? 0);
  }

  /** When the escrow ends, as the ledger has it: the agent may have closed the session. */
  #endOf(): bigint {
    const fields = fieldsOf(this.#ledger.account(this.#target.escrow).data);
    const closes = fields.i64(408);
    return closes === 0n ? fields.i64(200) : closes;
  }

  #isOpen(): boolean {
    return this.#ledger.account(this.#vault).lamports > 0n;
  }

  /** The bytes of a settled escrow, kept from when it was seen. */
  #last: Uint8Array | undefined;

  #remember(): void {
    const { data } = this.#ledger.account(this.#target.escrow);
    if (data.length === ESCROW_BYTES && data[10] !== 0) this.#last = data;
  }

  #isArchived(): boolean {
    return this.#ledger.account(this.#target.escrow).data.length === TOMBSTONE_BYTES;
  }

  /** What dishonest parties and strangers do between two moments of an honest one. */
  #interfere(seed: string | undefined): void {
    const [ledger, dice] = [this.#ledger, this.#dice];
    for (const party of HOLDERS)
      if (!this.#honest.has(party) && dice.below(5) > 0) changeAll(ledger, dice, party);
    const { lamports, units } = meddle(ledger, dice, {
      escrow: this.#target.escrow,
      vault: this.#vault,
      honest: [...this.#honest],
      seed,
    });
    this.#gifts += lamports;
    this.#dust += units;
    this.#remember();
    frontRun(ledger, dice, this.#anybodys());
    this.#remember();
  }

  /** What anybody, or a dishonest party, may send by itself. */
  #anybodys(): ReadonlyArray<Sent> {
    const { escrow, rentPayer } = this.#target;
    const given = this.#isArchived() ? this.#last : undefined;
    const calls: Array<Sent> = [[rentCall(this.#target, given)]];
    if (this.#state() !== 0) calls.push([refundCall(this.#target, given)]);
    if (this.#last !== undefined && given === undefined)
      calls.push([
        callOf("archive_escrow", { escrow, rent_payer: rentPayer }, { lastBytes: this.#last }),
      ]);
    if (!this.#honest.has(AGENT)) calls.push([closeCall(escrow, AGENT)]);
    if (!this.#honest.has(MERCHANT) && this.#honest.has(AGENT))
      calls.push([cancelCall(escrow, MERCHANT)]);
    return calls;
  }

  /** Prepares, lets the others move, and lands one of what was prepared. */
  #attempt(name: string, purpose: Purpose, isDone: () => boolean): void {
    const ledger = this.#ledger;
    const seed = `${this.#seed}-${this.#made++}`;
    const prepared = prepare(ledger, purpose, seed, this.#without);
    this.#interfere(seed);
    this.lived.tried++;
    for (const [at, { form, first, instructions, besideNext }] of prepared.entries()) {
      if (isDone()) break;
      // The first goes out; the others only where the ledger would take them.
      if (first !== undefined) ledger.land(first, `${name}, ${form}, first`);
      const isEmpty = purpose.payee === AGENT && ledger.units(this.#vault) === 0n;
      if (at === 0 || prepared[at - 1]?.besideNext === true || ledger.takes(instructions)) {
        if (ledger.land(instructions, `${name}, ${form}`)) {
          this.#did.push(`${name}: ${form}`);
          this.lived.landed++;
          if (isEmpty && form.startsWith("made")) this.#fail("an account was made for nothing");
          return this.#remember();
        }
        this.#did.push(`${name}: ${form} fails, ${ledger.failure}`);
        if (besideNext === true) continue;
        ledger.time += FAILING;
        if (this.#dice.below(2) === 0) this.#interfere(seed);
      } else this.#did.push(`${name}: ${form} would fail, ${ledger.failure}`);
    }
    if (!isDone()) this.#fail(`${name} is vetoed: ${describe(prepared, ledger)}`);
    this.#remember();
  }

  /** A payment to the merchant, of this much in all. */
  #payment(call: "capture" | "release_escrow", total: bigint, deliveries: number): Purpose {
    const final = call === "capture" ? 0 : 1;
    const terms = this.#terms ?? PROOFS[0];
    const timestamp = this.#ledger.time;
    const claim: Claim = {
      domain: DOMAIN,
      terms,
      proofHash: PROOFS[0],
      total,
      timestamp,
      deliveries,
      final,
    };
    const allowing = this.#session ? { by: SESSION_KEY, voucher: voucherFor(claim) } : undefined;
    const proof = attesting(KEY_A, claim, allowing).sent;
    const target = this.#target;
    return {
      target,
      payee: MERCHANT,
      settles: final === 1,
      leavesVault: total !== this.#amount,
      rest: this.#amount - total,
      until: this.#endOf(),
      main: (merchantFallback) => [
        proof,
        paymentCall(call, { ...target, ...(merchantFallback && { merchantFallback }) }).sent,
      ],
    };
  }

  #refund(archivable?: Uint8Array): Purpose {
    const target = this.#target;
    const empty = this.#ledger.units(this.#vault) === 0n;
    return {
      target,
      payee: AGENT,
      settles: true,
      leavesVault: false,
      rest: 0n,
      ...(archivable !== undefined && { archivable }),
      main: (agentFallback, lastBytes) => {
        const named = { ...target, ...(agentFallback && { agentFallback }) };
        return [
          refundCall(named, lastBytes, empty && agentFallback === undefined ? null : named).sent,
        ];
      },
    };
  }

  /** Captures, as the session goes on. */
  #capture(): void {
    const left = this.#amount - this.#released;
    if (left === 0n) return;
    const total = this.#released + 1n + BigInt(this.#dice.below(Number(left)));
    const deliveries = this.#deliveries + 1;
    this.#attempt("capture", this.#payment("capture", total, deliveries), () => false);
    [this.#released, this.#deliveries] = [total, deliveries];
  }

  #release(): void {
    const ledger = this.#ledger;
    const base = this.#released > 0n ? this.#released : 1n;
    const left = this.#amount - base;
    const total =
      this.#dice.below(3) === 0 ? this.#amount : base + BigInt(this.#dice.below(Number(left) + 1));
    // A minute is enough for the bare form, and for the whole one before it only if it lands.
    if (this.#dice.below(3) === 0)
      ledger.time = this.#endOf() - this.#dice.of([30n, 59n, 61n, 120n]);
    const deliveries = this.#session ? this.#deliveries + 1 : 1;
    this.#attempt("release", this.#payment("release_escrow", total, deliveries), () => false);
    this.#released = total;
  }

  #cancel(): void {
    const { escrow } = this.#target;
    const rest = this.#ledger.units(this.#vault);
    const main = () => [cancelCall(escrow, MERCHANT).sent];
    const purpose: Purpose = {
      target: this.#target,
      settles: true,
      leavesVault: true,
      rest,
      until: this.#endOf(),
      main,
    };
    this.#attempt("cancel", purpose, () => false);
  }

  /** The agent, or whoever wants the rent, lets the time run out. */
  #expire(): void {
    const ledger = this.#ledger;
    const { escrow } = this.#target;
    if (this.#session && this.#honest.has(AGENT) && this.#dice.below(2) === 0) {
      const main = () => [closeCall(escrow, AGENT).sent];
      const isClosing = () => fieldsOf(ledger.account(escrow).data).i64(408) !== 0n;
      const nothing = { settles: false, leavesVault: false, rest: 0n } as const;
      this.#attempt(
        "close",
        { target: this.#target, ...nothing, main },
        () => isClosing() || this.#state() !== 0,
      );
      // A quarter of an hour after the closing, and nothing else, decides.
      ledger.time += 900n;
    } else if (ledger.time < this.#endOf()) ledger.time = this.#endOf();
    this.#attempt("refund", this.#refund(), () => this.#state() !== 0 && !this.#isOpen());
  }

  #settle(): void {
    const merchant = this.#honest.has(MERCHANT);
    if (merchant && this.#session && this.#dice.below(2) === 0) this.#capture();
    if (merchant && this.#session && this.#dice.below(3) === 0) this.#capture();
    const which = this.#dice.below(merchant ? 4 : 1);
    if (which === 1) this.#cancel();
    else if (which > 1) this.#release();
    else this.#expire();
  }

  /** What is left is fetched, by whom it belongs to, at any time and in any order. */
  #fetch(): void {
    const [ledger, dice] = [this.#ledger, this.#dice];
    const { rentPayer } = this.#target;
    if (dice.below(2) === 0) ledger.time += dice.of([0n, 60n, WEEK - 60n, WEEK]);
    this.#interfere(undefined);
    if (dice.below(4) === 0) ledger.rate = RATE / 10n;
    const settledAt = fieldsOf(this.#last ?? new Uint8Array(ESCROW_BYTES)).i64(208);
    const archivable = () => (ledger.time + 120n >= settledAt + WEEK ? this.#last : undefined);
    this.#archive(settledAt);
    const wants = this.#honest.has(AGENT) || this.#honest.has(rentPayer);
    if (wants && this.#isOpen())
      this.#attempt("claim", this.#refund(archivable()), () => !this.#isOpen());
    if (dice.below(2) === 0) ledger.time += WEEK;
    this.#interfere(undefined);
    if (!this.#honest.has(rentPayer)) return;
    ledger.rate = dice.below(2) === 0 ? ledger.rate : RATE / 10n;
    const left = () => {
      const { lamports, data } = ledger.account(this.#target.escrow);
      return lamports - rent(data.length, ledger.rate);
    };
    const main = (_: unknown, lastBytes?: Uint8Array) => [rentCall(this.#target, lastBytes).sent];
    const last = archivable();
    const purpose: Purpose = {
      target: this.#target,
      settles: false,
      leavesVault: false,
      rest: 0n,
      ...(last !== undefined && { archivable: last }),
      main,
    };
    this.#attempt("rent", purpose, () => left() === 0n);
    if (left() !== 0n) this.#fail(`${left()} lamports stay in the escrow account`);
  }

  /** Anybody archives what was settled a week ago, whatever became of those whom it concerns. */
  #archive(settledAt: bigint): void {
    const bytes = this.#last;
    if (bytes === undefined || this.#dice.below(2) > 0) return;
    if (this.#isArchived() || this.#ledger.time < settledAt + WEEK) return;
    const { escrow, rentPayer } = this.#target;
    const accounts = { escrow, rent_payer: rentPayer };
    const main = () => [callOf("archive_escrow", accounts, { lastBytes: bytes }).sent];
    const nothing = { settles: false, leavesVault: false, rest: 0n } as const;
    this.#attempt("archive", { target: this.#target, ...nothing, main }, () => this.#isArchived());
  }

  #unitsOf(holder: Address): bigint {
    const own = [associatedOf(holder, MINT).address, fallbackOf(holder, MINT)];
    return own.reduce((sum, each) => sum + this.#ledger.units(each), 0n);
  }

  /** The whole life, and that everybody honest has at the end what belongs to it. */
  live(): void {
    this.#settle();
    if (this.#state() === 0) this.#fail("nothing is settled");
    this.#fetch();
    const { escrow, rentPayer } = this.#target;
    const honest = (party: Address) => this.#honest.has(party);
    if ((honest(AGENT) || honest(rentPayer)) && this.#isOpen()) this.#fail("the vault is open");
    const released = fieldsOf(this.#last ?? new Uint8Array(ESCROW_BYTES)).u64(184);
    if (honest(MERCHANT) && released !== this.#released)
      this.#fail(`the merchant has ${released} of ${this.#released}`);
    const account = this.#ledger.account(escrow);
    const paid = this.#rentPaid + this.#gifts - rent(account.data.length, this.#ledger.rate);
    const lamports = this.#ledger.account(rentPayer).lamports;
    // The wallet was made rich again after the creation, and never pays a fee.
    if (honest(rentPayer) && lamports !== RICH + paid)
      this.#fail(`the rent payer has ${lamports - RICH} of ${paid} lamports`);
    const made = this.#madeUnits();
    const total = this.#unitsOf(MERCHANT) + (made.get(MERCHANT) ?? 0n);
    const whole = released === this.#amount && this.#settledBy() === 1;
    const rest = this.#amount - released + this.#dust;
    const [merchants, agents] = whole ? [released + this.#dust, 0n] : [released, rest];
    if (honest(MERCHANT) && !this.#isShort(total, merchants))
      this.#fail(`the merchant holds ${total} of ${merchants} units`);
    const back = this.#unitsOf(AGENT) + (made.get(AGENT) ?? 0n) - 1000n;
    if (honest(AGENT) && !this.#isShort(back, agents))
      this.#fail(`the agent holds ${back} of ${agents} units`);
  }

  /** Strangers' units that come between a payment and the closing belong to the one or the other. */
  #isShort(has: bigint, owed: bigint): boolean {
    return has >= owed - this.#dust && has <= owed + this.#dust;
  }

  #settledBy(): number {
    return this.#last?.[400] ?? 0;
  }

  /** Units in the accounts that were made on the way, by holder. */
  #madeUnits(): ReadonlyMap<Address, bigint> {
    const units = new Map<Address, bigint>();
    for (let i = 0; i < this.#made; i++) {
      const { data, owner } = this.#ledger.account(seededAddress(`${this.#seed}-${i}`));
      if (data.length !== TOKEN_BYTES || owner === ZERO_ADDRESS) continue;
      const holder = fieldsOf(data).address(32);
      units.set(holder, (units.get(holder) ?? 0n) + fieldsOf(data).u64(64));
    }
    return units;
  }
}

const NAMES = new Map<Address, string>([
  [AGENT, "agent"],
  [MERCHANT, "merchant"],
  [SPONSOR, "sponsor"],
]);

const describe = (prepared: ReadonlyArray<Prepared>, ledger: LiveLedger): string =>
  `none of ${prepared.map(({ form }) => form).join(", ")} lands, ${ledger.failure}`;

/** Lives of escrows among honest and dishonest parties, each determined by its number. */
export class Liveness {
  readonly ledger: LiveLedger;
  readonly #without: ReadonlySet<Rule>;

  constructor(binaries: Binaries, without: ReadonlyArray<Rule> = []) {
    this.ledger = new LiveLedger(binaries);
    this.#without = new Set(without);
  }

  /** @throws Error at the first case in which an honest party is vetoed, or has not what belongs to it. */
  async explore(first: number, count: number): Promise<Lived> {
    const lived = { landed: 0, tried: 0 };
    for (let seed = first; seed < first + count; seed++) {
      if (seed % BETWEEN_BREATHS === 0) await breathe();
      const life = new Life(this.ledger, seed, this.#without);
      life.live();
      lived.landed += life.lived.landed;
      lived.tried += life.lived.tried;
    }
    return lived;
  }
}
