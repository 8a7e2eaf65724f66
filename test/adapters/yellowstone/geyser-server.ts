import {
  type handleBidiStreamingCall,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  status,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import {
  SUBSCRIBE,
  type SubscribeRequest,
  type SubscribeUpdate,
} from "../../../adapters/yellowstone/geyser-stream.ts";

type Subscription = ServerDuplexStream<SubscribeRequest, SubscribeUpdate | Buffer>;

/** How a server behaves: what its token is, and what it does with a subscription. */
export type GeyserServerOptions = {
  readonly token?: string;
  /** Reads requests and never answers. */
  readonly isMute?: () => boolean;
  /** Ends a subscription that asks for a slot, as a server does that holds no past slots. */
  readonly refusesSlots?: boolean;
  readonly port?: number;
  /** The certificate and key of a TLS server, PEM; without them it speaks plain text. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
};

/** Bytes that are no SubscribeUpdate: a field of a length that does not follow. */
const GARBAGE = Buffer.from([0x12, 0xff, 0xff, 0xff, 0x7f, 0x01]);

/**
 * A Yellowstone gRPC server on a free port that records requests, pushes what it is told to, and can lose its clients.
 */
export const startGeyserServer = async (options: GeyserServerOptions = {}) => {
  const { token, isMute = () => false, refusesSlots = false, port = 0, tls } = options;
  const requests: Array<SubscribeRequest> = [];
  const open = new Set<Subscription>();
  let changed = (): void => {};
  const record = (change: () => void): void => {
    change();
    changed();
  };
  const subscribe: handleBidiStreamingCall<SubscribeRequest, SubscribeUpdate | Buffer> = (call) => {
    if (token !== undefined && call.metadata.get("x-token")[0] !== token) {
      record(() => void requests.push({}));
      call.emit("error", { code: status.UNAUTHENTICATED, details: "No valid auth token" });
      return;
    }
    record(() => void open.add(call));
    const close = () => record(() => void open.delete(call));
    call.on("cancelled", close);
    call.on("error", close);
    call.on("data", (request: SubscribeRequest) => {
      record(() => void requests.push(request));
      if (isMute()) return;
      if (request.ping !== undefined) call.write({ filters: [], pong: request.ping });
      else if (refusesSlots && request.from_slot !== undefined)
        call.emit("error", { code: status.INTERNAL, details: "from_slot is not supported" });
    });
  };
  const server = new Server();
  const serialize = (update: SubscribeUpdate | Buffer): Buffer =>
    Buffer.isBuffer(update) ? update : SUBSCRIBE.responseSerialize(update);
  const implementation: UntypedServiceImplementation = { Subscribe: subscribe };
  server.addService({ Subscribe: { ...SUBSCRIBE, responseSerialize: serialize } }, implementation);
  const bound = await new Promise<number>((resolve, reject) => {
    const keys =
      tls === undefined
        ? ServerCredentials.createInsecure()
        : ServerCredentials.createSsl(null, [{ cert_chain: tls.cert, private_key: tls.key }]);
    server.bindAsync(`127.0.0.1:${port}`, keys, (error, taken) =>
      error === null ? resolve(taken) : reject(error),
    );
  });
  const push = (update: SubscribeUpdate | Buffer): void => {
    for (const call of open) call.write(update);
  };
  return {
    // The gRPC client takes no IP address for the name of a TLS server.
    url: new URL(tls === undefined ? `http://127.0.0.1:${bound}` : `https://localhost:${bound}`),
    requests,
    /** The subscriptions among the requests, oldest first, and `{}` for a call with a wrong token. */
    subscriptions: () => requests.filter(({ ping }) => ping === undefined),
    open: () => open.size,
    push,
    pushGarbage: () => push(GARBAGE),
    /** Ends all streams with an error, as a restarting server does. */
    drop: () => {
      for (const call of open)
        call.emit("error", { code: status.UNAVAILABLE, details: "restarting" });
      open.clear();
    },
    /** Resolves once `holds` does. It is looked at after each request and each stream that opens or closes. */
    until: (holds: () => boolean) =>
      new Promise<void>((resolve) => {
        changed = () => {
          if (holds()) resolve();
        };
        changed();
      }),
    stop: async () => {
      server.forceShutdown();
    },
  };
};

/** A running fake server. */
export type GeyserServer = Awaited<ReturnType<typeof startGeyserServer>>;
