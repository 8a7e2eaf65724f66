export { ChainNode as PagingNode } from "../world/chain-node.ts";
