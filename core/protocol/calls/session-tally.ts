import { type Hash32, hash32FromBytes } from "../../domain/hash32.ts";
import { TreeEdge } from "../../log/tree/tree-edge.ts";
import { leafHash } from "../../log/tree/tree-hash.ts";
import { type CallDelivery, deliveryLeaf } from "./call-delivery.ts";
import { type CallOrder, orderLeaf } from "./call-order.ts";

const withLeaf = (edge: TreeEdge, leaf: Uint8Array): TreeEdge => {
  const longer = new TreeEdge(edge.size, edge.roots);
  longer.append(leafHash(leaf));
  return longer;
};

const rootOf = (edge: TreeEdge): Hash32 => hash32FromBytes(edge.root());

/**
 * Where a session stands after some calls: how many, what they cost, and the edges of both trees, of orders and of
 * deliveries. It never changes; a further call makes another one.
 */
export class SessionTally {
  /** Base units for all calls so far. */
  readonly total: bigint;
  readonly #orders: TreeEdge;
  readonly #deliveries: TreeEdge;

  /** Both edges have as many leaves. @throws RangeError otherwise. */
  constructor(total: bigint, orders: TreeEdge, deliveries: TreeEdge) {
    if (orders.size !== deliveries.size)
      throw new RangeError(`${orders.size} orders and ${deliveries.size} deliveries`);
    this.total = total;
    this.#orders = orders;
    this.#deliveries = deliveries;
  }

  /** How many calls there were. */
  get count(): number {
    return this.#orders.size;
  }

  /** The root over the orders so far (RFC 6962, section 2.1). */
  get orders(): Hash32 {
    return rootOf(this.#orders);
  }

  /** The root over the deliveries so far (RFC 6962, section 2.1). */
  get deliveries(): Hash32 {
    return rootOf(this.#deliveries);
  }

  /** The roots of the perfect subtrees of both trees, largest first: all that is needed to go on. */
  get edges(): {
    readonly orders: ReadonlyArray<Uint8Array>;
    readonly deliveries: ReadonlyArray<Uint8Array>;
  } {
    return { orders: this.#orders.roots, deliveries: this.#deliveries.roots };
  }

  /** The root over the orders with a further one. */
  ordersWith(order: CallOrder): Hash32 {
    return rootOf(withLeaf(this.#orders, orderLeaf(order)));
  }

  /** Where the session stands after one more call. */
  after(order: CallOrder, delivery: CallDelivery): SessionTally {
    return new SessionTally(
      delivery.totalAfter,
      withLeaf(this.#orders, orderLeaf(order)),
      withLeaf(this.#deliveries, deliveryLeaf(delivery)),
    );
  }
}

/** Where a session stands before its first call. */
export const NO_CALLS: SessionTally = new SessionTally(0n, new TreeEdge(), new TreeEdge());
