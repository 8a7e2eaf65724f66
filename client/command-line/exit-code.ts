import type { SettlementError } from "../settlement-error.ts";

/** The command line is wrong (sysexits.h). */
export const EX_USAGE = 64;
/** A file or address on the command line cannot be read (sysexits.h). */
export const EX_NOINPUT = 66;
/** The service does not answer (sysexits.h). */
export const EX_UNAVAILABLE = 69;
/** A file cannot be made (sysexits.h). */
export const EX_CANTCREAT = 73;
/** Stopped before it was known; running the same again goes on (sysexits.h). */
export const EX_TEMPFAIL = 75;

const BY_CODE: Readonly<Record<string, number>> = {
  usage: EX_USAGE,
  key_on_command_line: EX_USAGE,
  unreadable: EX_NOINPUT,
  key_unusable: EX_NOINPUT,
  signer_unusable: EX_NOINPUT,
  invalid_trust: EX_NOINPUT,
  service_unreachable: EX_UNAVAILABLE,
  node_unusable: EX_UNAVAILABLE,
  redirected: EX_UNAVAILABLE,
  package_missing: EX_UNAVAILABLE,
  file_exists: EX_CANTCREAT,
  file_not_made: EX_CANTCREAT,
  journal_unusable: EX_NOINPUT,
  interrupted: EX_TEMPFAIL,
  quorum_missing: EX_TEMPFAIL,
};

/** How a command ends that failed with an error: a code of sysexits.h, or 1 when service or ledger refused. A service names none of the client's own failures. */
export const exitCodeOf = ({ code, status }: SettlementError): number => {
  if (status !== null) return code === "validation_failed" ? EX_USAGE : 1;
  const own = Object.hasOwn(BY_CODE, code) ? BY_CODE[code] : undefined;
  return own ?? (code.startsWith("invalid_") ? EX_USAGE : 1);
};
