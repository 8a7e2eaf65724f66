import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileSource, type ProgramName } from "../../../programs/compile.ts";

/** A change that breaks one rule of a program's source. */
export type Mutant = {
  readonly name: string;
  readonly program: ProgramName;
  /** Below `programs/`. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
};

/**
 * One for each rule of docs/protocol.md that money hangs on, and some that are visible only in bytes, amounts or at
 * boundaries: what a file of custody's says, and what it says instead.
 */
const CUSTODY: Readonly<
  Record<string, ReadonlyArray<readonly [name: string, from: string, to: string]>>
> = {
  "claim-refund.h": [
    [
      "a refund before the end",
      "REQUIRE(now >= end_of(loaded->data), ERROR_NOT_EXPIRED);",
      "(void)now;",
    ],
    ["a refund a second early", "now >= end_of(loaded->data)", "now >= end_of(loaded->data) - 1"],
    ["a refund a second late", "now >= end_of(loaded->data)", "now > end_of(loaded->data)"],
    ["a refund that is settled as a cancellation", "SETTLED_BY_REFUND", "SETTLED_BY_CANCEL"],
    [
      "a refund that leaves the vault open",
      "return close_vault(input, loaded, vault);",
      "return 0;",
    ],
    [
      "a refund to the merchant",
      ".wallet = &loaded->data->agent_owner",
      ".wallet = &loaded->data->merchant",
    ],
    [
      "the rest of a settled escrow settles it again",
      "if (loaded->data->state != ESCROW_STATE_PENDING) return empty_vault(input, loaded, agent_token_bump);",
      "",
    ],
  ],
  "payment.h": [
    [
      "a payment in the second of the end",
      "REQUIRE(now < end_of(escrow), ERROR_EXPIRED);",
      "REQUIRE(now <= end_of(escrow), ERROR_EXPIRED);",
    ],
    ["a payment after the end", "REQUIRE(now < end_of(escrow), ERROR_EXPIRED);", "(void)now;"],
    [
      "a capture of a single payment",
      "REQUIRE(final || is_session(escrow), ERROR_NOT_SESSION);",
      "(void)final;",
    ],
    [
      "revocation that spares the last escrow",
      "escrow->created_seq > ((const",
      "escrow->created_seq >= ((const",
    ],
    ["more than the amount", " && total <= escrow->amount", ""],
    ["a total that falls", " && total >= escrow->released", ""],
    [
      "a release of nothing",
      "total > (final ? 0 : escrow->released)",
      "(final || total > escrow->released)",
    ],
    ["a capture of nothing new", "total > (final ? 0 : escrow->released)", "total > 0"],
    [
      "deliveries that fall",
      "REQUIRE(deliveries >= escrow->deliveries, ERROR_DELIVERIES_FALL);",
      "",
    ],
    [
      "what was captured is paid again",
      "payment->due = total - escrow->released;",
      "payment->due = total;",
    ],
    ["deliveries that are not kept", "escrow->deliveries = deliveries;", ""],
    ["another signature is kept", "escrow->attestation_signature = *proof->signature;", ""],
    [
      "the time of the attestation is not kept",
      "escrow->attested_at = proof->attestation->timestamp;",
      "",
    ],
    [
      "no voucher is asked for",
      "if (is_session(escrow)) TRY(require_vouched(escrow, proof, final));",
      "",
    ],
    [
      "any sysvar with instructions",
      "REQUIRE(same32(instructions_sysvar->key, &ADDRESS_INSTRUCTIONS_SYSVAR), ERROR_WRONG_INSTRUCTIONS_SYSVAR);",
      "",
    ],
  ],
  "capture.h": [
    ["a capture that is not remembered", "loaded->data->released = payment->total;", ""],
    [
      "a capture of the whole total each time",
      "pay_from_vault(input, loaded, payment->vault, payment->paid, payment->due)",
      "pay_from_vault(input, loaded, payment->vault, payment->paid, payment->total)",
    ],
  ],
  "release-escrow.h": [
    [
      "a release without what a stranger sent",
      "whole ? token_amount(payment->vault) : payment->due",
      "payment->due",
    ],
    [
      "a release of a part that takes the whole vault",
      "whole ? token_amount(payment->vault) : payment->due",
      "token_amount(payment->vault)",
    ],
    [
      "a delivery that is not counted",
      "TRY(record_delivery(input, loaded, payment->total));",
      "(void)record_delivery;",
    ],
    [
      "a delivery with what is due, not with its total",
      "record_delivery(input, loaded, payment->total)",
      "record_delivery(input, loaded, payment->due)",
    ],
    [
      "a whole release that leaves the vault open",
      "if (whole) TRY(close_vault(input, loaded, payment->vault));",
      "",
    ],
  ],
  "cancel-escrow.h": [
    [
      "a cancellation by anybody",
      "REQUIRE(same32(account[CANCEL_ESCROW_MERCHANT_WALLET].key, &loaded->data->merchant), ERROR_NOT_MERCHANT_WALLET);",
      "",
    ],
    ["a cancellation after the end", "REQUIRE(now < end_of(loaded->data), ERROR_EXPIRED);", ""],
  ],
  "close-session.h": [
    [
      "a session closed by anybody",
      "REQUIRE(same32(account[CLOSE_SESSION_AGENT_OWNER].key, &escrow->agent_owner), ERROR_NOT_AGENT_WALLET);",
      "",
    ],
    ["a single payment that is closed", "REQUIRE(is_session(escrow), ERROR_NOT_SESSION);", ""],
    ["a session closed twice", "REQUIRE(escrow->closes_at == 0, ERROR_SESSION_CLOSING);", ""],
    ["a session closed after it expired", "REQUIRE(now < escrow->expires_at, ERROR_EXPIRED);", ""],
    [
      "a closing that lengthens a session",
      "closes_at < escrow->expires_at ? closes_at : escrow->expires_at",
      "closes_at",
    ],
    ["a closing at once", "now + CLOSE_DELAY_SECONDS", "now + 1"],
  ],
  "payout.h": [
    [
      "a fallback account with a delegate",
      "REQUIRE(!is_shared(chosen), ERROR_PAYOUT_ACCOUNT_SHARED);",
      "",
    ],
    [
      "a payout to anybody's fallback account",
      "REQUIRE(is_token_account(chosen, mint, payee->wallet), payee->wrong);",
      "",
    ],
    [
      "a payout to a frozen fallback account",
      "REQUIRE(is_initialized(chosen), ERROR_PAYOUT_ACCOUNT_UNUSABLE);",
      "",
    ],
    [
      "a fallback before a usable account",
      "if (!is_token_account(chosen, mint, payee->wallet) || !is_initialized(chosen)) {",
      "if (!same32(payee->fallback->key, input->program_id)) {",
    ],
  ],
  "settle.h": [
    [
      "a settlement that is not numbered",
      "TRY(number_event(config, loaded->account, &escrow->settled_seq));",
      "(void)config;",
    ],
    [
      "a state that is not what was released",
      "escrow->released == escrow->amount ? ESCROW_STATE_FULFILLED",
      "false ? ESCROW_STATE_FULFILLED",
    ],
    ["a settlement that does not say how", "escrow->settled_by = settled_by;", "(void)settled_by;"],
  ],
  "ledger-event.h": [
    ["a leaf without the state", "((const Escrow *)account->data)->state", "0"],
    ["a log whose perfect subtrees do not grow together", "hash = parent;", ""],
  ],
  "archive-escrow.h": [
    [
      "archiving a second early",
      "loaded->data->settled_at + ARCHIVE_DELAY_SECONDS",
      "loaded->data->settled_at + ARCHIVE_DELAY_SECONDS - 1",
    ],
    ["archiving without the right bytes", "REQUIRE(difference == 0, ERROR_WRONG_LAST_BYTES);", ""],
    [
      "archiving what is Pending",
      "REQUIRE(loaded->data->state != ESCROW_STATE_PENDING, ERROR_NOT_SETTLED);",
      "",
    ],
    [
      "a tombstone of the last bytes twice",
      "hash_terms(escrow, &tombstone.pending_hash);",
      "hash_escrow(escrow, &tombstone.pending_hash);",
    ],
  ],
  "return-rent.h": [
    [
      "rent of what is Pending",
      "REQUIRE(loaded->data->state != ESCROW_STATE_PENDING, ERROR_NOT_SETTLED);",
      "",
    ],
    [
      "rent to anybody",
      "REQUIRE(same32(rent_payer->key, &loaded->data->rent_payer), ERROR_WRONG_RENT_PAYER);",
      "",
    ],
    [
      "rent down to a tombstone's",
      "give_rent(account, account->data_len, rent_payer)",
      "give_rent(account, ARCHIVED_ESCROW_SIZE, rent_payer)",
    ],
  ],
  "vault.h": [
    [
      "a vault of the right owner at any address",
      " &&\n              is_associated_address(vault->key, escrow->account->key, &data->mint, data->vault_bump)",
      "",
    ],
  ],
  "accounts.h": [
    [
      "last bytes of any kind",
      "REQUIRE(same32(&digest, &((const ArchivedEscrow *)account->data)->last_hash), ERROR_WRONG_LAST_BYTES);",
      "",
    ],
    [
      "the end of a session that was closed is its expiry",
      "return escrow->closes_at ? escrow->closes_at : escrow->expires_at;",
      "return escrow->expires_at;",
    ],
  ],
  "proof.h": [
    ["a proof of another ledger", "same32(&found->domain, &wanted->domain)", "true"],
    ["a proof of another escrow", " && same32(&found->terms, &wanted->terms)", ""],
    [
      "a voucher of another escrow",
      "names_escrow(&two->voucher.named, VOUCHER_TAG, wanted)",
      "true",
    ],
    [
      "an attestation by anybody",
      "REQUIRE(same32(proof->attestor, &escrow->attestor), ERROR_WRONG_ATTESTOR);",
      "",
    ],
    [
      "an attestation that is not the last",
      "REQUIRE(last_in(found->deliveries) == final, ERROR_WRONG_MESSAGE);",
      "",
    ],
    [
      "two deliveries of a single payment",
      "REQUIRE(is_session(escrow) || count_in(found->deliveries) == 1, ERROR_WRONG_MESSAGE);",
      "",
    ],
    [
      "an attestation from before the creation",
      "REQUIRE(timestamp >= escrow->created_at, ERROR_ATTESTATION_OUTSIDE_ESCROW);",
      "",
    ],
    [
      "an attestation one second too old",
      "timestamp >= now - MAX_ATTESTATION_AGE_SECONDS",
      "timestamp >= now - MAX_ATTESTATION_AGE_SECONDS - 1",
    ],
    [
      "an attestation from the future",
      "REQUIRE(timestamp <= now + MAX_ATTESTATION_LEAD_SECONDS, ERROR_ATTESTATION_FROM_FUTURE);",
      "",
    ],
    [
      "a voucher by anybody",
      "REQUIRE(same32(proof->session_key, &escrow->session_key), ERROR_WRONG_SESSION_KEY);",
      "(void)escrow;",
    ],
    ["a release whose voucher does not close", "last_in(voucher->count) == 1 && ", ""],
    [
      "a release whose voucher allows more",
      "attested->total == voucher->total",
      "attested->total <= voucher->total",
    ],
    [
      "a release whose voucher is for more deliveries",
      "deliveries == count",
      "deliveries <= count",
    ],
    ["a capture whose voucher allows less", " && attested->total <= voucher->total", ""],
    ["a capture whose voucher is for fewer deliveries", " && deliveries <= count", ""],
  ],
  "create-escrow.h": [
    ["a session that is created without its key", "escrow->session_key = args->session_key;", ""],
    [
      "a time to live beside an end",
      "REQUIRE(args->ttl_seconds == 0 || args->expires_at == 0, ERROR_INVALID_TTL);",
      "",
    ],
  ],
};

/** A program for each change, which the tests must tell from the true one. */
export const MUTANTS: ReadonlyArray<Mutant> = Object.entries(CUSTODY).flatMap(([file, changes]) =>
  changes.map(([name, from, to]) => ({
    name,
    program: "custody" as const,
    file: `custody/${file}`,
    from,
    to,
  })),
);

const PROGRAMS = join(import.meta.dir, "../../../programs");

/**
 * The mutated program's binary. @throws Error when the source does not contain the replaced text, or does not compile.
 */
export const compileMutant = async ({ program, file, from, to }: Mutant): Promise<Uint8Array> => {
  const folder = await mkdtemp(join(tmpdir(), "mutant-"));
  try {
    for (const each of ["custody", "attestor", "sdk", "generated", `${program}.c`])
      await cp(join(PROGRAMS, each), join(folder, each), { recursive: true });
    const source = await Bun.file(join(folder, file)).text();
    if (source.split(from).length !== 2) throw new Error(`${file} has not exactly one "${from}"`);
    await Bun.write(
      join(folder, file),
      source.replace(from, () => to),
    );
    return await compileSource(join(folder, `${program}.c`), "v0");
  } finally {
    await rm(folder, { recursive: true });
  }
};
