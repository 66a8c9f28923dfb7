// Runs on the canvas, in a real browser: live, stepped through, compared.
import assert from 'node:assert/strict';
import type { TraceEvent } from '../../src/agents/records/trace.ts';
import type { ShownChange } from '../../src/flows/run/protocol/shownState.ts';
import type { RunInfo } from '../../src/webview/canvas/state/canvasMessages.ts';
import { compareFlows } from '../../src/flows/project/flowChanges.ts';
import { drawnFile, drawnFlow } from '../unit/flows/drawnFlows.ts';
import { tracedRun } from '../unit/webview/tracedRun.ts';
import type { CanvasPage } from './support/canvas.ts';
import { canvasTests, nodeOf } from './support/canvasTests.ts';

const lookUp = drawnFlow('lookUp', ['search -> .']);
const research = drawnFlow(
  'research',
  ['decide -search-> look', 'look -> decide', 'decide -enough-> write', 'write -> .'],
  {
    look: { type: 'flow', flow: 'lookUp' },
  },
);
const file = drawnFile([research, lookUp]);
const run: RunInfo = {
  id: 'first',
  flow: 'research',
  state: 'running',
  startedAt: Date.UTC(2026, 0, 2, 3, 4, 5),
  durationMs: undefined,
  remote: undefined,
  message: undefined,
  isRecorded: true,
};
const failed: RunInfo = { ...run, state: 'failed', durationMs: 3_000, message: 'no paper' };
const trace = tracedRun()
  .visit('research/decide', { action: 'search', millis: 800, tokens: 1_500, cost: 0.01 })
  .flow('research/look', (inside) => inside.visit('research/look/search', { millis: 40 }))
  .visit('research/decide', { visit: 2, action: 'enough', millis: 600, tokens: 1_700, cost: 0.01 })
  .visit('research/write', { millis: 900, fails: 'no paper' });

const onPage = canvasTests({ shows: file, version: 1, width: 1_000 });

const textOf = async (canvas: CanvasPage, selector: string): Promise<string> =>
  (await canvas.page.locator(selector).allTextContents()).join(' ');

async function showFailedRun(canvas: CanvasPage): Promise<void> {
  await canvas.send(
    { type: 'runs', runs: [failed, { ...run, id: 'second', state: 'done' }] },
    { type: 'run', run: failed },
    { type: 'runEvents', run: 'first', events: trace.events },
  );
}

onPage('the buttons ask for a run, a debugged run, a job, and its end', async (canvas) => {
  for (const [name, type] of [
    ['Run', 'run'],
    ['Debug', 'debug'],
    ['Submit as job', 'submit'],
  ] as const) {
    await canvas.page.getByRole('button', { name, exact: true }).click();
    assert.deepEqual(await canvas.next(type), { type, flow: 'research' });
  }
  await canvas.send({ type: 'runs', runs: [run] }, { type: 'run', run });
  await canvas.page.getByRole('button', { name: 'Stop' }).click();
  assert.deepEqual(await canvas.next('stop'), { type: 'stop', run: 'first' });
});

onPage(
  'in a folder that is not trusted, running asks for trust first',
  async (canvas) => {
    await canvas.page.getByRole('button', { name: 'Run', exact: true }).click();
    await canvas.next('manageTrust');
    assert.ok(!(await canvas.sent()).some(({ type }) => type === 'run'));
  },
  { isTrusted: false },
);

onPage('R runs the flow before its first run, and the keys that repeat a node say what they need', async (canvas) => {
  const { keyboard } = canvas.page;
  const notice = canvas.page.getByRole('alert');
  await canvas.page.locator(nodeOf('decide')).click();
  await keyboard.press('Shift+R');
  await notice.filter({ hasText: 'There is no run to repeat yet. Press R to run the flow.' }).waitFor();
  await keyboard.press('r');
  assert.deepEqual(await canvas.next('run'), { type: 'run', flow: 'research' });
  await canvas.send({ type: 'runs', runs: [failed] }, { type: 'run', run: failed });
  await canvas.send({ type: 'runEvents', run: 'first', events: tracedRun().start('research/decide').events });
  await canvas.page.locator(nodeOf('write')).click();
  await keyboard.press('r');
  await notice.filter({ hasText: 'Select a node that ran in this run first.' }).waitFor();
  const inJob = { ...failed, isRecorded: false };
  await canvas.send({ type: 'runs', runs: [inJob] }, { type: 'run', run: inJob });
  await keyboard.press('i');
  await notice.filter({ hasText: 'This run was not recorded here' }).waitFor();
  assert.equal((await canvas.sent()).filter(({ type }) => type === 'run' || type === 'rerunFrom').length, 1);
});

