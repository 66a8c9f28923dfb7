import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { TemporaryFolder } from '../../core/processes/temporaryFolder.ts';
import { shellWord } from '../../core/text/shellWord.ts';

/** Answers ssh's prompts if there is no terminal (ssh(1), SSH_ASKPASS). */
export interface Askpass extends AsyncDisposable {
  /** Variables for ssh. */
  readonly env: Readonly<Record<string, string>>;
}

export interface AskpassOptions {
  /** Executable that runs JavaScript: Node, or Electron. */
  readonly node: string;
  /** Path of the built `askpass.mjs`, or of its source. */
  readonly client: string;
  /** Returns the answer to a question of ssh; undefined if the user cancelled. */
  readonly answer: (question: string) => Promise<string | undefined>;
}

const MAX_QUESTION = 4_000;

/**
 * Starts to answer questions, in a folder that only this user can enter. On Windows ssh cannot run a script, so that questions fail there.
 *
 * @throws the system's error if the folder cannot be created.
 */
export async function startAskpass({ node, client, answer }: AskpassOptions): Promise<Askpass> {
  if (process.platform === 'win32') return { env: {}, [Symbol.asyncDispose]: async () => {} };
  const folder = await TemporaryFolder.create('ask-');
  const [socket, script] = [join(folder.path, 'sock'), join(folder.path, 'ask')];
  const command = [node, client, socket].map(shellWord).join(' ');
  await writeFile(script, `#!/bin/sh\nELECTRON_RUN_AS_NODE=1 exec ${command} "$1"\n`, { mode: 0o700 });
  const reply = async (connection: Socket): Promise<void> => {
    const response = await answer((await text(connection)).slice(0, MAX_QUESTION));
    connection.end(response === undefined ? '' : `=${response}`);
  };
  const server = createServer({ allowHalfOpen: true }, (connection) => {
    reply(connection).catch(() => connection.destroy());
  });
  server.listen(socket);
  await once(server, 'listening');
  return {
    // DISPLAY, because older versions of ssh ask only where there is a screen.
    env: { SSH_ASKPASS: script, SSH_ASKPASS_REQUIRE: 'force', DISPLAY: process.env['DISPLAY'] || ':0' },
    [Symbol.asyncDispose]: async () => {
      server.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}
