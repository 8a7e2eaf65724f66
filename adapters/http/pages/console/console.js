const byId = (id) => document.getElementById(id);

/** An element with text or children; text is only ever set as text. */
const element = (tag, content, attributes = {}) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...[content].flat());
  return made;
};

const getJson = async (path) => {
  const response = await fetch(path, { headers: { accept: "application/json" } });
  const body = await response.json();
  if (!response.ok) throw new Error(body.detail ?? `status ${response.status}`);
  return body;
};

const short = (text) => `${text.slice(0, 6)}…${text.slice(-4)}`;
const shown = (value) => (value === null ? "not known" : String(value));

const showStatus = (status) => {
  byId("state").replaceChildren(
    "The service is ",
    element("span", status.status, { class: status.status }),
    ".",
  );
  const { network, programs, indexer } = status;
  const facts = [
    ["Ledger", `${network.cluster} at ${network.rpc_address}`],
    ["Slot", shown(network.slot)],
    ["Custody program", programs.custody.address],
    ["Attestor program", programs.attestor.address],
    ["Indexed escrows", shown(indexer.escrows)],
    ["Registered merchants", shown(indexer.merchants)],
    ["Settlement events", shown(indexer.events)],
    ["Last synced", shown(indexer.last_synced_at)],
  ];
  byId("facts").replaceChildren(
    ...facts.map(([name, value]) => element("div", [element("dt", name), element("dd", value)])),
  );
};

/** Anybody can make a mint: units of one that is not listed are not shown as money. */
const amountOf = ({ amount_stroops, amount_usdc, symbol }) =>
  amount_usdc === null
    ? `${amount_stroops} base units${symbol === null ? "" : ` of ${symbol}`}`
    : `${amount_usdc} USDC`;

const row = (escrow) =>
  element("tr", [
    element(
      "td",
      element("a", element("code", short(escrow.escrow_pda)), {
        href: `/v1/escrows/${escrow.escrow_pda}`,
        title: escrow.escrow_pda,
      }),
    ),
    element("td", escrow.state),
    element("td", amountOf(escrow)),
    element("td", escrow.created_at),
    element("td", [
      element("a", "page", { href: `/v1/evidence/${escrow.escrow_pda}` }),
      " ",
      element("a", "packet", { href: `/v1/evidence/${escrow.escrow_pda}?download=json` }),
    ]),
  ]);

const note = (text) => element("tr", element("td", text, { colspan: "5" }));

const showEscrows = (escrows) => {
  byId("rows").replaceChildren(...(escrows.length === 0 ? [note("None yet.")] : escrows.map(row)));
};

const refresh = async () => {
  await Promise.all([
    getJson("/v1/status")
      .then(({ data }) => showStatus(data))
      .catch((error) => byId("state").replaceChildren(`No status: ${error.message}`)),
    getJson("/v1/indexer?limit=10")
      .then(({ data }) => showEscrows(data))
      .catch((error) => byId("rows").replaceChildren(note(error.message))),
  ]);
};

import("/console/verify.js").catch((error) => {
  byId("verify-verdict").textContent = `The verifier could not be loaded: ${error.message}`;
});

await refresh();
setInterval(() => {
  if (document.visibilityState === "visible") void refresh();
}, 5000);
