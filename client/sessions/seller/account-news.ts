import type { Address } from "../../../core/domain/address.ts";
import type { ClientClock } from "../../service/requests.ts";

/** The part of a WebSocket that is used here. */
export type NewsSocket = Pick<WebSocket, "send" | "close" | "addEventListener">;

/** Opens a WebSocket. */
export type OpenSocket = (url: string) => NewsSocket;

/** Tells of changes of accounts that are watched. It only makes looks come earlier: nothing is believed of it. */
export type AccountNews = {
  /** Watches an account until `close`. The same again changes nothing. */
  readonly watch: (account: Address) => void;
  readonly forget: (account: Address) => void;
  readonly close: () => void;
};

const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 60_000;

/** A node's usual WebSocket: the port after its own if that is given, else the same port (Agave `--rpc-port`). */
export const socketUrlOf = (rpc: string): string => {
  const url = new URL(rpc);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  if (url.port !== "") url.port = String(Number(url.port) + 1);
  return url.href;
};

type Message = {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly params?: { readonly subscription?: unknown };
};

const messageIn = (data: unknown): Message => {
  try {
    const parsed: unknown = JSON.parse(String(data));
    return typeof parsed === "object" && parsed !== null ? parsed : {};
  } catch {
    return {};
  }
};

/**
 * Subscribes to accounts at a node's WebSocket (`accountSubscribe`, finalized), and calls `changed` for each change. A
 * connection that is lost is opened again, a second later at first and a minute at last, and then every account counts
 * as changed.
 */
export const accountNews = (
  url: string,
  changed: (accounts: ReadonlyArray<Address>) => void,
  clock: ClientClock,
  open: OpenSocket,
): AccountNews => {
  const watched = new Set<Address>();
  const closing = new AbortController();
  let socket: NewsSocket | null = null;
  let isOpen = false;
  let pauseMs = FIRST_PAUSE_MS;
  let isPausing = false;
  /** Requests by their ids, and accounts by their subscriptions. */
  let asked = new Map<unknown, Address>();
  let subscribed = new Map<unknown, Address>();
  let nextId = 1;

  const subscribe = (account: Address): void => {
    const id = nextId++;
    asked.set(id, account);
    const params = [account, { commitment: "finalized", encoding: "base64" }];
    socket?.send(JSON.stringify({ jsonrpc: "2.0", id, method: "accountSubscribe", params }));
  };

  const again = async (): Promise<void> => {
    await clock.pause(pauseMs, closing.signal).catch(() => undefined);
    isPausing = false;
    connect();
  };

  const lost = (): void => {
    if (socket === null) return;
    socket = null;
    isOpen = false;
    if (closing.signal.aborted || watched.size === 0) return;
    isPausing = true;
    void again();
    pauseMs = Math.min(pauseMs * 2, LAST_PAUSE_MS);
  };

  const connect = (): void => {
    if (closing.signal.aborted || socket !== null || isPausing || watched.size === 0) return;
    const made = open(url);
    socket = made;
    asked = new Map();
    subscribed = new Map();
    made.addEventListener("open", () => {
      if (socket !== made) return;
      isOpen = true;
      pauseMs = FIRST_PAUSE_MS;
      for (const account of watched) subscribe(account);
      changed([...watched]);
    });
    made.addEventListener("message", ({ data }) => {
      const { id, result, params } = messageIn(data);
      const account = asked.get(id);
      if (account !== undefined && result !== undefined) {
        asked.delete(id);
        subscribed.set(result, account);
      }
      const told = subscribed.get(params?.subscription);
      if (told !== undefined && watched.has(told)) changed([told]);
    });
    for (const end of ["close", "error"] as const)
      made.addEventListener(end, () => {
        if (socket === made) lost();
      });
  };

  return {
    watch: (account) => {
      if (watched.has(account)) return;
      watched.add(account);
      if (isOpen) subscribe(account);
      else connect();
    },
    forget: (account) => void watched.delete(account),
    close: () => {
      closing.abort();
      socket?.close();
    },
  };
};
