import { signIn as signInTo } from '../../services/signIn.ts';
import { readJobArgument } from '../../submit/submitArguments.ts';
import { withArgument } from '../command.ts';

/** Signs in to the host of a job, or to the selected host. */
export const signIn = withArgument(readJobArgument, ({ services }, job) => {
  const host = job === undefined ? undefined : services.store.get(job)?.host;
  return signInTo(services, host ?? services.hosts.current());
});
