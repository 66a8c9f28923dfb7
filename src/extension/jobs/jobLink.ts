import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import { acceptedJobId } from '../../remote/protocol/schemas.ts';
import { resolveHost } from '../../jobs/service/host.ts';

const EXTENSION = 'farwharf.farwharf';
const PATH = '/job';

export interface LinkedJob {
  readonly host: string;
  readonly jobId: string;
}

/** `vscode://farwharf.farwharf/job?host=https%3A%2F%2Fgpu.example.org&id=7f3a…`. @param scheme of this editor. */
export function formatJobLink(scheme: string, { host, jobId }: LinkedJob): string {
  return `${scheme}://${EXTENSION}${PATH}?${new URLSearchParams({ host, id: jobId }).toString()}`;
}

/**
 * The job that a link leads to. Anybody can write a link, so nothing has been contacted when this returns.
 *
 * @param link the path and the query of its URI.
 * @throws AppError `bad-input` for another path, and for text that cannot be a job ID or the host of a service.
 */
export function readJobLink({ path, query }: { readonly path: string; readonly query: string }): LinkedJob {
  const parameters = new URLSearchParams(query);
  const jobId = acceptedJobId.safeParse(parameters.get('id'));
  const host = parameters.get('host') ?? '';
  if (path !== PATH || host === '' || !jobId.success)
    throw new AppError('bad-input', l10n.t('This link does not lead to a job. Copy it again with Copy Link to Job.'));
  return { host: resolveHost({ remote: host, env: process.env }), jobId: jobId.data };
}
