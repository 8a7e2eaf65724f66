import type {
  EvidenceCheck,
  EvidenceVerdict,
  TrustPolicy,
} from "../../../../core/domain/evidence/evidence-check.ts";
import { amountsText } from "../../../../core/domain/evidence/delivery-payload.ts";
import { parseTrustPolicy } from "../../../../core/protocol/evidence/trust-policy.ts";
import { verifyEvidence } from "../../../../core/protocol/verification/verify-evidence.ts";

// Runs in the browser: the section "Verify a packet" of console.html. What it shows is only ever set as text.

const OWN_POLICY = "/.well-known/evidence-trust.json";

const NEVER_SHOWN =
  "A packet does not show that anything was delivered. It says what an attestor signed and what the ledger did. Its references are not signed.";

const byId = <E extends HTMLElement>(id: string, kind: new () => E): E => {
  const element = document.getElementById(id);
  if (element instanceof kind) return element;
  throw new Error(`the page has no ${id}`);
};

const withText = (tag: string, text: string, className = ""): HTMLElement => {
  const made = document.createElement(tag);
  made.textContent = text;
  made.className = className;
  return made;
};

const verdictLine = byId("verify-verdict", HTMLElement);
const result = byId("verify-result", HTMLTableElement);
const run = byId("verify-run", HTMLButtonElement);

/** Removes the verdict when the input changes, because it is about the former input. */
const clearVerdict = (): void => {
  result.hidden = true;
  verdictLine.replaceChildren();
};

/** A text area and a file chooser. The one used last counts. */
const source = (text: HTMLTextAreaElement, file: HTMLInputElement) => {
  text.addEventListener("input", () => {
    file.value = "";
    clearVerdict();
  });
  file.addEventListener("change", () => {
    text.value = "";
    clearVerdict();
  });
  return async (): Promise<Uint8Array | string | null> => {
    const chosen = file.files?.[0];
    // Bytes, not text: decoding would hide a byte order mark and bytes that are not UTF-8.
    if (chosen !== undefined) return new Uint8Array(await chosen.arrayBuffer());
    return text.value.trim() === "" ? null : text.value;
  };
};

const readPacket = source(
  byId("verify-packet", HTMLTextAreaElement),
  byId("verify-packet-file", HTMLInputElement),
);
const readPinned = source(
  byId("verify-trust", HTMLTextAreaElement),
  byId("verify-trust-file", HTMLInputElement),
);

const fetchOwnPolicy = async (): Promise<string> => {
  const response = await fetch(OWN_POLICY);
  if (!response.ok) throw new Error(`this service's own policy: status ${response.status}`);
  return response.text();
};

const policyOf = (document: Uint8Array | string): TrustPolicy => {
  const parsed = parseTrustPolicy(document);
  if ("fault" in parsed) throw new Error(parsed.fault);
  return parsed.value;
};

/** The verdict in words. Under the service's own policy it adds how little that proves. */
const meaningOf = ({ verdict, checks, amounts }: EvidenceVerdict, isPinned: boolean): string => {
  const namesOf = (outcome: EvidenceCheck["outcome"]): ReadonlyArray<string> =>
    checks.filter((each) => each.outcome === outcome).map(({ name }) => name);
  const unproven = namesOf("unproven");
  const witnessed = namesOf("witnessed");
  const under = isPinned
    ? " under the policy you gave."
    : " under this service's own policy, which shows only whether the service agrees with itself.";
  const shown =
    witnessed.length === 0 ? "" : ` Witnessed by the policy's quorum: ${witnessed.join(", ")}.`;
  const open =
    verdict === "verified" && unproven.length > 0
      ? ` Not shown here: ${unproven.join(", ")}; ask a node of your choice with bun run cli verify --rpc URL.`
      : "";
  const paid = amounts === null ? "" : ` ${amountsText(amounts)}`;
  return `${under}${paid}${shown}${open} ${NEVER_SHOWN}`;
};

const show = (judged: EvidenceVerdict, isPinned: boolean): void => {
  verdictLine.replaceChildren(
    withText("strong", judged.verdict, judged.verdict),
    meaningOf(judged, isPinned),
  );
  const rows = judged.checks.map(({ name, outcome, reason }) => {
    const row = document.createElement("tr");
    row.append(
      withText("td", name),
      withText("td", outcome.replace("_", " "), outcome),
      withText("td", reason),
    );
    return row;
  });
  byId("verify-checks", HTMLElement).replaceChildren(...rows);
  result.hidden = false;
};

const verify = async (): Promise<void> => {
  const packet = await readPacket();
  if (packet === null) throw new Error("paste a packet or choose its file");
  const pinned = await readPinned();
  show(verifyEvidence(packet, policyOf(pinned ?? (await fetchOwnPolicy()))), pinned !== null);
};

run.addEventListener("click", () => {
  run.disabled = true;
  clearVerdict();
  verify()
    .catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause);
      verdictLine.replaceChildren(withText("span", `Not verified: ${reason}.`, "wrong"));
    })
    .finally(() => {
      run.disabled = false;
    });
});
run.disabled = false;
