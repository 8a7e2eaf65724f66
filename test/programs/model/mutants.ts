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

/** A change of custody's source. */
const custody = (name: string, file: string, from: string, to: string): Mutant => ({
  name,
  program: "custody",
  file: `custody/${file}`,
  from,
  to,
});

/**
 * One for each rule of docs/protocol.md that money hangs on, and some that are visible only in bytes, amounts or at
 * boundaries.
 */
export const MUTANTS: ReadonlyArray<Mutant> = [
  custody(
    "a refund before the end",
    "claim-refund.h",
    "REQUIRE(now >= end_of(loaded->data), ERROR_NOT_EXPIRED);",
    "(void)now;",
  ),
  custody(
    "a refund a second early",
    "claim-refund.h",
    "now >= end_of(loaded->data)",
    "now >= end_of(loaded->data) - 1",
  ),
  custody(
    "a refund a second late",
    "claim-refund.h",
    "now >= end_of(loaded->data)",
    "now > end_of(loaded->data)",
  ),
  custody(
    "a refund that is settled as a cancellation",
    "claim-refund.h",
    "SETTLED_BY_REFUND",
    "SETTLED_BY_CANCEL",
  ),
  custody(
    "a refund that leaves the vault open",
    "claim-refund.h",
    "return close_vault(input, loaded, vault);",
    "return 0;",
  ),
  custody(
    "a refund to the merchant",
    "claim-refund.h",
    ".wallet = &loaded->data->agent_owner",
    ".wallet = &loaded->data->merchant",
  ),
  custody(
    "the rest of a settled escrow settles it again",
    "claim-refund.h",
    "if (loaded->data->state != ESCROW_STATE_PENDING) return empty_vault(input, loaded, agent_token_bump);",
    "",
  ),
  custody(
    "a payment in the second of the end",
    "payment.h",
    "REQUIRE(now < end_of(escrow), ERROR_EXPIRED);",
    "REQUIRE(now <= end_of(escrow), ERROR_EXPIRED);",
  ),
  custody(
    "a payment after the end",
    "payment.h",
    "REQUIRE(now < end_of(escrow), ERROR_EXPIRED);",
    "(void)now;",
  ),
  custody(
    "a capture of a single payment",
    "payment.h",
    "REQUIRE(final || is_session(escrow), ERROR_NOT_SESSION);",
    "(void)final;",
  ),
  custody(
    "revocation that spares the last escrow",
    "payment.h",
    "escrow->created_seq > ((const",
    "escrow->created_seq >= ((const",
  ),
  custody("more than the amount", "payment.h", " && total <= escrow->amount", ""),
  custody("a total that falls", "payment.h", " && total >= escrow->released", ""),
  custody(
    "a release of nothing",
    "payment.h",
    "total > (final ? 0 : escrow->released)",
    "(final || total > escrow->released)",
  ),
  custody(
    "a capture of nothing new",
    "payment.h",
    "total > (final ? 0 : escrow->released)",
    "total > 0",
  ),
  custody(
    "deliveries that fall",
    "payment.h",
    "REQUIRE(deliveries >= escrow->deliveries, ERROR_DELIVERIES_FALL);",
    "",
  ),
  custody(
    "what was captured is paid again",
    "payment.h",
    "payment->due = total - escrow->released;",
    "payment->due = total;",
  ),
  custody("deliveries that are not kept", "payment.h", "escrow->deliveries = deliveries;", ""),
  custody(
    "another signature is kept",
    "payment.h",
    "escrow->attestation_signature = *proof->signature;",
    "",
  ),
  custody(
    "the time of the attestation is not kept",
    "payment.h",
    "escrow->attested_at = proof->attestation->timestamp;",
    "",
  ),
  custody(
    "no voucher is asked for",
    "payment.h",
    "if (is_session(escrow)) TRY(require_vouched(escrow, proof, final));",
    "",
  ),
  custody(
    "any sysvar with instructions",
    "payment.h",
    "REQUIRE(same32(instructions_sysvar->key, &ADDRESS_INSTRUCTIONS_SYSVAR), ERROR_WRONG_INSTRUCTIONS_SYSVAR);",
    "",
  ),
  custody(
    "a capture that is not remembered",
    "capture.h",
    "loaded->data->released = payment->total;",
    "",
  ),
  custody(
    "a capture of the whole total each time",
    "capture.h",
    "pay_from_vault(input, loaded, payment->vault, payment->paid, payment->due)",
    "pay_from_vault(input, loaded, payment->vault, payment->paid, payment->total)",
  ),
  custody(
    "a release without what a stranger sent",
    "release-escrow.h",
    "whole ? token_amount(payment->vault) : payment->due",
    "payment->due",
  ),
  custody(
    "a release of a part that takes the whole vault",
    "release-escrow.h",
    "whole ? token_amount(payment->vault) : payment->due",
    "token_amount(payment->vault)",
  ),
  custody(
    "a delivery that is not counted",
    "release-escrow.h",
    "TRY(record_delivery(input, loaded, payment->total));",
    "(void)record_delivery;",
  ),
  custody(
    "a delivery with what is due, not with its total",
    "release-escrow.h",
    "record_delivery(input, loaded, payment->total)",
    "record_delivery(input, loaded, payment->due)",
  ),
  custody(
    "a whole release that leaves the vault open",
    "release-escrow.h",
    "if (whole) TRY(close_vault(input, loaded, payment->vault));",
    "",
  ),
  custody(
    "a cancellation by anybody",
    "cancel-escrow.h",
    "REQUIRE(same32(account[CANCEL_ESCROW_MERCHANT_WALLET].key, &loaded->data->merchant), ERROR_NOT_MERCHANT_WALLET);",
    "",
  ),
  custody(
    "a cancellation after the end",
    "cancel-escrow.h",
    "REQUIRE(now < end_of(loaded->data), ERROR_EXPIRED);",
    "",
  ),
  custody(
    "a session closed by anybody",
    "close-session.h",
    "REQUIRE(same32(account[CLOSE_SESSION_AGENT_OWNER].key, &escrow->agent_owner), ERROR_NOT_AGENT_WALLET);",
    "",
  ),
  custody(
    "a single payment that is closed",
    "close-session.h",
    "REQUIRE(is_session(escrow), ERROR_NOT_SESSION);",
    "",
  ),
  custody(
    "a session closed twice",
    "close-session.h",
    "REQUIRE(escrow->closes_at == 0, ERROR_SESSION_CLOSING);",
    "",
  ),
  custody(
    "a session closed after it expired",
    "close-session.h",
    "REQUIRE(now < escrow->expires_at, ERROR_EXPIRED);",
    "",
  ),
  custody(
    "a closing that lengthens a session",
    "close-session.h",
    "closes_at < escrow->expires_at ? closes_at : escrow->expires_at",
    "closes_at",
  ),
  custody("a closing at once", "close-session.h", "now + CLOSE_DELAY_SECONDS", "now + 1"),
  custody(
    "a fallback account with a delegate",
    "payout.h",
    "REQUIRE(!is_shared(chosen), ERROR_PAYOUT_ACCOUNT_SHARED);",
    "",
  ),
  custody(
    "a payout to anybody's fallback account",
    "payout.h",
    "REQUIRE(is_token_account(chosen, mint, payee->wallet), payee->wrong);",
    "",
  ),
  custody(
    "a payout to a frozen fallback account",
    "payout.h",
    "REQUIRE(is_initialized(chosen), ERROR_PAYOUT_ACCOUNT_UNUSABLE);",
    "",
  ),
  custody(
    "a fallback before a usable account",
    "payout.h",
    "if (!is_token_account(chosen, mint, payee->wallet) || !is_initialized(chosen)) {",
    "if (!same32(payee->fallback->key, input->program_id)) {",
  ),
  custody(
    "a settlement that is not numbered",
    "settle.h",
    "TRY(number_event(config, loaded->account, &escrow->settled_seq));",
    "(void)config;",
  ),
  custody(
    "a state that is not what was released",
    "settle.h",
    "escrow->released == escrow->amount ? ESCROW_STATE_FULFILLED",
    "false ? ESCROW_STATE_FULFILLED",
  ),
  custody(
    "a settlement that does not say how",
    "settle.h",
    "escrow->settled_by = settled_by;",
    "(void)settled_by;",
  ),
  custody(
    "a leaf without the state",
    "ledger-event.h",
    "((const Escrow *)account->data)->state",
    "0",
  ),
  custody(
    "a log whose perfect subtrees do not grow together",
    "ledger-event.h",
    "hash = parent;",
    "",
  ),
  custody(
    "archiving a second early",
    "archive-escrow.h",
    "loaded->data->settled_at + ARCHIVE_DELAY_SECONDS",
    "loaded->data->settled_at + ARCHIVE_DELAY_SECONDS - 1",
  ),
  custody(
    "archiving without the right bytes",
    "archive-escrow.h",
    "REQUIRE(difference == 0, ERROR_WRONG_LAST_BYTES);",
    "",
  ),
  custody(
    "archiving what is Pending",
    "archive-escrow.h",
    "REQUIRE(loaded->data->state != ESCROW_STATE_PENDING, ERROR_NOT_SETTLED);",
    "",
  ),
  custody(
    "a tombstone of the last bytes twice",
    "archive-escrow.h",
    "hash_terms(escrow, &tombstone.pending_hash);",
    "hash_escrow(escrow, &tombstone.pending_hash);",
  ),
  custody(
    "rent of what is Pending",
    "return-rent.h",
    "REQUIRE(loaded->data->state != ESCROW_STATE_PENDING, ERROR_NOT_SETTLED);",
    "",
  ),
  custody(
    "rent to anybody",
    "return-rent.h",
    "REQUIRE(same32(rent_payer->key, &loaded->data->rent_payer), ERROR_WRONG_RENT_PAYER);",
    "",
  ),
  custody(
    "rent down to a tombstone's",
    "return-rent.h",
    "give_rent(account, account->data_len, rent_payer)",
    "give_rent(account, ARCHIVED_ESCROW_SIZE, rent_payer)",
  ),
  custody(
    "a vault of the right owner at any address",
    "vault.h",
    " &&\n              is_associated_address(vault->key, escrow->account->key, &data->mint, data->vault_bump)",
    "",
  ),
  custody(
    "last bytes of any kind",
    "accounts.h",
    "REQUIRE(same32(&digest, &((const ArchivedEscrow *)account->data)->last_hash), ERROR_WRONG_LAST_BYTES);",
    "",
  ),
  custody(
    "the end of a session that was closed is its expiry",
    "accounts.h",
    "return escrow->closes_at ? escrow->closes_at : escrow->expires_at;",
    "return escrow->expires_at;",
  ),
  custody(
    "a proof of another ledger",
    "proof.h",
    "same32(&found->domain, &wanted->domain)",
    "true",
  ),
  custody("a proof of another escrow", "proof.h", " && same32(&found->terms, &wanted->terms)", ""),
  custody(
    "a voucher of another escrow",
    "proof.h",
    "names_escrow(&two->voucher.named, VOUCHER_TAG, wanted)",
    "true",
  ),
  custody(
    "an attestation by anybody",
    "proof.h",
    "REQUIRE(same32(proof->attestor, &escrow->attestor), ERROR_WRONG_ATTESTOR);",
    "",
  ),
  custody(
    "an attestation that is not the last",
    "proof.h",
    "REQUIRE(last_in(found->deliveries) == final, ERROR_WRONG_MESSAGE);",
    "",
  ),
  custody(
    "two deliveries of a single payment",
    "proof.h",
    "REQUIRE(is_session(escrow) || count_in(found->deliveries) == 1, ERROR_WRONG_MESSAGE);",
    "",
  ),
  custody(
    "an attestation from before the creation",
    "proof.h",
    "REQUIRE(timestamp >= escrow->created_at, ERROR_ATTESTATION_OUTSIDE_ESCROW);",
    "",
  ),
  custody(
    "an attestation one second too old",
    "proof.h",
    "timestamp >= now - MAX_ATTESTATION_AGE_SECONDS",
    "timestamp >= now - MAX_ATTESTATION_AGE_SECONDS - 1",
  ),
  custody(
    "an attestation from the future",
    "proof.h",
    "REQUIRE(timestamp <= now + MAX_ATTESTATION_LEAD_SECONDS, ERROR_ATTESTATION_FROM_FUTURE);",
    "",
  ),
  custody(
    "a voucher by anybody",
    "proof.h",
    "REQUIRE(same32(proof->session_key, &escrow->session_key), ERROR_WRONG_SESSION_KEY);",
    "(void)escrow;",
  ),
  custody(
    "a release whose voucher does not close",
    "proof.h",
    "last_in(voucher->count) == 1 && ",
    "",
  ),
  custody(
    "a release whose voucher allows more",
    "proof.h",
    "attested->total == voucher->total",
    "attested->total <= voucher->total",
  ),
  custody(
    "a release whose voucher is for more deliveries",
    "proof.h",
    "deliveries == count",
    "deliveries <= count",
  ),
  custody(
    "a capture whose voucher allows less",
    "proof.h",
    " && attested->total <= voucher->total",
    "",
  ),
  custody(
    "a capture whose voucher is for fewer deliveries",
    "proof.h",
    " && deliveries <= count",
    "",
  ),
  custody(
    "a session that is created without its key",
    "create-escrow.h",
    "escrow->session_key = args->session_key;",
    "",
  ),
  custody(
    "a time to live beside an end",
    "create-escrow.h",
    "REQUIRE(args->ttl_seconds == 0 || args->expires_at == 0, ERROR_INVALID_TTL);",
    "",
  ),
];

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
