import type { DataConditions } from "../runtime/accounts/data-conditions.ts";
import { base58Bytes, base64Bytes } from "./encoding/encoded-bytes.ts";
import { invalidParams } from "./rpc-error.ts";
import { arrayOf, configOf, wholeNumberOf } from "./rpc-params.ts";

/** Most filters of one call (Agave `rpc-client-api/src/request.rs`: MAX_GET_PROGRAM_ACCOUNT_FILTERS). */
const MAX_FILTERS = 4;
/** Most bytes one memcmp compares (Agave `filter.rs`: MAX_DATA_SIZE). */
const MAX_MEMCMP_BYTES = 128;

const memcmpBytes = (bytes: unknown, encoding: unknown): Uint8Array => {
  if (Array.isArray(bytes) && bytes.every((b) => Number.isInteger(b) && b >= 0 && b <= 255))
    return Uint8Array.from(bytes as ReadonlyArray<number>);
  if (typeof bytes !== "string")
    throw invalidParams("Invalid params: memcmp.bytes must be a string or an array of bytes");
  if (encoding !== undefined && encoding !== "base58" && encoding !== "base64")
    throw invalidParams("Invalid params: memcmp.encoding must be base58 or base64");
  // A longer text cannot decode to 128 bytes. Refusing it first bounds the work of base58.
  if (bytes.length > 2 * MAX_MEMCMP_BYTES)
    throw invalidParams("Invalid param: encoded binary data should be less than 129 bytes");
  const decoded = encoding === "base64" ? base64Bytes(bytes) : base58Bytes(bytes);
  if (decoded === undefined) throw invalidParams("Invalid param: unable to decode memcmp bytes");
  return decoded;
};

/** The conditions of a list of `dataSize` and `memcmp` filters. @throws RpcError for anything else. */
export const accountFilterOf = (filters: unknown): DataConditions => {
  if (filters === undefined || filters === null) return { bytesAt: [] };
  const list = arrayOf(filters, "filters", Number.MAX_SAFE_INTEGER);
  if (list.length > MAX_FILTERS)
    throw invalidParams(`Too many filters provided; max ${MAX_FILTERS}`);
  const sizes = new Set<number>();
  const bytesAt = list.flatMap((item) => {
    const filter = configOf(item, "filter");
    const [name, ...others] = Object.keys(filter);
    if (others.length > 0 || (name !== "dataSize" && name !== "memcmp"))
      throw invalidParams("Invalid params: a filter is dataSize or memcmp");
    if (name === "dataSize") {
      sizes.add(wholeNumberOf(filter["dataSize"], "dataSize"));
      return [];
    }
    const memcmp = configOf(filter["memcmp"], "memcmp");
    const bytes = memcmpBytes(memcmp["bytes"], memcmp["encoding"]);
    if (bytes.length > MAX_MEMCMP_BYTES)
      throw invalidParams("Invalid param: decoded binary data should be less than 129 bytes");
    return [{ offset: wholeNumberOf(memcmp["offset"], "memcmp.offset"), bytes }];
  });
  const [dataSize] = sizes;
  // Two different sizes match nothing. No account has this size.
  if (sizes.size > 1) return { dataSize: Number.MAX_SAFE_INTEGER, bytesAt };
  return { dataSize, bytesAt };
};
