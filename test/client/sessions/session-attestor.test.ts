import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { sessionClaimFiles } from "../../../client/node/session-claims.ts";
import {
  attestorService,
  keepingAttestor,
  memorySessionClaims,
  remoteAttestor,
  type SessionAttestor,
  type SessionClaim,
  type SessionClaims,
} from "../../../client/sessions/seller/session-attestor.ts";
import { isAttestationSigned } from "../../../core/protocol/calls/judge-call.ts";
import { type Hash32, parseHash32 } from "../../../core/domain/hash32.ts";
import { temporaryDirectory } from "../../app/support/running-service.ts";
import { ATTESTOR_SIGNER, TERMS } from "../../doubles/session-sides.ts";

const root = (digit: string): Hash32 => {
  const hash = parseHash32(digit.repeat(64));
  if (hash === undefined) throw new Error("no hash");
  return hash;
};
const claimOf = (count: number, total: bigint, digit: string, isFinal = false): SessionClaim => ({
  count,
  total,
  deliveries: root(digit),
  isFinal,
  timestamp: 1_772_366_500n,
});
const TOKEN = "a token of thirty-two characters";

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
let made = 0;
beforeAll(async () => {
  folder = await temporaryDirectory();
});
afterAll(() => folder.remove());

const KINDS: Readonly<Record<string, () => { claims: SessionClaims; path: string | null }>> = {
  memory: () => ({ claims: memorySessionClaims(), path: null }),
  files: () => {
    const path = join(folder.path, `claims-${made++}`);
    return { claims: sessionClaimFiles(path), path };
  },
};

/** The attestor itself, and the same one behind its service. */
const WAYS: Readonly<Record<string, (attestor: SessionAttestor) => SessionAttestor>> = {
  "in the process": (attestor) => attestor,
  "behind its service": (attestor) => {
    const service = attestorService(attestor, TOKEN);
    return remoteAttestor("http://127.0.0.1:1", {
      publicKey: attestor.publicKey,
      token: TOKEN,
      fetch: (url, init) => service(new Request(url, init)),
    });
  },
};

for (const [kind, claimsOf] of Object.entries(KINDS))
  for (const [way, through] of Object.entries(WAYS))
    describe(`an attestor that keeps its claims (${kind}, ${way})`, () => {
      const codeOf = (attestor: SessionAttestor, claim: SessionClaim): Promise<string> =>
        attestor.attest(TERMS, claim).then(
          (signed) => (isAttestationSigned(TERMS, signed) ? "signed" : "another message"),
          (cause: { readonly code: string }) => cause.code,
        );

      test("signs what grows, and refuses every other root, fall and anything after the end", async () => {
        const { claims, path } = claimsOf();
        const one = through(keepingAttestor(ATTESTOR_SIGNER, claims));
        const again = { ...claimOf(2, 20n, "b"), timestamp: 1_772_366_600n };
        const asked: ReadonlyArray<readonly [SessionClaim, string]> = [
          [claimOf(1, 10n, "a"), "signed"],
          [claimOf(2, 20n, "b"), "signed"],
          [again, "signed"],
          [claimOf(2, 20n, "c"), "attestation_refused"],
          [claimOf(2, 21n, "b"), "attestation_refused"],
          [claimOf(1, 10n, "a"), "attestation_refused"],
          [claimOf(3, 19n, "d"), "attestation_refused"],
          [claimOf(2, 20n, "c", true), "attestation_refused"],
          [claimOf(3, 20n, "d"), "signed"],
          [claimOf(3, 20n, "d", true), "signed"],
          [{ ...claimOf(3, 20n, "d", true), timestamp: 1_772_366_700n }, "signed"],
          [claimOf(3, 20n, "d"), "attestation_refused"],
          [claimOf(4, 30n, "e"), "attestation_refused"],
          [claimOf(4, 30n, "e", true), "attestation_refused"],
        ];
        for (const [claim, code] of asked) expect(await codeOf(one, claim)).toBe(code);
        // It remembers one claim of a session, and so does a process that comes after it.
        if (path === null) return;
        const [terms = ""] = await readdir(path);
        expect(await readdir(join(path, terms))).toEqual(["0000000003-1.json"]);
        const next = through(keepingAttestor(ATTESTOR_SIGNER, sessionClaimFiles(path)));
        expect(await codeOf(next, claimOf(4, 30n, "e"))).toBe("attestation_refused");
      });

      test("of twenty claims of one number at once, one root is signed", async () => {
        const { claims } = claimsOf();
        const digits = "0123456789abcdef".split("");
        const codes = await Promise.all(
          digits.map((digit) =>
            codeOf(through(keepingAttestor(ATTESTOR_SIGNER, claims)), claimOf(1, 10n, digit)),
          ),
        );
        expect(codes.filter((code) => code === "signed")).toHaveLength(1);
      });
    });

test("an attestor's service takes fields with its token alone", async () => {
  const service = attestorService(keepingAttestor(ATTESTOR_SIGNER, memorySessionClaims()), TOKEN);
  const post = async (body: string, token: string) =>
    (
      await service(
        new Request("http://127.0.0.1/", {
          method: "POST",
          headers: { authorization: `Bearer ${token}` },
          body,
        }),
      )
    ).status;
  expect(await post("{}", `${TOKEN}.`)).toBe(401);
  for (const body of ["", "{}", "null", "[]", '{"message":"AAAA"}', "x".repeat(5_000)])
    expect(await post(body, TOKEN)).toBe(400);
});
