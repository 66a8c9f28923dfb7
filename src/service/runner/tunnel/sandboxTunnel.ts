// Serves the clients of a job from inside its sandbox: `node sandboxTunnel.mjs`. It is a process of the job, so that whatever it starts
// is confined as the job is. The job can do anything to it that it can do itself.
import { spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { parseOwnJson } from '../../../core/jsonFields.ts';
import { processIds } from '../../../core/processes/procfs.ts';
import { Multiplexer } from '../../../core/network/multiplexer.ts';
import { readLine, TUNNEL_CHANNELS } from '../../../remote/tunnel/tunnelProtocol.ts';
import { TUNNEL_FD, type TunnelSetUp } from './sandboxWaiter.ts';
import { TunnelSessions } from './tunnelSessions.ts';

const runner = new Socket({ fd: TUNNEL_FD, readable: true, writable: true });
const setUp = parseOwnJson<TunnelSetUp>((await readLine(runner)) ?? '{}');
const sessions = new TunnelSessions({ ...setUp, spawn, processes: processIds });
void new Multiplexer(runner, runner, {
  windowBytes: TUNNEL_CHANNELS.windowBytes,
  onChannel: (connection) => void sessions.admit(connection),
});
