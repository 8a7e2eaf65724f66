import { expect, test } from "bun:test";
import { hash } from "node:crypto";
import { address, getAddressEncoder, getProgramDerivedAddress } from "@solana/kit";
import { X402_VECTORS, x402Vectors } from "./vectors.ts";

/** RFC 8785 for values without integer-like member names, which ECMAScript would put first. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );

const kept = (await Bun.file(X402_VECTORS).json()) as ReturnType<typeof x402Vectors>;

test("the recorded vectors are those of this code", () => {
  expect(JSON.parse(JSON.stringify(x402Vectors()))).toEqual(kept);
});

for (const vector of kept.payments)
  test(`${vector.name}: digest, task, hash and escrow by node:crypto and kit`, async () => {
    const { captureDeadline, refundDeadline, ...extra } = vector.requirements.extra as Readonly<
      Record<string, unknown>
    >;
    const { request, captureAuthorizer } = extra;
    expect(refundDeadline).toBe(captureDeadline);
    const digest = hash("sha256", canonical({ ...vector.requirements, extra }));
    const task = `x402 ${String(request)} sha256:${digest}`;
    const taskHash = hash("sha256", `${task}\0${vector.nonce}`);
    const [escrow] = await getProgramDerivedAddress({
      programAddress: address(kept.custody_program),
      seeds: [
        "escrow",
        getAddressEncoder().encode(address(vector.agent)),
        Buffer.from(taskHash, "hex"),
      ],
    });
    expect<Record<string, string>>({ digest, task, taskHash, escrow: String(escrow) }).toEqual({
      digest: vector.requirements_sha256 ?? "",
      task: vector.task,
      taskHash: vector.task_hash,
      escrow: vector.escrow,
    });
    const data = Buffer.from(vector.create_escrow.data_base64, "base64");
    expect(data.subarray(0, 8).toString("hex")).toBe(
      hash("sha256", "global:create_escrow").slice(0, 16),
    );
    expect(data.subarray(8, 40).toString("hex")).toBe(taskHash);
    expect(Buffer.from(getAddressEncoder().encode(address(String(captureAuthorizer))))).toEqual(
      Buffer.from(data.subarray(40, 72)),
    );
    // A single payment has no session key, and its end in place of a time to live.
    expect(data.subarray(72, 104).every((byte) => byte === 0)).toBe(true);
    expect(`${data.readBigUInt64LE(104)}`).toBe(vector.requirements.amount);
    expect(Number(data.readBigInt64LE(112))).toBe(Number(captureDeadline));
    expect(data.readUInt32LE(120)).toBe(0);
    expect(data).toHaveLength(124);
    expect(String(vector.create_escrow.accounts[5])).toBe(String(escrow));
  });