onPage('the list of keys has all that a key does', async (canvas) => {
  await canvas.page.locator('.surface').focus();
  await canvas.page.keyboard.press('?');
  const dialog = canvas.page.getByRole('dialog', { name: 'Keys' });
  await dialog.locator('dt:has-text("Delete") + dd', { hasText: /^Delete · Delete connection$/ }).waitFor();
  await dialog
    .locator('dt', { hasText: /^R$/ })
    .locator('+ dd', { hasText: 'Run again from here · Run the flow' })
    .waitFor();
});

onPage('a run lights up live: what runs, what is done, and the way it took', async (canvas) => {
  await canvas.send({ type: 'runs', runs: [run] }, { type: 'run', run });
  await canvas.send({ type: 'runEvents', run: 'first', events: tracedRun().start('research/decide').events });
  assert.equal(await canvas.page.locator('.node.is-running').getAttribute('data-path'), 'decide');
  await canvas.send({ type: 'runEvents', run: 'first', events: trace.events.slice(1) });
  assert.match(await textOf(canvas, `${nodeOf('decide')} .corner`), /×2 · 1\.4 s 3\.2k tok · \$0\.02/);
  assert.equal(await canvas.page.locator('.node.is-failed').getAttribute('data-path'), 'write');
  assert.match(await textOf(canvas, `${nodeOf('write')} > title`), /Failed: no paper/);
  assert.equal(await canvas.page.locator('.edge.is-taken').count(), 3);
  await canvas.send({ type: 'runEvents', run: 'another', events: tracedRun().start('research/look').events });
  assert.equal(await canvas.page.locator('.node.is-running').count(), 0);
});

onPage('a canvas that is opened while its flow runs joins in', async (canvas) => {
  await canvas.send({ type: 'runs', runs: [{ ...run, id: 'old', state: 'done' }, run] });
  assert.deepEqual(await canvas.next('openRun'), { type: 'openRun', run: 'first' });
});

onPage('a run is stepped through, with what each step changed in shared', async (canvas) => {
  await showFailedRun(canvas);
  assert.match(await textOf(canvas, '.timeline .summary'), /Failed: no paper · 3\.0 s · 4 steps · 3\.2k tok · \$0\.02/);
  await canvas.page.getByRole('button', { name: 'Step back (,)' }).click();
  assert.equal((await canvas.next('readShared')).step, 2);
  assert.equal(await canvas.page.locator('.node.is-failed').count(), 0);
  assert.equal(await canvas.page.locator('.node.is-current').getAttribute('data-path'), 'decide');
  const changes: ShownChange[] = [
    { path: ['query'], before: '"old"', after: '"new"' },
    { path: ['notes', '0'], before: undefined, after: '"<b>"' },
  ];
  await canvas.send({ type: 'shared', run: 'first', step: 2, changes, state: '{ "query": "new" }' });
  assert.deepEqual(await canvas.page.locator('.change h3').allTextContents(), ['querychanged', 'notes.0added']);
  assert.deepEqual(await canvas.page.locator('.change del, .change ins').allTextContents(), [
    '−"old"',
    '+"new"',
    '+"<b>"',
  ]);

  await canvas.page.getByRole('slider', { name: 'Step' }).focus();
  await canvas.page.keyboard.press('Home');
  assert.equal((await canvas.next('readShared')).step, 0);
  assert.equal(await canvas.page.locator('.edge.is-taken').count(), 1);
  assert.match(await textOf(canvas, '.timeline .moment'), /Step 1 of 4: decide → search · 800 ms/);
  await canvas.page.locator('.surface').focus();
  await canvas.page.keyboard.press('.');
  assert.equal((await canvas.next('readShared')).step, 1);
  await canvas.page.getByRole('button', { name: 'Follow the run' }).click();
  assert.equal(await canvas.page.locator('.node.is-failed').count(), 1);
  assert.equal(await canvas.page.locator('.shared').isVisible(), false);
});

