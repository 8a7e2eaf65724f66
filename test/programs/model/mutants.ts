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

/** One for each promise, and some that are visible only in bytes, amounts or at boundaries. */
export const MUTANTS: ReadonlyArray<Mutant> = [
  {
    name: "a refund without the check of expiry",
    program: "custody",
    file: "custody/refund.h",
    from: "REQUIRE(now >= loaded->data->expires_at, ERROR_NOT_EXPIRED);",
    to: "",
  },
  {
    name: "a release in the second of expiry",
    program: "custody",
    file: "custody/release.h",
    from: "REQUIRE(now < escrow->expires_at, ERROR_EXPIRED);",
    to: "REQUIRE(now <= escrow->expires_at, ERROR_EXPIRED);",
  },
  {
    name: "a cancellation by anybody",
    program: "custody",
    file: "custody/refund.h",
    from: "REQUIRE(same32(merchant_wallet->key, &loaded->data->merchant), ERROR_NOT_MERCHANT_WALLET);",
    to: "(void)merchant_wallet;",
  },
  {
    name: "a fallback account with a delegate",
    program: "custody",
    file: "custody/payout.h",
    from: "REQUIRE(!is_shared(fallback), ERROR_PAYOUT_ACCOUNT_SHARED);",
    to: "",
  },
  {
    name: "a payout to anybody's fallback account",
    program: "custody",
    file: "custody/payout.h",
    from: "REQUIRE(is_token_account(fallback, mint, payee->wallet), payee->wrong);",
    to: "",
  },
  {
    name: "a settlement that is not numbered",
    program: "custody",
    file: "custody/refund.h",
    from: "TRY(number_event(config, loaded->account, &escrow->settled_seq));",
    to: "(void)config;",
  },
  {
    name: "a leaf without the state",
    program: "custody",
    file: "custody/ledger-event.h",
    from: "((const Escrow *)account->data)->state",
    to: "0",
  },
  {
    name: "a log whose perfect subtrees do not grow together",
    program: "custody",
    file: "custody/ledger-event.h",
    from: "hash = parent;",
    to: "",
  },
  {
    name: "a release without what a stranger sent into the vault",
    program: "custody",
    file: "custody/release.h",
    from: "u64 to_merchant = release->is_partial ? total : held;",
    to: "u64 to_merchant = total;",
  },
  {
    name: "archiving a second early",
    program: "custody",
    file: "custody/archive-escrow.h",
    from: "loaded->data->settled_at + ARCHIVE_DELAY_SECONDS",
    to: "loaded->data->settled_at + ARCHIVE_DELAY_SECONDS - 1",
  },
  {
    name: "archiving without the right bytes",
    program: "custody",
    file: "custody/archive-escrow.h",
    from: "REQUIRE(difference == 0, ERROR_WRONG_LAST_BYTES);",
    to: "",
  },
  {
    name: "an attestation by the merchant's present key",
    program: "custody",
    file: "custody/release.h",
    from: "require_attested(found, &wanted, &escrow->attestor)",
    to: "require_attested(found, &wanted, &((const Merchant *)release->merchant->data)->attestor)",
  },
  {
    name: "revocation that spares the last escrow",
    program: "custody",
    file: "custody/release.h",
    from: "escrow->created_seq > ((const Merchant *)",
    to: "escrow->created_seq >= ((const Merchant *)",
  },
  {
    name: "an attestation of another ledger",
    program: "custody",
    file: "custody/attestation.h",
    from: "same32(&found->domain, &wanted->domain)",
    to: "true",
  },
  {
    name: "an attestation of another escrow",
    program: "custody",
    file: "custody/attestation.h",
    from: " && same32(&found->terms, &wanted->terms)",
    to: "",
  },
  {
    name: "an attestation of another total",
    program: "custody",
    file: "custody/attestation.h",
    from: " && message->total == wanted->total",
    to: "",
  },
  {
    name: "a delivery that is not counted",
    program: "custody",
    file: "custody/release.h",
    from: "TRY(record_delivery(input, release, total));",
    to: "",
  },
  {
    name: "an attestation one second too old",
    program: "custody",
    file: "custody/attestation.h",
    from: "timestamp >= now - MAX_ATTESTATION_AGE_SECONDS",
    to: "timestamp >= now - MAX_ATTESTATION_AGE_SECONDS - 1",
  },
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
