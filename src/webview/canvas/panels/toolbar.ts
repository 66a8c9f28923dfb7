import * as l10n from '@vscode/l10n';
import type { CanvasActions } from '../actions/canvasActions.ts';
import { html, setText, setAttributes } from '../dom/elements.ts';
import type { Find } from './find.ts';
import { type IconName, icon } from '../dom/icons.ts';
import type { CanvasCommand } from '../actions/canvasCommands.ts';
import type { Runs } from '../actions/runs.ts';
import type { Versions } from '../actions/versions.ts';
import type { CanvasState, CanvasStore } from '../state/canvasStore.ts';
import { STATE_WORDS } from '../state/canvasWords.ts';
import type { Viewport } from '../dom/viewport.ts';

interface ToolbarParts {
  readonly store: CanvasStore;
  readonly actions: CanvasActions;
  readonly runs: Runs;
  readonly versions: Versions;
  readonly viewport: Viewport;
  readonly find: Find;
  readonly toggleOutline: () => boolean;
  readonly openMenu: (label: string, commands: readonly CanvasCommand[], below: HTMLElement) => void;
  readonly help: () => void;
}

/** A button with an icon; its text is its name and its tooltip, and is shown if `isWide`. */
export function iconButton(name: IconName, label: string, run: () => void, { isWide = false } = {}): HTMLButtonElement {
  const button = html('button', { type: 'button', class: 'tool', 'aria-label': label, title: label }, icon(name));
  if (isWide) button.append(html('span', { class: 'words' }, label));
  button.addEventListener('click', run);
  return button;
}

