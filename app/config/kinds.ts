import { isIP } from "node:net";
import { Effect, Option, Redacted } from "effect";
import { isDatabaseAddress, isSchemaName } from "../../adapters/postgres/schema-name.ts";
import { parseFormerKeys } from "../../adapters/signer/evidence-signer.ts";
import { KEY_TEXT_FORMS, keyOfText } from "../../adapters/signer/key-text.ts";
import { isKeyName } from "../../core/log/notes/verifier-key.ts";
import { type Address, parseAddress } from "../../core/domain/address.ts";
import { type Hash32, parseHash32 } from "../../core/domain/hash32.ts";
import type { Kind } from "./variable.ts";

/** Any text. */
export const text: Kind<string> = { parse: (value) => value, expected: "text" };

/** A whole number within an inclusive range, in decimal digits. */
export const wholeNumber = (min: number, max: number): Kind<number> => ({
  parse: (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : -1;
    return number >= min && number <= max ? number : undefined;
  },
  expected: `a whole number from ${min} to ${max}`,
});

/** `true` or `false`. */
export const flag: Kind<boolean> = {
  parse: (value) => ({ true: true, false: false })[value.toLowerCase()],
  expected: "true or false",
};

/** One of a few words, in any case. */
export const oneOf = <const W extends string>(...words: ReadonlyArray<W>): Kind<W> => ({
  parse: (value) => words.find((word) => word === value.toLowerCase()),
  expected: `one of ${words.join(", ")}`,
});

/** An interface to listen on: an IP address or a host name. */
export const host: Kind<string> = {
  parse: (value) =>
    isIP(value) !== 0 || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(value) ? value : undefined,
  expected: "an IP address or a host name, without port or scheme",
};

/** A base58 address of the ledger. */
export const ledgerAddress: Kind<Address> = {
  parse: parseAddress,
  expected: "a base58 address of 32 bytes",
};

/** The SHA-256 of a program's file. */
export const programHash: Kind<Hash32> = {
  parse: parseHash32,
  expected: "the SHA-256 of a program's file in 64 hex digits",
};

/** A comma-separated list of at least one value of a kind. */
export const listOf = <A>(kind: Kind<A>): Kind<ReadonlyArray<A>> => ({
  parse: (value) => {
    const items = value.split(",").map((item) => item.trim());
    const parsed = items.map((item) => (item === "" ? undefined : kind.parse(item)));
    const valid = parsed.filter((item) => item !== undefined);
    return valid.length === items.length ? valid : undefined;
  },
  expected: `${kind.expected}; several separated by commas`,
  secret: kind.secret === true,
});

const urlWith = (value: string, protocols: ReadonlyArray<string>): URL | undefined => {
  const url = URL.parse(value);
  return url !== null && protocols.includes(url.protocol) && url.hash === "" ? url : undefined;
};

/** The address of an RPC node. It may hold an API key, so messages never quote it. */
export const rpcUrl: Kind<URL> = {
  parse: (value) => urlWith(value, ["http:", "https:"]),
  expected: "an http:// or https:// address",
  secret: true,
};

/** The address of a Postgres database. `?schema=` names the schema of its tables. */
export const databaseUrl: Kind<URL> = {
  parse: (value) => {
    const url = urlWith(value, ["postgres:", "postgresql:"]);
    const schema = url?.searchParams.get("schema");
    if (typeof schema === "string" && !isSchemaName(schema)) return undefined;
    return url !== undefined && isDatabaseAddress(url) ? url : undefined;
  },
  expected:
    "a postgres:// address, % written as %25; ?schema= in small letters, digits and underscores, ?sslmode= one of disable, allow, prefer, require, verify-ca and verify-full",
  secret: true,
};

/** The address of an RPC node's WebSocket. It may hold an API key. */
export const webSocketUrl: Kind<URL> = {
  parse: (value) => urlWith(value, ["ws:", "wss:"]),
  expected: "a ws:// or wss:// address",
  secret: true,
};

/** The address of a gRPC server. It has no place for a secret: the token stands in a file. */
export const grpcUrl: Kind<URL> = {
  parse: (value) => {
    const url = urlWith(value, ["http:", "https:"]);
    const isPlain = url?.pathname === "/" && url.search === "" && url.username === "";
    return isPlain && url.password === "" ? url : undefined;
  },
  expected:
    "an http:// or https:// address of host and port alone; YELLOWSTONE_TOKEN_FILE holds the token",
  secret: true,
};

