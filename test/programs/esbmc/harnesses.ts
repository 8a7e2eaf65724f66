import { join } from "node:path";

/** A fault that is put into a copy of the headers. A harness that still proves its claims misses the fault. */
export type Mutant = {
  readonly what: string;
  /** Below `programs/`. */
  readonly file: string;
  /** Must occur exactly once. */
  readonly find: string | RegExp;
  readonly replace: string;
};

/** A file of claims in `harness/`, the maximum rounds of its loops, and the faults that it must detect. */
export type Harness = {
  readonly name: string;
  readonly rounds: number;
  /** Who decides the claims; Bitwuzla but where it runs out of memory. */
  readonly solver?: "z3";
  /** Whether the proof takes minutes. `--quick` leaves it out, and has the fault refuted only. */
  readonly isLong?: true;
  /** The first one is also tried by `--quick`. */
  readonly mutants: ReadonlyArray<Mutant>;
};

/** The folder of the programs' sources. */
export const PROGRAMS = join(import.meta.dir, "../../../programs");

const drop = (file: string, what: string, find: string | RegExp): Mutant => ({
  what: `without ${what}`,
  file,
  find,
  replace: "",
});
const swap = (file: string, what: string, find: string | RegExp, replace: string): Mutant => ({
  what,
  file,
  find,
  replace,
});

const [utf8, proof, payment] = ["sdk/utf8.h", "custody/proof.h", "custody/payment.h"];
const [token, payout, terms] = ["sdk/token.h", "custody/payout.h", "custody/terms.h"];
const [counting, generated] = ["attestor/record-delivery.h", "generated/custody.h"];

const tokenMutants: ReadonlyArray<Mutant> = [
  swap(token, "only a delegate makes an account shared", " | read_u32(token->close_authority)", ""),
  swap(token, "only a close authority does", "read_u32(token->delegate) | ", ""),
  drop(token, "the mint", " && same32(&token->mint, mint)"),
  drop(token, "the token account's owner", / && same32\(&[^;]*owner, owner\)(?=;)/),
  swap(token, "any length of data", /data_len == TOKEN_ACCOUNT_SIZE/, "data_len >= 0"),
  swap(
    token,
    "any program's account",
    /same32\(account->owner, &ADDRESS_TOKEN_PROGRAM\)(?= && account->data_len == TOKEN)/,
    "true",
  ),
];

const payoutMutants: ReadonlyArray<Mutant> = [
  swap(payout, "a shared fallback is paid", "!is_shared(chosen)", "true"),
  swap(payout, "a frozen fallback is paid", /is_initialized\(chosen\)(?=, ERROR)/, "true"),
  swap(payout, "a frozen associated account is paid", " || !is_initialized(chosen)", ""),
  swap(
    payout,
    "any address passes for the associated one",
    /is_associated_address\(chosen[^;]*\)(?=, payee->wrong)/,
    "true",
  ),
  swap(
    payout,
    "the fallback is anybody's",
    /is_token_account\(chosen, mint, payee->wallet\)(?=, payee->wrong)/,
    "is_account_of_mint(chosen, mint)",
  ),
  swap(
    payout,
    "a delegate on the associated account sends the payout elsewhere",
    "|| !is_initialized(chosen)",
    "|| !is_initialized(chosen) || is_shared(chosen)",
  ),
  swap(
    payout,
    "an absent associated account stops the payment",
    "chosen = payee->fallback;",
    "REQUIRE(chosen->data_len == 165, ERROR_PAYOUT_ACCOUNT_UNUSABLE); chosen = payee->fallback;",
  ),
  swap(payout, "the fallback is paid all the same", "*paid = chosen", "*paid = payee->fallback"),
  swap(payout, "custody's own id is paid", "!same32(chosen->key, input->program_id)", "true"),
  swap(payout, "an account that cannot be written", "chosen->is_writable", "true"),
];

