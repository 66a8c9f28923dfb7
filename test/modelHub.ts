import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

interface ModelHub extends Disposable {
  readonly address: string;
  /** The paths of the requests until now. */
  readonly requested: readonly string[];
}

/** A model hub that serves the models in a folder. */
export async function openModelHub(folder: string): Promise<ModelHub> {
  const requested: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    requested.push(url);
    const [, model, file] = /^\/([\w-]+\/[\w.-]+)\/resolve\/main\/([\w.]+)$/.exec(url) ?? [];
    const missing = (): unknown => response.writeHead(404).end();
    if (model === undefined || file === undefined) missing();
    else
      createReadStream(join(folder, model, file))
        .on('error', missing)
        .pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requested,
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