/** The address of a service of this kind. Logs and metrics name its host, so it holds no password and no query. */
export const serviceUrl: Kind<URL> = {
  parse: (value) => {
    const url = urlWith(value, ["http:", "https:"]);
    return url?.search === "" && url.username === "" && url.password === "" ? url : undefined;
  },
  expected: "an http:// or https:// address of a service, without query and password",
};

/** The address of a NATS server. It may hold a token, or a name and its password. */
export const natsUrl: Kind<URL> = {
  parse: (value) => {
    const url = urlWith(value, ["nats:", "tls:"]);
    if (url === undefined || url.hostname === "" || url.search !== "") return undefined;
    const isWritten = percentDecoded(url.username + url.password) !== undefined;
    // Nobody would ask with a password that belongs to no name.
    const isWhole = url.username !== "" || url.password === "";
    return isWritten && isWhole && ["", "/"].includes(url.pathname) ? url : undefined;
  },
  expected:
    "a nats:// or tls:// address of host and port, with TOKEN@ or NAME:PASSWORD@ before them, % written as %25",
  secret: true,
};

/** Request headers as OpenTelemetry writes them: `name=value`, values percent-encoded. They often hold a token. */
export const headerList: Kind<Redacted.Redacted<Readonly<Record<string, string>>>> = {
  parse: (value) => {
    const headers: Record<string, string> = {};
    for (const item of value.split(",")) {
      const [, name, encoded] = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(.*)$/.exec(item) ?? [];
      const text = percentDecoded(encoded ?? "%");
      if (name === undefined || text === undefined || !/^[ -~]+$/.test(text)) return undefined;
      headers[name] = text.trim();
    }
    return Redacted.make(headers);
  },
  expected: "NAME=VALUE, the value percent-encoded; several separated by commas",
  secret: true,
};

const percentDecoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

/** A web origin (RFC 6454) that may call the service, or `*` for all. */
export const webOrigin: Kind<string> = {
  parse: (value) => {
    const url = urlWith(value, ["http:", "https:"]);
    return value === "*" || url?.origin === value ? value : undefined;
  },
  expected: "an origin such as https://example.com, or *",
};

/** The HTTPS origin under which others reach the service; wallets follow no other scheme. */
export const publicOrigin: Kind<string> = {
  parse: (value) => (urlWith(value, ["https:"])?.origin === value ? value : undefined),
  expected: "an https:// address of host and port alone, such as https://evidence.example.com",
};

/** An IP address, or a block of addresses in CIDR notation (RFC 4632). */
export const addressBlock: Kind<string> = {
  parse: (value) => {
    const [ip = "", bits, ...rest] = value.split("/");
    const widest = { 0: -1, 4: 32, 6: 128 }[isIP(ip)] ?? -1;
    const inRange = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= widest);
    return widest > 0 && inRange && rest.length === 0 ? value : undefined;
  },
  expected: "an IP address or a block such as 10.0.0.0/8",
};

/** A private key, or who holds it. */
export const signingKey: Kind<Redacted.Redacted> = {
  parse: (value) => {
    const key = Redacted.make(value);
    return keyOfText(key) === undefined ? undefined : key;
  },
  expected: KEY_TEXT_FORMS,
  secret: true,
};

/** The longest name that leaves room for the rest of an origin line. */
const MAX_LOG_NAME = 200;

/** The name of a log, which begins its origin line (docs/log.md, "Origin"). */
export const logName: Kind<string> = {
  parse: (value) =>
    isKeyName(value) && value.length <= MAX_LOG_NAME && !value.includes("://") ? value : undefined,
  expected:
    "a name such as evidence.example.com: an address without scheme, spaces and +, at most 200 characters",
};

/** Public keys that signed earlier packets, as text. */
export const formerKeys: Kind<string> = {
  parse: (value) =>
    Option.isSome(Effect.runSync(Effect.option(parseFormerKeys(value)))) ? value : undefined,
  expected:
    "KEY [retired|revoked [YYYY-MM-DDThh:mm:ssZ]], KEY as x in jwks.json; several separated by commas",
};
