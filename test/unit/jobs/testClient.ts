import type { JobService } from '../../../src/jobs/service/api.ts';
import { RemoteClient } from '../../../src/remote/client.ts';

export function connectTo(url: string): JobService {
  return new RemoteClient(url, 'key-of-the-test');
}
