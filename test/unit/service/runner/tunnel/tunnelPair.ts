import { spawn } from 'node:child_process';
import { duplexPair } from 'node:stream';
import type { TestContext } from 'node:test';
import { JobTunnelClient } from '../../../../../src/remote/tunnel/jobTunnelClient.ts';
import { serveTunnel } from '../../../../../src/service/runner/tunnel/serveTunnel.ts';

/** A client of a tunnel into a folder, and the job's side in this process. */
export function openTunnel(
  t: Pick<TestContext, 'after'>,
  {
    folder = '/',
    processes = () => [process.pid],
  }: { readonly folder?: string; readonly processes?: () => Iterable<number> } = {},
): JobTunnelClient {
  const [near, far] = duplexPair();
  const closed = new Promise<Error>((resolve) => near.once('close', () => resolve(new Error('the tunnel has ended'))));
  void serveTunnel(far, { folder, variables: {}, spawn, processes });
  near.on('error', () => {});
  const client = new JobTunnelClient({
    stream: near,
    closed,
    onDidChange: () => ({ dispose: () => {} }),
    end: () => {
      near.destroy();
      far.destroy();
    },
  });
  t.after(() => client[Symbol.dispose]());
  return client;
}