/** All harnesses, with the faults that show that their claims can fail. */
export const HARNESSES: ReadonlyArray<Harness> = [
  {
    name: "utf8",
    rounds: 6,
    mutants: [
      swap(utf8, "surrogates pass", "bytes[i] > 0x9f", "bytes[i] > 0xbf"),
      swap(utf8, "an overlong form of two bytes passes", "lead < 0xc2", "lead < 0xc0"),
      swap(utf8, "an overlong form of three bytes passes", "bytes[i] < 0xa0", "bytes[i] < 0x80"),
      swap(utf8, "an overlong form of four bytes passes", "bytes[i] < 0x90", "bytes[i] < 0x80"),
      swap(utf8, "a code point beyond the last passes", "bytes[i] > 0x8f", "bytes[i] > 0x9f"),
      swap(utf8, "a lead byte beyond the last passes", "lead > 0xf4", "lead > 0xf5"),
      swap(utf8, "U+0000 passes", "lead == 0 || ", ""),
      swap(utf8, "what is cut short is read beyond its end", " || more > len - i", ""),
      swap(utf8, "one byte too few is asked for", "more > len - i", "more > len - i + 1"),
      swap(utf8, "a lead byte passes for a continuation", "next > 0xbf", "next > 0xc0"),
      swap(utf8, "the continuation is not skipped", "i += more;", ""),
      swap(utf8, "three bytes are taken for two", "lead < 0xe0 ? 1", "lead < 0xe1 ? 1"),
    ],
  },
  {
    name: "proof",
    rounds: 483,
    mutants: [
      swap(proof, "another form of one", "found->header[0] == ONE_SIGNATURE &&", ""),
      drop(
        proof,
        "the second half of its header",
        / &&\s+found->header\[1\] == ALL_IN_ITS_OWN_DATA/,
      ),
      swap(
        proof,
        "a byte behind the message",
        "data_len == sizeof(OneSignature)",
        "data_len >= sizeof(OneSignature)",
      ),
      drop(proof, "the first word of the header of two", "found->header[0] == TWO_SIGNATURES &&"),
      drop(proof, "the second word of it", "found->header[1] == ATTESTED_MESSAGE &&"),
      drop(proof, "the third word of it", "found->header[2] == SESSION_SIGNATURE &&"),
      drop(proof, "the last word of it", / &&\s+found->header\[3\] == VOUCHER_MESSAGE/),
      swap(proof, "the voucher may be elsewhere", "0xffff0078015effffull", "0x00000078015effffull"),
      drop(proof, "the tag", "found->tag == tag && "),
      drop(proof, "the domain", "same32(&found->domain, &wanted->domain) && "),
      drop(proof, "the terms", " && same32(&found->terms, &wanted->terms)"),
      swap(
        proof,
        "the voucher's terms do not count",
        "names_escrow(&two->voucher.named, VOUCHER_TAG, wanted)",
        "true",
      ),
      swap(
        proof,
        "one signature is enough for a session",
        "if (session) return named ? ERROR_VOUCHER_MISSING",
        "if (session) return named ? 0",
      ),
      swap(proof, "two signatures pass for one", "if (session && two) {", "if (two) {"),
    ],
  },
  {
    name: "allowance",
    rounds: 5,
    mutants: [
      swap(
        proof,
        "any key allows",
        "REQUIRE(same32(proof->session_key, &escrow->session_key), ERROR_WRONG_SESSION_KEY);",
        "(void)escrow;",
      ),
      swap(proof, "a release without the closing voucher", "last_in(voucher->count) == 1 && ", ""),
      swap(
        proof,
        "a release of less than allowed",
        "attested->total == voucher->total",
        "attested->total <= voucher->total",
      ),
      swap(proof, "a release of fewer than allowed", "deliveries == count", "deliveries <= count"),
      drop(proof, "the total of a capture", " && attested->total <= voucher->total"),
      drop(proof, "the count of a capture", " && deliveries <= count"),
      swap(proof, "any word closes", "last_in(voucher->count) <= 1 && ", ""),
    ],
  },
  {
    name: "payment",
    rounds: 5,
    solver: "z3",
    isLong: true,
    mutants: [
      drop(payment, "the amount", " && total <= escrow->amount"),
      drop(payment, "what was released", " && total >= escrow->released"),
      swap(payment, "a capture of nothing", "(final ? 0 : escrow->released)", "0"),
      swap(
        payment,
        "what was captured is paid again",
        "payment->due = total - escrow->released;",
        "payment->due = total;",
      ),
      drop(
        payment,
        "the deliveries before",
        "REQUIRE(deliveries >= escrow->deliveries, ERROR_DELIVERIES_FALL);",
      ),
      drop(
        payment,
        "the voucher",
        "if (is_session(escrow)) TRY(require_vouched(escrow, proof, final));",
      ),
      drop(payment, "the attestor's rules", "TRY(require_attested(escrow, proof, final, now));"),
    ],
  },
  {
    name: "terms",
    rounds: 417,
    mutants: [
      ...[
        "state = 0",
        "deliveries = 0",
        "released = 0",
        "settled_at = 0",
        "proof_hash = (Bytes32){{0}}",
        "attested_at = 0",
        "attestation_signature = (Bytes64){{0}}",
        "settled_seq = 0",
        "settled_by = 0",
        "closes_at = 0",
      ].map((undone) => drop(generated, undone, `  account->${undone};`)),
      swap(terms, "the account as it is is hashed", "hash_escrow(&created,", "hash_escrow(escrow,"),
      swap(
        generated,
        "more is undone",
        "account->released = 0;",
        "account->released = account->amount = 0;",
      ),
    ],
  },
  {
    name: "times",
    rounds: 5,
    mutants: [
      swap(
        proof,
        "the second of the end is still life",
        "timestamp < end_of(escrow)",
        "timestamp <= end_of(escrow)",
      ),
      swap(
        proof,
        "life begins a second late",
        "timestamp >= escrow->created_at",
        "timestamp > escrow->created_at",
      ),
      swap(
        proof,
        "the age is not limited",
        "timestamp >= now - MAX_ATTESTATION_AGE_SECONDS",
        "true",
      ),
      swap(proof, "the age is a second shorter", "timestamp >= now - MAX", "timestamp > now - MAX"),
      swap(
        proof,
        "the future is not limited",
        "timestamp <= now + MAX_ATTESTATION_LEAD_SECONDS",
        "true",
      ),
      swap(
        proof,
        "an age that leaves i64",
        "timestamp >= now - MAX_ATTESTATION_AGE_SECONDS",
        "timestamp + MAX_ATTESTATION_AGE_SECONDS >= now",
      ),
      swap(proof, "anybody attests", "same32(proof->attestor, &escrow->attestor)", "true"),
      swap(proof, "a final one is not asked for", "last_in(found->deliveries) == final", "true"),
      swap(
        proof,
        "a single payment is of many",
        "is_session(escrow) || count_in(found->deliveries) == 1",
        "true",
      ),
      swap(
        "custody/accounts.h",
        "a session that was closed goes by its expiry",
        "escrow->closes_at ? escrow->closes_at : escrow->expires_at",
        "escrow->expires_at",
      ),
    ],
  },
  {
    name: "counters",
    rounds: 2,
    mutants: [
      swap(counting, "the deliveries wrap round", "if (*deliveries != ~0ull) ", ""),
      swap(counting, "the reputation wraps round", "if (merchant->reputation != 0xffffffffu) ", ""),
      swap(counting, "the volume wraps round", "total > ~0ull - merchant->volume ? ~0ull : ", ""),
    ],
  },
  { name: "payout", rounds: 37, mutants: [...payoutMutants, ...tokenMutants] },
];
