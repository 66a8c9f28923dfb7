// What ssh runs as SSH_ASKPASS: passes its question on to the program that started ssh, and prints the answer.
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

const [socket = '', question = ''] = process.argv.slice(2);
const connection = connect({ path: socket, allowHalfOpen: true });
connection.end(question);
const answer = await text(connection).catch(() => '');
// An answer starts with "=", so that an empty one differs from none.
if (answer.startsWith('=')) process.stdout.write(`${answer.slice(1)}\n`);
else process.exitCode = 1;