onPage('an answer about another step is not shown for this one', async (canvas) => {
  await showFailedRun(canvas);
  await canvas.page.locator('.surface').focus();
  await canvas.page.keyboard.press(',');
  await canvas.send({ type: 'shared', run: 'first', step: 0, changes: [], state: undefined });
  assert.equal(await canvas.page.locator('.shared').getAttribute('aria-busy'), 'true');
});

onPage('two runs are compared, and their first difference is marked', async (canvas) => {
  await showFailedRun(canvas);
  await canvas.page.getByLabel('Compare with another run').selectOption('second');
  assert.deepEqual(await canvas.next('compare'), { type: 'compare', run: 'first', other: 'second' });
  await canvas.send({
    type: 'comparison',
    run: 'first',
    other: 'second',
    divergence: { step: 2, reason: '“enough” there.' },
    changes: [],
  });
  assert.equal(await textOf(canvas, '.timeline .difference'), 'First difference at step 3: “enough” there.');
  assert.equal(await canvas.page.locator('.divergence').getAttribute('d'), 'M2 0v10');
  await canvas.send({ type: 'comparison', run: 'first', other: 'second', divergence: undefined, changes: [] });
  assert.equal(await textOf(canvas, '.timeline .difference'), 'Both runs are the same.');
});

onPage('a run is run again from a node, pinned as a test, opened from the list and closed', async (canvas) => {
  await showFailedRun(canvas);
  await canvas.page.locator(nodeOf('decide')).click();
  await canvas.page.keyboard.press('r');
  assert.deepEqual(await canvas.next('rerunFrom'), {
    type: 'rerunFrom',
    run: 'first',
    path: 'research/decide',
    visit: 2,
  });
  await canvas.page.getByRole('button', { name: 'Pin as test' }).click();
  assert.deepEqual(await canvas.next('pinTest'), { type: 'pinTest', run: 'first' });
  await canvas.page.getByLabel('Runs of this flow').selectOption('second');
  assert.deepEqual(await canvas.next('openRun'), { type: 'openRun', run: 'second' });
  await canvas.page.getByRole('button', { name: 'Close the run' }).click();
  assert.equal(await canvas.page.locator('.timeline').isVisible(), false);
  assert.equal(await canvas.page.locator('.is-taken, .is-failed').count(), 0);
});

onPage(
  'beside an editor, the list of runs shows the whole state and time, and a menu has the buttons that have no space',
  async (canvas) => {
    await showFailedRun(canvas);
    const today = { ...failed, startedAt: Date.now() };
    await canvas.send({ type: 'runs', runs: [today] }, { type: 'run', run: today });
    // A closed list is as wide as its longest line needs, unless something limits it.
    const [width = 0, needed = 0] = await canvas.page.evaluate<number[]>(`(() => {
      const list = document.querySelector('.history');
      const free = list.cloneNode(true);
      Object.assign(free.style, { position: 'absolute', maxWidth: 'none' });
      free.replaceChildren(...[...list.selectedOptions].map((option) => option.cloneNode(true)));
      list.after(free);
      const widths = [list.offsetWidth, free.offsetWidth];
      free.remove();
      return widths;
    })()`);
    assert.ok(width >= needed, `${width} px of ${needed} px`);
    await canvas.page.getByRole('button', { name: 'More…' }).click();
    assert.deepEqual(await canvas.page.getByRole('menuitem').allTextContents(), [
      'Debug',
      'Compare versions…V',
      'Show everythingF',
      'Tidy the layoutL',
      'Export as SVG',
      'Export as Mermaid',
    ]);
    await canvas.page.getByRole('menuitem', { name: 'Debug' }).click();
    assert.deepEqual(await canvas.next('debug'), { type: 'debug', flow: 'research' });
  },
  { width: 460 },
);

