import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readConfig } from '../../../src/service/serviceConfig.ts';
import { allowRefusal, type FuzzedReader, nothingToClose } from '../reader.ts';

const TOML = `executor = "process"
[process]
isolation = "auto"
max_jobs = 4
[[machine_classes]]
name = "small"
cpus = 2
memory_gb = 4.5
credits_per_second = 0.1
[limits]
results_gb = 1
`;

/** Settings of a service, in both of their formats. */
export const configurations: FuzzedReader = {
  name: 'configuration',
  samples: () =>
    Promise.resolve([Buffer.from(TOML), Buffer.from('{"executor":"process","process":{"network":false}}')]),
  words: ['[[', ']]', '=', '"""', "'''", '{', '}', '1e400', 'nan', '1979-05-27', '__proto__', 'constructor', '\\u0000'],
  open: (scratch) =>
    Promise.resolve({
      read: async (input) => {
        for (const name of ['service.toml', 'service.json']) {
          const path = join(scratch, name);
          await writeFile(path, input);
          await allowRefusal(() => readConfig(path));
        }
      },
      [Symbol.asyncDispose]: nothingToClose,
    }),
};
