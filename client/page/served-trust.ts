import { boundedText } from "../service/requests.ts";
import { fetchDirectly } from "../service/fetch-directly.ts";

/** The trust document of the service that the page comes from. Rejects where it gives none. */
export const servedTrust = async (): Promise<string> => {
  const answer = await fetchDirectly(`${location.origin}/.well-known/evidence-trust.json`, {});
  if (!answer.ok) throw new Error(`The service gave no trust document: ${answer.status}.`);
  return boundedText(answer);
};
