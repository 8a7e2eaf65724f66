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

const showFacts = (id, facts) =>
  byId(id).replaceChildren(
    ...facts.map(([name, value]) => element("div", [element("dt", name), element("dd", value)])),
  );

const LOG_STATES = {
  no_key: "Another process publishes this log.",
  starting: "No sync of this process has reached the log yet.",
  publishing: "The log is published.",
  standby: "Another replica publishes this log at present.",
  ended: "The log has ended: nothing more is signed for it.",
};
const HINDRANCES = {
  nodes_disagree: "A node shows another history than the index.",
  second_node_behind: "No second node is as far as the index.",
  signed_size_not_derived_yet: "The index has not come to the size that was signed last.",
  ended: "",
  store_or_ledger_unavailable: "The store or the ledger does not answer.",
  quorum_missing: "Too few witnesses have cosigned the newest checkpoint.",
  witnesses_ahead:
    "Witnesses have cosigned more than this log has: nothing is signed until it has come that far.",
  witness_missing: "The quorum is met, but a witness does not cosign.",
  log_key_missing: "This process lacks a key of the log.",
  ending: "Its operator ends it, and its witnesses have to cosign what it signed last.",
};

const witnessOf = ({ name, size, last_problem }) =>
  element(
    "div",
    `${name}: ${size === 0 ? "has cosigned nothing yet" : `cosigned size ${size}`}${last_problem === null ? "" : `, now: ${last_problem}`}`,
  );

/** What a packet's proof shows follows the reader's policy, never the service's. */
const UNPROVEN = {
  none: "Without a log no packet of this service has a proof that the ledger has its account. Add --rpc URL with a node of your choice.",
  alone:
    "No witness has cosigned: the log alone states its tree, so that the ledger has a packet's account stays unproven. Add --rpc URL with a node of your choice.",
  cosigned:
    "That the ledger has a packet's account and that the attestor key was the merchant's is witnessed where log_on_ledger of your trust document names these witnesses and enough of them signed. Otherwise it stays unproven: add --rpc URL with a node of your choice.",
};

const showLog = (log) => {
  if (log === null) {
    byId("log-state").replaceChildren("This service publishes no log, or does not know of it now.");
    byId("log-facts").replaceChildren();
    byId("log-unproven").replaceChildren(UNPROVEN.none);
    return;
  }
  const causes = [log.ended, log.hindrance === null ? null : HINDRANCES[log.hindrance]];
  const words = [LOG_STATES[log.state], ...causes].filter((each) => each);
  const isWell = log.hindrance === null && log.ended === null;
  byId("log-state").replaceChildren(
    element("span", words.join(" "), { class: isWell ? "online" : "degraded" }),
  );
  showFacts("log-facts", [
    ["Origin", shown(log.origin)],
    ["Leaves signed", shown(log.size)],
    ["Root", shown(log.root)],
    ["Leaves published", shown(log.published_size)],
    ["Last cosigned", log.cosigned_at ?? "by no witness"],
    ["Quorum", log.quorum ?? "no witness is asked"],
    ["Witnesses", log.witnesses.length === 0 ? "none" : log.witnesses.map(witnessOf)],
    ["Key", shown(log.vkey)],
  ]);
  byId("log-unproven").replaceChildren(
    log.cosigned_at === null ? UNPROVEN.alone : UNPROVEN.cosigned,
  );
};

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
    ["Settlement events", shown(indexer.count)],
    ["Last synced", shown(indexer.last_synced_at)],
  ];
  showFacts("facts", facts);
  showLog(status.log);
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
