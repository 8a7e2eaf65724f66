import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import { type Exchange, get, post } from "../exchange.ts";
import { all, archivedNow, clockAt, ledgerDown, ledgerSlow } from "../world/conditions.ts";
import { EXPIRED, FULFILLED, PENDING, REFUNDED } from "../world/escrows.ts";
import { AGENT_TOKENS, RICH, TOMBSTONE } from "../world/ledger-accounts.ts";
import { AGENT, OTHER_MINT, STRANGER, SUSPENDED } from "../world/parties.ts";
import { PRIVATE_KEY } from "./private-key.ts";
import { sampleOf } from "./samples.ts";

type Given = Exchange["given"];

const given = (condition: Given) => (condition === undefined ? {} : { given: condition });

const archivable = ({ settledAt }: Escrow) => clockAt((settledAt ?? 0n) + 604_800n);

/** A create link with some terms changed; null leaves one out. */
const createPath = (change: Readonly<Record<string, string | null>>): string => {
  const [path = "", query = ""] = sampleOf("readCreateAction").path.split("?");
  const terms = new URLSearchParams(query);
  for (const [name, value] of Object.entries(change))
    if (value === null) terms.delete(name);
    else terms.set(name, value);
  return `${path}?${terms.toString()}`;
};

/** What a wallet is shown of a create link, and what it is given to sign. */
const create = (
  title: string,
  change: Readonly<Record<string, string | null>> = {},
  account: string = AGENT.address,
  condition?: Given,
): ReadonlyArray<Exchange> => {
  const path = createPath(change);
  return [
    get("readCreateAction", title, path, given(condition)),
    post("runCreateAction", title, path, { account }, given(condition)),
  ];
};

/** The same of a link that refunds or archives an escrow. */
const onEscrow =
  (name: "Refund" | "Archive") =>
  (
    title: string,
    address: string,
    condition?: Given,
    account: string = RICH.address,
  ): ReadonlyArray<Exchange> => {
    const path = `/v1/actions/${name.toLowerCase()}/${address}`;
    return [
      get(`read${name}Action`, title, path, given(condition)),
      post(`run${name}Action`, title, path, { account }, given(condition)),
    ];
  };

const refund = onEscrow("Refund");
const archive = onEscrow("Archive");

/** What links on any escrow are refused with. */
const refusedLinks = (action: typeof refund): ReadonlyArray<Exchange> => [
  ...action("an invalid address", "O0Il"),
  ...action("a private key in the place of the address", PRIVATE_KEY),
  ...action("no account", STRANGER.address),
  ...action("a token account", AGENT_TOKENS.address),
  ...action("a tombstone", TOMBSTONE.address),
  ...action("the ledger is down", EXPIRED.address, ledgerDown),
  ...action("the ledger is slow", EXPIRED.address, ledgerSlow),
];

/** What wallets are answered. */
export const actionExchanges: ReadonlyArray<Exchange> = [
  ...create("a link"),
  ...create("a task that holds markup and hidden characters", {
    task_intent: '<b>\u202ecod.elpmaxe</b>\u0007 "quoted"',
  }),
  ...create("no nonce", { nonce: null }),
  ...create("an empty nonce", { nonce: "" }),
  ...create("an amount with a sign", { amount_stroops: "+1" }),
  ...create("a merchant that is no address", { merchant: "O0Il" }),
  ...create("a suspended merchant", { merchant: SUSPENDED.wallet }),
  ...create("a merchant that is not registered", { merchant: STRANGER.address }),
  ...create("a mint that is not listed", { mint: OTHER_MINT }),
  ...create("an attestor that the merchant does not have", { attestor: AGENT.address }),
  ...create("an account without tokens", {}, STRANGER.address),
  ...create("an account that is no address", {}, "O0Il"),
  ...create("the ledger is down", {}, AGENT.address, ledgerDown),
  ...create("the ledger is slow", {}, AGENT.address, ledgerSlow),
  ...refund("an expired escrow", EXPIRED.address),
  ...refund("before the expiry", PENDING.address),
  ...refund("settled", FULFILLED.address),
  ...refund("archived, with a row in the index", FULFILLED.address, archivedNow(FULFILLED)),
  ...refund("an account that is no address", EXPIRED.address, undefined, "O0Il"),
  ...refund("an account without lamports", EXPIRED.address, undefined, STRANGER.address),
  ...refusedLinks(refund),
  ...archive("a week after the settlement", REFUNDED.address, archivable(REFUNDED)),
  ...archive("before the week is over", REFUNDED.address),
  ...archive("Pending", PENDING.address),
  ...archive(
    "archived already",
    REFUNDED.address,
    all(archivable(REFUNDED), archivedNow(REFUNDED)),
  ),
  ...refusedLinks(archive),
];

/** What they are answered when the beta's limits are enforced. */
export const actionBetaExchanges: ReadonlyArray<Exchange> = create(
  "beta limits: beyond two of them",
  { amount_stroops: "100000001", ttl_seconds: "86401" },
);

/** What they are answered without a public address. */
export const noPublicAddressExchanges: ReadonlyArray<Exchange> = [
  ...create("no public address"),
  ...refund("no public address", EXPIRED.address),
  ...archive("no public address", REFUNDED.address),
  get(
    "buildEvidence",
    "as a page: expired, without a public address",
    `/v1/evidence/${EXPIRED.address}`,
    {
      headers: { accept: "text/html" },
    },
  ),
];
