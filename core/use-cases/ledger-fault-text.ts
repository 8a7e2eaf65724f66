import type { LedgerFault } from "../../ports/ledger/ledger.ts";

/** A node's fault as one line: where, what was asked, what came back, and the cure. */
export const ledgerFaultText = ({
  node,
  method,
  kind,
  httpStatus,
  rpcCode,
  cure,
}: LedgerFault): string => {
  const code = rpcCode ?? httpStatus;
  const where = node === null ? method : `${node}: ${method}`;
  return `${where}: ${kind}${code === null ? "" : ` (${code})`}. ${cure}`;
};
