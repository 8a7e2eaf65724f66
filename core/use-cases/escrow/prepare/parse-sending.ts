import { Effect } from "effect";
import { type Address, addressToBytes, parseAddress } from "../../../domain/address.ts";
import { canVerifyUnder } from "../../../protocol/crypto/strict-ed25519.ts";
import { addressFault, InvalidAddress, ValidationFailed } from "../../request-errors.ts";
import type { Sending } from "./finish-call.ts";

/** The input of every prepare operation. Only the types of its members are checked. */
export type SendingRequest = {
  /** Undefined: the operation's own default. */
  readonly payer?: string | undefined;
  readonly wantsTransaction?: boolean | undefined;
};

/** The addresses of optional fields, null for an absent one. Fails with `InvalidAddress`, which names each field that is not an address. */
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

/** The payer that a request names, otherwise the payer in `otherwise`. Fails with `InvalidAddress`. */
export const parseSending = Effect.fnUntraced(function* (
  request: SendingRequest,
  otherwise: Address | null = null,
) {
  const { payer } = yield* parseOptionalAddresses({ payer: request.payer });
  const sending: Sending = {
    payer: payer ?? otherwise,
    wantsTransaction: request.wantsTransaction ?? false,
  };
  return sending;
});

/** Fails with `ValidationFailed` for a key under which no signature can ever verify, so that nothing could be released. */
export const checkAttestorKey = (
  attestor: Address,
): Effect.Effect<void, ValidationFailed<"attestor">> =>
  canVerifyUnder(addressToBytes(attestor))
    ? Effect.void
    : Effect.fail(
        new ValidationFailed<"attestor">([
          {
            field: "attestor",
            detail:
              "must be an Ed25519 public key that is not of small order: no signature verifies under this one",
          },
        ]),
      );
