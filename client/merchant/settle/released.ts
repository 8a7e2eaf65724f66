import { SettlementError } from "../../settlement-error.ts";

/** An escrow that was released. */
export type Released = {
  readonly escrow: string;
  /** Base units that the merchant got, decimal. */
  readonly released: string;
  /** The transaction; null when it was released with this proof already. */
  readonly signature: string | null;
};

/** The escrow was released with this very claim before: there is nothing to sign, and nothing went wrong. */
export class ReleasedAlready extends SettlementError {
  readonly released: Released;

  constructor(released: Released) {
    super(
      "released_already",
      `${released.escrow} was released with this very proof already.`,
      "There is nothing to do.",
    );
    this.released = released;
  }
}
