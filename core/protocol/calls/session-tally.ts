import { type Hash32, hash32FromBytes } from "../../domain/hash32.ts";
import { TreeEdge } from "../../log/tree/tree-edge.ts";
import { leafHash } from "../../log/tree/tree-hash.ts";
import { type CallDelivery, deliveryLeaf } from "./call-delivery.ts";
import { type CallOrder, orderLeaf } from "./call-order.ts";

const withLeaf = (edge: TreeEdge, leaf: Uint8Array): TreeEdge => {
  const longer = edge.copy();
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
  #deliveriesRoot: Hash32 | null = null;
  /** The orders with the one that was asked about last: one side asks several times within a call. */
  #ordered: { readonly order: CallOrder; readonly edge: TreeEdge; readonly root: Hash32 } | null =
    null;

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
    this.#deliveriesRoot ??= rootOf(this.#deliveries);
    return this.#deliveriesRoot;
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
    return this.#with(order).root;
  }

  /** Where the session stands after one more call. */
  after(order: CallOrder, delivery: CallDelivery): SessionTally {
    return new SessionTally(
      delivery.totalAfter,
      this.#with(order).edge,
      withLeaf(this.#deliveries, deliveryLeaf(delivery)),
    );
  }

  #with({ taskHash, limit }: CallOrder) {
    const before = this.#ordered;
    if (before?.order.taskHash === taskHash && before.order.limit === limit) return before;
    const order = { taskHash, limit };
    const edge = withLeaf(this.#orders, orderLeaf(order));
    const made = { order, edge, root: rootOf(edge) };
    this.#ordered = made;
    return made;
  }
}

/** Where a session stands before its first call. */
export const NO_CALLS: SessionTally = new SessionTally(0n, new TreeEdge(), new TreeEdge());
