import type { Disposable } from '../../core/processes/lifetime.ts';
import type { Logger } from '../../core/log.ts';
import type { RequestMonitor } from './requestMonitor.ts';

// Monitoring programs request these every few seconds, and their lines would hide the others.
const PROBES = new Set(['/healthz', '/metrics']);

/**
 * Logs a line for each finished request. The line names the route, because paths and queries may contain secrets. Successful
 * probes have the level `debug`.
 */
export function logRequests(monitor: RequestMonitor, log: Logger): Disposable {
  return monitor.onDidFinish(({ id, ms, ...request }) => {
    const level = PROBES.has(request.route) && request.status < 400 ? 'debug' : 'info';
    log[level]('request', { requestId: id, ...request, ms: Math.round(ms * 10) / 10 });
  });
}
