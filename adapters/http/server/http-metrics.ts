import { type Context, Metric } from "effect";

/** Bounds in seconds: a prepare takes tens of microseconds, a relay that waits tens of seconds. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30];

export const requests = Metric.counter("http_requests_total", {
  description: "Requests answered, by method, route template and status.",
});
export const durations = Metric.histogram("http_request_duration_seconds", {
  description: "Time from a request's arrival to its answer, by method and route template.",
  boundaries: SECONDS,
});

const METHODS = new Set(["GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE"]);

/** Records one answered request of a route. */
export type RouteMeter = (method: string, status: number, seconds: number) => void;

/**
 * A meter for one route. Its labels are bounded: the template, never the path, and known methods. The
 * metric objects are made once each, because looking one up costs more than counting.
 */
export const routeMeter = (context: Context.Context<never>, route: string): RouteMeter => {
  const made = new Map<string, (seconds: number) => void>();
  const make = (method: string, status: number) => {
    const counter = Metric.withAttributes(requests, { method, route, status: String(status) });
    const histogram = Metric.withAttributes(durations, { method, route });
    return (seconds: number) => {
      counter.updateUnsafe(1, context);
      histogram.updateUnsafe(seconds, context);
    };
  };
  return (rawMethod, status, seconds) => {
    const method = METHODS.has(rawMethod) ? rawMethod : "OTHER";
    const key = `${method} ${status}`;
    let meter = made.get(key);
    if (meter === undefined) {
      meter = make(method, status);
      made.set(key, meter);
    }
    meter(seconds);
  };
};