onPage('the end of a run is shown and said', async (canvas) => {
  await canvas.send({ type: 'runs', runs: [run] }, { type: 'run', run });
  await canvas.send({ type: 'runEvents', run: 'first', events: trace.events }, { type: 'runs', runs: [failed] });
  assert.equal(await textOf(canvas, '.unseen[role=status]'), 'The run failed: no paper');
  assert.equal(await canvas.page.getByRole('button', { name: 'Stop' }).isVisible(), false);
});

onPage('a run whose service does not respond says what was last seen, and its time stops', async (canvas) => {
  const started = tracedRun().start('research/write').events;
  await canvas.send({ type: 'run', run }, { type: 'runEvents', run: 'first', events: started });
  const message = 'last seen running, 10:52 · gpu.example.org does not respond';
  await canvas.send({ type: 'runs', runs: [{ ...run, message }] });
  assert.match(
    await textOf(canvas, '.timeline .summary'),
    /^Last seen running, 10:52 · gpu\.example\.org does not respond · /,
  );
  const time = (): Promise<string> => textOf(canvas, nodeOf('write'));
  // What was drawn last may be from before the message.
  const deadline = Date.now() + 30_000;
  for (let shown = await time(), isStill = false; !isStill; ) {
    await canvas.page.waitForTimeout(1_500);
    const now = await time();
    isStill = now === shown;
    shown = now;
    assert.ok(isStill || Date.now() < deadline, `the time counts on: ${now}`);
  }
});

onPage('the text that a node streams or emits grows in the node while it runs', async (canvas) => {
  const started = tracedRun().start('research/write').events;
  const piece = (text: string): TraceEvent => ({
    type: 'token',
    path: 'research/write',
    node: 'write',
    visit: 1,
    at: 5,
    text,
  });
  const said = `${nodeOf('write')} .summary.is-said`;
  await canvas.send(
    { type: 'run', run },
    { type: 'runEvents', run: 'first', events: [...started, piece('Ships find')] },
  );
  assert.equal(await textOf(canvas, said), 'Ships find');
  await canvas.send({
    type: 'runEvents',
    run: 'first',
    events: [piece('\nthe <b>harbour</b>'), piece(' by its lights, which are lit at dusk.')],
  });
  assert.match(await textOf(canvas, said), /^…[^\n]*lit at dusk\.$/);
  const emitted: TraceEvent = {
    type: 'emit',
    path: 'research/write',
    node: 'write',
    visit: 1,
    at: 6,
    data: { pages: 3 },
  };
  await canvas.send({ type: 'runEvents', run: 'first', events: [emitted] });
  assert.equal(await textOf(canvas, said), '{"pages":3}');
  const end: TraceEvent = {
    type: 'node-end',
    path: 'research/write',
    node: 'write',
    visit: 1,
    at: 9,
    prepMicros: 0,
    execMicros: 0,
    postMicros: 0,
    isReplayed: false,
  };
  await canvas.send({ type: 'runEvents', run: 'first', events: [end] });
  assert.equal(await canvas.page.locator(said).count(), 0);
});

const waiting: RunInfo = {
  ...run,
  state: 'waiting',
  durationMs: 10,
  message: 'waits at research/write: Publish it?',
  pause: { path: 'research/write', question: 'Publish it?', choices: ['yes', 'no'] },
};
const askedFor = (pause: Partial<NonNullable<RunInfo['pause']>>): RunInfo => ({
  ...waiting,
  pause: { path: 'research/write', question: 'How many?', ...pause },
});
const showRun = async (canvas: CanvasPage, shown: RunInfo): Promise<void> => {
  const { events } = tracedRun().start('research/write');
  const [start] = events;
  if (start === undefined) return;
  const pause: TraceEvent = { ...start, type: 'pause', question: 'Publish it?' };
  await canvas.send(
    { type: 'runs', runs: [shown] },
    { type: 'run', run: shown },
    { type: 'runEvents', run: shown.id, events: [start, pause] },
  );
};

