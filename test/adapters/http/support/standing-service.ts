import { afterAll } from "bun:test";
import { checkedClient, makeService } from "./service.ts";

/**
 * A service that stands until a file's last test has ended, and a client whose answers are checked against the
 * document.
 */
export const standing = async (making: ReturnType<typeof makeService> = makeService()) => {
  const service = await making;
  afterAll(() => service.runtime.dispose());
  return { service, client: await checkedClient(service) };
};
