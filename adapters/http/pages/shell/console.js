// What the pages do beyond what the server rendered: they copy, count down, and show news. Each works without this file.

for (const button of document.querySelectorAll(".copy")) button.hidden = false;

document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("button.copy") : null;
  if (button === null) return;
  const text = button.dataset.copy ?? button.closest(".code")?.querySelector("pre")?.textContent;
  navigator.clipboard.writeText(text ?? "").then(
    () => (button.textContent = "Copied"),
    () => (button.textContent = "Copy it by hand"),
  );
});

// A button that runs a module loads it at the first click.
for (const button of document.querySelectorAll("button[data-runs]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    button.disabled = true;
    void import(button.dataset.runs)
      .then(({ run }) => run(button))
      .finally(() => (button.disabled = false));
  });
}

// A document that is dropped on the page goes to the page that judges it, inside this tab.
for (const hint of document.querySelectorAll("[data-carries]")) {
  hint.hidden = false;
  document.addEventListener("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  });
  const carry = async (files) => {
    const read = files.map(async (file) => ({ name: file.name, text: await file.text() }));
    sessionStorage.setItem("carried", JSON.stringify(await Promise.all(read)));
    location.assign(hint.dataset.carries);
  };
  document.addEventListener("drop", (event) => {
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    carry(files).catch(() => {
      hint.textContent = "That is too large to be carried over. Open Verify, and give it there.";
    });
  });
}

const UNITS = [
  ["day", 86400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
];

const durationText = (seconds) => {
  let rest = seconds;
  const words = [];
  for (const [name, size] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) words.push(`${count} ${name}${count === 1 ? "" : "s"}`);
  }
  return words.slice(0, 2).join(" ");
};

// The end of each countdown by the page's monotonic clock: the machine's own time may be wrong.
const ends = new WeakMap();

const countDown = () => {
  const now = performance.now() / 1000;
  for (const shown of document.querySelectorAll(".countdown")) {
    const end = ends.get(shown) ?? now + Number(shown.dataset.left);
    ends.set(shown, end);
    const left = Math.floor(end - now);
    const text = left > 0 ? durationText(left) : "over";
    if (shown.textContent !== text) shown.textContent = text;
  }
};
countDown();
setInterval(countDown, 1000);

const LIVE = "[data-live]";
const MOST_WAIT_MS = 20_000;

// Asks for the page again and puts its live parts in place. A part that holds the focus, or the reader's selection, stays.
const renew = async () => {
  const answer = await fetch(location.href, {
    headers: { accept: "text/html" },
    signal: AbortSignal.timeout(MOST_WAIT_MS),
  });
  if (!answer.ok) throw new Error(`the service answers ${answer.status}`);
  const made = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of made.querySelectorAll(LIVE)) {
    const shown = document.getElementById(part.id);
    if (shown === null || shown.innerHTML === part.innerHTML) continue;
    if (shown.contains(document.activeElement) || getSelection()?.containsNode(shown, true))
      continue;
    const open = [...shown.querySelectorAll("details")].map((each) => each.open);
    shown.innerHTML = part.innerHTML;
    shown.querySelectorAll("details").forEach((each, at) => (each.open = open[at] ?? each.open));
    for (const button of shown.querySelectorAll(".copy")) button.hidden = false;
    shown.classList.remove("renewed");
    requestAnimationFrame(() => shown.classList.add("renewed"));
  }
  document.dispatchEvent(new CustomEvent("renewed"));
};

// News that come together are one look.
const AT_ONCE_MS = 400;
const AT_LEAST_MS = 30_000;
// A stream that broke off once comes back by itself, most often at once.
const BROKEN = 2;
const { follows } = document.body.dataset;
if (follows !== undefined) {
  let waiting = null;
  let source = null;
  let breaks = 0;
  let isAnswered = true;
  let asOf = new Date();

  // Where the reader is told that the page is not live any more, and that it is so again.
  const told = document.createElement("p");
  told.setAttribute("role", "status");
  told.className = "liveness";
  document.getElementById("main").prepend(told);
  const tell = () => {
    const time = `${asOf.toISOString().slice(11, 19)} UTC`;
    const wasLive = !told.classList.contains("warn");
    const isLive = isAnswered && breaks < BROKEN;
    if (isLive && wasLive) return;
    document.body.classList.toggle("stale", !isLive);
    told.className = `liveness notice ${isLive ? "good" : "warn"}`;
    told.textContent = isLive
      ? `Live again since ${time}.`
      : `Not live any more: nothing new comes from the service. What you see is as of ${time}.`;
  };

  const look = async () => {
    waiting = null;
    try {
      await renew();
      isAnswered = true;
      asOf = new Date();
    } catch {
      isAnswered = false;
    }
    tell();
  };
  const soon = () => (waiting ??= setTimeout(() => void look(), AT_ONCE_MS));
  const follow = () => {
    source?.close();
    source = null;
    if (document.visibilityState === "hidden") return;
    source = new EventSource(follows);
    source.addEventListener("message", soon);
    source.addEventListener("open", () => {
      if (breaks > 0) soon();
      breaks = 0;
    });
    source.addEventListener("error", ({ target }) => {
      // The browser does not come back to a stream that was refused.
      breaks += target.readyState === EventSource.CLOSED ? BROKEN : 1;
      if (breaks === 1) soon();
      else tell();
    });
  };
  document.addEventListener("visibilitychange", () => {
    follow();
    if (document.visibilityState !== "hidden") soon();
  });
  follow();
  // How the service stands changes without news too.
  setInterval(() => {
    if (document.visibilityState === "hidden") return;
    if (source?.readyState === EventSource.CLOSED) follow();
    soon();
  }, AT_LEAST_MS);
}
