import { AppError } from '../../core/errors.ts';
import { readFeatures } from '../../jobs/plan/serviceLimits.ts';
import type { JobTunnelClient } from '../../remote/tunnel/jobTunnelClient.ts';
import { CONNECT_FEATURE } from '../../remote/tunnel/tunnelProtocol.ts';
import type { Context } from '../command/commandContext.ts';
import type { Session } from '../command/session.ts';

/** Connects to a running job. @throws AppError `refused` if the service lets nobody into its jobs. */
export async function connectToJob(
  session: Session,
  jobId: string,
  { outputSignal }: Context,
): Promise<JobTunnelClient> {
  const client = await session.client();
  if (!readFeatures(await client.me({ signal: outputSignal })).includes(CONNECT_FEATURE)) {
    const message = `Running jobs of ${session.hostName} cannot be connected to: the service does not offer it. Update the service, or run the job on one that does.`;
    throw new AppError('refused', message);
  }
  return session.ask(jobId, (asked) => asked.connectJob(jobId, { signal: outputSignal }));
}
