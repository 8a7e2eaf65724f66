import type { EvidenceCheck, TrustPolicy } from "../../domain/evidence/evidence-check.ts";
import type { LoggedAccount, LogVerdict } from "./verify-in-log.ts";
import { ledgerChecks, type LedgerWitness, programsCheck } from "./verify-on-ledger.ts";

const point = (name: string, outcome: EvidenceCheck["outcome"], reason: string): EvidenceCheck => ({
  name,
  outcome,
  reason,
});

const ATTESTOR_WITNESSED =
  "the custody program records the merchant's key when it makes an escrow, and the account that holds it is witnessed";

/** Whether a Pending packet's escrow still is Pending, as far as the log's witnesses go. */
const stillPending = (
  account: LoggedAccount | null,
  witnessedBy: string | null,
): ReadonlyArray<EvidenceCheck> => {
  const name = "still_pending";
  if (account === null) return [];
  if (account.escrow.state !== "Pending")
    return [point(name, "not_applicable", "the escrow is settled, which is its last state")];
  return [
    witnessedBy === null
      ? point(name, "not_applicable", "not judged, since account_on_ledger is unproven")
      : point(
          name,
          "unproven",
          "the escrow was created with these terms; only a node shows whether it still is Pending",
        ),
  ];
};

const withoutNode = (
  account: LoggedAccount | null,
  trust: TrustPolicy | null,
  witnessedBy: string | null,
): ReadonlyArray<EvidenceCheck> => {
  const unasked = "no node of the ledger was asked";
  const shared = [
    point("ledger", "not_applicable", unasked),
    point("event_number", "not_applicable", unasked),
    programsCheck(trust, undefined),
    ...stillPending(account, witnessedBy),
  ];
  if (witnessedBy === null)
    return [
      ...shared,
      point(
        "account_on_ledger",
        "unproven",
        trust === null || trust.log === null
          ? "an offline check cannot show that the ledger has this account"
          : "no quorum of witnesses shows that the ledger has this account; ask a node",
      ),
      point(
        "attestor_is_the_merchants",
        "unproven",
        "an offline check cannot show that the attestor key was the merchant's",
      ),
    ];
  const what =
    account?.escrow.state === "Pending"
      ? "witnesses state that the ledger created this account"
      : "witnesses state that the ledger left this account as it is here";
  return [
    ...shared,
    point("account_on_ledger", "witnessed", `${what}: ${witnessedBy}`),
    point("attestor_is_the_merchants", "witnessed", ATTESTOR_WITNESSED),
  ];
};

/**
 * The checks that concern the ledger itself, by a node of the verifier's choice or, without one, by the log's witnesses. A node outweighs
 * witnesses; where the node's record of the merchant does not go back far enough, the witnesses do. `account` is null for a packet whose
 * account is no escrow.
 */
export const ledgerPoints = (
  account: LoggedAccount | null,
  trust: TrustPolicy | null,
  log: LogVerdict | null,
  witness: LedgerWitness | undefined,
): ReadonlyArray<EvidenceCheck> => {
  const witnessedBy = log?.witnessedBy ?? null;
  if (witness === undefined) return withoutNode(account, trust, witnessedBy);
  if (account === null) return [];
  return ledgerChecks(account, trust, witness).map((each) =>
    each.name === "attestor_is_the_merchants" && each.outcome === "unproven" && witnessedBy !== null
      ? point(each.name, "witnessed", ATTESTOR_WITNESSED)
      : each,
  );
};
