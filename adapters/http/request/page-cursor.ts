import { Effect } from "effect";
import { parseAddress } from "../../../core/domain/address.ts";
import { MalformedCursor } from "../../../core/use-cases/request-errors.ts";
import type { MerchantCursor } from "../../../ports/index/index-reader.ts";

/** The number of an event, and the log that it belongs to. */
type LogPosition = {
  /** 16 hex digits. */
  readonly logId: string;
  readonly seq: bigint;
};

const LOG_ID_DIGITS = 16;
const LOG_ID = /^[0-9a-f]{16}$/;
/** A decimal without sign or leading zero, below 10^18. */
const DECIMAL = /^(?:0|[1-9][0-9]{0,17})$/;

/** The position in `<log id><separator><number>`, undefined for any other text. */
export const parseLogPosition = (text: string, separator: ":" | "-"): LogPosition | undefined => {
  const logId = text.slice(0, LOG_ID_DIGITS);
  const number = text.slice(LOG_ID_DIGITS + 1);
  return text[LOG_ID_DIGITS] === separator && LOG_ID.test(logId) && DECIMAL.test(number)
    ? { logId, seq: BigInt(number) }
    : undefined;
};

/** Encodes the places of one list as opaque text, and decodes them. */
export type PageCursor<Place> = {
  readonly encode: (place: Place) => string;
  /** The place of a cursor, null without one. Fails with `MalformedCursor`. */
  readonly decode: (cursor: string | undefined) => Effect.Effect<Place | null, MalformedCursor>;
};

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
        : Effect.fail(new MalformedCursor({ fault: "malformed" }));
    },
  };
};

/** A time and an address separated by a colon, undefined for any other text. */
const timeAndAddress = (text: string) => {
  const [time = "", name = ""] = text.split(":");
  const address = parseAddress(name);
  return DECIMAL.test(time) && address !== undefined ? { time: BigInt(time), address } : undefined;
};

/** Places in the log of this id: the number of an event. One of another log fails as such. */
const logCursor = (tag: string, logId: string): PageCursor<bigint> => {
  const own = pageCursor(
    tag,
    (seq: bigint) => `${logId}:${seq}`,
    (text) => {
      const place = parseLogPosition(text, ":");
      return place?.logId === logId ? place.seq : undefined;
    },
  );
  const prefix = `${tag}:`;
  return {
    encode: own.encode,
    decode: (cursor) => {
      const text = cursor === undefined ? "" : toText(cursor);
      const place = text.startsWith(prefix)
        ? parseLogPosition(text.slice(prefix.length), ":")
        : undefined;
      return place === undefined || place.logId === logId || toCursor(text) !== cursor
        ? own.decode(cursor)
        : Effect.fail(new MalformedCursor({ fault: "another_log" }));
    },
  };
};

/** Places among the escrows of a log: the number of their creation. */
export const escrowCursor = (logId: string): PageCursor<bigint> => logCursor("escrow", logId);

/** Places among the events of a log. */
export const eventCursor = (logId: string): PageCursor<bigint> => logCursor("event", logId);

/** Places among merchants: registration time and merchant account. */
export const merchantCursor: PageCursor<MerchantCursor> = pageCursor(
  "merchant",
  ({ registeredAt, address }) => `${registeredAt}:${address}`,
  (text) => {
    const place = timeAndAddress(text);
    return place && { registeredAt: place.time, address: place.address };
  },
);
