import type { EscrowRecord } from "../../escrow/escrow-contract.ts";
import type { MerchantRecord, RegistryEntryRecord } from "../../merchant/merchant-contract.ts";
import { escrowTable } from "../lists/escrow-table.ts";
import type { Listed } from "../lists/escrows-screen.ts";
import { html, type Html } from "../shell/html.ts";
import {
  curl,
  durationText,
  facts,
  live,
  notice,
  time,
  timeline,
  wholeKey,
} from "../shell/parts.ts";
import { problemNotice } from "../shell/problem-screen.ts";
import { partOr, Refused, type Screen } from "../shell/screen.ts";
import { statusPill } from "./merchant-parts.ts";

/** The keys that could pay this merchant, oldest first. */
const attestorHistory = (merchant: MerchantRecord): Html =>
  timeline([
    {
      name: "Registered",
      at: merchant.registered_at,
      note:
        merchant.previous_attestor === null
          ? html`with the attestor ${wholeKey(merchant.attestor)}`
          : "",
      tone: "good",
    },
    ...(merchant.previous_attestor === null
      ? []
      : [
          {
            name: "Attestor rotated",
            at: merchant.attestor_since,
            note: html`from ${wholeKey(merchant.previous_attestor)} to
            ${wholeKey(merchant.attestor)}${merchant.revoked_seq !== "0" && html`; the earlier key was revoked: escrows created by event ${merchant.revoked_seq} or before can only be cancelled or refunded`}`,
            tone: "plain" as const,
          },
        ]),
  ]);

const figures = ({ stats, reputation, slashes }: RegistryEntryRecord): Html =>
  html`${facts([
      ["Escrows", stats.escrows],
      ["Paid in full", stats.fulfilled],
      ["Paid in part", stats.partially_fulfilled],
      ["Refunded or cancelled", stats.refunded],
      ["Pending", stats.pending],
      [
        "Volume",
        stats.volume_usdc === null
          ? "not in a listed USDC"
          : html`<span class="money">${stats.volume_usdc}</span> USDC`,
      ],
      [
        "Median time to delivery",
        stats.median_delivery_seconds === null
          ? "no delivery yet"
          : durationText(stats.median_delivery_seconds),
      ],
      ["Reputation", html`${reputation}${slashes > 0 && html`, points taken ${slashes} times`}`],
    ])}
    <p class="note">
      These are counts, not a rating: anyone can open and refund an escrow that names a merchant,
      and a session counts once.
    </p>`;

/** The page of one merchant. */
export const merchantScreen: Screen = {
  path: "/merchants/{address}",
  show: async ({ params, read, amount, origin }) => {
    const asked = encodeURIComponent(params["address"] ?? "");
    const merchant = await read<{ readonly data: MerchantRecord }>(`/v1/merchants/${asked}`);
    if (merchant instanceof Refused) return merchant;
    const { data } = merchant;
    const [registry, escrows] = await Promise.all([
      read<Listed<RegistryEntryRecord>>(`/v1/registry/merchants?q=${data.merchant}&limit=5`),
      read<Listed<EscrowRecord>>(`/v1/indexer?merchant=${data.merchant}&limit=10`),
    ]);
    return {
      title: `Merchant ${data.merchant}`,
      follows: `/v1/indexer/events/stream?merchant=${data.merchant}`,
      body: html`<h1>${data.name}</h1>
        <p class="note">Anybody can register any name. Know a merchant by its wallet.</p>
        <p>${statusPill(data.status)}</p>
        ${
          data.same_name !== null &&
          data.same_name > 0 &&
          notice(
            "warn",
            html`${data.same_name === 1 ? "Another merchant has" : `${data.same_name} other merchants have`}
              a name that reads the same.
              <a href="/merchants?q=${encodeURIComponent(data.name)}">Compare them</a>, and know the
              merchant by its wallet from a source of your own.`,
          )
        }
        <div class="columns">
          <section>
            <h2>Keys</h2>
            ${facts([
              ["Wallet", wholeKey(data.merchant)],
              ["Account", wholeKey(data.merchant_pda)],
              ["Attestor", wholeKey(data.attestor)],
              ["Account changed", time(data.updated_at)],
            ])}
            <h3>Attestor history</h3>
            ${attestorHistory(data)}
          </section>
          <section>
            <h2>Deliveries</h2>
            ${partOr(
              registry,
              ({ data: entries }) => {
                const entry = entries.find((each) => each.merchant === data.merchant);
                return entry === undefined
                  ? html`<p class="empty">The index has no figures yet.</p>`
                  : figures(entry);
              },
              problemNotice,
            )}
          </section>
        </div>
        <h2>Latest escrows</h2>
        ${live(
          "escrows",
          partOr(
            escrows,
            (page) =>
              escrowTable(page.data, amount, "The ten newest", "No escrow names this merchant."),
            problemNotice,
          ),
        )}
        <p><a href="/escrows?merchant=${data.merchant}">All escrows of this merchant</a></p>
        ${curl(origin, `/v1/merchants/${data.merchant}`)}`,
    };
  },
};
