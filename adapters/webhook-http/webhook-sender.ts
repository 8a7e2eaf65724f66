import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";
import { Duration, Effect, Layer } from "effect";
import {
  type WebhookAnswer,
  type WebhookRequest,
  WebhookSender,
  WebhookUnreachable,
} from "../../ports/webhook-sender.ts";

/** How long a receiver may take, name and connection included (Standard Webhooks: 15 to 30 s). */
const WITHIN = Duration.seconds(20);

/**
 * Networks that are no public receiver's (IANA, "IPv4 Special-Purpose Address Registry"; RFC 5771), and Azure's wire
 * server, which answers each virtual machine there at an address that is otherwise a public one.
 */
const NOT_PUBLIC_IPV4 = `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12
  192.0.0.0/24 192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24
  198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4`;
/** Of IPv6 only global unicast is public (RFC 4291, section 2.4), without what is special in it (IANA's other registry). */
const PUBLIC_IPV6 = "2000::/3";
const NOT_PUBLIC_IPV6 = "2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20";

const networks = (text: string, family: "ipv4" | "ipv6"): BlockList => {
  const list = new BlockList();
  for (const each of text.split(/\s+/)) {
    const [network = "", bits] = each.split("/");
    list.addSubnet(network, Number(bits), family);
  }
  return list;
};
const notPublicIpv4 = networks(NOT_PUBLIC_IPV4, "ipv4");
const publicIpv6 = networks(PUBLIC_IPV6, "ipv6");
const notPublicIpv6 = networks(NOT_PUBLIC_IPV6, "ipv6");
const loopbackIpv4 = networks("127.0.0.0/8", "ipv4");

/** Whether an IP address is one that anybody reaches over the internet. */
export const isPublicAddress = (address: string): boolean =>
  isIP(address) === 4
    ? !notPublicIpv4.check(address, "ipv4")
    : isIP(address) === 6 &&
      publicIpv6.check(address, "ipv6") &&
      !notPublicIpv6.check(address, "ipv6");

const isLoopback = (address: string): boolean =>
  isIP(address) === 4 ? loopbackIpv4.check(address, "ipv4") : address === "::1";

/** The addresses of a host name, all of them. */
export type Resolve = (host: string) => Promise<ReadonlyArray<string>>;

const resolveByMachine: Resolve = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address);

/** The receiver may not be asked. */
class Refused extends Error {}

/**
 * The address to connect to: one that was checked, so that a name cannot come to stand for another one in between.
 */
const checkedAddress = async (
  { url, allowPrivate }: WebhookRequest,
  resolve: Resolve,
): Promise<string> => {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const addresses = isIP(host) === 0 ? await resolve(host) : [host];
  const isAllowed = (address: string): boolean =>
    url.protocol === "http:" ? isLoopback(address) : allowPrivate || isPublicAddress(address);
  if (!addresses.every(isAllowed))
    throw new Refused(
      url.protocol === "http:"
        ? `${url.host} is not this machine, which is needed without TLS`
        : `${url.host} is in no public network (webhook add --allow-private allows that)`,
    );
  // Most machines reach IPv4, some no IPv6.
  const chosen = addresses.find((address) => isIP(address) === 4) ?? addresses[0];
  if (chosen === undefined) throw new Refused(`${url.host} has no address`);
  return chosen;
};

const secondsOf = (retryAfter: string | null): number | null =>
  retryAfter !== null && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : null;

const post = async (
  request: WebhookRequest,
  resolve: Resolve,
  ca: string | undefined,
  signal: AbortSignal,
): Promise<WebhookAnswer> => {
  const { url, headers, body } = request;
  const address = await checkedAddress(request, resolve);
  const target = new URL(url);
  target.hostname = isIP(address) === 6 ? `[${address}]` : address;
  const name = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const response = await fetch(target, {
    method: "POST",
    body,
    headers: { ...headers, host: url.host, "content-type": "application/json" },
    redirect: "manual",
    keepalive: false,
    // A proxy of the environment would resolve and connect for itself.
    proxy: false,
    signal,
    ...(url.protocol === "https:"
      ? {
          tls: {
            ...(isIP(name) === 0 ? { serverName: name } : {}),
            ...(ca === undefined ? {} : { ca }),
          },
        }
      : {}),
  });
  await response.body?.cancel();
  return {
    status: response.status,
    retryAfterSeconds: secondsOf(response.headers.get("retry-after")),
  };
};

/** What went wrong, without the path of the address. */
const reasonOf = (cause: unknown): string => {
  if (cause instanceof Refused) return cause.message;
  if (!(cause instanceof Error)) return "it cannot be reached";
  return "code" in cause ? `it cannot be reached (${String(cause.code)})` : "it cannot be reached";
};

type SenderOptions = {
  readonly resolve?: Resolve;
  /** A certificate that is trusted in place of the usual authorities, PEM. */
  readonly ca?: string;
};

/** Sends webhooks over HTTP. `resolve` finds the addresses of names. */
export const webhookSenderHttp = ({
  resolve = resolveByMachine,
  ca,
}: SenderOptions = {}): Layer.Layer<WebhookSender> =>
  Layer.succeed(WebhookSender, {
    send: Effect.fn("WebhookSender.send")((request) =>
      Effect.tryPromise({
        try: (signal) => post(request, resolve, ca, signal),
        catch: (cause) => new WebhookUnreachable({ reason: reasonOf(cause) }),
      }).pipe(
        Effect.timeoutOrElse({
          duration: WITHIN,
          orElse: () =>
            Effect.fail(
              new WebhookUnreachable({ reason: `it took more than ${Duration.format(WITHIN)}` }),
            ),
        }),
      ),
    ),
  });
