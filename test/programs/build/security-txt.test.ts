import { describe, expect, test } from "bun:test";
import { binaryPath, PROGRAM_NAMES, SBPF_VERSIONS } from "../../../programs/compile.ts";

// As solana-security-txt's own reader has it (`parser.rs`, version 1.1.3).
const BEGIN = "=======BEGIN SECURITY.TXT V1=======\0";
const END = "=======END SECURITY.TXT V1=======\0";
const REQUIRED = ["name", "project_url", "contacts", "policy"];
const OPTIONAL = ["preferred_languages", "source_code", "source_release", "source_revision"].concat(
  ["encryption", "auditors", "acknowledgements", "expiry"],
);
const CONTACT = /^(email|link|discord|telegram|twitter|other):./;

/** The file with one character for each byte. */
const latin1 = (file: Uint8Array): string => Buffer.from(file).toString("latin1");

/** Names and values between the markers, wherever they are. */
const fieldsOf = (file: Uint8Array): ReadonlyMap<string, string> => {
  const [before, after, ...more] = latin1(file).split(BEGIN);
  expect([before !== undefined, after !== undefined, more.length]).toEqual([true, true, 0]);
  const parts = (after ?? "").split(END)[0]?.split("\0") ?? [];
  // The last value is closed by a zero byte as well.
  expect(parts.length % 2).toBe(1);
  expect(parts.pop()).toBe("");
  return new Map(
    Array.from({ length: parts.length / 2 }, (_, i) => [
      parts[2 * i] ?? "",
      parts[2 * i + 1] ?? "",
    ]),
  );
};

/**
 * The content that the section `.security.txt` points to, by the section and program headers (ELF-64 specification).
 */
const sectionText = (file: Uint8Array): string | undefined => {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const u64 = (at: number): number => Number(view.getBigUint64(at, true));
  const table = u64(40);
  const headers = Array.from({ length: view.getUint16(60, true) }, (_, i) => table + 64 * i);
  const names = u64((headers[view.getUint16(62, true)] ?? 0) + 24);
  const found = headers.find((at) =>
    latin1(file.subarray(names + view.getUint32(at, true))).startsWith(".security.txt\0"),
  );
  if (found === undefined) return undefined;
  const [address, length] = [u64(u64(found + 24)), u64(u64(found + 24) + 8)];
  const loaded = Array.from({ length: view.getUint16(56, true) }, (_, i) => 64 + 56 * i).find(
    (at) => address >= u64(at + 16) && address + length <= u64(at + 16) + u64(at + 40),
  );
  if (loaded === undefined) return undefined;
  const offset = u64(loaded + 8) + address - u64(loaded + 16);
  return latin1(file.subarray(offset, offset + length));
};

describe.each(PROGRAM_NAMES)("%s", (name) => {
  test.each(SBPF_VERSIONS)("%s says whom to inform of a weakness", async (version) => {
    const file = await Bun.file(binaryPath(name, version)).bytes();
    const fields = fieldsOf(file);
    expect(fields.get("name")).toBe(`Settlement Evidence ${name}`);
    for (const required of REQUIRED) expect(fields.get(required)).not.toBeOneOf([undefined, ""]);
    for (const field of fields.keys()) expect([...REQUIRED, ...OPTIONAL]).toContain(field);
    for (const contact of fields.get("contacts")?.split(",") ?? [])
      expect(contact).toMatch(CONTACT);
  });

  test.each(SBPF_VERSIONS)("%s has a section that points to that text", async (version) => {
    const text = sectionText(await Bun.file(binaryPath(name, version)).bytes());
    expect(text?.startsWith(BEGIN)).toBe(true);
    expect(text?.endsWith(END)).toBe(true);
  });
});