/** The row above the drawing: the flow, its runs, and the view. */
export function toolbar({
  store,
  actions,
  runs,
  versions,
  viewport,
  find,
  toggleOutline,
  openMenu,
  help,
}: ToolbarParts): HTMLElement {
  const flows = html('select', { class: 'flows', 'aria-label': l10n.t('Flow'), title: l10n.t('Flow') });
  flows.addEventListener('change', () => actions.showFlow(flows.value));
  const history = html('select', {
    class: 'history',
    'aria-label': l10n.t('Runs of this flow'),
    title: l10n.t('Runs of this flow'),
  });
  history.addEventListener('change', () => {
    if (history.value === '') runs.close();
    else runs.open(history.value);
  });

  const run = iconButton('run', l10n.t('Run'), () => runs.start('run'), { isWide: true });
  run.classList.add('primary');
  const debug = iconButton('debug', l10n.t('Debug'), () => runs.start('debug'));
  const submit = iconButton('submit', l10n.t('Submit as job'), () => runs.start('submit'));
  const stop = iconButton('stop', l10n.t('Stop'), () => runs.stop(), { isWide: true });
  const outline = iconButton('outline', l10n.t('Outline'), () =>
    outline.setAttribute('aria-pressed', String(toggleOutline())),
  );
  outline.setAttribute('aria-pressed', 'false');
  const comparing = iconButton('batch', l10n.t('Compare versions… (V)'), () => versions.choose());
  const zoom = html('button', { type: 'button', class: 'tool zoom', title: l10n.t('Natural size (0)') });
  zoom.addEventListener('click', () => viewport.zoomTo(1));
  const exports = [
    { title: l10n.t('Export as SVG'), run: () => actions.exportAs('svg') },
    { title: l10n.t('Export as Mermaid'), run: () => actions.exportAs('mermaid') },
  ];
  const exporting = iconButton('export', l10n.t('Export…'), () => openMenu(l10n.t('Export'), exports, exporting));
  // In place of buttons that a narrow canvas has no space for.
  const more = iconButton('more', l10n.t('More…'), () => {
    const ofSource = [
      { title: l10n.t('Debug'), run: () => runs.start('debug') },
      { title: l10n.t('Compare versions…'), keys: 'V', run: () => versions.choose() },
    ];
    const ofDrawing = [
      { title: l10n.t('Show everything'), keys: 'F', run: () => actions.fit() },
      { title: l10n.t('Tidy the layout'), keys: 'L', run: () => actions.tidy() },
      ...exports,
    ];
    openMenu(l10n.t('More…'), [...(store.state.isTrace ? [] : ofSource), ...ofDrawing], more);
  });
  for (const button of [exporting, more]) button.setAttribute('aria-haspopup', 'menu');
  const tidy = iconButton('tidy', l10n.t('Tidy the layout (L)'), () => actions.tidy());
  for (const button of [debug, comparing, tidy, exporting]) button.classList.add('in-wide');
  more.classList.add('in-narrow');

  const showFlows = ({ file, flow }: CanvasState): void => {
    const options = (file?.flows ?? []).map(({ id, label }) =>
      html('option', { value: id }, label.toLowerCase() === id.toLowerCase() ? id : `${label} (${id})`),
    );
    flows.replaceChildren(...options);
    flows.value = flow ?? '';
    flows.hidden = options.length === 0;
    flows.disabled = options.length < 2;
  };
  const showRuns = ({ runs: all, flow, run: shown, isTrusted, isTrace, file }: CanvasState): void => {
    const runsOfFlow = all.filter((each) => each.flow === flow);
    const options = runsOfFlow.map(({ id, startedAt, state, remote }) =>
      html(
        'option',
        { value: id },
        // The state first, because a narrow canvas cuts the end.
        [STATE_WORDS[state], timeLabel(startedAt), ...(remote === undefined ? [] : [remote])].join(' · '),
      ),
    );
    history.replaceChildren(
      html('option', { value: '' }, options.length === 0 ? l10n.t('No runs yet') : l10n.t('Runs…')),
      ...options,
    );
    history.value = runsOfFlow.some(({ id }) => id === shown?.id) ? (shown?.id ?? '') : '';
    history.disabled = options.length === 0;
    const isRunning = shown?.state === 'running' && shown.isElsewhere !== true;
    stop.hidden = !isRunning;
    run.hidden = isRunning || isTrace;
    for (const button of [debug, submit, comparing]) button.hidden = isTrace;
    for (const button of [run, debug, submit]) {
      button.disabled = file === undefined || file.flows.length === 0;
      button.classList.toggle('is-untrusted', !isTrusted);
    }
    run.title = isTrusted ? l10n.t('Run') : l10n.t('Trust this folder to run its code');
  };
  const showZoom = (): void => {
    setText(zoom, `${Math.round(viewport.scale * 100)} %`);
    setAttributes(zoom, { 'aria-label': l10n.t('Zoom {0} percent; natural size', Math.round(viewport.scale * 100)) });
  };
  store.on(['file', 'flow'], showFlows);
  store.on(['runs', 'run', 'flow', 'isTrusted', 'file'], showRuns);
  viewport.onDidChange(showZoom);
  showFlows(store.state);
  showRuns(store.state);
  showZoom();

  return html(
    'div',
    { class: 'toolbar', role: 'group', 'aria-label': l10n.t('Flow') },
    flows,
    html('span', { class: 'group' }, run, stop, debug, submit, history),
    html('span', { class: 'space' }),
    html(
      'span',
      { class: 'group' },
      iconButton('search', l10n.t('Find a node (Ctrl+F)'), () => find.open()),
      outline,
      comparing,
      tidy,
      exporting,
      more,
    ),
    html(
      'span',
      { class: 'group zooming' },
      iconButton('zoomOut', l10n.t('Smaller (-)'), () => viewport.zoomBy(1 / 1.2)),
      zoom,
      iconButton('zoomIn', l10n.t('Larger (+)'), () => viewport.zoomBy(1.2)),
      iconButton('fit', l10n.t('Show everything (F)'), () => actions.fit()),
    ),
    iconButton('help', l10n.t('All keys (?)'), help),
  );
}

/** `14:03`, with the day if it is not today. */
export function timeLabel(milliseconds: number): string {
  const at = new Date(milliseconds);
  const isToday = at.toDateString() === new Date().toDateString();
  const time = at.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
  return isToday ? time : `${at.toLocaleDateString(undefined, { month: 'short', day: 'numeric' })} ${time}`;
}
