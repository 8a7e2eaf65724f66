import type { Reply, Scenario } from "../scenario.ts";
import { resultText } from "../../world/rpc-answer.ts";

/** The share of answers that a failing line spoils. */
const SPOILED = 0.25;
/** More than the longest answer that is read (16 MiB). */
const HUGE = new Uint8Array(17 * 1024 * 1024).fill(0x20);

const ok = (body: string | Uint8Array<ArrayBuffer>): Reply => ({
  http: { status: 200, headers: { "content-type": "application/json" }, body },
});

/** A line that spoils a share of the answers. */
const spoiling = (
  name: string,
  does: string,
  spoil: (text: string, id: number) => Reply,
): Scenario => ({
  name,
  does,
  isUsual: false,
  play:
    ({ backend, random }) =>
    async (call) => {
      const answer = await backend.answer(call);
      if (random() >= SPOILED || "error" in answer) return answer;
      return spoil(resultText(answer.result), call.id);
    },
});

/** Lines and servers that fail. */
export const TRANSPORT: ReadonlyArray<Scenario> = [
  spoiling("truncated", "cuts some answers in half", (text, id) =>
    ok(`{"jsonrpc":"2.0","id":${id},"result":${text.slice(0, text.length / 2)}`),
  ),
  spoiling("wrong-ids", "answers some requests under another id", (text, id) =>
    ok(`{"jsonrpc":"2.0","result":${text},"id":${id + 1}}`),
  ),
  spoiling("html-pages", "answers some requests with a page of HTML", () =>
    ok("<html>Bad gateway</html>"),
  ),
  spoiling("huge-bodies", "answers some requests with 17 MiB of spaces", () => ok(HUGE)),
  {
    name: "slow",
    does: "keeps some answers back for 50 ms, so that they overtake each other",
    isUsual: true,
    play:
      ({ backend, random }) =>
      async (call) => {
        const answer = await backend.answer(call);
        if (random() < SPOILED) await Bun.sleep(50);
        return answer;
      },
  },
];