onPage('a run that waits is opened with its question, which a button or a key answers', async (canvas) => {
  await canvas.send({ type: 'runs', runs: [waiting] });
  assert.deepEqual(await canvas.next('openRun'), { type: 'openRun', run: 'first' });
  await showRun(canvas, waiting);
  const card = canvas.page.getByRole('form', { name: 'Question of the run' });
  assert.match((await card.textContent()) ?? '', /write waits for an answer.*Publish it\?/);
  assert.equal(await canvas.page.locator('.node.is-waiting').getAttribute('data-path'), 'write');
  const [node, box] = [await canvas.page.locator(`${nodeOf('write')} > .box`).boundingBox(), await card.boundingBox()];
  assert.ok(node && box && box.y >= node.y && Math.abs(box.x - node.x) < 40, 'the card is not at its node');

  await canvas.page.locator('.surface').focus();
  await canvas.page.keyboard.press('a');
  await canvas.page.keyboard.press('Tab');
  await canvas.page.keyboard.press('Enter');
  assert.deepEqual(await canvas.next('answer'), { type: 'answer', run: 'first', input: 'no' });
  assert.equal(await card.getByRole('button', { name: 'yes' }).isDisabled(), true);
  const refusal = 'Run first was answered already, by run second.';
  await canvas.send({ type: 'answerResult', run: 'first', refusal });
  assert.equal(await card.getByRole('alert').textContent(), refusal);
  await canvas.page.keyboard.press('Escape');
  assert.equal(await canvas.page.evaluate('document.activeElement.className'), 'surface');

  await canvas.send({ type: 'runs', runs: [{ ...waiting, state: 'answered', pause: undefined }] });
  assert.equal(await card.isVisible(), false);
  assert.match(await textOf(canvas, '.notice'), /was answered already/);
});

onPage(
  'a canvas that gets its runs before its graph opens the run that waits once it has both',
  async (canvas) => {
    await canvas.send({ type: 'runs', runs: [waiting] });
    await canvas.send({ type: 'graph', version: 1, file, isTrusted: true }, { type: 'runs', runs: [waiting] });
    assert.deepEqual(await canvas.next('openRun'), { type: 'openRun', run: 'first' });
  },
  { shows: undefined },
);

onPage('an answer that is not allowed says why, and what was typed stays', async (canvas) => {
  await showRun(canvas, askedFor({ input: { type: 'integer', minimum: 1 } }));
  const answer = canvas.page.getByRole('textbox', { name: 'Answer' });
  await answer.fill('many');
  await canvas.page.keyboard.press('Enter');
  assert.equal(await canvas.page.getByRole('alert').textContent(), '“many” is not a number.');
  await answer.fill('0');
  await canvas.page.getByRole('button', { name: 'Answer', exact: true }).click();
  assert.deepEqual(await canvas.next('answer'), { type: 'answer', run: 'first', input: 0 });
  await canvas.send({ type: 'answerResult', run: 'first', refusal: 'The answer 0 does not match: at least 1' });
  // The list comes again whenever a run of the file changes.
  await canvas.send({ type: 'runs', runs: [askedFor({ input: { type: 'integer', minimum: 1 } })] });
  assert.equal(await answer.inputValue(), '0');
  assert.match((await canvas.page.getByRole('alert').textContent()) ?? '', /at least 1/);
  assert.equal(await canvas.page.evaluate('document.activeElement.tagName'), 'INPUT');
});

onPage('an answer that was typed and not sent is there again after a reload', async (canvas) => {
  const asked = askedFor({ input: { type: 'object' } });
  const answer = canvas.page.getByRole('textbox', { name: 'Answer' });
  const reload = async (shown: RunInfo): Promise<void> => {
    await canvas.page.reload();
    await canvas.send({ type: 'graph', version: 1, file, isTrusted: true, document: 'file:///flow.ts' });
    await showRun(canvas, shown);
  };
  await reload(asked);
  await answer.fill('{ "count": 7 }');
  await reload(asked);
  assert.equal(await answer.inputValue(), '{ "count": 7 }');
  await reload({ ...asked, id: 'other' });
  assert.equal(await answer.inputValue(), '');
  await reload(asked);
  await canvas.page.getByRole('button', { name: 'Answer', exact: true }).click();
  assert.deepEqual(await canvas.next('answer'), { type: 'answer', run: 'first', input: { count: 7 } });
  await canvas.send({ type: 'answerResult', run: 'first', refusal: undefined });
  await reload(asked);
  assert.equal(await answer.inputValue(), '');
});

