import { Effect } from "effect";
import { type Address, addressToBytes, parseAddress } from "../../../domain/address.ts";
import { canVerifyUnder } from "../../../protocol/crypto/strict-ed25519.ts";
import { isOffCurve, isSmallOrderAddress } from "../../../protocol/crypto/curve-point.ts";
import {
  addressFault,
  type FieldFault,
  InvalidAddress,
  ValidationFailed,
} from "../../request-errors.ts";
import type { Sending } from "./finish-call.ts";

/** The input of every prepare operation. Only the types of its members are checked. */
export type SendingRequest = {
  /** Undefined: the operation's own default. */
  readonly payer?: string | undefined;
  readonly wantsTransaction?: boolean | undefined;
};

/**
 * The addresses of optional fields, null for an absent one. Fails with `InvalidAddress`, which names each field that is
 * not an address.
 */
export const parseOptionalAddresses = <const Field extends string>(
  given: Readonly<Record<Field, string | undefined>>,
): Effect.Effect<Readonly<Record<Field, Address | null>>, InvalidAddress<Field>> => {
  const entries = Object.entries<string | undefined>(given) as Array<[Field, string | undefined]>;
  const parsed = entries.map(
    ([field, text]) => [field, text === undefined ? null : parseAddress(text)] as const,
  );
  const faults = parsed.flatMap(([field, address]) =>
    address === undefined ? [addressFault(field)] : [],
  );
  return faults.length > 0
    ? Effect.fail(new InvalidAddress<Field>(faults))
    : Effect.succeed(Object.fromEntries(parsed) as Record<Field, Address | null>);
};

/**
 * The payer that a request names, otherwise the payer in `otherwise`. Fails with `InvalidAddress`, and with
 * `ValidationFailed` for a payer for which no key signs.
 */
export const parseSending = Effect.fnUntraced(function* (
  request: SendingRequest,
  otherwise: Address | null = null,
) {
  const { payer } = yield* parseOptionalAddresses({ payer: request.payer });
  const faults = payerFaults(payer);
  if (faults.length > 0) return yield* new ValidationFailed<"payer">(faults);
  const sending: Sending = {
    payer: payer ?? otherwise,
    wantsTransaction: request.wantsTransaction ?? false,
  };
  return sending;
});

/** The faults of an attestor's key under which no signature can ever verify, so that nothing could be released. */
export const attestorFaults = (attestor: Address | null): ReadonlyArray<FieldFault<"attestor">> =>
  attestor === null || canVerifyUnder(addressToBytes(attestor))
    ? []
    : [
        {
          field: "attestor",
          detail:
            "must be an Ed25519 public key that is not of small order: no signature verifies under this one",
        },
      ];

/** The faults of fields whose address nobody can ever sign for. */
export const nobodysFaults = <const Field extends string>(
  signers: Readonly<Record<Field, Address | null>>,
): ReadonlyArray<FieldFault<Field>> => {
  const faults: Array<FieldFault<Field>> = [];
  for (const field of Object.keys(signers) as Array<Field>) {
    const address = signers[field];
    if (address !== null && isSmallOrderAddress(address))
      faults.push({
        field,
        detail:
          "must be an address that somebody can sign for: no signature verifies under this one, and no program derives it",
      });
  }
  return faults;
};

/**
 * The faults of a named payer for which no key signs: a fee is paid by a signer of the transaction, never in a
 * program's call.
 */
export const payerFaults = (payer: Address | null): ReadonlyArray<FieldFault<"payer">> =>
  payer !== null && isOffCurve(payer)
    ? [
        {
          field: "payer",
          detail: "must be a wallet: no key signs for an address that a program derives",
        },
      ]
    : nobodysFaults({ payer });

/** Fails with `ValidationFailed` where an address must sign a wanted transaction and no key signs for it. */
export const checkTransactionSigner = <const Field extends string>(
  field: Field,
  address: Address,
  wantsTransaction: boolean,
): Effect.Effect<void, ValidationFailed<Field>> =>
  wantsTransaction && isOffCurve(address)
    ? Effect.fail(
        new ValidationFailed<Field>([
          {
            field,
            detail: `no key signs for ${address}, which a program derives: only that program can, in a call of its own. Ask for the instructions alone`,
          },
        ]),
      )
    : Effect.void;
