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

const [utf8, attestation, token] = ["sdk/utf8.h", "custody/attestation.h", "sdk/token.h"];
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

// The name of the header says which rule the programs have: one account chosen by the caller, or two by the program.
const payoutMutants: ReadonlyArray<Mutant> = [
  swap("custody/payout.h", "a shared fallback is paid", "!is_shared(fallback)", "true"),
  swap("custody/payout.h", "a frozen fallback is paid", "is_initialized(fallback)", "true"),
  swap(
    "custody/payout.h",
    "a frozen associated account is paid",
    " && is_initialized(payee->associated)",
    "",
  ),
  swap(
    "custody/payout.h",
    "any address passes for the associated one",
    /is_associated_address\(payee[^;]*\)(?=, payee->wrong)/,
    "true",
  ),
  swap(
    "custody/payout.h",
    "the fallback is anybody's",
    "is_token_account(fallback, mint, payee->wallet)",
    "is_account_of_mint(fallback, mint)",
  ),
  swap(
    "custody/payout.h",
    "a delegate on the associated account sends the payout elsewhere",
    " && is_initialized(payee->associated)",
    " && is_initialized(payee->associated) && !is_shared(payee->associated)",
  ),
  swap(
    "custody/payout.h",
    "the fallback is paid all the same",
    "*paid = payee->associated",
    "*paid = fallback",
  ),
  swap(
    "custody/payout.h",
    "custody's own id is paid",
    "!same32(fallback->key, input->program_id)",
    "true",
  ),
  swap("custody/payout.h", "a fallback that cannot be written", "fallback->is_writable", "true"),
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
    name: "attestation",
    rounds: 249,
    mutants: [
      swap(attestation, "another form passes", " && found->header[0] == ONE_SIGNATURE", ""),
      drop(
        attestation,
        "the second half of the header",
        / &&\s+found->header\[1\] == ALL_IN_ITS_OWN_DATA/,
      ),
      swap(
        attestation,
        "a byte behind the message passes",
        "data_len == sizeof",
        "data_len >= sizeof",
      ),
      swap(
        attestation,
        "two signatures pass for one",
        "0x0010ffff00300001ull",
        "0x0010ffff00300002ull",
      ),
      swap(
        attestation,
        "the message may be elsewhere",
        "0xffff00800070ffffull",
        "0x000000800070ffffull",
      ),
      drop(attestation, "the tag", "found->tag == wanted->tag && "),
      drop(attestation, "the domain", "same32(&found->domain, &wanted->domain) && "),
      drop(attestation, "the terms", " && same32(&found->terms, &wanted->terms)"),
      swap(attestation, "anybody's key passes", "same32(&found->key, attestor)", "true"),
      swap(
        attestation,
        "any proof passes",
        "same32(&message->proof_hash, &wanted->proof_hash)",
        "true",
      ),
      drop(attestation, "the total", " && message->total == wanted->total"),
      swap(attestation, "any time passes", "message->timestamp == wanted->timestamp", "true"),
      swap(
        attestation,
        "only the deliveries count",
        "message->deliveries == wanted->deliveries",
        "(u32)message->deliveries == (u32)wanted->deliveries",
      ),
    ],
  },
  {
    name: "terms",
    rounds: 369,
    mutants: [
      ...[
        "state = 0",
        "released = 0",
        "settled_at = 0",
        "proof_hash = (Bytes32){{0}}",
        "attested_at = 0",
        "attestation_signature = (Bytes64){{0}}",
        "settled_seq = 0",
      ].map((undone) => drop(generated, undone, `  account->${undone};`)),
      swap(
        "custody/terms.h",
        "the account as it is is hashed",
        "hash_escrow(&created,",
        "hash_escrow(escrow,",
      ),
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
    rounds: 2,
    mutants: [
      swap(
        attestation,
        "the second of expiry is still life",
        "timestamp < escrow->expires_at",
        "timestamp <= escrow->expires_at",
      ),
      swap(
        attestation,
        "life begins a second late",
        "timestamp >= escrow->created_at",
        "timestamp > escrow->created_at",
      ),
      swap(
        attestation,
        "the age is not limited",
        "timestamp >= now - MAX_ATTESTATION_AGE_SECONDS",
        "true",
      ),
      swap(
        attestation,
        "the age is a second shorter",
        "timestamp >= now - MAX",
        "timestamp > now - MAX",
      ),
      swap(
        attestation,
        "the future is not limited",
        "timestamp <= now + MAX_ATTESTATION_LEAD_SECONDS",
        "true",
      ),
      swap(
        attestation,
        "the lead is the age",
        "now + MAX_ATTESTATION_LEAD_SECONDS",
        "now + MAX_ATTESTATION_AGE_SECONDS",
      ),
      swap(
        attestation,
        "an age that leaves i64",
        "timestamp >= now - MAX_ATTESTATION_AGE_SECONDS",
        "timestamp + MAX_ATTESTATION_AGE_SECONDS >= now",
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
