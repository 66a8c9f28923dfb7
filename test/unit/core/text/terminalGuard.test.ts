import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { TerminalGuard } from '../../../../src/core/text/terminalGuard.ts';

const ESC = '\u001b';
const BEL = '\u0007';

/** What is shown of a text that arrives in two parts, at whichever place it is cut. */
function shown(printed: string): string {
  const whole = new TerminalGuard().push(printed);
  for (let cut = 0; cut <= printed.length; cut += 1) {
    const guard = new TerminalGuard();
    assert.equal(guard.push(printed.slice(0, cut)) + guard.push(printed.slice(cut)), whole);
  }
  return whole;
}

suite('what a job prints on a terminal', () => {
  test('colours, cursors, whole screens, progress bars and other text are shown as they are', () => {
    const usual = [
      `${ESC}[31mred${ESC}[0m`,
      `${ESC}[?1049h${ESC}[2J${ESC}[12;40H${ESC}7${ESC}8${ESC}(B`,
      '\r 42%|████▏     | 42/100\r\n',
      'ä 漢字 👩‍🔬',
      `${ESC}P+q544e${ESC}\\`,
    ];
    for (const text of usual) assert.equal(shown(text), text);
    assert.equal(shown(`${ESC}]0;vim${BEL}`), `${ESC}]0;vim${BEL}`);
    assert.equal(shown(`${ESC}]11;?${ESC}\\`), `${ESC}]11;?${BEL}${ESC}\\`);
  });

  test('nothing reads or changes the clipboard, however it is written', () => {
    const starts = [`${ESC}]`, '\u009d', `${ESC}\n]`, `${ESC}${ESC}]`, `${ESC}P${ESC}]`, `${ESC}]0;a\u009d`];
    const ends = [BEL, `${ESC}\\`, '\u009c', `${ESC}[0m`, ''];
    for (const start of starts)
      for (const end of ends)
        for (const code of ['52', '052', '5\u00012'])
          assert.doesNotMatch(shown(`${start}${code};c;?${end}after`), /2;c/, JSON.stringify([start, code, end]));
    assert.equal(shown(`before ${ESC}]52;c;Y3VybA==${BEL}after`), 'before after');
  });

  test('nothing poses as the shell integration of VS Code, and only web pages are linked', () => {
    for (const command of ['633;E;rm -rf ~', '133;C', '1337;CurrentDir=/', '7;file:///', '9;9;/', '99;;hello'])
      assert.equal(shown(`${ESC}]${command}${BEL}$ `), '$ ');
    const link = (address: string) => `${ESC}]8;;${address}${BEL}here${ESC}]8;;${BEL}`;
    assert.equal(shown(link('https://example.org/')), link('https://example.org/'));
    for (const address of ['command:workbench.action.quit', 'vscode://a.b', 'file:///etc/passwd'])
      assert.equal(shown(link(address)), `here${ESC}]8;;${BEL}`);
  });

  test('a command that never ends is not kept', () => {
    const guard = new TerminalGuard();
    assert.equal(guard.push(`${ESC}]0;`), '');
    for (let count = 0; count < 100; count += 1) assert.equal(guard.push('x'.repeat(64 * 1024)), '');
    assert.equal(guard.push(`${BEL}after`), 'after');
  });
});
