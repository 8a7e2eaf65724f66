import { Effect } from "effect";
import { parseAddress } from "../../../core/domain/address.ts";
import { MalformedCursor } from "../../../core/use-cases/request-errors.ts";
import type { EscrowCursor, MerchantCursor } from "../../../ports/escrow-index.ts";

/** Encodes the places of one list as opaque text, and decodes them. */
export type PageCursor<Place> = {
  readonly encode: (place: Place) => string;
  /** The place of a cursor, null without one. Fails with `MalformedCursor`. */
  readonly decode: (cursor: string | undefined) => Effect.Effect<Place | null, MalformedCursor>;
};

/** A decimal without sign or leading zero, below 10^18. */
const DECIMAL = /^(?:0|[1-9][0-9]{0,17})$/;

const toText = (cursor: string): string => Buffer.from(cursor, "base64url").toString("latin1");
const toCursor = (text: string): string => Buffer.from(text, "latin1").toString("base64url");

/** `tag` keeps the cursor of one list out of another; only text that encodes back to itself is accepted. */
const pageCursor = <Place>(
  tag: string,
  write: (place: Place) => string,
  read: (text: string) => Place | undefined,
): PageCursor<Place> => {
  const encode = (place: Place): string => toCursor(`${tag}:${write(place)}`);
  return {
    encode,
    decode: (cursor) => {
      if (cursor === undefined) return Effect.succeed(null);
      const text = toText(cursor);
      const place = text.startsWith(`${tag}:`) ? read(text.slice(tag.length + 1)) : undefined;
      return place !== undefined && encode(place) === cursor
        ? Effect.succeed(place)
        : Effect.fail(new MalformedCursor());
    },
  };
};

/** A time and an address separated by a colon, undefined for any other text. */
const timeAndAddress = (text: string) => {
  const [time = "", name = ""] = text.split(":");
  const address = parseAddress(name);
  return DECIMAL.test(time) && address !== undefined ? { time: BigInt(time), address } : undefined;
};

/** Places among escrows: creation time and address. */
export const escrowCursor: PageCursor<EscrowCursor> = pageCursor(
  "escrow",
  ({ createdAt, address }) => `${createdAt}:${address}`,
  (text) => {
    const place = timeAndAddress(text);
    return place && { createdAt: place.time, address: place.address };
  },
);

/** Places among events: the position in the store. */
export const eventCursor: PageCursor<bigint> = pageCursor("event", String, (text) =>
  DECIMAL.test(text) ? BigInt(text) : undefined,
);

/** Places among merchants: registration time and merchant account. */
export const merchantCursor: PageCursor<MerchantCursor> = pageCursor(
  "merchant",
  ({ registeredAt, address }) => `${registeredAt}:${address}`,
  (text) => {
    const place = timeAndAddress(text);
    return place && { registeredAt: place.time, address: place.address };
  },
);
