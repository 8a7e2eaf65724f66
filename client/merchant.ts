/**
 * The entry `./merchant` of the client package: registering, attesting, releasing, cancelling, and exporting what was
 * settled.
 */

export { connectMerchant } from "./merchant/connect-merchant.ts";
export type { MerchantClient, MerchantOptions } from "./merchant/connect-merchant.ts";
export { memoryAttestations } from "./merchant/settle/attestation-journal.ts";
export type { AttestationJournal, KeptClaim } from "./merchant/settle/attestation-journal.ts";
export type { Attestation, Statement } from "./merchant/settle/attest.ts";
export type { Awaited } from "./merchant/escrows/watch.ts";
export type { Cancelled } from "./merchant/settle/cancel.ts";
export { csvLine } from "./merchant/escrows/export.ts";
export { EXPORT_COLUMNS } from "./merchant/escrows/read-escrows.ts";
export type { Export, ExportRow, Totals } from "./merchant/escrows/export.ts";
export type { Registered, Registration } from "./merchant/register.ts";
export { type Released, ReleasedAlready } from "./merchant/merchant-context.ts";
export type { PreparedCancellation, Rotated, Rotation } from "./merchant/rotate.ts";
export type { ClientClock } from "./service/requests.ts";
export type { MessageSigner } from "./signing/sign-transaction.ts";
export { SettlementError } from "./settlement-error.ts";