onPage(
  'one node runs again by a key, only when asked, and what it did is shown beside the recorded',
  async (canvas) => {
    await showFailedRun(canvas);
    await canvas.page.locator(nodeOf('decide')).click();
    await canvas.page.keyboard.press('Shift+R');
    const visit = { run: 'first', path: 'research/decide', visit: 2 };
    assert.deepEqual(await canvas.next('runVisit'), { type: 'runVisit', ...visit });
    const report = { status: 'done', output: '"a"', changes: [], error: undefined, calls: [], micros: 1_000 } as const;
    const runs = {
      path: visit.path,
      visit: 2,
      recorded: { ...report, action: 'enough' },
      now: {
        ...report,
        action: 'search',
        calls: [{ model: 'm', messages: [{ role: 'user', content: 'why' }], reply: 'so' }],
      },
    };
    await canvas.send({ type: 'visitRuns', ...visit, runs, refusal: undefined });
    const now = canvas.page.getByRole('region', { name: 'Now' });
    assert.match((await now.textContent()) ?? '', /Action\s*different\s*search.*Model calls/s);
    assert.deepEqual(await canvas.page.locator('.report .differs h4').allTextContents(), [
      'Actiondifferent',
      'Actiondifferent',
      'Model callsdifferent',
    ]);
    await canvas.page.keyboard.press('i');
    assert.deepEqual(await canvas.next('readInput'), { type: 'readInput', ...visit });
    await canvas.send({ type: 'visitInput', ...visit, state: '{ "n": 1 }', refusal: undefined });
    const field = canvas.page.getByRole('textbox', { name: 'Shared state before the node' });
    await field.fill('{ "n": 2 }');
    await canvas.page.keyboard.press('Control+Enter');
    assert.deepEqual(await canvas.next('runVisit'), { type: 'runVisit', ...visit, state: '{ "n": 2 }' });
    await canvas.send({ type: 'visitRuns', ...visit, runs: undefined, refusal: 'The state is not valid JSON' });
    assert.equal(await field.inputValue(), '{ "n": 2 }');
    await canvas.page.getByText('The state is not valid JSON').first().waitFor();
    await canvas.page.keyboard.press('Control+Enter');
    await canvas.next('runVisit');
    // The user did not save the file.
    await canvas.send({ type: 'visitRuns', ...visit, runs: undefined, refusal: undefined });
    assert.equal(await canvas.page.getByText('ran again').count(), 0);
    await canvas.page.keyboard.press('Escape');
    assert.equal(await field.isVisible(), false);
    assert.equal((await canvas.sent()).filter(({ type }) => type === 'runVisit').length, 3);
  },
);

onPage(
  'in a folder that is not trusted, no node runs again',
  async (canvas) => {
    await showFailedRun(canvas);
    await canvas.page.locator(nodeOf('decide')).click();
    await canvas.page.keyboard.press('Shift+R');
    await canvas.next('manageTrust');
    assert.ok(!(await canvas.sent()).some(({ type }) => type === 'runVisit'));
  },
  { isTrusted: false },
);

