import { type Exchange, post } from "../exchange.ts";
import { PRIVATE_KEY } from "./private-key.ts";
import { sampleOf } from "./samples.ts";

const LIMIT = 262_144;

const bytesOf = (...parts: ReadonlyArray<string | number>): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(
    parts.flatMap((part) => (typeof part === "number" ? [part] : [...Buffer.from(part)])),
  );

/** Wrong bodies for one operation: wrong type, wrong form, wrong members, too long. */
const bodiesOf = (operation: string): ReadonlyArray<Exchange> => {
  const { path, body } = sampleOf(operation);
  const text = JSON.stringify(body);
  const [first = ""] = Object.keys(body ?? {});
  const wrong = (title: string, other: unknown, headers: Readonly<Record<string, string>> = {}) =>
    post(operation, title, path, other, { headers });
  return [
    wrong("a body of media type text", text, { "content-type": "text/plain" }),
    wrong("a body declared in another charset", text, {
      "content-type": "application/json; charset=latin1",
    }),
    wrong("a compressed body", text, { "content-encoding": "gzip" }),
    wrong("no body", ""),
    wrong("half an object", text.slice(0, -1)),
    wrong("two values", `${text}{}`),
    wrong("a byte order mark", `\uFEFF${text}`),
    wrong("bytes that are not UTF-8", bytesOf('{"', first, '":"', 0xff, '"}')),
    wrong("a member twice", text.replace("{", `{"${first}":"x",`)),
    wrong(
      "a member twice, once escaped",
      text.replace("{", `{"\\u00${first.charCodeAt(0).toString(16)}${first.slice(1)}":"x",`),
    ),
    wrong("a number that loses digits", text.replace("{", '{"n":0.10000000000000000001,')),
    wrong("nested a hundred levels deep", `${"[".repeat(100)}${"]".repeat(100)}`),
    wrong("a list", [body]),
    wrong("null", "null"),
    wrong("no members", {}),
    wrong("an unknown member", { ...body, "no/such~member": 1 }),
    wrong("an unknown member with a long name", { ...body, ["n".repeat(100)]: 1 }),
    wrong("more than twenty unknown members", {
      ...body,
      ...Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`n${i}`, i])),
    }),
    wrong("a private key", {
      ...body,
      private_key: PRIVATE_KEY,
    }),
    wrong(
      "every member of the wrong type",
      Object.fromEntries(Object.keys(body ?? {}).map((name) => [name, [1]])),
    ),
    wrong("a body that is too long, without a content-length", " ".repeat(LIMIT + 1)),
    wrong("a content-length that is too long", text, { "content-length": String(LIMIT + 1) }),
  ];
};

/** What the operations with a body answer to wrong bodies. */
export const wrongBodies: ReadonlyArray<Exchange> = [
  "prepareEscrow",
  "verifyDelivery",
  "relayTransaction",
].flatMap(bodiesOf);

/** A body of another media type, one that is too long, and one that is no JSON. */
const fewBodiesOf = (operation: string): ReadonlyArray<Exchange> => {
  const { path, body } = sampleOf(operation);
  const text = JSON.stringify(body);
  return [
    post(operation, "a body of media type text", path, text, {
      headers: { "content-type": "text/plain" },
    }),
    post(operation, "half an object", path, text.slice(0, -1)),
    post(
      operation,
      "a body that is too long, without a content-length",
      path,
      " ".repeat(LIMIT + 1),
    ),
  ];
};

/** What the other operations with a body answer to wrong bodies: the same code reads them. */
export const otherWrongBodies: ReadonlyArray<Exchange> = [
  "prepareAttestation",
  "prepareRelease",
  "prepareRefund",
  "prepareCancel",
  "prepareCapture",
  "prepareClose",
  "prepareRent",
  "prepareArchive",
  "runCreateAction",
  "runRefundAction",
  "runArchiveAction",
  "prepareMerchant",
  "prepareAttestor",
  "verifyPayment",
  "settlePayment",
  "callMcp",
].flatMap(fewBodiesOf);
