import { parseAddress } from "../../../core/domain/address.ts";
import { hash32FromBytes, parseHash32 } from "../../../core/domain/hash32.ts";
import {
  attestedCallsMessage,
  callAttestationBytes,
  type CallAttestation,
  readCallAttestation,
} from "../../../core/protocol/calls/call-receipt.ts";
import type { SessionTerms } from "../../../core/protocol/calls/session-terms.ts";
import { sha256 } from "../../../core/domain/sha256.ts";
import { decodeBase64, encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { boundedText } from "../../service/requests.ts";
import { boundedBytes, type Fetch, fetchDirectly } from "../../service/fetch-directly.ts";
import { SettlementError } from "../../settlement-error.ts";
import { messageSignerOf, type SellerKey, signatureBy } from "../../signing/sign-transaction.ts";

/** What is to be attested of a session: fields, never a message. */
export type SessionClaim = Omit<CallAttestation, "signature">;

/** Of a session, what an attestation names. */
export type AttestedSession = Pick<SessionTerms, "escrow" | "domain" | "terms" | "attestor">;

/** An attestor that keeps what it signed, and refuses what contradicts it. It can be another process. */
export type SessionAttestor = {
  /** Its public key, base58. */
  readonly publicKey: string;
  /** The attestation, signed. @throws SettlementError `attestation_refused` for a claim that contradicts one before */
  readonly attest: (session: AttestedSession, claim: SessionClaim) => Promise<CallAttestation>;
};

/** The newest claim of each session's terms. */
export type SessionClaims = {
  /**
   * Keeps a claim as the newest of these terms if `mayFollow` says so of the one that is kept, by compare-and-set, and
   * resolves with the one that stands then. What it resolved for survives the end of the process and of the machine.
   */
  readonly keep: (terms: string, claim: SessionClaim) => Promise<SessionClaim>;
};

const isSame = (a: SessionClaim, b: SessionClaim): boolean =>
  a.count === b.count && a.total === b.total && a.deliveries === b.deliveries;

/**
 * Whether a claim may be attested after another one: the same deliveries with a new time, or more of them for no less.
 * Nothing but the same follows a final one.
 */
export const mayFollow = (before: SessionClaim | null, claim: SessionClaim): boolean => {
  if (before === null) return true;
  if (isSame(before, claim)) return claim.isFinal || !before.isFinal;
  return !before.isFinal && claim.count > before.count && claim.total >= before.total;
};

/**
 * Claims that end with the process.
 * @example
 * import { memorySessionClaims } from "settlement-evidence/sessions";
 *
 * typeof memorySessionClaims().keep; // => "function"
 */
export const memorySessionClaims = (): SessionClaims => {
  const kept = new Map<string, SessionClaim>();
  return {
    keep: (terms, claim) => {
      const before = kept.get(terms) ?? null;
      if (mayFollow(before, claim)) kept.set(terms, claim);
      return Promise.resolve(kept.get(terms) ?? claim);
    },
  };
};

const refused = (detail: string): SettlementError =>
  new SettlementError(
    "attestation_refused",
    detail,
    "Nothing was signed. Two processes may use one key, or a store was restored from a backup.",
  );

/**
 * An attestor by its key, which keeps each claim before it signs it. It signs nothing but attestations of sessions.
 * @example
 * import { keepingAttestor, memorySessionClaims } from "settlement-evidence/sessions";
 *
 * keepingAttestor(attestor, memorySessionClaims()).publicKey; // => attestor.address
 */
export const keepingAttestor = (key: SellerKey, claims: SessionClaims): SessionAttestor => {
  const signer = messageSignerOf(key);
  return {
    publicKey: signer.publicKey,
    attest: async (session, claim) => {
      if (session.attestor !== signer.publicKey)
        throw refused(`${session.escrow} names the attestor ${session.attestor}.`);
      const stands = await claims.keep(`${session.domain}-${session.terms}`, claim);
      if (!isSame(stands, claim) || stands.isFinal !== claim.isFinal)
        throw refused(
          `${stands.count} deliveries for ${stands.total} were attested of ${session.escrow} before${stands.isFinal ? ", finally" : ""}.`,
        );
      return {
        ...claim,
        signature: await signatureBy(signer, attestedCallsMessage(session, claim)),
      };
    },
  };
};

/** A claim on its way to an attestor in another process. */
type AskedClaim = {
  readonly escrow: string;
  readonly domain: string;
  readonly terms: string;
  readonly attestor: string;
  readonly deliveries: string;
  readonly total_stroops: string;
  readonly timestamp: string;
  readonly count: number;
  readonly final: boolean;
};

const UNSIGNED = /^(0|[1-9][0-9]{0,19})$/;
/** More than any claim, in bytes. */
const MOST_CLAIM_BYTES = 4_096;

/** The claim in a request; null for anything else. */
const claimIn = (
  text: string,
): { readonly session: AttestedSession; readonly claim: SessionClaim } | null => {
  try {
    const asked = JSON.parse(text) as AskedClaim;
    const [domain, terms, deliveries] = [asked.domain, asked.terms, asked.deliveries].map(
      parseHash32,
    );
    const [escrow, attestor] = [asked.escrow, asked.attestor].map(parseAddress);
    const { count, final: isFinal } = asked;
    const isGood =
      UNSIGNED.test(asked.total_stroops) &&
      UNSIGNED.test(asked.timestamp) &&
      Number.isInteger(count) &&
      count >= 0 &&
      count < 2 ** 32 &&
      typeof isFinal === "boolean";
    if (!isGood || !domain || !terms || !deliveries || !escrow || !attestor) return null;
    const [total, timestamp] = [BigInt(asked.total_stroops), BigInt(asked.timestamp)];
    if (total >= 2n ** 64n || timestamp >= 2n ** 63n) return null;
    return {
      session: { escrow, domain, terms, attestor },
      claim: { deliveries, total, timestamp, count, isFinal },
    };
  } catch {
    return null;
  }
};

const problem = (status: number, code: string, detail: string): Response =>
  Response.json({ status, code, detail }, { status });

const digestOf = (text: string): string => hash32FromBytes(sha256(new TextEncoder().encode(text)));

/**
 * Answers the requests of `remoteAttestor`, as the `fetch` of a server: only with the token, a secret of at least 32
 * characters, and only by claims in fields.
 * @throws SettlementError `invalid_token` for a shorter one
 * @example
 * import { attestorService, keepingAttestor, memorySessionClaims } from "settlement-evidence/sessions";
 *
 * const answer = attestorService(keepingAttestor(attestor, memorySessionClaims()), "x".repeat(32));
 * (await answer(new Request("http://127.0.0.1/", { method: "POST" }))).status; // => 401
 */
export const attestorService = (
  attestor: SessionAttestor,
  token: string,
): ((request: Request) => Promise<Response>) => {
  if (token.length < 32)
    throw new SettlementError(
      "invalid_token",
      "The token has fewer than 32 characters.",
      "Make one at random.",
    );
  // Equal digests say nothing of where two texts differ.
  const wanted = digestOf(`Bearer ${token}`);
  return async (request) => {
    if (digestOf(request.headers.get("authorization") ?? "") !== wanted)
      return problem(401, "unauthorized", "The token is another one.");
    const bytes = await boundedBytes(new Response(request.body), MOST_CLAIM_BYTES).catch(
      () => null,
    );
    const asked = bytes && claimIn(new TextDecoder().decode(bytes));
    if (asked === null) return problem(400, "invalid_claim", "The request holds no claim.");
    try {
      const attestation = await attestor.attest(asked.session, asked.claim);
      return Response.json({ attestation: encodeBase64(callAttestationBytes(attestation)) });
    } catch (cause) {
      if (!(cause instanceof SettlementError)) throw cause;
      const isRefused = cause.code === "attestation_refused";
      return problem(isRefused ? 409 : 503, cause.code, cause.message);
    }
  };
};

const MOST_ANSWER_BYTES = 65_536;

/**
 * An attestor in another process, at an address where `attestorService` answers. It is given fields and signs what
 * follows from them.
 * @example
 * import { remoteAttestor } from "settlement-evidence/sessions";
 *
 * const token = "x".repeat(32);
 * remoteAttestor("http://127.0.0.1:4000", { publicKey: attestor.address, token }).publicKey; // => attestor.address
 */
export const remoteAttestor = (
  url: string,
  {
    publicKey,
    token,
    fetch: fetchWith,
  }: { readonly publicKey: string; readonly token: string; readonly fetch?: Fetch },
): SessionAttestor => ({
  publicKey,
  attest: async ({ escrow, domain, terms, attestor }, claim) => {
    const asked: AskedClaim = {
      escrow,
      domain,
      terms,
      attestor,
      deliveries: claim.deliveries,
      count: claim.count,
      total_stroops: claim.total.toString(),
      timestamp: claim.timestamp.toString(),
      final: claim.isFinal,
    };
    const response = await fetchDirectly(
      url,
      {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
        body: JSON.stringify(asked),
      },
      fetchWith,
    );
    const text = await boundedText(response, MOST_ANSWER_BYTES);
    const { attestation, detail } = JSON.parse(text) as { attestation?: string; detail?: string };
    const signed = readCallAttestation(decodeBase64(attestation ?? "") ?? new Uint8Array());
    if (response.status === 200 && signed !== undefined) return signed;
    throw refused(detail ?? `The attestor answered ${response.status}.`);
  },
});
