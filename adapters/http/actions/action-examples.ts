import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { prepareRefund } from "../../../core/use-cases/escrow/prepare/prepare-refund.ts";
import { onSampleLedger, samplePendingEscrow } from "../openapi/sample-ledger.ts";
import { SAMPLE, sampleParties } from "../openapi/sample-values.ts";
import { actionRecord } from "./action-contract.ts";
import { SAMPLE_PUBLIC_URL } from "./public-address.ts";

/** Metadata for the documentation; with a button of its own where it is given one. */
export const sampleMetadata = ({
  label,
  href,
  button,
}: {
  readonly label: string;
  readonly href?: string;
  readonly button?: string;
}) => ({
  ...actionRecord(SAMPLE_PUBLIC_URL, { label, description: "Who gets what." }),
  ...(href === undefined || button === undefined
    ? {}
    : { links: { actions: [{ type: "transaction" as const, href, label: button }] } }),
});

/** A transaction for the documentation: the refund of the sample escrow. */
export const sampleTransaction = () => {
  const escrow = samplePendingEscrow();
  const ledgerTime = SAMPLE.createdAt + BigInt(SAMPLE.ttlSeconds);
  const request = { payer: sampleParties().agent, wantsTransaction: true };
  const call = onSampleLedger({ escrow, ledgerTime }, prepareRefund(escrow.address, request));
  return {
    type: "transaction" as const,
    transaction: encodeBase64(call.transaction?.bytes ?? new Uint8Array()),
    message: "What the transaction does.",
  };
};
