import { connect, SettlementError } from "settlement-evidence";
import { parseTrustPolicy, verifyEvidence } from "settlement-evidence/verify";

// What a page of another origin does with the package: it verifies a packet without a network, and reads a service.

/** What the page found; `service` is the address of one that answers it over CORS. */
const found = async () => {
  const text = (name: string) => document.getElementById(name)?.textContent ?? "";
  const policy = parseTrustPolicy(text("trust"));
  const trust = "value" in policy ? policy.value : null;
  const { verdict } = verifyEvidence(text("packet"), trust);
  const forged = verifyEvidence(text("packet").replace('"Fulfilled"', '"Refunded"'), trust).verdict;
  const service = text("service");
  const answer = await fetch(`${service}/v1`);
  const { data } = (await answer.json()) as { readonly data: { readonly name: string } };
  const signer = {
    address: "6ZXSTsdHAiLihyoVJZ5py3cscgSd2qbogwRhkxUN1Wky",
    signTransactions: () => Promise.reject(new Error("nothing is to be signed")),
  };
  // The merchant is not registered, so the service refuses to prepare: a POST with a preflight, and its problem, pass
  // CORS.
  const refused = await connect(service, { trust: text("served-trust") })
    .pay({ merchant: signer.address, amount: "1", task: "t", ttl: 60, nonce: "n", signer })
    .then(
      () => "paid",
      (cause: unknown) => (cause instanceof SettlementError ? cause.code : String(cause)),
    );
  return { verdict, forged, name: data.name, refused };
};

const tell = (value: unknown): Promise<Response> =>
  fetch("/found", { method: "POST", body: JSON.stringify(value) });
found().then(tell, (cause: unknown) => tell(String(cause)));
