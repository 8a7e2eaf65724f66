/**
 * Lets the runtime free what the virtual machine handed out: that lies outside of the collector's count, and its
 * finalizers run only between two turns of the event loop.
 */
export const breathe = async (): Promise<void> => {
  Bun.gc(true);
  await new Promise((resolve) => void setImmediate(resolve));
};