onPage('two versions are drawn as one, with a legend, and keys walk through what changed', async (canvas) => {
  await canvas.page.locator('.surface').focus();
  await canvas.page.keyboard.press('v');
  assert.deepEqual(await canvas.next('compareVersions'), { type: 'compareVersions', flow: 'research' });
  const after = drawnFile([
    drawnFlow('research', ['decide -search-> decide', 'decide -enough-> write', 'write -> check', 'check -> .']),
  ]);
  const compared = compareFlows({ file, hashes: { 'research/decide': 'a' } }, { file: after, hashes: {} });
  await canvas.send({ type: 'versions', flow: 'research', before: '1a2b3c4d', after: 'now', ...compared });
  const bar = canvas.page.getByRole('region', { name: 'Comparison' });
  assert.match((await bar.textContent()) ?? '', /1a2b3c4d → now.*2 added.*4 removed.*3 changed/s);
  assert.equal(await canvas.page.locator('.node.is-added').getAttribute('data-path'), 'check');
  assert.equal(await textOf(canvas, `${nodeOf('look')} .change-flag`), 'removed');
  assert.equal(await canvas.page.locator('.edge.is-removed').count(), 1);

  await canvas.page.locator('.surface').focus();
  const seen: (string | null)[] = [];
  for (let press = 0; press < 3; press += 1) {
    await canvas.page.keyboard.press('d');
    seen.push(await bar.locator('.current').textContent());
  }
  assert.deepEqual(seen, ['1 of 9: changed Decide: its source', '2 of 9: added Check', '3 of 9: removed Look']);
  assert.equal(await canvas.page.locator('.node.is-selected').getAttribute('data-path'), 'look');
  await canvas.page.keyboard.press('Delete');
  await canvas.page.getByText('Close the comparison to edit the flow').waitFor();
  assert.ok(!(await canvas.sent()).some(({ type }) => type === 'edit'));
  await canvas.page.keyboard.press('Escape');
  await bar.waitFor({ state: 'hidden' });
  assert.equal(await canvas.page.locator('.node.is-added, .change-flag').count(), 0);
});

onPage('two runs are compared node by node, and a replay is compared with what it replayed', async (canvas) => {
  const replay: RunInfo = { ...failed, id: 'third', replayOf: 'first' };
  await canvas.send(
    { type: 'runs', runs: [{ ...replay, state: 'running' }] },
    { type: 'run', run: { ...replay, state: 'running' } },
  );
  await canvas.send({ type: 'runEvents', run: 'third', events: trace.events }, { type: 'runs', runs: [replay] });
  assert.deepEqual(await canvas.next('compare'), { type: 'compare', run: 'third', other: 'first' });
  await canvas.send({
    type: 'comparison',
    run: 'third',
    other: 'first',
    divergence: { step: 1, reason: 'research/decide returned "enough".' },
    changes: [
      { kind: 'changed', path: 'research/decide', text: '2 visits, before 1' },
      { kind: 'added', path: 'research/decide', action: 'enough', text: '' },
      { kind: 'added', path: 'research', text: '' },
    ],
  });
  assert.equal(await canvas.page.locator('.node.is-changed').getAttribute('data-path'), 'decide');
  assert.equal(await canvas.page.locator('.edge.is-added').count(), 1);
  assert.match(await textOf(canvas, '.changes .legend'), /1 added\s*1 changed/);
});

onPage('a trace of another program is shown as a run that can be neither run nor edited', async (canvas) => {
  const steps = drawnFile([
    drawnFlow('research', ['decide -> look', 'look -> write', 'write -> .'], { look: { className: 'look' } }),
  ]);
  await canvas.send({ type: 'graph', version: 0, file: steps, isTrusted: false, isTrace: true });
  const names = (path: string): Promise<string> => textOf(canvas, `${nodeOf(path)} :is(.title, .summary)`);
  assert.deepEqual([await names('decide'), await names('look')], ['Decide decide', 'look ']);
  const traced: RunInfo = { ...failed, isRecorded: false };
  await canvas.send({ type: 'runs', runs: [traced] }, { type: 'run', run: traced });
  await canvas.send({ type: 'runEvents', run: 'first', events: trace.events });
  for (const name of ['Run', 'Debug', 'Submit as job', 'Compare versions… (V)']) {
    assert.equal(await canvas.page.getByRole('button', { name, exact: true }).isVisible(), false, name);
  }
  await canvas.page.locator(nodeOf('decide')).click();
  for (const key of ['Delete', 'Enter', 'v']) await canvas.page.keyboard.press(key);
  await canvas.page.getByText('cannot be edited here').waitFor();
  for (const key of ['r', 'Shift+R', 'i']) await canvas.page.keyboard.press(key);
  await canvas.page.getByText('cannot run here').waitFor();
  assert.deepEqual(
    (await canvas.sent()).map(({ type }) => type),
    ['ready'],
  );
  await canvas.page.keyboard.press(',');
  assert.equal((await canvas.next('readShared')).step, 2);
  await canvas.send({ type: 'shared', run: 'first', step: 2, changes: [], state: '{ "gen_ai.system": "x" }' });
  await canvas.page.getByText('gen_ai.system').waitFor();
});
