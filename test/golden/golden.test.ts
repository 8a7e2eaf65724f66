import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { parseTrustPolicy } from "../../core/protocol/evidence/trust-policy.ts";
import { verifyCall } from "../../core/protocol/verification/verify-call.ts";
import { verifyEvidence } from "../../core/protocol/verification/verify-evidence.ts";
import packageJson from "../../package.json" with { type: "json" };
import { type Installed, installedOffline } from "../client/package/installed.ts";
import { verifyCallIndependently } from "../conformance/evidence/independent-call.ts";
import { verifyIndependently } from "../conformance/evidence/independent-verifier.ts";
import { packetsInPython } from "../conformance/evidence/verifiers-in-python.ts";
import { hasSolders, PYTHON } from "../pays-once/clients.ts";
import { clientFaults, type Declarations } from "./client-compatible.ts";
import {
  GOLDEN,
  goldenVersions,
  httpOfToday,
  PACKETS,
  programFaults,
  type ProgramOutline,
  programsOfToday,
} from "./golden-files.ts";
import { httpFaults } from "./http-compatible.ts";
import type { HttpOutline } from "./http-outline.ts";

const versions = await goldenVersions();
const majorOf = (version: string): string => version.split(".", 1)[0] ?? "";
/** Whoever knows one of these must find all that they know in today's tree. */
const ofThisMajor = versions.filter((version) => majorOf(version) === majorOf(packageJson.version));
const text = (...path: ReadonlyArray<string>): string =>
  readFileSync(join(GOLDEN, ...path), "utf8");

let installed: Installed;
beforeAll(async () => {
  installed = await installedOffline();
}, 120_000);
afterAll(() => rm(installed.folder, { recursive: true, force: true }));

test("this version has golden files; `bun run test:more golden` writes them once", () => {
  expect(versions).toContain(packageJson.version);
});

describe.each(ofThisMajor)("whoever knows %s", (version) => {
  test("finds its HTTP contract, with additions at most", async () => {
    const then = JSON.parse(text(version, "http.json")) as HttpOutline;
    expect(Object.keys(then.operations).length).toBeGreaterThan(60);
    expect(httpFaults(then, await httpOfToday())).toEqual([]);
  });

  test("finds the programs' accounts, instructions, errors and constants as they were", async () => {
    const then = JSON.parse(text(version, "programs.json")) as Record<string, ProgramOutline>;
    const now = await programsOfToday();
    expect(Object.keys(then).toSorted()).toEqual(["attestor", "custody"]);
    for (const [name, outline] of Object.entries(then))
      expect(programFaults(outline, now[name] ?? {})).toEqual([]);
  });

  test("finds each export of the client package, with additions at most", async () => {
    const then = JSON.parse(text(version, "client-types.json")) as Declarations;
    expect(await clientFaults(then, installed)).toEqual([]);
  }, 120_000);
});

/** Packets verify for ever, whatever the major version. */
describe.each(versions)("packets of %s", (version) => {
  const bytesOf = (name: string): Uint8Array =>
    new TextEncoder().encode(text(version, "packets", name));
  const policyOf = (name: string) => {
    const parsed = parseTrustPolicy(bytesOf(name));
    if ("fault" in parsed) throw new Error(parsed.fault);
    return parsed.value;
  };
  const trust = policyOf("trust.json");

  test("are one of each state, and nothing else", () => {
    const others = ["call.json", "logged.json", "log-trust.json", "trust.json"];
    expect(readdirSync(join(GOLDEN, version, "packets")).toSorted()).toEqual(
      [...PACKETS, ...others].toSorted(),
    );
  });

  test.each(PACKETS)(
    "%s verifies, by both verifiers, and no more with another amount",
    async (name) => {
      const packet = bytesOf(name);
      expect(verifyEvidence(packet, trust).verdict).toBe("verified");
      expect((await verifyIndependently(packet, bytesOf("trust.json"))).verdict).toBe("verified");
      const changed = text(version, "packets", name).replace(
        /"amount_stroops": ?"(\d)/,
        (all, digit) => all.replace(digit, String((Number(digit) % 9) + 1)),
      );
      expect(changed).not.toBe(text(version, "packets", name));
      expect(verifyEvidence(changed, trust).verdict).toBe("failed");
    },
  );

  test.skipIf(!hasSolders())(
    `all verify by the verifier in Python too; it needs solders for ${PYTHON} (examples/requirements.txt)`,
    () => {
      const packets = [...PACKETS, "logged.json"].map((name) => text(version, "packets", name));
      const trustFile = join(GOLDEN, version, "packets/trust.json");
      expect(packetsInPython(trustFile, packets)).toEqual(packets.map(() => null));
    },
  );

  test("the one with a proof of the log is witnessed, by both verifiers", async () => {
    const packet = bytesOf("logged.json");
    const { verdict, checks } = verifyEvidence(packet, policyOf("log-trust.json"));
    expect(verdict).toBe("verified");
    expect(checks.find(({ name }) => name === "account_on_ledger")?.outcome).toBe("witnessed");
    expect(await verifyIndependently(packet, bytesOf("log-trust.json"))).toMatchObject({
      verdict: "verified",
      witnessed: true,
    });
  });

  test("the evidence of a call verifies, by both verifiers, and no more with another order", async () => {
    const call = text(version, "packets", "call.json");
    const { verdict } = verifyCall(call, trust);
    expect(verdict).toBe("verified");
    const second = await verifyCallIndependently(bytesOf("call.json"), bytesOf("trust.json"));
    expect(second.verdict).toBe("verified");
    const changed = call.replace(/"intent": ?"GET/, '"intent":"PUT');
    expect(changed).not.toBe(call);
    expect(verifyCall(changed, trust).verdict).toBe("failed");
  });
});
