import assert from 'node:assert/strict';
import { posix } from 'node:path';
import { JsonSyntaxError, parseJsonDocument } from '../../../src/jobs/profiles/jsonDocument.ts';
import { parseProfiles } from '../../../src/jobs/profiles/profileFile.ts';
import { profileJob } from '../../../src/jobs/profiles/profileJob.ts';
import { isInside } from '../../../src/remote/protocol/termValues.ts';
import { allowRefusal, type FuzzedReader, nothingToClose } from '../reader.ts';

const FILE = `{
  "profiles": {
    "train": {
      "script": "train.py --fast",
      "arguments": ["--epochs", "3", "\${workspaceFolder}/data", "\${env:NAME}"],
      "maxRuntime": 60, "machineClass": "a10g", "service": "gpu.example.org:8080/farm",
      "environment": { "SEED": "1", "TOKEN": "\${env:TOKEN}" },
      "include": ["data/train.bin"], "exclude": ["old"], "results": "results/train"
    }
  }
}`;

/** The profiles of a folder: the values of `JSON.parse`, errors within the text, and no path that leads out of the folder. */
export const profiles: FuzzedReader = {
  name: 'profiles',
  samples: () => Promise.resolve([Buffer.from(FILE), Buffer.from('{"profiles": {"a": {"script": "${file}"}}}')]),
  words: [
    '${env:',
    '${file}',
    '}',
    '../',
    '..',
    '/',
    '\\\\',
    '\\u0000',
    '"include":',
    '"results":',
    '__proto__',
    '1e400',
  ],
  open: () =>
    Promise.resolve({
      read: async (input) => {
        const text = input.toString('utf8');
        checkValue(text);
        const found = parseProfiles(text);
        for (const { start, end } of found.problems) assert.ok(start >= 0 && start <= end && start <= text.length);
        for (const profile of found.profiles) {
          const { include = [], results = '.' } = profile.profile;
          for (const path of [...include, results]) assert.ok(isInside(posix.normalize(path)), path);
          await allowRefusal(() => profileJob(profile).terms({ env: { NAME: "a 'b'" }, file: undefined }));
        }
      },
      [Symbol.asyncDispose]: nothingToClose,
    }),
};

function checkValue(text: string): void {
  try {
    assert.deepEqual(parseJsonDocument(text).value, JSON.parse(text));
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
  }
}
