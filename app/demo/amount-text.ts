/** An amount for a person: in USDC, or in base units of a mint that the service does not list as USDC. */
export const amountText = (record: {
  readonly amount_usdc: string | null;
  readonly amount_stroops: string;
}): string =>
  record.amount_usdc === null
    ? `${record.amount_stroops} base units`
    : `${record.amount_usdc} USDC`;
