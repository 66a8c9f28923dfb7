import type { Disposable } from '../../core/processes/lifetime.ts';
import type { Logger } from '../../core/log.ts';
import type { RequestMonitor } from './requestMonitor.ts';

// Asked every few seconds by programs that watch the service; a line for each would hide the others.
const PROBES = new Set(['/healthz', '/metrics']);

/**
 * Writes a line for each request once it is over. It names the route and not the path: what a client puts into a path or
 * a query may be a secret. Probes that went well are for the level `debug`.
 */
export function logRequests(monitor: RequestMonitor, log: Logger): Disposable {
  return monitor.onDidFinish(({ id, ms, ...request }) => {
    const level = PROBES.has(request.route) && request.status < 400 ? 'debug' : 'info';
    log[level]('request', { requestId: id, ...request, ms: Math.round(ms * 10) / 10 });
  });
}
